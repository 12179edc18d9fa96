package simtest

import (
	"regexp"
	"slices"
	"strings"

	"parley/router/chain"
	"parley/sessions"
)

// judgeWords: what people are shown is what the mind said for it, word for word: the rows say it, and the platforms show what the rows say.
func (r *rest) judgeWords() {
	said := map[string]bool{} // by session and kind of step, and the word of a tool call
	for _, t := range r.w.thoughts {
		m := sessions.Message{Content: t.answer.Content}
		said[t.Kind+" "+string(t.key())+" "+strings.TrimSpace(m.Text())] = true
		for _, c := range m.ToolCalls() {
			if c.Name == "message" {
				said[c.Name+" "+wordOf(c)] = true
			}
		}
	}
	for _, d := range r.deliveries {
		own := false
		switch d.Kind {
		case sessions.Reply:
			own = said["turn "+string(d.Session)+" "+d.Text] || said["follow-up "+string(d.Session)+" "+d.Text] || r.byID[d.Run].Kind == sessions.FollowUpRun && isLateWord(*r.byID[d.Run].Chain, d.Text)
		case sessions.Announce:
			own = said["announce "+string(d.Session)+" "+d.Text] || said["result "+string(d.Session)+" "+d.Text] || r.reports(d, said)
		case sessions.Posted:
			own = said["message "+d.Text]
		default: // the host's own words
			continue
		}
		if !own {
			r.wrong("words", "the %s of %s to %s says what the model did not: %q", d.Kind, d.Session, d.To, d.Text)
		}
	}
	r.judgeShownWords()
}

// failure is what the host may say of a turn that failed.
const failure = "(?:" +
	`I ran out of time \([0-9ms.]+\) and stopped working on this\.` +
	`|Something went wrong while I was working on this\. The details are in the log\.` +
	`|The language model gave an empty answer\.` +
	`|I stopped: this answer needed more steps than the limit allows\.` +
	`|I could not answer this message: the host stopped during each attempt\.` +
	")"

// isLateWord reports whether the host says a text of an exchange in the place of the agent, which could not.
func isLateWord(c sessions.Chain, text string) bool {
	why, ok := strings.CutPrefix(text, chain.Late(c, ""))
	return ok && (why == "" || failureNotice.MatchString(why))
}

// failureNotice is a failure in brackets.
var failureNotice = regexp.MustCompile(`^\n\n\(` + failure + `\)$`)

// reportFrame is what the host puts around what a sub-agent said, and which errors it may name there.
var reportFrame = regexp.MustCompile("(?s)^Status: (?:success|error|timeout|unknown)\n\nResult:\n(.*)\n\nNotes:\n- (?:\\(none\\)|Error: " + failure +
	")\n\nStats: \\S[^•]* • runtime [0-9hms]+ • tokens [0-9.km]+ \\(in [0-9.km]+ / out [0-9.km]+\\) • sessionKey `([a-z0-9:-]+)` • sessionId `[0-9a-f-]+` • transcript `transcript.jsonl`$")

// reports reports whether a delivery is the report of a sub-agent: in its own words, in those of the newest tool result that it had, or
// in none.
func (r *rest) reports(d sessions.Delivery, said map[string]bool) bool {
	m := reportFrame.FindStringSubmatch(d.Text)
	if m == nil {
		return false
	}
	text, key := m[1], sessions.Key(m[2])
	if c := r.byID[d.Run].Chain; c != nil && (c.Kind != "spawn" || c.Target != key) {
		return false
	}
	return said["report "+string(key)+" "+text] || said["child "+string(key)+" "+text] || text == "(not available)" ||
		slices.ContainsFunc(r.texts[key], func(x sessions.Message) bool {
			return x.Role == sessions.ToolResult && strings.TrimSpace(x.Text()) == text
		})
}

// judgeShownWords: the parts of a delivery say together what its row says, with and without markup, and a part that is shown again says the
// same again.
func (r *rest) judgeShownWords() {
	parts := map[sessions.DeliveryID][]shown{}
	for _, p := range r.w.platforms {
		for _, x := range p.shown {
			id := deliveryOf(x.out.Key)
			parts[id] = append(parts[id], x)
		}
	}
	for _, d := range r.deliveries {
		all := parts[d.ID]
		slices.SortStableFunc(all, func(a, b shown) int { return partOf(a.out.Key) - partOf(b.out.Key) })
		for _, form := range []func(x shown) string{func(x shown) string { return x.out.Text }, func(x shown) string { return x.out.Plain }} {
			left, next, last := letters(d.Text), 0, ""
			for _, x := range all {
				text, n := letters(form(x)), partOf(x.out.Key)
				var ok bool
				switch {
				case n == next-1:
					ok = text == last
				default: // one before it may never have arrived
					var at string
					if at, left, ok = strings.Cut(left, text); n == next {
						ok = ok && at == ""
					}
					next, last = n+1, text
				}
				if !ok {
					r.wrong("words", "%s shows %q as part %d of the %s %q", d.To, form(x), n, d.Kind, d.Text)
					return
				}
			}
			if d.State == sessions.Sent && next == d.Part && left != "" {
				r.wrong("words", "%s shows the %s %q without %q", d.To, d.Kind, d.Text, left)
			}
		}
	}
}

// letters is a text without what rendering changes: spaces, and the marks of code and lists.
func letters(text string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(" \n\t`*•-", c) {
			return -1
		}
		return c
	}, text)
}

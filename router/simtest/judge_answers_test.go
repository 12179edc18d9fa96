package simtest

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// judgeReplyTo: in a chat of several people an answer is one to the newest message that its model was shown, and a notice to one of those that
// its turn was for; nothing else is an answer to a message. So the platforms have it, on the first part.
func (r *rest) judgeReplyTo() {
	newest := map[string]channels.MessageID{}
	for _, t := range r.w.thoughts {
		said := sessions.Message{Content: t.answer.Content}
		if x := strings.TrimSpace(said.Text()); t.Kind == "turn" && x != "" {
			newest[string(t.key())+" "+x] = r.letterOf(t)
		}
	}
	for _, d := range r.deliveries {
		of := r.lettersOf(d)
		if x, ok := newest[string(d.Session)+" "+d.Text]; d.Kind == sessions.Reply && ok {
			of = []channels.MessageID{x}
		}
		switch follows := r.byID[d.Run].Kind == sessions.FollowUpRun; {
		case !d.To.Type.Several() || d.Kind != sessions.Reply && d.Kind != sessions.Notice || follows:
			of = []channels.MessageID{""}
		case r.leftBehind(d):
			of = append(of, "")
		}
		if !slices.Contains(of, d.ReplyTo) {
			r.wrong("reply to", "the %s %q to %s is one to %q, and is for %q", d.Kind, d.Text, d.To, d.ReplyTo, of)
		}
	}
	for _, p := range r.w.platforms {
		for _, x := range p.shown {
			want := r.rows[deliveryOf(x.out.Key)].ReplyTo
			if partOf(x.out.Key) > 0 {
				want = ""
			}
			if d := r.rows[deliveryOf(x.out.Key)]; want == "" && partOf(x.out.Key) == 0 && r.leftBehind(d) {
				want = x.out.ReplyTo // shown before its chat moved: its row forgets that
			}
			if x.out.ReplyTo != want {
				r.wrong("reply to", "%s shows %q as one to %q, and it is one to %q", x.out.To, x.out.Text, x.out.ReplyTo, want)
			}
		}
	}
}

// leftBehind reports whether a delivery may have left for the new id of its chat, or waits for a person to say so: there it is no reply to a
// message of the old place.
func (r *rest) leftBehind(d sessions.Delivery) bool {
	m, at := r.w.plan.moved, r.w.asked[movedID]
	return m != nil && at != nil && d.To == m.from && (!d.Updated.Before(at.from) || d.State == sessions.Held)
}

// lettersOf are the messages that a notice may be for: those of its turn, or any of its chat where no turn made it.
func (r *rest) lettersOf(d sessions.Delivery) (of []channels.MessageID) {
	for _, run := range r.runs {
		if run.Kind == sessions.TurnRun && (run.ID == d.Run || run.MergedInto == d.Run && d.Run != "") {
			of = append(of, channels.MessageID(run.Source))
		}
	}
	for _, l := range r.w.plan.letters {
		if d.Run == "" && l.to == d.To {
			of = append(of, l.id)
		}
	}
	return of
}

// livesFor is how long a delivery of a kind may wait, as the manual says of settings that name no time.
func livesFor(kind sessions.DeliveryKind) time.Duration {
	if kind == sessions.Announce {
		return 24 * time.Hour
	}
	return time.Hour
}

// mostMade bounds how long it takes from the making of a delivery to its row: at rest nothing comes between, and a store that fails or stands
// still is asked again, within a minute each time.
const mostMade = 10 * time.Minute

// judgeExpiry: a delivery has the whole time of its kind from when it was made; what has expired was not sent before that, and nothing is sent
// after it (D8). A send may wait for a slow commit once more when its time was looked at.
func (r *rest) judgeExpiry() {
	for _, d := range r.deliveries {
		made := d.Expires.Add(-livesFor(d.Kind))
		late := d.Created.Sub(made)
		switch {
		case strings.HasSuffix(r.byID[d.Run].Error, "would be too late"): // it is there to be listed
		case late < -time.Millisecond, late > mostMade, late > atOnce && !r.w.troubled(made.Add(-time.Second), d.Created):
			r.wrong("D8", "the %s %q to %s was made %s and has time until %s, and is to have %s", d.Kind, d.Text, d.To, d.Created, d.Expires, livesFor(d.Kind))
		}
		if d.State == sessions.Expired && d.Updated.Before(d.Expires.Add(-time.Millisecond)) {
			r.wrong("D8", "the %s %q to %s expired before its time", d.Kind, d.Text, d.To)
		}
		for _, c := range r.contacts(d.ID) {
			if c.what == "send" && c.on.After(d.Expires.Add(time.Minute)) {
				r.wrong("D8", "the %s %q to %s is sent %s, and had time until %s", d.Kind, d.Text, d.To, c.on, d.Expires)
			}
		}
	}
}

var statusOfReport = regexp.MustCompile(`^Status: (\w+)\n`)

// judgeStatus: the word at the head of a sub-agent's report is how its run ended (N11).
func (r *rest) judgeStatus() {
	for _, d := range r.deliveries {
		if m := statusOfReport.FindStringSubmatch(d.Text); m != nil && d.Kind == sessions.Announce {
			r.judgeStatusWord(m[1], d.Text, r.byID[d.Run])
		}
	}
	for _, run := range r.runs {
		p := run.Input.Provenance
		if m := statusOfReport.FindStringSubmatch(run.Input.Text()); m != nil && p != nil && p.Kind == sessions.InterSession && run.Kind != sessions.PostRun {
			r.judgeStatusWord(m[1], run.Input.Text(), run)
		}
	}
	for _, run := range r.runs {
		if run.Kind == sessions.ChildRun && run.Status == sessions.Done && !routertest.Merged(run) && !r.said(run) {
			r.wrong("N11", "the sub-agent %s ended as done with %q, and the model did not say that", run.Key, run.Result)
		}
	}
}

// said reports whether a run's result is what the model said in its session.
func (r *rest) said(run sessions.Run) bool {
	return slices.ContainsFunc(r.w.thoughts, func(t thought) bool {
		m := sessions.Message{Content: t.answer.Content}
		return t.key() == run.Key && t.err == nil && m.Text() == run.Result
	})
}

// judgeStatusWord compares the word of a report with the end of the run that it is about: the one of that sub-agent that ended in the commit that
// made the step which has the report. Of a sub-agent that was deleted in that commit the row is as it was right before it.
func (r *rest) judgeStatusWord(word, text string, step sessions.Run) {
	m := sessionOfReport.FindStringSubmatch(text)
	if m == nil {
		r.wrong("N11", "a report says not of which session it is: %q", text)
		return
	}
	var have []string
	fits := false
	for _, run := range r.runs {
		if run.Key != sessions.Key(m[1]) || run.Kind != sessions.ChildRun || routertest.Merged(run) {
			continue
		}
		if step.ID != "" && step.ID != run.ID && !run.Ended.IsZero() && !run.Ended.Equal(step.Created) {
			continue
		}
		want := map[sessions.RunStatus]string{sessions.Done: "success", sessions.TimedOut: "timeout", sessions.Failed: "error", sessions.Stopped: "error"}[run.Status]
		have, fits = append(have, want), fits || want == word
	}
	if !fits {
		r.wrong("N11", "a report of %s says %s, and its run ended as %q", m[1], word, have)
	}
}

var sessionOfReport = regexp.MustCompile("sessionKey `([a-z0-9:-]+)`")

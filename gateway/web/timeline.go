package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/sessions"
)

// moment is one entry of a run's story.
type moment struct {
	Time     time.Time
	After    time.Duration // the first moment
	Kind     string        // accepted, begun, said, tool, delivery, ended: how it is drawn
	Title    string
	Tone     string // as of funcs
	Text     string // as it came
	HTML     template.HTML
	Plain    string // what HTML was made from
	Tool     *toolUse
	Delivery *sessions.Delivery
}

// toolUse is a call of a tool and what came of it.
type toolUse struct {
	ID, Gist          string // Gist: what it was asked with, in a line
	Arguments, Result string
	Failed, Open      bool // Open: no result yet
}

// maxShown bounds a text of the story: the whole of it is in the transcript.
const maxShown = 6000

func bounded(text string) string {
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + fmt.Sprintf("\n… and %s more characters", num(len(r)-maxShown))
	}
	return text
}

// storyShown is how many moments a page shows, of all its stories, and storyText how much text.
const (
	storyShown = 200
	storyText  = 200_000
)

// abridged leaves out the middle of a long story, and cuts the older texts of one that has many; of is how many stories share the page.
func abridged(ms []moment, of int) []moment {
	shown, most := max(storyShown/of, 8), storyText/of
	if left := len(ms) - shown; left > 0 {
		head := shown / 4
		gap := moment{Time: ms[head].Time, Kind: "said", Title: plural(left, "step") + " left out here: the transcript has them"}
		ms = slices.Concat(ms[:head:head], []moment{gap}, ms[head+left:])
	}
	size := func(m moment) int {
		n := len(m.Text) + len(m.HTML)
		if m.Tool != nil {
			n += len(m.Tool.Arguments) + len(m.Tool.Result)
		}
		return n
	}
	all := 0
	for _, m := range ms {
		all += size(m)
	}
	for i := 0; all > most && i < len(ms); i++ { // the oldest go first
		m := &ms[i]
		all -= size(*m)
		m.Text, m.HTML = cut(200, cmp.Or(m.Text, m.Plain)), ""
		if m.Tool != nil {
			use := *m.Tool
			use.Arguments, use.Result = cut(200, use.Arguments), cut(200, use.Result)
			m.Tool = &use
		}
		all += size(*m)
	}
	return ms
}

// story tells what became of one run: accepted, begun, said, tools, deliveries, ended.
func story(t sessions.Trace, n names) []moment {
	var ms []moment
	add := func(m moment) { ms = append(ms, m) }
	if t.Run == nil {
		if t.Skip != "" {
			add(moment{Time: t.Accepted, Kind: "ended", Title: "No turn: " + t.Skip, Tone: "warn"})
		}
		for i := range t.Deliveries {
			add(delivered(&t.Deliveries[i], n))
		}
		return ms
	}
	r := t.Run
	add(moment{Time: cmp.Or(t.Accepted, r.Created), Kind: "accepted", Title: askedBy(r, n), Text: bounded(r.Input.Said())})
	if !r.Started.IsZero() {
		title := "Turn started"
		if r.Attempt > 1 {
			title = fmt.Sprintf("Turn started again, attempt %d", r.Attempt)
		}
		add(moment{Time: r.Started, Kind: "begun", Title: title})
	}
	for _, m := range steps(t.Steps) {
		add(m)
	}
	for i := range t.Deliveries {
		add(delivered(&t.Deliveries[i], n))
	}
	if r.Status.Final() {
		add(ended(r))
	}
	slices.SortStableFunc(ms, func(a, b moment) int { return a.Time.Truncate(time.Second).Compare(b.Time.Truncate(time.Second)) })
	for i := range ms {
		ms[i].After = max(0, ms[i].Time.Sub(ms[0].Time))
	}
	return ms
}

// askedBy words what a run answers.
func askedBy(r *sessions.Run, n names) string {
	p := r.Input.Provenance
	if p == nil {
		return "Accepted"
	}
	switch p.Kind {
	case sessions.ExternalUser:
		who := cmp.Or(p.Name, p.User, p.Sender, "Unknown sender")
		switch {
		case p.Address.Channel != "":
			return fmt.Sprintf("%s wrote in %s", who, n.Chat(p.Address))
		case p.Tool != "":
			return fmt.Sprintf("%s wrote through %s", who, p.Tool)
		}
		return who + " wrote"
	case sessions.InterSession:
		if p.Source == "" {
			return "Another session asked"
		}
		return n.Of(p.Source) + " asked"
	}
	return "The host asked"
}

// steps pairs the calls of tools with their results.
func steps(ms []sessions.Message) (out []moment) {
	results := map[string]sessions.Message{}
	for _, m := range ms {
		if m.Role == sessions.ToolResult {
			results[m.ToolCallID] = m
		}
	}
	for _, m := range ms {
		if m.Role == sessions.User {
			out = append(out, moment{Time: m.Time, Kind: "accepted", Title: "Added during the turn", Text: bounded(m.Text())})
		}
		if m.Role != sessions.Assistant {
			continue
		}
		if text := m.Text(); text != "" {
			out = append(out, moment{Time: m.Time, Kind: "said", Title: "Said", Plain: text, HTML: template.HTML(RenderMarkdown(bounded(text)))}) //nolint:gosec // RenderMarkdown escapes
		}
		for _, c := range m.ToolCalls() {
			u := &toolUse{ID: c.ID, Gist: gist(c.Arguments), Arguments: bounded(indented(c.Arguments)), Open: true}
			color := ""
			if res, ok := results[c.ID]; ok {
				u.Open, u.Failed, u.Result = false, res.IsError, bounded(res.Text())
				if res.IsError {
					color = "bad"
				}
			}
			out = append(out, moment{Time: m.Time, Kind: "tool", Title: c.Name, Tone: color, Tool: u})
		}
		if m.Error != "" {
			out = append(out, moment{Time: m.Time, Kind: "said", Title: "The model's answer was cut off", Tone: "bad", Text: bounded(m.Error)})
		}
	}
	return out
}

// gist is what a call was about: the texts among its arguments.
func gist(raw json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if v, ok := args[name].(string); ok && v != "" {
			words = append(words, v)
		}
	}
	return strings.Join(words, " · ")
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func delivered(d *sessions.Delivery, n names) moment {
	return moment{Time: d.Created, Kind: "delivery", Title: "To " + n.Chat(d.To), Tone: tone(d.State), Delivery: d}
}

func ended(r *sessions.Run) moment {
	m := moment{Time: r.Ended, Kind: "ended", Tone: tone(r.Status), Text: bounded(r.Error)}
	switch r.Status {
	case sessions.Done:
		m.Title = "Done"
		if r.MergedInto != "" {
			m.Title = "Answered together with others by run " + string(r.MergedInto)
		}
	case sessions.Failed:
		m.Title = "Failed"
	case sessions.TimedOut:
		m.Title = "Timed out"
	default:
		m.Title = "Stopped"
	}
	return m
}

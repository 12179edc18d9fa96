package web

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"
	"time"

	"parley/agent/control"
	"parley/gateway/api"
	"parley/sessions"
)

// utterance is one message of a transcript as view_session.html shows it.
type utterance struct {
	ID       string
	Run      sessions.RunID
	Time     time.Time
	Who      string       // who said it
	Where    string       // the chat that it came from, or how it came
	From     sessions.Key // another session that said it
	FromName string       // what people call it
	Side     string       // person, agent, session, host: how it is drawn
	Text     string       // of people, as typed
	HTML     template.HTML
	Silent   string // the control word that stands in place of an answer
	Heard    string // group talk that was overheard before it
	Thinking string
	Files    []string
	Calls    []toolCall
	Marks    []sessions.Mark
	Model    string
	Usage    *sessions.Usage
	Trouble  string // the model's answer broke off
	Refused  string // what the provider refused of it, or of what came before
}

// toolCall is a tool's call with what came of it.
type toolCall struct {
	Name string
	toolUse
}

// utterances gives the messages of a transcript with the results of tools at their calls. working says that the last call may have no
// result yet; the others without one have theirs elsewhere.
func utterances(ms []sessions.Message, working bool) []utterance {
	results := map[string]sessions.Message{}
	calls := map[string]bool{}
	for _, m := range ms {
		if m.Role == sessions.ToolResult {
			results[m.ToolCallID] = m
		}
		for _, c := range m.ToolCalls() {
			calls[c.ID] = true
		}
	}
	refused := sessions.RefusedRuns(ms)
	var out []utterance
	for i, m := range ms {
		u := utterance{ID: m.ID, Run: m.Run, Time: m.Time, Marks: m.Deliveries(), Model: m.Model, Usage: m.Usage, Trouble: m.Error}
		if refused[m.Run] && m.Role != sessions.ToolResult {
			u.Refused = sessions.RefusedMark
		} else if m.LeftOut() != "" {
			u.Refused = fmt.Sprintf(sessions.LeftOutMark, m.LeftOut())
		} else if m.WithoutHistory() {
			u.Refused = sessions.WithoutHistoryMark
		}
		switch m.Role {
		case sessions.User:
			u.spoken(m)
		case sessions.Assistant:
			u.answered(m, results, working && i >= len(ms)-2)
		case sessions.ToolResult:
			if calls[m.ToolCallID] {
				continue
			}
			u.Side, u.Who = "agent", "agent"
			u.Calls = []toolCall{{Name: m.ToolName, toolUse: toolUse{ID: m.ToolCallID, Result: bounded(m.Text()), Failed: m.IsError}}}
		default:
			continue
		}
		out = append(out, u)
	}
	return out
}

func (u *utterance) spoken(m sessions.Message) {
	u.Text = m.Said()
	for _, b := range m.Content {
		switch b.Type {
		case sessions.ContextBlock:
			u.Heard += b.Text
		case sessions.ImageBlock, sessions.FileBlock:
			name := b.Type
			if b.Media != nil {
				name = cmp.Or(b.Media.Name, b.Type)
			}
			u.Files = append(u.Files, name)
		}
	}
	p := m.Provenance
	if p == nil {
		u.Side, u.Who = "person", "unknown sender"
		return
	}
	switch p.Kind {
	case sessions.InternalSystem:
		u.Side, u.Who = "host", "the host"
		u.Where = p.Tool
	case sessions.InterSession:
		u.Side, u.Who, u.From, u.Where = "session", "another session", p.Source, p.Tool
	default:
		u.Side, u.Who = "person", cmp.Or(p.Name, p.User, p.Sender, "unknown sender")
		if u.Where = p.Tool; !p.Address.IsZero() {
			u.Where = chatName(p.Address)
		}
		if p.Title != "" {
			u.Where += ", " + p.Title
		}
		if p.Forwarded {
			u.Where += ", forwarded"
			if p.Origin != "" {
				u.Where += " from " + p.Origin
			}
		}
	}
}

func (u *utterance) answered(m sessions.Message, results map[string]sessions.Message, open bool) {
	u.Side, u.Who = "agent", "agent"
	u.posted(m)
	text := m.Text()
	if r := control.Read(text); r.Word != control.Speak && r.Text == "" {
		u.Silent = string(r.Word)
	} else if text != "" {
		u.HTML = template.HTML(RenderMarkdown(text)) //nolint:gosec // RenderMarkdown escapes
	}
	for _, b := range m.Content {
		if b.Type == sessions.ThinkingBlock {
			u.Thinking += b.Text
		}
	}
	u.Thinking = bounded(u.Thinking)
	for _, c := range m.ToolCalls() {
		t := toolCall{Name: c.Name, toolUse: toolUse{ID: c.ID, Gist: gist(c.Arguments), Arguments: bounded(indented(c.Arguments)), Open: open}}
		if r, ok := results[c.ID]; ok {
			t.Open, t.Failed, t.Result = false, r.IsError, bounded(r.Text())
		}
		u.Calls = append(u.Calls, t)
	}
}

// hostModels begins the model of what the host wrote into a transcript itself.
const hostModels = "parley/"

// posted says where words come from that no turn of the session said: the host put them into its chat.
func (u *utterance) posted(m sessions.Message) {
	if !strings.HasPrefix(m.Model, hostModels) {
		return
	}
	u.Side, u.Who = "host", "the host"
	switch p := m.Provenance; {
	case p == nil:
	case p.Kind == sessions.InterSession && p.Source != "":
		u.From, u.Where = p.Source, "posted from this session"
		if u.From.Kind() == sessions.KindCron {
			u.Where = "posted from the job's session"
		}
	case p.Kind == sessions.InternalSystem && p.Tool == "send":
		u.Where = "posted through the API"
	}
}

// older gives the number that the page before is asked for with; 0 = this is the first.
func older(h api.History) int64 {
	if !h.More || len(h.Messages) == 0 {
		return 0
	}
	return h.Messages[0].Seq
}

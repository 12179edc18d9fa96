package inbound

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"parley/channels"
	"parley/router/cron"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
)

// ViaHook is the Via of what programs outside send.
const ViaHook = "hook"

// hookRetention is how long a session stays that a hook made for itself.
const hookRetention = 24 * time.Hour

// Report is a text that an external program sends by a hook. It has no sender: it runs no command and has no rights of an owner.
type Report struct {
	Source   string           // dedupe key; "" = never a repeat
	Name     string           // of the program, for people and for the agent
	Agent    sessions.AgentID // whom it is for
	Session  sessions.Key     // whose agent works on it; empty = one of its own
	Text     string
	To       channels.Address // where the answer goes; zero = nowhere
	Model    string
	Thinking string
	Timeout  time.Duration
}

// SubmitHook has an agent work on what a program outside has sent. It is durable when it returns.
func (r *Receiver) SubmitHook(ctx context.Context, x Report) (Submitted, error) {
	w := x.words()
	if w.Reply = x.To; w.Session == "" {
		w.Session, w.Keep = sessions.Parts{Form: sessions.FormHook, Agent: x.Agent, ID: sessions.IDFor(x.Source, "session")}.Key(), hookRetention
	}
	if w.Session.Kind() == sessions.KindHook {
		w.Title = w.Sender.Name
	}
	system, err := turn.Prompt("hook", turn.PromptFacts{Title: w.Sender.Name, Chat: !w.Reply.IsZero()})
	if err != nil {
		return Submitted{}, err
	}
	w.System = system
	return r.Submit(ctx, w)
}

// Wake tells an agent's main session what a program outside has sent: now, in a turn of its own whose answer goes to the session's chat,
// or with its next turn.
func (r *Receiver) Wake(ctx context.Context, x Report, now bool) (Submitted, error) {
	x.Session = r.settings().MainKey(x.Agent)
	s, err := r.store.Get(ctx, x.Session)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return Submitted{}, err
	}
	if now {
		if x.To, err = r.gate.LastChat(ctx, s); err != nil {
			return Submitted{}, err
		}
		return r.SubmitHook(ctx, x)
	}
	w, most := x.words(), r.settings().ContextLimit()
	switch {
	case strings.TrimSpace(x.Text) == "":
		return Submitted{}, sessions.BadRequest("the text is empty")
	case most == 0:
		return Submitted{}, sessions.BadRequest("messages.groupChat.historyLimit is 0, so the host keeps no text for the next turn of a session: use mode now")
	}
	acc, err := r.commit.Submit(ctx, sessions.Change{IdempotencyKey: x.Source, Ops: []sessions.Op{sessions.AppendContext{Key: x.Session, Event: sessions.Reported, Sender: string(w.Sender.ID), Name: w.Sender.Name,
		Text: channels.CutText(strings.TrimSpace(x.Text), settings.MaxContextLine), Time: time.Now(), Keep: most}}})
	return Submitted{Duplicate: acc.Duplicate}, err
}

func (x Report) words() Request {
	name := channels.CutText(cmp.Or(channels.OneLine(x.Name), "Hook"), cron.MaxJobName)
	return Request{Source: x.Source, Session: x.Session, Text: x.Text, Sender: channels.Sender{ID: ViaHook, Name: name}, Via: ViaHook, Exclusive: true, Data: true,
		Model: x.Model, Thinking: x.Thinking, Timeout: x.Timeout, Label: name}
}

// HookKey is the session that a hook names: that of an agent's hook:<id>, or any by its whole key. ok is false when it is neither.
func HookKey(agentID sessions.AgentID, ref string) (key sessions.Key, ok bool) {
	if id, found := strings.CutPrefix(ref, string(sessions.FormHook)+":"); found && id != "" {
		return sessions.Parts{Form: sessions.FormHook, Agent: agentID, ID: id}.Key(), true
	}
	p, err := sessions.Key(ref).Parse()
	return sessions.Key(ref), err == nil && p.Agent != ""
}

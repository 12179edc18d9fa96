package chain

import (
	"context"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// The chain kinds.
const (
	Ask   = "ask"
	Spawn = "spawn"
)

// PostModel is the model of messages that the host puts into a transcript because it posted them.
const PostModel = "parley/post"

// PostedByAPI is the Provenance.Tool of what came through the API.
const PostedByAPI = "send"

// Advance adds to a finished run's outcome what its chain does next, so that both are committed together:
//
//	ask:   primary run in the target → reply steps, requester first → announce in the target → its chat
//	spawn: run of the child → announce in the child → the chat that the spawn came from, and the requester's transcript
//	       run of the child → result in the requester → the chat that the spawn came from
//	       run of the child → further run of the sub-agent that spawned it
//
// What an agent outside asked for comes back into its session's transcript, in the place of reply steps and of a result's turn.
//
// notice is what people may read about a run that failed; the details stay on its row and in the log. It reports false when the
// store could not be asked before the host stopped: the run is then taken up again.
func (a *Advancer) Advance(ctx context.Context, set *settings.Snapshot, run sessions.Run, out agent.Outcome, notice string, o *sessions.Outcome) bool {
	if run.Chain == nil {
		return true
	}
	c := *run.Chain
	switch {
	case run.Kind == sessions.AskRun:
		if o.Status != sessions.Done {
			return true // the requester is told by the tool result; there is nothing to announce
		}
		c.Round1, c.Latest = out.Text, out.Text
		return a.onReply(ctx, set, run, c, out, o)
	case run.Kind == sessions.ReplyRun:
		if o.Status == sessions.Done && spoke(out) {
			c.Latest = out.Text
			return a.onReply(ctx, set, run, c, out, o)
		}
		if o.Status == sessions.Done && out.Text != "" { // the last reply, with the word beside it
			c.Latest = out.Text
		}
		o.Next = a.announceStep(run, c)
	case run.Kind == sessions.AnnounceRun && c.Kind == Ask:
		if o.Status == sessions.Done && spoke(out) && !c.Origin.IsZero() {
			o.Deliveries = append(o.Deliveries, a.announce(set, run, c, out.Final.ID, out.Text))
		}
	case run.Kind == sessions.ChildRun:
		return a.onChildDone(ctx, set, run, c, out, notice, o)
	case run.Kind == sessions.AnnounceRun:
		return a.onAnnounceDone(ctx, set, run, c, out, o)
	case run.Kind == sessions.ResultRun:
		return a.onResultDone(ctx, set, run, c, out, o)
	case c.Kind == Relay:
		return a.onRelayDone(ctx, set, run, c, out, notice, o)
	case run.Kind == sessions.JobRun:
		return a.onJobDone(ctx, set, run, c, out, notice, o)
	case run.Kind == sessions.PostRun && c.Kind == Ask: // an agent outside has the reply
		o.Next = a.announceStep(run, c)
	}
	return true
}

// spoke reports whether an agent said something that is for others to read.
func spoke(out agent.Outcome) bool { return out.Control == agent.Speak && out.Text != "" }

// inlineReply stands for a reply that the requester has as the result of its tool call.
const inlineReply = "The reply is the result of your sessions_send call."

// onReply queues the next reply-back step, or the announce when the exchange is over (contract S9) or the session whose turn it
// would be has had too many turns by other agents (contract S12).
func (a *Advancer) onReply(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, out agent.Outcome, o *sessions.Outcome) bool {
	a2a := set.Session.AgentToAgent
	if c.Requester == "" || c.Turn >= a2a.MaxPingPongTurns || !spoke(out) {
		o.Next = a.announceStep(run, c)
		return true
	}
	to, from, text := c.Requester, c.Target, c.Latest
	if c.Turn%2 == 1 {
		to, from = c.Target, c.Requester
	}
	_, found, ok := a.find(ctx, to)
	switch {
	case !ok:
		return false
	case !found: // deleted meanwhile
		o.Next = a.announceStep(run, c)
		return true
	case isExternal(to):
		o.Next = a.toExternal(run, c, text, &sessions.Provenance{Kind: sessions.InterSession, Source: from, Tool: "sessions_send"})
		return true
	}
	most, had := settings.OrDefault(a2a.MaxTurnsPerHour, 120), 0
	if !a.retry.Do(ctx, "count turns", func(ctx context.Context) (err error) {
		had, err = a.ByAgents(ctx, to, most)
		return err
	}) {
		return false
	}
	if had >= most {
		a.log.Warn("an exchange ends early: its next session has had too many turns by other agents", keyRun, run.ID, keySession, to, "turns", had)
		o.Next = a.announceStep(run, c)
		return true
	}
	c.Turn++
	// The reply reaches the requester's context once (contract S13): in the result of the tool call that waits for it, or in this
	// step's message. A call that has no result yet waits, or will when it is made again after a crash.
	if c.Waited = c.Waited && c.Turn == 1; c.Waited {
		if !a.retry.Do(ctx, "look for the result of the call", func(ctx context.Context) error {
			over, err := a.called(ctx, run.Source)
			c.Waited = !over
			return err
		}) {
			return false
		}
	}
	if c.Waited {
		text = inlineReply
	}
	o.Next = a.step(run, to, sessions.ReplyRun, c, text, &sessions.Provenance{Kind: sessions.InterSession, Source: from, Tool: "sessions_send"})
	return true
}

// announceStep queues the last step of a chain.
func (a *Advancer) announceStep(run sessions.Run, c sessions.Chain) *sessions.Change {
	p := &sessions.Provenance{Kind: sessions.InternalSystem, Source: c.Requester, Tool: "announce"}
	return a.step(run, c.Target, sessions.AnnounceRun, c, "Announce step.", p)
}

func (a *Advancer) step(run sessions.Run, key sessions.Key, kind sessions.RunKind, c sessions.Chain, text string, p *sessions.Provenance) *sessions.Change {
	id := sessions.RunID(uuid.NewString())
	parts, _ := key.Parse()
	return &sessions.Change{
		Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: parts.Agent}, Mode: sessions.Require},
		Run: &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: kind, Key: key, Agent: parts.Agent, Chain: &c, Source: run.Source, Model: modelOf(run, key),
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(text), Time: time.Now(), Run: id, Provenance: p}}},
	}
}

// modelOf keeps a run's own model for the later steps in the same session.
func modelOf(run sessions.Run, key sessions.Key) string {
	if run.Key == key {
		return run.Model
	}
	return ""
}

// announce makes the delivery of a chain's last words; msg is the transcript message that has them.
func (a *Advancer) announce(set *settings.Snapshot, run sessions.Run, c sessions.Chain, msg, text string) sessions.Delivery {
	d := sessions.NewDelivery(sessions.Announce, c.Target, c.Origin, text, time.Now().Add(set.Delivery.TTL(sessions.Announce)))
	d.Run, d.Message = run.ID, msg
	if c.Kind != Ask {
		d.Session = c.Requester // the policy of the chat that it goes to
	}
	return d
}

// Posted puts a text into a session's transcript as its agent's words: people in its chat read it there, so the agent must know it.
// It is a run without a turn, so that it never lands between a tool call and its result.
func (a *Advancer) Posted(key sessions.Key, agentID sessions.AgentID, source, text string) *sessions.Change {
	id := sessions.RunID(uuid.NewString())
	return &sessions.Change{
		Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: agentID}, Mode: sessions.Require},
		Run:     &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: sessions.PostRun, Key: key, Agent: agentID, Source: source, Input: postedMessage(id, text)}},
	}
}

// PostedBy notes which session's words a post has.
func PostedBy(c *sessions.Change, from sessions.Key, tool string) *sessions.Change {
	c.Run.Input.Provenance = &sessions.Provenance{Kind: sessions.InterSession, Source: from, Tool: tool}
	return c
}

func postedMessage(run sessions.RunID, text string) sessions.Message {
	return sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(text), Time: time.Now(), Run: run, Model: PostModel, Stop: "stop"}
}

// Requester is the session that a sub-agent's run works for.
func Requester(run sessions.Run) sessions.Key {
	if c := run.Chain; c != nil && c.Kind == Spawn {
		return c.Requester
	}
	return ""
}

// LeftAbove is how long the further turns of a sub-agent may still take, of whose chain Until is set.
func (a *Advancer) LeftAbove(c sessions.Chain) time.Duration {
	if c.StartedMs == 0 { // as earlier versions have stored it
		return c.Until.Sub(a.clock.Now())
	}
	return a.clock.Left(c.Until, time.UnixMilli(c.StartedMs))
}

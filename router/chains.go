package router

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/sessions"
)

// The chain kinds.
const (
	chainAsk   = "ask"
	chainSpawn = "spawn"
)

// handOn adds to a finished run's outcome what its chain does next, so that both are committed together:
//
//	ask:   primary run in the target → reply steps, requester first → announce in the target → its chat
//	spawn: run of the child → announce in the child → the chat that the spawn came from
//
// notice is what people may read about a run that failed; the details stay on its row and in the log.
func (r *Router) handOn(set *Settings, run sessions.Run, out agent.Outcome, notice string, o *sessions.Outcome) {
	if run.Chain == nil {
		return
	}
	c := *run.Chain
	switch {
	case run.Kind == sessions.AskRun:
		if o.Status != sessions.Done {
			return // the requester is told by the tool result; there is nothing to announce
		}
		c.Round1, c.Latest = out.Text, out.Text
		r.nextReply(set, run, c, out, o)
	case run.Kind == sessions.ReplyRun:
		if o.Status == sessions.Done && out.Control == agent.Speak && out.Text != "" {
			c.Latest = out.Text
			r.nextReply(set, run, c, out, o)
			return
		}
		o.Next = r.announceStep(run, c)
	case run.Kind == sessions.ChildRun:
		c.Status, c.Error = o.Status, notice
		c.Latest = firstOf(out.Text, out.Newest)
		c.StartedMs, c.EndedMs, c.Usage = run.Started.UnixMilli(), time.Now().UnixMilli(), o.Usage
		if out.Control == agent.AnnounceSkip {
			r.cleanup(c, run, o)
			return
		}
		o.Next = r.announceStep(run, c)
	case run.Kind == sessions.AnnounceRun && c.Kind == chainAsk:
		if o.Status == sessions.Done && out.Control == agent.Speak && out.Text != "" && !c.Origin.IsZero() {
			o.Deliveries = append(o.Deliveries, r.announce(set, run, c, o.Messages, out.Text))
		}
	case run.Kind == sessions.AnnounceRun:
		// Only the one word is silence (contract N15). When the step failed or said nothing, the host posts the stored result (N11).
		switch {
		case out.Control == agent.AnnounceSkip:
		case c.Origin.IsZero():
			r.log.Warn("a sub-agent has no chat to report to", keyRun, run.ID, keySession, run.Key)
		case o.Status == sessions.Done && out.Control == agent.Speak:
			o.Deliveries = append(o.Deliveries, r.announce(set, run, c, o.Messages, r.report(c, run, out.Text)))
		default:
			o.Deliveries = append(o.Deliveries, r.announce(set, run, c, o.Messages, r.report(c, run, "")))
		}
		r.cleanup(c, run, o)
	}
}

// inlineReply stands for a reply that the requester has as the result of its tool call.
const inlineReply = "The reply is the result of your sessions_send call."

// nextReply queues the next reply-back step, or the announce when the exchange is over (contract S9).
func (r *Router) nextReply(set *Settings, run sessions.Run, c sessions.Chain, out agent.Outcome, o *sessions.Outcome) {
	if c.Requester == "" || c.Turn >= set.Session.AgentToAgent.MaxPingPongTurns || out.Control != agent.Speak || out.Text == "" {
		o.Next = r.announceStep(run, c)
		return
	}
	c.Turn++
	to, from, text := c.Requester, c.Target, c.Latest
	if c.Turn%2 == 0 {
		to, from = c.Target, c.Requester
	}
	// The reply reaches the requester's context once (contract S13): in the result of the tool call that waits for it, or in this
	// step's message.
	if c.Waited = c.Turn == 1 && r.ends.awaited(run.ID); c.Waited {
		text = inlineReply
	}
	o.Next = r.step(run, to, sessions.ReplyRun, c, text, &sessions.Provenance{Kind: sessions.InterSession, Source: from, Tool: "sessions_send"})
}

// announceStep queues the last step of a chain.
func (r *Router) announceStep(run sessions.Run, c sessions.Chain) *sessions.Effects {
	p := &sessions.Provenance{Kind: sessions.InternalSystem, Source: c.Requester, Tool: "announce"}
	return r.step(run, c.Target, sessions.AnnounceRun, c, "Announce step.", p)
}

func (r *Router) step(run sessions.Run, key sessions.Key, kind sessions.RunKind, c sessions.Chain, text string, p *sessions.Provenance) *sessions.Effects {
	id := sessions.RunID(uuid.NewString())
	parts, _ := key.Parse()
	return &sessions.Effects{
		Session: &sessions.Session{Key: key, Agent: parts.Agent},
		Run: &sessions.Run{ID: id, Kind: kind, Key: key, Agent: parts.Agent, Chain: &c, Source: run.Source, Model: modelOf(run, key),
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(text), Time: time.Now(), Run: id, Provenance: p}},
	}
}

// modelOf keeps a run's own model for the later steps in the same session.
func modelOf(run sessions.Run, key sessions.Key) string {
	if run.Key == key {
		return run.Model
	}
	return ""
}

func (r *Router) announce(set *Settings, run sessions.Run, c sessions.Chain, msgs []sessions.Message, text string) sessions.Delivery {
	d := sessions.Delivery{ID: sessions.DeliveryID(uuid.NewString()), Kind: sessions.Announce, Session: c.Target, Run: run.ID, To: c.Origin, Text: text,
		Expires: time.Now().Add(set.Delivery.ttl(sessions.Announce))}
	if c.Kind == chainSpawn {
		d.Session = c.Requester // the policy of the chat that it goes to
	}
	if len(msgs) > 0 {
		d.Message = msgs[len(msgs)-1].ID
	}
	return d
}

// cleanup deletes a child's session when the spawn asked for it (contract N14).
func (r *Router) cleanup(c sessions.Chain, run sessions.Run, o *sessions.Outcome) {
	if c.Kind == chainSpawn && c.Cleanup == "delete" {
		o.Delete = &run.Key
	}
}

var section = regexp.MustCompile(`(?i)^\s*[-*]?\s*(?:\*\*)?(status|result|notes)(?:\*\*)?\s*:\s*(?:\*\*)?\s*(.*)$`)

// report words a sub-agent's announce: Status from the runtime, Result and Notes from the announce step, or from the stored
// result when that is empty, and a line of figures (contract N11, N13).
func (r *Router) report(c sessions.Chain, run sessions.Run, text string) string {
	parts := map[string][]string{}
	at := ""
	for line := range strings.SplitSeq(text, "\n") {
		if m := section.FindStringSubmatch(line); m != nil && (at == "" || !strings.EqualFold(m[1], "status")) {
			if strings.EqualFold(m[1], "status") {
				continue // the host knows it better
			}
			at, line = strings.ToLower(m[1]), m[2]
		}
		parts[at] = append(parts[at], line)
	}
	join := func(k string) string { return strings.TrimSpace(strings.Join(parts[k], "\n")) }
	result := firstOf(join("result"), join(""), c.Latest, "(not available)")
	var notes []string
	if n := join("notes"); n != "" {
		notes = append(notes, n)
	}
	if c.Error != "" {
		notes = append(notes, "- Error: "+c.Error)
	}
	if len(notes) == 0 {
		notes = []string{"- (none)"}
	}
	return fmt.Sprintf("Status: %s\n\nResult:\n%s\n\nNotes:\n%s\n\n%s", statusWord(c.Status), result, strings.Join(notes, "\n"), r.stats(c, run))
}

func statusWord(s sessions.RunStatus) string {
	switch s {
	case sessions.Done:
		return "success"
	case sessions.Failed, sessions.Stopped:
		return "error"
	case sessions.TimedOut:
		return "timeout"
	}
	return "unknown"
}

func (r *Router) stats(c sessions.Chain, run sessions.Run) string {
	took := time.Duration(c.EndedMs-c.StartedMs) * time.Millisecond
	line := fmt.Sprintf("Stats: runtime %s • tokens %s (in %s / out %s) • sessionKey `%s` • sessionId `%s`", took.Round(time.Second),
		short(c.Usage.Total()), short(c.Usage.Input), short(c.Usage.Output), run.Key, run.Session)
	if r.deps.TranscriptPath != nil {
		line += " • transcript `" + r.deps.TranscriptPath(run.Agent, run.Session) + "`"
	}
	return line
}

// short writes a count as people do: 950, 1.2k, 3.4m.
func short(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fm", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

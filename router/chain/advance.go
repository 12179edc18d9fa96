package chain

import (
	"cmp"
	"slices"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// PostModel is the model of messages that the host puts into a transcript because it posted them.
const PostModel = "parley/post"

// PostedByAPI is the Provenance.Tool of what came through the API.
const PostedByAPI = "send"

// ExternalKind is the kind in the keys of external agents' sessions: agent:<default agent>:mcp:<who>.
const ExternalKind channels.Kind = "mcp"

// Facts are the whole input of Advance. Load fills them from the store.
type Facts struct {
	Run     sessions.Run // with its Chain, before its end
	Said    agent.Outcome
	Status  sessions.RunStatus
	Error   string
	Notice  string // what people may read about a failure; the details stay on the run's row and in the log
	Expired bool   // past its time to live: it was not begun, or not resumed
	Refused bool   // the model's provider refused a message of the run
	Usage   sessions.Usage
	Last    string // the id of its last message

	StartedMs, EndedMs int64
	Transcript         string // the file of the run's session; "" = none

	MaxTurns, MaxTurnsPerHour int  // session.agentToAgent
	ToRequester               bool // agents.defaults.subagents.announce

	Other         *sessions.Session // the next to reply in an exchange, otherwise the requester; nil = deleted
	ByAgents      int               // turns of Other within the last hour that agents caused
	CallEnded     bool              // the tool call that began the exchange has its result
	CallTold      bool              // and that has the reply, or the failure
	Asker         *sessions.Session // the requester of an exchange; nil = it is deleted
	AskerTurns    int               // turns of the requester within the last hour that agents caused
	AskerStopped  bool              // a person has stopped the turn that asked
	ParentStopped bool
	Parent        sessions.Run     // the first run of the parent
	Left          time.Duration    // that further turns of the parent may take
	Speaking      sessions.Session // the session that posts, and whose send policy decides; no key = it was deleted
	BusyBelow     bool             // sub-agents below the chain's session are running
	ChildAborted  bool             // a person has stopped the sub-agent
}

// Step is the result of Advance: what follows on a run. The caller fills in ids and times.
type Step struct {
	Rule    string
	Next    *sessions.Change   // nil = the chain ends
	Post    *sessions.Delivery // nil = nothing is posted; without Message it refers to Message, else to Next's input
	Lasts   Lasting
	Message *sessions.Message // of the agent, for the run's own transcript; nil = none
	Delete  bool              // the sub-agent's session is deleted
	// Unreported says why a sub-agent's result reaches no chat and no session: its run is listed with that (contract N15). "" = it does.
	Unreported string
	Warning    string
	Attrs      []any
}

// Lasting says how long a post may wait to be sent.
type Lasting int

// The times.
const (
	announceTime Lasting = iota
	replyTime
	jobTime
	noTime
)

func (s *Step) warn(msg string, attrs ...any) { s.Warning, s.Attrs = msg, attrs }

// ending is a run at its end.
type ending struct {
	Facts
	c        sessions.Chain // as it continues
	to, from sessions.Key   // of an exchange: who would reply next, to whom
}

// Advance gives what follows on a run that belongs to a chain. It is pure.
func Advance(f Facts) Step {
	e := &ending{Facts: f, c: chainOf(f)}
	e.to, e.from = speakers(e.c)
	at := endOf(f.Run)
	for _, r := range Protocol() {
		if (slices.Contains(r.From, at) || r.From[0] == fromAny) && r.holds(e) {
			s := r.then(e)
			s.Rule = r.Name
			return s
		}
	}
	return Step{}
}

// endOf names the end of a run.
func endOf(run sessions.Run) string {
	ask := run.Chain.Kind == Ask
	switch {
	case run.Kind == sessions.FollowUpRun:
		return fromFollowUp
	case run.Kind == sessions.AskRun:
		return fromAsk
	case run.Kind == sessions.ReplyRun:
		return fromReply
	case run.Kind == sessions.AnnounceRun && ask:
		return fromAnnounce
	case run.Kind == sessions.ChildRun:
		return fromChild
	case run.Kind == sessions.AnnounceRun:
		return fromReport
	case run.Kind == sessions.ResultRun:
		return fromResult
	case run.Chain.Kind == Relay:
		return fromRelay
	case run.Kind == sessions.JobRun:
		return fromJob
	case run.Kind == sessions.PostRun && ask:
		return fromPost
	}
	return ""
}

// chainOf gives the chain of a run with what the run has added to it.
func chainOf(f Facts) sessions.Chain {
	c, ok := *f.Run.Chain, f.Status == sessions.Done
	switch {
	case f.Expired:
		if c.Status == "" {
			c.Status, c.Error = f.Status, f.Error
		}
	case f.Run.Kind == sessions.AskRun:
		if ok {
			c.Round1, c.Latest, c.Unread = f.Said.Text, f.Said.Text, f.Said.Text != ""
		} else {
			c.Status, c.Error = f.Status, cmp.Or(f.Notice, f.Error)
		}
	case f.Run.Kind == sessions.ReplyRun:
		if f.Said.Text != "" { // also beside the word that makes it the last one, or before it failed
			c.Latest, c.Unread = f.Said.Text, c.Turn%2 == 0
		}
	case f.Run.Kind == sessions.ChildRun:
		c.Status, c.Error, c.StartedMs, c.EndedMs, c.Usage = f.Status, f.Notice, f.StartedMs, f.EndedMs, f.Usage
		c.Latest = cmp.Or(f.Said.Text, f.Said.Newest)
		if f.Refused {
			c.Request = refusedRequest
		}
	}
	return c
}

// refusedRequest stands for the task of a sub-agent in later steps, when the provider refused it.
const refusedRequest = "(left out: the model's provider refused it)"

// inlineReply stands for a reply that the requester has as the result of its tool call.
const inlineReply = "The reply is the result of your sessions_send call."

// speakers says who replies next in an exchange, and to whom: the requester first.
func speakers(c sessions.Chain) (to, from sessions.Key) {
	if c.Turn%2 == 1 {
		return c.Target, c.Requester
	}
	return c.Requester, c.Target
}

// spoke reports whether an agent said something that is for others to read.
func spoke(out agent.Outcome) bool { return out.Control == agent.Speak && out.Text != "" }

func always(*ending) bool        { return true }
func failed(e *ending) bool      { return e.Status != sessions.Done }
func isOtherGone(e *ending) bool { return e.Other == nil }
func toExternal(e *ending) bool  { return isExternal(e.to) }

// isExternal reports whether a session is that of an external agent: it takes no turns of its own.
func isExternal(key sessions.Key) bool {
	p, err := key.Parse()
	return err == nil && p.Form == sessions.FormOther && p.Channel == ExternalKind
}

func endStep(*ending) Step       { return Step{} }
func cleanupStep(e *ending) Step { return e.cleanup(Step{}) }

// announce queues the last step of a chain.
func (e *ending) announce() Step {
	return Step{Next: e.next(e.c.Target, sessions.AnnounceRun, e.c, "Announce step.", &sessions.Provenance{Kind: sessions.InternalSystem, Source: e.c.Requester, Tool: "announce"})}
}

// reply queues the next reply step. The reply reaches the requester's context once (contract S13): in the result of the tool call that
// waits for it, or in this step's message. A call that has no result yet waits, or will when it is made again after a crash.
func (e *ending) reply(inline bool) Step {
	c, text := e.c, e.c.Latest
	c.Turn++
	if e.to == c.Requester {
		c.Unread = false
	}
	if c.Waited = inline; inline {
		text = inlineReply
	}
	return Step{Next: e.next(e.to, sessions.ReplyRun, c, text, e.toOther())}
}

// announces reports whether an announce step says something into a chat.
func (e *ending) announces() bool { return !failed(e) && spoke(e.Said) && !e.c.Origin.IsZero() }

// late reports whether the people who asked must be told by a follow-up: the requester's call answered before there was a reply.
func (e *ending) late() bool {
	return e.CallEnded && !e.CallTold && !e.AskerStopped && !e.c.Back.IsZero() && e.Asker != nil && !e.Asker.Archived && e.AskerTurns < e.MaxTurnsPerHour &&
		e.Status != sessions.Stopped // the other side of a stop is told in its context
}

// followUp has the requester's agent tell its chat what came of an exchange (contract S15). A reply that the transcript has already is
// referred to; one that it has not is the message. Each follow-up is one hop more, so that sends in follow-ups come to an end (S12).
func (e *ending) followUp() *sessions.Change {
	c := e.c
	c.Hops = append(slices.Clip(c.Hops), c.Requester)
	text, p := followUpText, &sessions.Provenance{Kind: sessions.InternalSystem, Source: c.Target, Tool: "sessions_send"}
	switch {
	case c.Error != "":
		text = "Your sessions_send call has no reply: " + c.Error
	case c.Unread:
		text, p = c.Latest, &sessions.Provenance{Kind: sessions.InterSession, Source: c.Target, Tool: "sessions_send"}
	}
	next := e.next(c.Requester, sessions.FollowUpRun, c, text, p)
	next.Run.Reply = c.Back
	return next
}

// followUpText is the input of a follow-up whose reply the transcript has already.
const followUpText = "The exchange is over."

// tell posts what the follow-up says into the requester's chat. When it failed or says nothing, the host says what came of the exchange in a
// message of its own: the transcript has the words that people read.
func (e *ending) tell() Step {
	s := Step{Post: e.says(e.Said.Text), Lasts: replyTime}
	if failed(e) || s.Post.Text == "" {
		s.Message = &sessions.Message{Content: sessions.TextContent(Late(e.c, e.Notice))}
		s.Post = e.post(s.Message.Text())
	}
	s.Post.Kind, s.Post.Session, s.Post.To = sessions.Reply, e.c.Requester, e.c.Back
	return e.inVoice(s)
}

func (e *ending) toOther() *sessions.Provenance {
	return &sessions.Provenance{Kind: sessions.InterSession, Source: e.from, Tool: "sessions_send"}
}

// toExternal puts what an external agent asked for into its session's transcript, where sessions_history shows it: no turn answers it.
func (e *ending) toExternal(text string, p *sessions.Provenance) Step {
	return Step{Next: e.next(e.c.Requester, sessions.PostRun, e.c, text, p)}
}

// result has the requester's agent word the update about a sub-agent's result.
func (e *ending) result() Step {
	s := Step{Next: e.next(e.c.Requester, sessions.ResultRun, e.c, e.report(e.c.Latest), e.fromChild())}
	s.Next.Run.Reply = e.c.Origin
	return s
}

// toParent hands a result to the sub-agent that asked for it: its running turn takes it up, otherwise a further one begins. That
// one's result is reported like its first.
func (e *ending) toParent() Step {
	s := Step{Next: e.next(e.c.Requester, sessions.ChildRun, *e.c.Parent, e.report(e.c.Latest), e.fromChild())}
	s.Next.Session.SpawnedBy, s.Next.Session.Above, s.Next.Session.Top = e.Other.SpawnedBy, e.Other.Above, e.Other.Top
	next := s.Next.Run
	next.Model, next.Label, next.Timeout = e.Parent.Model, e.Parent.Label, e.Parent.Timeout
	if !e.c.Parent.Until.IsZero() {
		next.Timeout = e.Left
		if e.Parent.Timeout > 0 {
			next.Timeout = min(next.Timeout, e.Parent.Timeout)
		}
	}
	return e.cleanup(s)
}

// fromChild is where a sub-agent's report comes from.
func (e *ending) fromChild() *sessions.Provenance {
	return &sessions.Provenance{Kind: sessions.InterSession, Source: e.c.Target, Tool: "sessions_spawn", Owner: e.c.Owner, People: e.c.People}
}

// unreported ends a sub-agent's run whose result nobody is there to have: it is listed with the reason (contract N15). Its session
// stays, or there would be nothing to list.
func (e *ending) unreported(why string) Step {
	s := Step{Unreported: why}
	s.warn("sub-agent's result not reported", keyRun, e.Run.ID, keySession, e.Run.Key, keyReason, why)
	return s
}

// next queues a run of the chain.
func (e *ending) next(key sessions.Key, kind sessions.RunKind, c sessions.Chain, text string, p *sessions.Provenance) *sessions.Change {
	change := require(key, key.Agent(), sessions.Run{Kind: kind, Chain: &c, Source: e.Run.Source, Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent(text), Provenance: p}})
	if e.Run.Key == key { // a run's own model is kept for the later steps in the same session
		change.Run.Model = e.Run.Model
	}
	return change
}

func require(key sessions.Key, agentID sessions.AgentID, run sessions.Run) *sessions.Change {
	run.Key, run.Agent = key, agentID
	return &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: agentID}, Mode: sessions.Require}, Run: &sessions.Enqueue{Run: run}}
}

// post makes the delivery of a text that another message has than the last one of the run.
func (e *ending) post(text string) *sessions.Delivery {
	d := &sessions.Delivery{Kind: sessions.Announce, Session: e.c.Target, To: e.c.Origin, Text: text, Run: e.Run.ID}
	if e.c.Kind != Ask {
		d.Session = e.c.Requester // the policy of the chat that it goes to
	}
	return d
}

// says posts the last message of the run.
func (e *ending) says(text string) *sessions.Delivery {
	d := e.post(text)
	d.Message = e.Last
	return d
}

// saidOr gives what the run said, or what is said of its failure.
func (e *ending) saidOr(notice string) string {
	if failed(e) {
		return notice
	}
	return e.Said.Text
}

// postReport posts the report about a sub-agent, from its words or, when they are empty, from the stored result (contract N11). What
// becomes of the post is marked in the requester's transcript: that is where people and its agent look. The announce step's own
// message has a mark only when there is no such transcript any more.
func (e *ending) postReport(words string) Step {
	d := e.says(e.report(words))
	if e.Other != nil {
		return e.inTranscript(d, e.Speaking, "sessions_spawn")
	}
	return Step{Post: d}
}

// inVoice posts what a job's session has to say in the name of the session whose chat it goes to: people read it there.
func (e *ending) inVoice(s Step) Step {
	if e.c.Requester.Kind() != sessions.KindCron {
		return s
	}
	voiced := e.inTranscript(s.Post, e.Speaking, "")
	voiced.Message, voiced.Lasts = s.Message, s.Lasts
	return voiced
}

// inTranscript puts what is posted into the transcript of the session in whose name it is, as its agent's words. tool says how it came from
// the run's session; "" = it is the session's own.
func (e *ending) inTranscript(d *sessions.Delivery, speaking sessions.Session, tool string) Step {
	d.Session, d.Message = speaking.Key, ""
	next := posted(speaking.Key, speaking.Agent, e.Run.Source, d.Text)
	if tool != "" {
		PostedBy(next, e.Run.Key, tool)
	}
	return Step{Post: d, Next: next}
}

// cleanup deletes a sub-agent's session when the spawn asked for it (contract N14). The store leaves it as long as further runs of
// it wait, and it is left as long as sub-agents below it are running: what their results cause deletes it. What a person stopped
// meanwhile is left to be listed (N15).
func (e *ending) cleanup(s Step) Step {
	s.Delete = e.c.Cleanup == "delete" && !e.BusyBelow && (!e.ChildAborted || e.Run.Kind == sessions.ChildRun)
	return s
}

func (e *ending) report(words string) string { return Report(e.c, e.Run, e.Transcript, words) }

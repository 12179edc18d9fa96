package sessions

import (
	"encoding/json"
	"time"

	"parley/channels"
)

// RunID names a run, a UUID.
type RunID string

// RunStatus is the state of a run.
type RunStatus string

// The statuses. The last four are final.
const (
	Queued   RunStatus = "queued"
	Running  RunStatus = "running"
	Done     RunStatus = "done"
	Failed   RunStatus = "failed"
	TimedOut RunStatus = "timeout"
	Stopped  RunStatus = "aborted"
)

// Final reports whether the run has ended.
func (s RunStatus) Final() bool { return s != Queued && s != Running }

// RunKind says what a run is for; the router decides by it what a finished run hands on.
type RunKind string

// The kinds.
const (
	TurnRun     RunKind = "turn"      // a person (or the API) wrote
	AskRun      RunKind = "ask"       // another session wrote, by sessions_send
	ReplyRun    RunKind = "reply"     // a reply-back step of an ask (contract S9)
	ChildRun    RunKind = "child"     // a running sub-agent
	AnnounceRun RunKind = "announce"  // the last step of a chain: what is posted into a chat
	FollowUpRun RunKind = "follow-up" // a late reply, or the failure of an ask, in the session that asked, whose agent tells its chat (contract S15)
	ResultRun   RunKind = "result"    // a sub-agent's result in the session that asked for it, whose agent words the update (contract N16)
	CompactRun  RunKind = "compact"   // no turn: sums up the transcript, because a person asked for it; Input holds what to look at
	JobRun      RunKind = "job"       // a scheduled job's turn
	PostRun     RunKind = "post"      // no turn: puts into the transcript what the host posted into the session's chat
)

// ByAgent reports whether another agent causes such a run. Those turns are counted by themselves, and capped (contract S12).
func (k RunKind) ByAgent() bool {
	return k == AskRun || k == ReplyRun || k == ResultRun || k == FollowUpRun
}

// Run is one agent turn in a session, from the queue to its end.
type Run struct {
	ID         RunID              `json:"id"`
	Kind       RunKind            `json:"kind,omitzero"`
	Key        Key                `json:"key"`              // the session
	Session    ID                 `json:"session,omitzero"` // its id when the run was queued
	Agent      AgentID            `json:"agent,omitzero"`
	Status     RunStatus          `json:"status"`
	Attempt    int                `json:"attempt,omitzero"` // how often it was claimed; a run that kills the host is not claimed for ever
	Input      Message            `json:"input,omitzero"`   // what the turn answers
	Reply      channels.Address   `json:"reply,omitzero"`   // where the answer goes; zero = nowhere (deliver: false)
	ReplyTo    channels.MessageID `json:"replyTo,omitzero"`
	Source     string             `json:"source,omitzero"`   // what caused it, for trace: the platform's message id, a tool call id, an API idempotency key
	Model      string             `json:"model,omitzero"`    // overrides the session's, provider/model
	Thinking   string             `json:"thinking,omitzero"` // overrides the session's
	System     string             `json:"system,omitzero"`   // stands at the end of this turn's system prompt
	*RunExtras                    // the fields that few runs have; nil = none. They are read by methods, which take nil
	Revised    bool               `json:"revised,omitzero"` // its words were replaced while its turn was running, and that began again
	Exclusive  bool               `json:"alone,omitzero"`   // a turn of its own: neither collected with others nor interrupted or dropped for them
	Stopping   bool               `json:"-"`                // Running, and it was stopped or, with MergedInto, interrupted: its worker has to end it
	Label      string             `json:"label,omitzero"`
	Timeout    time.Duration      `json:"timeout,omitzero"` // longest run; 0 = the agent's
	Chain      *Chain             `json:"chain,omitzero"`   // what it hands on; nil = nothing
	Created    time.Time          `json:"created,omitzero"`
	Started    time.Time          `json:"started,omitzero"`  // of the current attempt
	Deadline   time.Time          `json:"deadline,omitzero"` // set at the first claim, kept over restarts
	Ended      time.Time          `json:"ended,omitzero"`
	Result     string             `json:"result,omitzero"` // final text of the agent, as it was before control words were taken out
	Error      string             `json:"error,omitzero"`  // for people; Failed, TimedOut, Stopped
	Usage      Usage              `json:"usage,omitzero"`
	MergedInto RunID              `json:"batch,omitempty"` // the run whose turn answered this one's message as well: it took it up while it was queued, or came in its place
}

// RunExtras are the fields of a run that few runs have. They stand beside it, so that runs stay small. Copies of a run share them: they are
// replaced, never changed.
type RunExtras struct {
	With    RunID           `json:"with,omitzero"` // the run of the message right before it that its sender sent with the same gesture
	Client  json.RawMessage `json:"-"`             // what the API that it came through keeps of the request, in that API's own form; nothing else reads it
	Home    Key             `json:"-"`             // the session whose transcript it has, when its chat became another session's chat, whose queue it is in; "" = Key
	Brought *Block          `json:"-"`             // as NewContextBlock makes it: the context lines in Input; nil = none; they become context lines again when the message is withdrawn
}

// Extras reads RunExtras.
func (r *Run) Extras() RunExtras {
	if r.RunExtras == nil {
		return RunExtras{}
	}
	return *r.RunExtras
}

// SetExtras replaces RunExtras.
func (r *Run) SetExtras(x RunExtras) {
	if r.RunExtras = nil; x.With != "" || x.Client != nil || x.Home != "" || x.Brought != nil {
		r.RunExtras = &x
	}
}

// With reads RunExtras.With.
func (r *Run) With() RunID { return r.Extras().With }

// Client reads RunExtras.Client.
func (r *Run) Client() json.RawMessage { return r.Extras().Client }

// Home reads RunExtras.Home.
func (r *Run) Home() Key { return r.Extras().Home }

// Brought reads RunExtras.Brought.
func (r *Run) Brought() *Block { return r.Extras().Brought }

// TranscriptKey gives the session whose transcript a run has.
func (r *Run) TranscriptKey() Key {
	if home := r.Home(); home != "" {
		return home
	}
	return r.Key
}

// Chain is the data that a run hands to its successors. One shape for all kinds of chain; a field that a kind does not use is empty.
type Chain struct {
	Kind      string           `json:"kind"` // see package chain: ask, spawn, job or said
	Root      RunID            `json:"root"` // the first run of the chain
	Requester Key              `json:"requester,omitempty"`
	Target    Key              `json:"target,omitempty"`
	Asker     string           `json:"asker,omitempty"`     // whose share of the host its runs use
	From      channels.Address `json:"from,omitzero"`       // the requester's chat when it asked
	Request   string           `json:"request,omitempty"`   // the original request or task
	Label     string           `json:"label,omitempty"`     // spawn: of the child; "" = it has none
	Round1    string           `json:"round1,omitempty"`    // the first reply
	Latest    string           `json:"latest,omitempty"`    // the newest reply
	Turn      int              `json:"turn,omitempty"`      // reply-back turns taken
	Hops      []Key            `json:"hops,omitempty"`      // sessions that the chain of sends has passed through
	Origin    channels.Address `json:"origin,omitzero"`     // where the announce goes, captured at the start
	Waited    bool             `json:"waited,omitempty"`    // the requester's tool call waits for round 1; in a reply step: it has it as its result
	Back      channels.Address `json:"back,omitzero"`       // ask: the requester's chat, which hears of a late reply or a failure; zero = none
	Unread    bool             `json:"unread,omitempty"`    // ask: Latest is the target's, and the requester has it in no message
	Cleanup   string           `json:"cleanup,omitempty"`   // spawn: keep | delete
	Status    RunStatus        `json:"status,omitempty"`    // spawn: how the child ended; ask: how the target's turn did, if it failed
	Error     string           `json:"error,omitempty"`     // why
	StartedMs int64            `json:"startedMs,omitempty"` // spawn: of the child, for the stats line; with Until: when the turn began that Until is the end of
	EndedMs   int64            `json:"endedMs,omitempty"`
	Usage     Usage            `json:"usage,omitzero"`
	Owner     bool             `json:"owner,omitempty"`  // the turn that began it answered only owners: what its steps may use depends on it
	People    []Person         `json:"people,omitempty"` // whose messages that turn answered: what its steps may use depends on it as well
	Places    []Place          `json:"places,omitempty"` // where that turn was, and where those were that it goes back to: what its steps may use depends on it as well
	Until     time.Time        `json:"until,omitzero"`   // spawn: follow-ups of the child end by then as well (contract N9); zero = no limit of its own
	Parent    *Chain           `json:"parent,omitempty"` // spawn by a sub-agent: that one's own chain, which continues with the result
}

// Place is a chat and the session that a turn in it belongs to.
type Place struct {
	Chat    channels.Address `json:"chat"`
	Session Key              `json:"session,omitempty"`
}

// Person is a person as their platform knows them.
type Person struct {
	Channel channels.Kind   `json:"channel"`
	ID      channels.UserID `json:"id"`
	User    string          `json:"username,omitempty"` // without @
}

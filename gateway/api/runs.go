package api

import (
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// AgentCall has an agent work on something (the operation agent).
type AgentCall struct {
	Message  string `json:"message" required:"true"`
	Agent    string `json:"agentId,omitempty" jsonschema:"default: the session's agent, else the default agent"`
	Session  string `json:"sessionKey,omitempty" jsonschema:"default: a new session for this run"`
	To       string `json:"to,omitempty" jsonschema:"address that receives the answer; last: the chat, other than the page, that wrote last to the agent's main session"`
	Deliver  *bool  `json:"deliver,omitempty" jsonschema:"false: the answer stays in the transcript; default: true when to is given"`
	Label    string `json:"label,omitempty"`
	Model    string `json:"model,omitempty" jsonschema:"provider/model, for this run"`
	Thinking string `json:"thinking,omitempty" enum:"off,minimal,low,medium,high"`
	System   string `json:"extraSystemPrompt,omitempty"`
	Timeout  int    `json:"timeoutSeconds,omitempty" min:"1" max:"86400"`
}

// RunCall names a run.
type RunCall struct {
	ID sessions.RunID `path:"run"`
}

// WaitQuery waits for the end of a run (agent.wait).
type WaitQuery struct {
	ID      sessions.RunID `path:"run"`
	Timeout int            `query:"timeoutMs" default:"30000" min:"0" max:"600000" jsonschema:"time to wait, in milliseconds; 0: return the current state"`
}

// Waited is the state of a run when the wait for it ended.
type Waited struct {
	Run     sessions.RunID     `json:"runId"`
	Status  string             `json:"status"` // ok, error, timeout: it continues and can be waited for again
	State   sessions.RunStatus `json:"state" jsonschema:"state of the run whose turn answers the message"`
	Final   bool               `json:"final"`
	Outcome Outcome            `json:"outcome,omitempty" jsonschema:"answered, silent, done, empty, withheld, stopped, timeout, failed, undelivered, expired, held or dropped; absent while the run continues"`
	Rule    string             `json:"rule,omitempty" jsonschema:"rule of the send policy that withheld the answer"`
	Reply   string             `json:"reply,omitempty"`
	Silent  string             `json:"silent,omitempty" jsonschema:"control word that replaced the answer"`
	Error   string             `json:"error,omitempty"`
	Started time.Time          `json:"startedAt,omitzero"`
	Ended   time.Time          `json:"endedAt,omitzero"`
	Usage   sessions.Usage     `json:"usage,omitzero"`

	Deliveries []sessions.Mark `json:"deliveries,omitempty"` // of its answer, oldest first
}

// RunsQuery selects runs, newest first.
type RunsQuery struct {
	Session string             `query:"session" jsonschema:"key, session id, or main"`
	Parent  string             `query:"parent" jsonschema:"runs of the sub-agents of this session"`
	Root    sessions.RunID     `query:"root" jsonschema:"runs of the chain that began with this run"`
	Status  sessions.RunStatus `query:"status" enum:"queued,running,done,failed,timeout,aborted"`
	Kind    sessions.RunKind   `query:"kind"`
	Minutes int                `query:"activeMinutes" min:"1" max:"5256000" jsonschema:"only runs that were queued in the last minutes"`
	Limit   int                `query:"limit" default:"50" min:"1" max:"1000"`
}

// Run is one row of runs.list.
type Run struct {
	ID        sessions.RunID     `json:"runId"`
	Kind      sessions.RunKind   `json:"kind"`
	Key       sessions.Key       `json:"key"`
	Agent     sessions.AgentID   `json:"agentId"`
	Status    sessions.RunStatus `json:"status"`
	Label     string             `json:"label,omitempty"`
	Source    string             `json:"source,omitempty"` // what caused it: the platform's message id, a tool call, an idempotency key; the steps of a chain and the posts that they make have the same
	From      sessions.Key       `json:"from,omitempty"`   // the session whose words it answers, or puts into the transcript
	Request   string             `json:"request"`          // the first 300 characters of what it answers
	Result    string             `json:"result,omitempty"` // the same of what it said
	Silent    string             `json:"silent,omitempty"` // the control word that it ended with
	Error     string             `json:"error,omitempty"`  // why it failed
	Chain     string             `json:"chain,omitempty"`  // ask, spawn, job, hook
	Root      sessions.RunID     `json:"root,omitempty"`   // the first run of its chain
	Requester sessions.Key       `json:"requester,omitempty"`
	Parent    sessions.RunID     `json:"parent,omitempty"` // of a sub-agent's run by a sub-agent: the root of that one's chain
	Batch     sessions.RunID     `json:"batch,omitempty"`  // the run that answered it as well
	Attempt   int                `json:"attempt,omitempty"`
	Created   time.Time          `json:"createdAt"`
	Started   time.Time          `json:"startedAt,omitzero"`
	Ended     time.Time          `json:"endedAt,omitzero"`
	Usage     sessions.Usage     `json:"usage,omitzero"`

	Deliveries []sessions.Mark `json:"deliveries,omitempty"` // what became of its messages that were to leave, oldest first; of a list only
}

// SendCall sends a text to a chat (send).
type SendCall struct {
	To      string `json:"to" required:"true" jsonschema:"address: channel/account/direct|group|channel/chat[/thread], of a chat that has written before"`
	Message string `json:"message" required:"true"`
	Session string `json:"sessionKey,omitempty" jsonschema:"session whose send policy applies and whose transcript records the text; default: the session that the chat last wrote to"`
}

// SendAnswer is the result of a SendCall.
type SendAnswer struct {
	Delivery sessions.DeliveryID    `json:"deliveryId"`
	Run      sessions.RunID         `json:"runId"` // that writes it into the transcript
	Message  string                 `json:"messageId"`
	Key      sessions.Key           `json:"key"`
	To       string                 `json:"to"`
	State    sessions.DeliveryState `json:"state"`
	Verdict  policy.Verdict         `json:"verdict" jsonschema:"verdict of the send policy. While the state is pending, the verdict can change: the host decides at delivery"`
}

// Agent is one row of agents.list.
type Agent struct {
	ID       sessions.AgentID `json:"agentId"`
	Name     string           `json:"name,omitempty"`
	Default  bool             `json:"default,omitempty"`
	Model    string           `json:"model"`
	Sessions int              `json:"sessions"` // that live
	Working  int              `json:"working"`  // whose agent is working
	Spawns   []string         `json:"allowAgents,omitempty"`
}

// UsageQuery sums up what model calls cost.
type UsageQuery struct {
	Days  int    `query:"days" default:"30" min:"1" max:"400"`
	Agent string `query:"agent"`
}

// Usage is the cost of model calls, in tokens and dollars.
type Usage struct {
	Zone  string     `json:"zone"` // of the days
	Days  []UsageRow `json:"days"` // newest first, one for each day, agent and model
	Total UsageSum   `json:"total"`
	Lifts []string   `json:"lifts,omitempty"` // budgets out of force
}

// UsageRow is the sum of a day, agent and model.
type UsageRow struct {
	Day   string           `json:"day"` // 2006-01-02
	Agent sessions.AgentID `json:"agentId"`
	Model string           `json:"model"`
	UsageSum
}

// UsageSum is a sum.
type UsageSum struct {
	Calls      int   `json:"calls"`
	Input      int   `json:"input"`
	Output     int   `json:"output"`
	CacheRead  int   `json:"cacheRead,omitempty"`
	CacheWrite int   `json:"cacheWrite,omitempty"`
	Cost       int64 `json:"cost"` // millionths of a dollar; 0 where no prices are configured
}

// Health is the answer of health: whether the host does its work, for monitors with a token.
type Health struct {
	OK       bool             `json:"ok"`
	Why      string           `json:"why,omitempty"`
	Took     int64            `json:"durationMs"`
	Accounts []Account        `json:"channels"`
	Agents   []Agent          `json:"agents"`
	Sessions int              `json:"sessions"`
	Oldest   int64            `json:"oldestQueuedSeconds"` // of a run that waits; 0 = none does
	Store    map[string]int64 `json:"store,omitempty"`     // bytes by file
}

// EventsQuery selects what a stream of events is about; empty fields select all.
type EventsQuery struct {
	Session string         `query:"session" jsonschema:"key, session id, or main"`
	Run     sessions.RunID `query:"run"`
	Kinds   string         `query:"kinds" jsonschema:"comma-separated: run, text, tool, message, delivery, session, account, pairing, job"`
	Since   string         `query:"since" jsonschema:"id of an event. If events were missed since, the stream begins with the event reload. The header Last-Event-ID has the same effect"`
}

// Event is one server-sent event: something happened. The truth is in the operations; an event says where to look again. A stream that
// missed something since the position that it was to begin at, or could not keep up, has the event reload.
type Event struct {
	Kind     string                 `json:"kind"`
	Phase    string                 `json:"phase,omitempty"` // tool: begin, progress, end, error; session: new, patched, reset, archived, deleted; account: its state; pairing: asked, decided; job: fired, skipped, changed
	Time     time.Time              `json:"time"`
	Session  sessions.Key           `json:"session,omitempty"`
	Run      sessions.RunID         `json:"runId,omitempty"`
	RunKind  sessions.RunKind       `json:"runKind,omitempty"`
	Status   sessions.RunStatus     `json:"status,omitempty"`   // run: queued, running, done, …
	Batch    sessions.RunID         `json:"batch,omitempty"`    // run: the one that answered it as well
	Text     string                 `json:"text,omitempty"`     // text: the answer so far; tool: what it says about itself
	Tool     string                 `json:"tool,omitempty"`     // tool: its name
	Call     string                 `json:"call,omitempty"`     // tool: the call's id
	Message  string                 `json:"message,omitempty"`  // message: its id
	Delivery sessions.DeliveryID    `json:"delivery,omitempty"` // delivery
	State    sessions.DeliveryState `json:"state,omitempty"`    // delivery
	Rule     string                 `json:"rule,omitempty"`     // delivery: that decided
	Channel  channels.Kind          `json:"channel,omitempty"`  // account, pairing
	Account  channels.AccountID     `json:"account,omitempty"`  // account, pairing
	Job      string                 `json:"job,omitempty"`      // job
}

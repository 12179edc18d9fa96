package api

import (
	"time"

	"parley/policy"
	"parley/sessions"
)

// SessionCall names a session.
type SessionCall struct {
	Session string `path:"session" jsonschema:"key, session id, or main"`
}

// SessionsQuery selects sessions, newest first.
type SessionsQuery struct {
	Search    string `query:"search" jsonschema:"part of key, title or label"`
	Agent     string `query:"agent" jsonschema:"only sessions of this agent"`
	Kind      string `query:"kind" enum:"main,group,cron,hook,node,other"`
	Label     string `query:"label" jsonschema:"only the session with exactly this label"`
	SpawnedBy string `query:"spawnedBy" jsonschema:"only sub-agents of this session"`
	Minutes   int    `query:"activeMinutes" min:"1" max:"5256000" jsonschema:"only sessions that were active in the last minutes"`
	Archived  bool   `query:"archived" jsonschema:"true: only archived sessions"`
	Offset    int    `query:"offset" min:"0" max:"1000000" jsonschema:"number of sessions to skip, newest first"`
	Limit     int    `query:"limit" default:"50" min:"1" max:"1000"`
}

// StartedOver is a session that starts over, and the runs that ended by that, there and in the sub-agents below it.
type StartedOver struct {
	Session
	Stopped []sessions.RunID `json:"stopped,omitempty"`
}

// Session is one row of sessions.list.
type Session struct {
	Key        sessions.Key     `json:"key"`
	ID         sessions.ID      `json:"sessionId"`
	Kind       sessions.Kind    `json:"kind"`
	Agent      sessions.AgentID `json:"agentId"`
	Title      string           `json:"title,omitempty"`
	Label      string           `json:"label,omitempty"`
	Channel    string           `json:"channel,omitempty"`
	Last       string           `json:"address,omitempty"`
	SpawnedBy  sessions.Key     `json:"spawnedBy,omitempty"`
	SendPolicy policy.Override  `json:"sendPolicy,omitempty"` // its own; empty = the rules decide
	Verdict    policy.Verdict   `json:"verdict,omitzero"`     // of the send policy, for its own chat
	Model      string           `json:"model,omitempty"`      // its own, provider/model; empty = the agent's
	Tokens     int              `json:"totalTokens"`
	Context    int              `json:"contextTokens,omitempty"` // of the last model call
	Cost       int64            `json:"cost,omitempty"`          // millionths of a dollar
	Turns      int              `json:"turns"`
	Working    bool             `json:"working,omitempty"` // its agent is working
	Aborted    bool             `json:"abortedLastRun,omitempty"`
	Archived   bool             `json:"archived,omitempty"`
	Updated    time.Time        `json:"updatedAt"`
	Created    time.Time        `json:"createdAt,omitzero"`
}

// SessionDetail is sessions.get.
type SessionDetail struct {
	Session
	Thinking   string    `json:"thinking,omitempty"`
	Verbose    string    `json:"verbose,omitempty"`
	Activation string    `json:"activation,omitempty"`
	Footer     string    `json:"footer,omitempty"`
	Queue      string    `json:"queue,omitempty"`    // in words, as /queue has it; empty = as configured
	ModelUsed  string    `json:"modelUsed"`          // the one that answers
	Window     int       `json:"window,omitempty"`   // tokens that it takes; 0 = unknown
	Waiting    int       `json:"waiting"`            // runs that are queued
	Transcript string    `json:"transcript"`         // the file on the host
	ArchiveAt  time.Time `json:"archiveAt,omitzero"` // when it is archived: a sub-agent's session, a finished job's, a request's

	Earlier []sessions.Transcript `json:"earlier,omitempty"` // conversations that resets ended, newest first; sessions.history shows them
}

// SessionPatch changes a session's settings: null clears, a field that is left out stays.
type SessionPatch struct {
	Session    string           `path:"session" jsonschema:"key, session id, or main"`
	SendPolicy Optional[string] `json:"sendPolicy,omitzero" enum:"allow,deny"`
	Model      Optional[string] `json:"model,omitzero" jsonschema:"provider/model"`
	Thinking   Optional[string] `json:"thinking,omitzero" enum:"off,minimal,low,medium,high"`
	Verbose    Optional[string] `json:"verbose,omitzero" enum:"off,on,full"`
	Activation Optional[string] `json:"activation,omitzero" enum:"mention,always"`
	Footer     Optional[string] `json:"footer,omitzero" enum:"tokens,full" jsonschema:"usage figures below replies"`
	Queue      Optional[string] `json:"queue,omitzero" jsonschema:"queue settings in the form of /queue: collect, followup, steer or interrupt, debounce:2s, cap:20, drop:summarize. Omitted settings keep their value"`
	Label      Optional[string] `json:"label,omitzero" jsonschema:"at most 64 bytes, one line, unique"`
}

// CompactCall sums up the older part of a session now.
type CompactCall struct {
	Session      string `path:"session" jsonschema:"key, session id, or main"`
	Instructions string `json:"instructions,omitempty" jsonschema:"what the summary should keep"`
}

// HistoryQuery selects messages of a session, the newest of them; they are listed oldest first.
type HistoryQuery struct {
	Session   string `path:"session" jsonschema:"key, session id, or main"`
	Tools     bool   `query:"includeTools" jsonschema:"include tool results"`
	Before    int64  `query:"before" min:"0" jsonschema:"only messages with a smaller seq, for the previous page"`
	SessionID string `query:"sessionId" jsonschema:"id of an earlier transcript of the session"`
	Limit     int    `query:"limit" default:"100" min:"1" max:"1000"`
}

// History is a part of a transcript.
type History struct {
	Key      sessions.Key       `json:"key"`
	ID       sessions.ID        `json:"sessionId"`
	Messages []sessions.Message `json:"messages"` // oldest first
	More     bool               `json:"more"`     // there are older ones
}

// SearchQuery finds messages by words.
type SearchQuery struct {
	Text    string `query:"q" required:"true"`
	Session string `query:"session" jsonschema:"only in this session"`
	Agent   string `query:"agent"`
	Offset  int    `query:"offset" min:"0" max:"100000"`
	Limit   int    `query:"limit" default:"20" min:"1" max:"200"`
}

// Hit is a message that was found.
type Hit struct {
	Key     sessions.Key    `json:"key"`
	ID      sessions.ID     `json:"sessionId"`
	Message string          `json:"messageId"`
	Role    sessions.Role   `json:"role"`
	Time    sessions.Millis `json:"timestamp"`
	Snippet string          `json:"snippet"`
}

// SayCall says something to the agent of a session (chat.send).
type SayCall struct {
	Session  string `path:"session" jsonschema:"key, session id, or main; a new hook:, cron: or other key creates the session"`
	Message  string `json:"message" required:"true" jsonschema:"message to the agent; chat commands work as in a chat"`
	Deliver  bool   `json:"deliver,omitempty" jsonschema:"true: the session's chat receives the answer. false: only the transcript has it"`
	Thinking string `json:"thinking,omitempty" enum:"off,minimal,low,medium,high" jsonschema:"for this turn"`
	Timeout  int    `json:"timeoutSeconds,omitempty" min:"1" max:"86400"`
}

// Said is the result of a SayCall.
type Said struct {
	Run    sessions.RunID     `json:"runId,omitempty"` // empty for a command that causes no turn
	Key    sessions.Key       `json:"key"`
	Status sessions.RunStatus `json:"status,omitempty"`
	Answer string             `json:"answer,omitempty"` // of a chat command
	Repeat bool               `json:"repeat,omitempty"` // the idempotency key was known: this is the first time's run
}

// AbortCall stops what a session and its sub-agents are at.
type AbortCall struct {
	Session string         `path:"session" jsonschema:"key, session id, or main"`
	Run     sessions.RunID `json:"runId,omitempty" jsonschema:"stop only if this run is running or queued in the session"`
}

// Aborted lists what an AbortCall has stopped.
type Aborted struct {
	Runs  []sessions.RunID `json:"runIds"`
	Ended *sessions.Ended  `json:"ended,omitempty"` // what that was: of a session all of it, of a run its deliveries; absent = nothing
}

// Deleted is the result of sessions.delete.
type Deleted struct {
	Key     sessions.Key `json:"key"`
	Deleted bool         `json:"deleted"`
}

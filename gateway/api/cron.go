package api

import (
	"time"

	"parley/sessions"
)

// JobAdd makes a scheduled job. Exactly one of At, In, Every and Cron.
type JobAdd struct {
	Name     string `json:"name,omitempty"`
	Agent    string `json:"agentId,omitempty" jsonschema:"default: the default agent"`
	Message  string `json:"message" required:"true" jsonschema:"message to the agent"`
	At       string `json:"at,omitempty" jsonschema:"once: 2006-01-02 15:04, tomorrow 9:00 or 18:30 in zone, or RFC 3339 with offset"`
	In       string `json:"in,omitempty" jsonschema:"once, after this time: 90m, 36h"`
	Every    string `json:"every,omitempty" jsonschema:"repeatedly, at this interval: 24h; at least 1m"`
	Cron     string `json:"cron,omitempty" jsonschema:"five fields: minute hour day month weekday"`
	Zone     string `json:"zone,omitempty" jsonschema:"IANA time zone of cron and at; default: the host's"`
	To       string `json:"to,omitempty" jsonschema:"address of the chat that receives the answer; last: the chat, other than the page, that wrote last to the agent's main session. Default: none; the answer stays in the job's session"`
	Model    string `json:"model,omitempty" jsonschema:"provider/model"`
	Thinking string `json:"thinking,omitempty" enum:"off,minimal,low,medium,high"`
	Timeout  int    `json:"timeoutSeconds,omitempty" min:"1" max:"86400"`
	Off      bool   `json:"off,omitempty" jsonschema:"true: the host keeps the job but never starts it"`
}

// JobCall names a job.
type JobCall struct {
	ID string `path:"job"`
}

// JobPatch changes a job: a field that is left out stays.
type JobPatch struct {
	ID       string           `path:"job"`
	Name     Optional[string] `json:"name,omitzero"`
	Message  Optional[string] `json:"message,omitzero"`
	At       Optional[string] `json:"at,omitzero" jsonschema:"replaces the job's schedule, as do in, every and cron"`
	In       Optional[string] `json:"in,omitzero"`
	Every    Optional[string] `json:"every,omitzero"`
	Cron     Optional[string] `json:"cron,omitzero"`
	Zone     Optional[string] `json:"zone,omitzero"`
	To       Optional[string] `json:"to,omitzero" jsonschema:"null: no chat receives the answer. The chat of a job that an agent created cannot change"`
	Model    Optional[string] `json:"model,omitzero"`
	Thinking Optional[string] `json:"thinking,omitzero" enum:"off,minimal,low,medium,high"`
	Timeout  Optional[int]    `json:"timeoutSeconds,omitzero" min:"1" max:"86400"`
	Off      Optional[bool]   `json:"off,omitzero"`
}

// JobsQuery selects jobs, next first; those that are off come last.
type JobsQuery struct {
	Agent string `query:"agent"`
}

// Job is one scheduled job.
type Job struct {
	ID       string           `json:"id"`
	Name     string           `json:"name,omitempty"`
	Agent    sessions.AgentID `json:"agentId"`
	Key      sessions.Key     `json:"key"`  // of its session
	When     string           `json:"when"` // the schedule, for people
	At       time.Time        `json:"at,omitzero"`
	Every    string           `json:"every,omitempty"`
	Cron     string           `json:"cron,omitempty"`
	Zone     string           `json:"zone,omitempty"`
	Message  string           `json:"message"`
	To       string           `json:"to,omitempty"`   // address that the answer goes to; empty = nowhere
	From     sessions.Key     `json:"from,omitempty"` // the session that made it; empty = a person did
	Model    string           `json:"model,omitempty"`
	Thinking string           `json:"thinking,omitempty"`
	Timeout  int              `json:"timeoutSeconds,omitempty"`
	Off      bool             `json:"off,omitempty"`
	Next     time.Time        `json:"next,omitzero"`
	Coming   []time.Time      `json:"coming,omitempty"` // the next three times
	Last     time.Time        `json:"last,omitzero"`
	Status   string           `json:"status,omitempty"`  // of its last time: done, failed, running, skipped, …
	Skipped  string           `json:"skipped,omitempty"` // why nothing was done then
	Trouble  string           `json:"trouble,omitempty"` // why it cannot be begun as things are
	Created  time.Time        `json:"createdAt"`
}

// JobRunsQuery is the history of a job, newest first. It stays for a while when the job is over.
type JobRunsQuery struct {
	ID    string `path:"job"`
	Limit int    `query:"limit" default:"50" min:"1" max:"1000"`
}

// JobRun is one time of a job.
type JobRun struct {
	Job     string         `json:"job"`
	Name    string         `json:"name,omitempty"` // the job's
	Due     time.Time      `json:"due"`
	At      time.Time      `json:"at"` // when it was looked at
	Forced  bool           `json:"forced,omitempty"`
	Skipped string         `json:"skipped,omitempty"` // why nothing was done
	Run     sessions.RunID `json:"runId,omitempty"`
	Key     sessions.Key   `json:"key,omitempty"` // of the run's session
	Status  string         `json:"status"`        // skipped, queued, running, done, …; deleted with its session
	Result  string         `json:"result,omitempty"`
	Error   string         `json:"error,omitempty"`

	Deliveries []sessions.Mark `json:"deliveries,omitempty"` // what became of its report
}

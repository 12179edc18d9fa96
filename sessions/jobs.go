package sessions

import (
	"context"
	"time"

	"parley/channels"
)

// Jobs are turns that begin by themselves at a time.
type Jobs interface {
	// ListJobs gives jobs, next first; an empty agent selects all. Those that are off come first.
	ListJobs(ctx context.Context, agent AgentID) ([]Job, error)
	// GetJob finds a job. ErrNotFound: it has ended, or there never was one.
	GetJob(ctx context.Context, id string) (Job, error)
	// Fire commits that a job's time has come: the change is submitted, Next moves on and the times go into the history, all in one
	// commit. ErrConflict: another caller fired it, or it was changed; ErrBusy: see Exclusive; nothing happens. When the IdempotencyKey of the change is known already,
	// only Next moves on: that time has begun before.
	Fire(ctx context.Context, f Firing) (Accepted, error)
	// Occurrences gives the history of a job, newest first; an empty id selects that of all jobs. It stays when the job is over.
	Occurrences(ctx context.Context, job string, limit int) ([]Occurrence, error)
}

// Job is a scheduled job. Exactly one of At, Every and Cron is set.
type Job struct {
	ID       string           `json:"id"`
	Name     string           `json:"name,omitempty"`
	Agent    AgentID          `json:"agent"`
	At       time.Time        `json:"at,omitzero"`
	Every    time.Duration    `json:"every,omitempty"`
	Cron     string           `json:"cron,omitempty"` // five fields
	Zone     string           `json:"zone,omitempty"` // IANA name, for Cron; empty = the host's
	Message  string           `json:"message"`        // what the agent is told
	From     Key              `json:"from,omitempty"` // the session that made it: the result goes to its chat; empty = a person did
	To       channels.Address `json:"to,omitzero"`    // where the result goes of a job that a person made; zero = nowhere
	Owner    bool             `json:"owner,omitempty"`
	Asker    string           `json:"asker,omitempty"` // whose share of the host's jobs it counts for; empty = owners'
	Model    string           `json:"model,omitempty"` // of its turns, provider/model
	Thinking string           `json:"thinking,omitempty"`
	Timeout  time.Duration    `json:"timeout,omitempty"` // of each turn; 0 = the agent's
	Off      bool             `json:"off,omitempty"`     // it is kept and not begun; Next is zero
	Next     time.Time        `json:"next,omitzero"`
	Last     time.Time        `json:"last,omitzero"` // when it was looked at last
	Created  time.Time        `json:"created,omitzero"`
}

// Firing is the input of Fire: one due time of a job, and its change.
type Firing struct {
	Job       string
	Due       time.Time    // the job's Next as it stands; zero: a person asked for it now, and Next stays
	At        time.Time    // when it was looked at; zero = now
	Next      time.Time    // zero: the job is over and is removed, or switched off with Off
	Off       bool         // the job cannot go on: it is kept, and does not begin any more
	Times     []Occurrence // what the history gets; Job, Name, Agent and At are the store's to fill
	Change    Change
	Exclusive bool // the run begins only where no other one of its session is queued or at work: ErrBusy
}

// Occurrence is one time of a job, in its history.
type Occurrence struct {
	Job     string
	Name    string  // the job's
	Agent   AgentID // the job's
	Due     time.Time
	At      time.Time // when it was looked at
	Forced  bool      // a person asked for it
	Skipped string    // why nothing was begun
	Run     RunID     // what was begun
}

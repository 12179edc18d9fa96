package turn

import (
	"context"
	"log/slog"

	"parley/agent"
	"parley/channels"
	"parley/router/budget"
	"parley/router/chain"
	"parley/router/clock"
	"parley/router/commit"
	"parley/router/delivery"
	"parley/router/event"
	"parley/router/filestore"
	"parley/router/lane"
	"parley/router/rights"
	"parley/router/settings"
	"parley/sessions"
)

// Config has what a Worker works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Ages     *clock.Steady
	Retry    *clock.Retrier
	Events   *event.Bus
	Media    *filestore.Cache
	Lanes    *lane.Executor
	Chain    *chain.Advancer
	Gate     *delivery.Dispatcher
	Commit   *commit.Committer
	Budgets  *budget.Tracker
	Rights   *rights.Resolver
	Metrics  *Metrics
	Log      *slog.Logger
	// Model finds a model by provider/model.
	Model func(name string) (agent.Candidate, error)
	// Workspace gives the folder of an agent's own files; nil = there are none.
	Workspace func(sessions.AgentID) string
	// Redact takes the secrets that the host knows out of a text; nil = there are none.
	Redact func(string) string
	// Secrets gives what takes the secrets that the host knows out of answers; nil = there are none.
	Secrets func() *channels.SecretSet
	// Context prepares the context in which a session's turns run; nil = as it is.
	Context func(ctx context.Context, key sessions.Key) context.Context
}

// Worker claims the runs of sessions, runs the agent on them and commits the outcomes.
type Worker struct {
	Pictures    *Pictures
	Transcripts *Transcripts
	Merger      *Merger
	store       sessions.Store
	settings    func() *settings.Snapshot
	ages        *clock.Steady
	retry       *clock.Retrier
	watchers    *event.Bus
	lanes       *lane.Executor
	chain       *chain.Advancer
	gate        *delivery.Dispatcher
	commit      *commit.Committer
	budgets     *budget.Tracker
	rights      *rights.Resolver
	metrics     *Metrics
	log         *slog.Logger
	loop        agent.Loop
	workspaces  agent.Workspaces
	model       func(name string) (agent.Candidate, error)
	workspace   func(sessions.AgentID) string
	redact      func(string) string
	context     func(ctx context.Context, key sessions.Key) context.Context
}

// New returns a Worker.
func New(c Config) *Worker {
	w := &Worker{store: c.Store, settings: c.Settings, ages: c.Ages, retry: c.Retry, watchers: c.Events, lanes: c.Lanes, chain: c.Chain, gate: c.Gate,
		commit: c.Commit, budgets: c.Budgets, rights: c.Rights, metrics: c.Metrics, log: c.Log, workspace: c.Workspace, redact: c.Redact, context: c.Context}
	w.Pictures = &Pictures{media: c.Media, gate: c.Gate, log: c.Log}
	w.model = func(name string) (agent.Candidate, error) {
		m, err := c.Model(name)
		if err == nil {
			m.Model = seeing{m.Model, w.Pictures}
			if c.Secrets != nil {
				m.Model = secretless{m.Model, c.Secrets}
			}
		}
		return m, err
	}
	w.Transcripts = &Transcripts{cache: newCache(), store: c.Store, settings: c.Settings, model: c.Model}
	w.Merger = &Merger{store: c.Store, settings: c.Settings, ages: c.Ages, lanes: c.Lanes, rights: c.Rights, log: c.Log}
	return w
}

package cron

import (
	"log/slog"
	"time"

	"parley/router/commit"
	"parley/router/delivery"
	"parley/router/event"
	"parley/router/settings"
	"parley/sessions"
)

// Config has what a Scheduler works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Events   *event.Bus
	Gate     *delivery.Dispatcher
	Commit   *commit.Committer
	Log      *slog.Logger
	// Now tells the time of day; nil = the computer's clock.
	Now func() time.Time
	// ModelKnown reports an error for a model that cannot be used.
	ModelKnown func(name string) error
}

// Scheduler begins the turns of scheduled jobs, each time once.
type Scheduler struct {
	store      sessions.Store
	settings   func() *settings.Snapshot
	watchers   *event.Bus
	gate       *delivery.Dispatcher
	commit     *commit.Committer
	log        *slog.Logger
	now        func() time.Time
	modelKnown func(name string) error
	wake       chan struct{}
}

// New returns a Scheduler.
func New(c Config) *Scheduler {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Scheduler{store: c.Store, settings: c.Settings, watchers: c.Events, gate: c.Gate, commit: c.Commit, log: c.Log, now: c.Now, modelKnown: c.ModelKnown,
		wake: make(chan struct{}, 1)}
}

package commit

import (
	"context"
	"log/slog"
	"sync/atomic"

	"parley/router/delivery"
	"parley/router/event"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
)

// Config has what a Committer works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Lanes    *lane.Executor
	Gate     *delivery.Dispatcher
	Events   *event.Bus
	Log      *slog.Logger
	// Drop is called after a commit that has given a session messages which its turns have not read from the store.
	Drop func(sessions.ID)
	// People is called after a commit that has decided about a person, and where that may have happened.
	People func(ctx context.Context)
}

// Committer commits changes and begins what they made.
type Committer struct {
	store     sessions.Store
	settings  func() *settings.Snapshot
	lanes     *lane.Executor
	gate      *delivery.Dispatcher
	watchers  *event.Bus
	log       *slog.Logger
	drop      func(sessions.ID)
	people    func(context.Context)
	Waiters   Waiters
	Uncertain atomic.Bool // a write has failed since the last one that worked
}

// New returns a Committer.
func New(c Config) *Committer {
	return &Committer{store: c.Store, settings: c.Settings, lanes: c.Lanes, gate: c.Gate, watchers: c.Events, log: c.Log, drop: c.Drop, people: c.People}
}

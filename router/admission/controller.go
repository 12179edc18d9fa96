package admission

import (
	"log/slog"

	"parley/router/commit"
	"parley/router/delivery"
	"parley/router/event"
	"parley/router/settings"
	"parley/sessions"
)

// Config has what a Controller works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Events   *event.Bus
	Gate     *delivery.Dispatcher
	Commit   *commit.Committer
	Log      *slog.Logger
}

// Controller decides who may talk to the host.
type Controller struct {
	store    sessions.Store
	settings func() *settings.Snapshot
	watchers *event.Bus
	gate     *delivery.Dispatcher
	commit   *commit.Committer
	log      *slog.Logger
	ignored  ignoredLog
}

// New returns a Controller.
func New(c Config) *Controller {
	return &Controller{store: c.Store, settings: c.Settings, watchers: c.Events, gate: c.Gate, commit: c.Commit, log: c.Log}
}

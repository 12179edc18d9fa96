package inbound

import (
	"log/slog"

	"parley/router/admission"
	"parley/router/clock"
	"parley/router/command"
	"parley/router/commit"
	"parley/router/delivery"
	"parley/router/event"
	"parley/router/lane"
	"parley/router/settings"
	"parley/router/toolhost"
	"parley/router/turn"
	"parley/sessions"
)

// Config has what a Receiver works with.
type Config struct {
	Store     sessions.Store
	Settings  func() *settings.Snapshot
	Ages      *clock.Steady
	Events    *event.Bus
	Lanes     *lane.Executor
	Gate      *delivery.Dispatcher
	Commit    *commit.Committer
	Worker    *turn.Worker
	Host      *toolhost.Host
	Admission *admission.Controller
	Commands  *command.Table
	Metrics   *Metrics
	Log       *slog.Logger
}

// Receiver accepts messages and events.
type Receiver struct {
	store     sessions.Store
	settings  func() *settings.Snapshot
	ages      *clock.Steady
	watchers  *event.Bus
	lanes     *lane.Executor
	gate      *delivery.Dispatcher
	commit    *commit.Committer
	worker    *turn.Worker
	host      *toolhost.Host
	admission *admission.Controller
	commands  *command.Table
	metrics   *Metrics
	log       *slog.Logger
	refused   poisonTracker
	earlier   earlier
}

// New returns a Receiver.
func New(c Config) *Receiver {
	return &Receiver{store: c.Store, settings: c.Settings, ages: c.Ages, watchers: c.Events, lanes: c.Lanes, gate: c.Gate, commit: c.Commit, worker: c.Worker, host: c.Host,
		admission: c.Admission, commands: c.Commands, metrics: c.Metrics, log: c.Log}
}

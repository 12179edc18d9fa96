package command

import (
	"log/slog"
	"time"

	"parley/agent"
	"parley/router/admission"
	"parley/router/cron"
	"parley/router/rights"
	"parley/router/settings"
	"parley/router/toolhost"
	"parley/router/turn"
	"parley/sessions"
	"parley/tools"
)

// Config has what a Table works with.
type Config struct {
	Store     sessions.Store
	Settings  func() *settings.Snapshot
	Rights    *rights.Resolver
	Worker    *turn.Worker
	Cron      *cron.Scheduler
	Host      *toolhost.Host
	Admission *admission.Controller
	// Leaving counts the deliveries that have nothing left to stop.
	Leaving func([]sessions.Delivery) int
	Log     *slog.Logger
	Version string
	Tools   tools.Deps // what the session tools work with: commands show the same things
	// Model finds a model by provider/model.
	Model func(name string) (agent.Candidate, error)
	// Models lists the models that the configuration names; nil = none.
	Models func() []string
	// Accounts says how each account is, one line each; nil = none.
	Accounts func() []string
	// Troubles says which model providers are left alone at the moment, one line each; nil = none.
	Troubles func() []string
	// Export writes a file for the host's owner and says where it is; nil = nowhere.
	Export func(name string, text []byte) (path string, err error)
}

// Table parses and executes chat commands.
type Table struct {
	All       []Command // in the order of /commands
	store     sessions.Store
	settings  func() *settings.Snapshot
	rights    *rights.Resolver
	worker    *turn.Worker
	cron      *cron.Scheduler
	host      *toolhost.Host
	admission *admission.Controller
	leaving   func([]sessions.Delivery) int
	log       *slog.Logger
	version   string
	started   time.Time
	tools     tools.Deps
	model     func(name string) (agent.Candidate, error)
	names     func() []string // of models
	accounts  func() []string
	troubles  func() []string
	export    func(name string, text []byte) (path string, err error)
}

// New returns a Table.
func New(c Config) *Table {
	return &Table{All: allCommands(), store: c.Store, settings: c.Settings, rights: c.Rights, worker: c.Worker, cron: c.Cron, host: c.Host, admission: c.Admission, leaving: c.Leaving, log: c.Log,
		version: c.Version, started: time.Now(), tools: c.Tools, model: c.Model, names: c.Models, accounts: c.Accounts, troubles: c.Troubles, export: c.Export}
}

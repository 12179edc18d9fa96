package toolhost

import (
	"context"
	"log/slog"

	"parley/agent"
	"parley/agent/control"
	"parley/router/chain"
	"parley/router/clock"
	"parley/router/commit"
	"parley/router/cron"
	"parley/router/delivery"
	"parley/router/filestore"
	"parley/router/rights"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// Config has what a Host works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Ages     *clock.Steady
	Media    *filestore.Cache
	Outbox   *filestore.Outbox
	Chain    *chain.Advancer
	Gate     *delivery.Dispatcher
	Commit   *commit.Committer
	Rights   *rights.Resolver
	Cron     *cron.Scheduler
	Log      *slog.Logger
	// Model finds a model by provider/model.
	Model func(name string) (agent.Candidate, error)
}

// Host implements tools.Host: the actions of agents' tools.
type Host struct {
	store    sessions.Store
	settings func() *settings.Snapshot
	ages     *clock.Steady
	media    *filestore.Cache
	outbox   *filestore.Outbox
	chain    *chain.Advancer
	gate     *delivery.Dispatcher
	commit   *commit.Committer
	rights   *rights.Resolver
	cron     *cron.Scheduler
	log      *slog.Logger
	model    func(name string) (agent.Candidate, error)
}

var _ tools.Host = (*Host)(nil)

// New returns a Host.
func New(c Config) *Host {
	return &Host{store: c.Store, settings: c.Settings, ages: c.Ages, media: c.Media, outbox: c.Outbox, chain: c.Chain, gate: c.Gate, commit: c.Commit, rights: c.Rights,
		cron: c.Cron, log: c.Log, model: c.Model}
}

// Idle implements tools.Host.
func (h *Host) Idle(ctx context.Context, c tools.Caller) error { return h.commit.Idle(ctx, c) }

// Wait implements tools.Host.
func (h *Host) Wait(ctx context.Context, id sessions.RunID) (tools.Ended, error) {
	run, err := h.commit.Wait(ctx, id)
	said := control.Read(run.Result)
	end := tools.Ended{Run: run, Reply: said.Text}
	if said.Text == "" {
		end.Silent = string(said.Word)
	}
	return end, err
}

// Jobs implements tools.Host.
func (h *Host) Jobs(ctx context.Context, id sessions.AgentID) ([]sessions.Job, error) {
	return h.cron.Jobs(ctx, id)
}

// AddJob implements tools.Host.
func (h *Host) AddJob(ctx context.Context, source string, j sessions.Job) error {
	return h.cron.AddJob(ctx, source, j)
}

// DropJob implements tools.Host.
func (h *Host) DropJob(ctx context.Context, source, id string) error {
	return h.cron.DropJob(ctx, source, id)
}

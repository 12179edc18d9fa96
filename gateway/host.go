package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"parley/agent"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/gateway/operations"
	"parley/gateway/server"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
	"parley/tools/mcp"
	"parley/tools/mcp/confine"
)

// Deps holds what Open makes a Host from: adapters, providers, the log, the environment.
type Deps struct {
	Config    *config.Live
	Adapters  []accounts.Adapter
	Providers []models.Provider
	Log       *slog.Logger
	Version   string
	Getenv    func(string) string
	Began     time.Time // of the process
	Process   api.Process

	// Confine runs the MCP servers of sandboxed sessions: this program with its hidden subcommand.
	Confine confine.Launcher

	Busy  func(bool)             // told when the first session has work, and when none has any more; must not block; may be nil
	Trace func(op, phase string) // of the store's commits: a place for tests to kill the process; nil otherwise
}

// Host is a running parley.
type Host struct {
	deps     Deps
	config   func() *config.Config // in force
	log      *slog.Logger
	store    *sqlstore.Store
	models   *models.Set
	servers  *mcp.Servers
	router   *router.Router
	accounts *accounts.Supervisor
	server   *server.Server
	secrets  *redactor
	started  chan struct{} // closed when the accounts run
	stopping chan struct{} // closed when Run begins to stop

	reloading sync.Mutex
	quitting  sync.Once
	quit      chan struct{} // closed by Quit
}

// Open makes everything ready: store, router, accounts, listener. Nothing runs yet. The error says what to do.
func Open(ctx context.Context, d Deps) (h *Host, err error) {
	c := d.Config.Config()
	h = &Host{deps: d, config: d.Config.Config, log: d.Log, models: models.NewSet(d.Providers, d.Getenv, d.Log), started: make(chan struct{}), stopping: make(chan struct{}), quit: make(chan struct{})}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	chosen := make(chan struct{})
	go func() {
		defer close(chosen)
		h.models.Choose(ctx, c.Agents.Defaults.Model, c.Models.Providers)
	}()
	h.store, err = sqlstore.Open(ctx, sqlstore.Config{Dir: c.State, DSN: c.Store.DSN.Reveal(), Logger: d.Log, Trace: d.Trace, TraceCall: d.Trace})
	<-chosen
	if err != nil {
		return h, err
	}
	h.models.Keep(ctx, h.store)
	if h.server, err = server.Listen(ctx, h.config, d.Log); err != nil {
		return h, err
	}
	if err := h.store.Describe(h.server.URL(), h.server.SocketName()); err != nil {
		return h, err
	}
	h.secrets = &redactor{config: h.config, token: h.server.Token, providers: h.models.Providers, revision: h.models.Revision}
	h.openServers(c)
	metrics := prometheus.NewRegistry()
	h.router = router.New(router.Deps{
		Store: h.store, Settings: routerSettings(c, h.models.Chosen().Model), Model: h.model, Log: d.Log,
		Models:   func() []string { return h.models.Listed(h.router.Settings().Agents, h.models.Chosen().Model) },
		Accounts: func() []string { return h.accounts.Lines() }, Troubles: h.troubles, MoreTools: h.servers.Tools,
		Metrics: router.NewMetrics(metrics), Version: d.Version, TranscriptPath: h.store.TranscriptPath, Media: filepath.Join(c.State, "media"), Outbox: filepath.Join(c.State, "outbox"),
		Tools: tools.All, Redact: h.secrets.redact, Secrets: h.secrets.set, Workspace: func(id sessions.AgentID) string { return h.config().Workspace(id) }, Export: h.export, Busy: d.Busy,
	})
	h.makeWorkspaces(c)
	h.accounts = accounts.New(accounts.Deps{Adapters: d.Adapters, Config: h.config, Store: h.store, Router: h.router, Log: d.Log, Stopping: h.stopping})
	metrics.MustRegister(h.models, h.accounts, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	h.serve(metrics)
	return h, nil
}

// serve puts the operations, the page and everything else that is served before the listeners.
func (h *Host) serve(metrics *prometheus.Registry) {
	d := h.deps
	health := &server.Health{Config: h.config, Store: h.store, Accounts: h.accounts, Servers: h.servers, Stopping: h.stopping}
	page := &server.Page{Config: h.config, Store: h.store, Router: h.router, Accounts: h.accounts, Models: h.models, Chat: h.accounts.Page(), Log: d.Log,
		Now: func() string { return operations.Positions{Began: d.Began}.Name(h.router.Position()) }}
	table := operations.Table(operations.Deps{
		Config: h.config, Adapters: d.Adapters, Store: h.store, Router: h.router, Models: h.models, Accounts: h.accounts, Servers: h.servers, Server: h.server, Health: health,
		Page: page, Redact: h.secrets.redact, Log: d.Log, Version: d.Version, Began: d.Began, Stopping: h.stopping,
		Process: d.Process, Reload: h.reload, Quit: h.Quit,
	}).WithDocument(d.Version)
	page.Open(table)
	h.server.Open(server.Parts{
		Router: h.router, Store: h.store, Accounts: h.accounts, Health: health, Metrics: metrics, API: table, Page: page,
		Version: d.Version, Began: d.Began, Stopping: h.stopping,
	})
}

// Run works until ctx ends, then hands everything over to the store, within stopWithin.
func (h *Host) Run(ctx context.Context) error {
	defer h.close()
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	asking := make(chan struct{})
	go func() {
		defer close(asking)
		h.models.Run(work)
	}()
	defer func() { <-asking }()
	h.servers.Start(work, h.config().MCPSettings()) // before the router: what it takes up needs their tools
	defer h.servers.Wait()
	defer stopWork()
	if err := h.router.Start(work); err != nil {
		return err
	}
	adapters, stopAdapters := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAdapters()
	h.accounts.Start(adapters)
	close(h.started)
	served := make(chan error, 1)
	go func() { served <- h.server.Serve() }()

	var err error
	select {
	case <-ctx.Done():
	case <-h.quit:
	case err = <-served:
		err = fmt.Errorf("HTTP server: %w", err)
	case damage := <-h.store.Damaged():
		err = fmt.Errorf("the host stops: %w", damage)
	}
	h.stop(context.WithoutCancel(ctx), stopAdapters, stopWork)
	return err
}

// stop ends things in the order in which nothing is lost: no more in, finish or hand over what is running, no more out.
func (h *Host) stop(ctx context.Context, stopAdapters, stopWork context.CancelFunc) {
	began := time.Now()
	close(h.stopping)
	h.log.Info("stopping")
	limit, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	stopAdapters()
	drain, cancelDrain := context.WithTimeout(limit, stopTimeout/3)
	h.router.Drain(drain)
	cancelDrain()
	stopWork()
	ended := make(chan struct{})
	go func() {
		h.router.Stop()
		h.accounts.Wait()
		h.servers.Wait()
		close(ended)
	}()
	h.server.Shutdown(limit)
	select {
	case <-ended:
	case <-limit.Done():
		h.log.Warn("shutdown timed out", "hint", "unfinished work resumes on the next start")
	}
	h.log.Info("stopped", "took", time.Since(began).Round(time.Millisecond).String())
}

// close lets go of what Open took.
func (h *Host) close() {
	if h.server != nil {
		h.server.Close()
	}
	if h.store != nil {
		if err := h.store.Close(); err != nil {
			h.log.Error("cannot close the store", "err", err)
		}
	}
}

// Quit makes Run stop, as the end of its context does. Any goroutine may call it, more than once.
func (h *Host) Quit() { h.quitting.Do(func() { close(h.quit) }) }

// Reload reads the configuration again. A good file is applied, a bad one leaves everything as it is.
func (h *Host) Reload(ctx context.Context) error {
	_, err := h.reload(ctx)
	return err
}

// reload is Reload. It returns the keys that changed.
func (h *Host) reload(ctx context.Context) ([]config.Change, error) {
	select {
	case <-h.started:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h.reloading.Lock()
	defer h.reloading.Unlock()
	changes, err := h.deps.Config.Reload()
	if err != nil {
		return nil, err
	}
	c := h.config()
	if err := h.server.Reload(c); err != nil {
		return nil, err
	}
	h.models.Choose(ctx, c.Agents.Defaults.Model, c.Models.Providers)
	h.makeWorkspaces(c)
	if err := h.router.Apply(ctx, h.settings(c)); err != nil {
		return nil, err
	}
	h.servers.Apply(c.MCPSettings()) //nolint:contextcheck // servers live with the host, not with the reload
	h.accounts.Reload(c)
	for _, w := range c.Warnings {
		h.log.Warn("configuration warning", "problem", w.String())
	}
	h.log.Info("configuration reloaded", "changed", fmt.Sprint(changes))
	return changes, nil
}

// model finds a model for the router.
func (h *Host) model(name string) (agent.Candidate, error) {
	if h.config().HasDollarBudget() {
		return h.models.FindPriced(name)
	}
	return h.models.Find(name)
}

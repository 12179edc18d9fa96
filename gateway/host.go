// Package gateway makes a host out of a configuration: it opens the store, wires the router, supervises the accounts and serves
// the page and the API.
package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/access"
	"parley/gateway/config"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
	"parley/tools/mcp"
	"parley/tools/mcp/confine"
)

// Adapter is one row of the program's table of channel kinds.
type Adapter struct {
	config.Adapter
	// Open makes the channel of an account. No I/O.
	Open func(a config.Account, env AdapterEnv) (channels.Channel, error)
	// Platform gives the address of the platform's server; nil = there is none to reach.
	Platform func(a config.Account) string
}

// AdapterEnv is what the host gives an adapter.
type AdapterEnv struct {
	Log    *slog.Logger
	Dir    string                                    // for the adapter's own files; it need not be there yet
	Holds  *channels.Holds                           // what its platform asked to wait; nil = forgotten with the channel
	Cursor func(ctx context.Context) (string, error) // newest committed cursor of the account

	// Seen gives the newest message on disk of every chat that has a session.
	Seen func(ctx context.Context) ([]channels.Position, error)

	// Identified is to be told who the account is on its platform, once that is known and before the first event is offered. It blocks until
	// that is on disk, or ctx has ended.
	Identified func(ctx context.Context, who channels.UserID)

	// Sent reports whether a message is on disk as one of the account's own: the receipt of a delivery, or a preview that was shown.
	Sent func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error)
}

// Table gives the part of the adapters that reading a configuration needs.
func Table(as []Adapter) config.Table {
	var t config.Table
	for _, a := range as {
		t = append(t, a.Adapter)
	}
	return t
}

// Deps are what a Host is made of.
type Deps struct {
	Config    *config.Live
	Adapters  []Adapter
	Providers []Provider
	Log       *slog.Logger
	Version   string
	Getenv    func(string) string
	Began     time.Time // of the process

	// Confine runs the MCP servers of sandboxed sessions: this program with its hidden subcommand.
	Confine confine.Launcher

	Busy  func(bool)             // told when the first session has work, and when none has any more; must not block; may be nil
	Trace func(op, phase string) // of the store's commits: a place for tests to kill the process; nil otherwise
}

// Host is a running parley.
type Host struct {
	deps     Deps
	log      *slog.Logger
	store    *sqlstore.Store
	router   *router.Router
	models   *modelSet
	lessons  keptLessons
	servers  *mcp.Servers
	choice   atomic.Pointer[choice]
	token    atomic.Pointer[channels.Secret]
	known    atomic.Pointer[knownSecrets]
	accounts accounts
	seen     seenAccounts
	page     *webchat.Channel
	site     http.Handler // the pages
	listener net.Listener
	socket   net.Listener // of the command line; nil = there is none
	server   *http.Server // of listener
	local    *http.Server // of socket
	door     *access.Door
	doorLock sync.Mutex // of what is put in force at the door
	registry *prometheus.Registry

	certificate *access.Certificate // nil: plain HTTP
	started     chan struct{}       // closed when the accounts run
	done        chan struct{}       // closed when Run begins to stop
	hooks       atomic.Int32        // requests for hooks that are under way
	copying     sync.Mutex          // held while a backup is made
	changing    sync.Mutex          // held while accounts are started, stopped or replaced
}

// Open makes everything ready: store, router, accounts, listener. Nothing runs yet. The error says what to do.
func Open(ctx context.Context, d Deps) (h *Host, err error) {
	c := d.Config.Config()
	h = &Host{deps: d, log: d.Log, registry: prometheus.NewRegistry(), started: make(chan struct{}), done: make(chan struct{})}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	h.models = newModels(d.Providers, d.Log, h.keepLessons)
	h.models.unlearn = h.dropLessons
	chosen := make(chan struct{})
	go func() {
		defer close(chosen)
		h.chooseModel(ctx, c)
	}()
	h.store, err = sqlstore.Open(ctx, sqlstore.Config{Dir: c.State, DSN: c.Store.DSN.Reveal(), Logger: d.Log, Trace: d.Trace, TraceCall: d.Trace})
	<-chosen
	if err != nil {
		return h, err
	}
	h.loadLessons(ctx)
	if err := h.listen(ctx, c); err != nil {
		return h, err
	}
	h.registry.MustRegister(h.models, accountMetrics{h.statuses}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	h.openServers(c, d.Log)
	h.router = router.New(router.Deps{
		Store: h.store, Settings: settings(c, h.choice.Load().name), Model: h.models.find, Log: d.Log,
		Models:   func() []string { return h.models.listed(h.router.Settings().Agents, h.choice.Load().name) },
		Accounts: h.accountLines, Troubles: h.troubles, MoreTools: h.servers.Tools,
		Metrics: router.NewMetrics(h.registry), Version: d.Version, TranscriptPath: h.store.TranscriptPath, Media: filepath.Join(c.State, "media"), Outbox: filepath.Join(c.State, "outbox"),
		Tools: tools.All, Redact: h.redact, Workspace: func(id sessions.AgentID) string { return d.Config.Config().Workspace(id) }, Export: h.export, Busy: d.Busy,
	})
	h.makeWorkspaces(c)
	h.openAccounts(c)
	h.openDoor(h.handler())
	return h, nil
}

func (h *Host) chooseModel(ctx context.Context, c *config.Config) {
	providers, ch := choose(ctx, c.Agents.Defaults.Model, c.Models.Providers, h.deps.Providers, h.deps.Getenv)
	h.models.configure(providers)
	h.choice.Store(&ch)
	h.models.glance(ctx, ch.name)
}

// Run works until ctx ends, then hands everything over to the store, within stopWithin.
func (h *Host) Run(ctx context.Context) error {
	defer h.close()
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	asking := make(chan struct{})
	go func() {
		defer close(asking)
		h.models.book.Run(work)
	}()
	defer func() { <-asking }()
	h.models.warm(h.choice.Load().name)
	h.servers.Start(work, mcpSettings(h.deps.Config.Config())) // before the router: what it takes up needs their tools
	defer h.servers.Wait()
	defer stopWork()
	if err := h.router.Start(work); err != nil {
		return err
	}
	adapters, stopAdapters := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAdapters()
	h.startAccounts(adapters)
	close(h.started)
	served := make(chan error, 1)
	go func() { served <- h.serve() }()

	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
		err = fmt.Errorf("the HTTP server ended: %w", err)
	case damage := <-h.store.Damaged():
		err = fmt.Errorf("nothing more is accepted: %w", damage)
	}
	h.stop(context.WithoutCancel(ctx), stopAdapters, stopWork)
	return err
}

// stop ends things in the order in which nothing is lost: no more in, finish or hand over what is at work, no more out.
func (h *Host) stop(ctx context.Context, stopAdapters, stopWork context.CancelFunc) {
	began := time.Now()
	close(h.done)
	h.log.Info("stopping")
	limit, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	stopAdapters()
	drain, cancelDrain := context.WithTimeout(limit, stopWithin/3)
	h.router.Drain(drain)
	cancelDrain()
	stopWork()
	ended := make(chan struct{})
	go func() {
		h.router.Stop()
		h.accounts.wg.Wait()
		h.servers.Wait()
		close(ended)
	}()
	h.shut(limit)
	select {
	case <-ended:
	case <-limit.Done():
		h.log.Warn("some work did not end in time; it is taken up at the next start")
	}
	h.log.Info("stopped", "took", time.Since(began).Round(time.Millisecond).String())
}

// close lets go of what Open took.
func (h *Host) close() {
	for _, l := range []net.Listener{h.socket, h.listener} {
		if l != nil {
			_ = l.Close()
		}
	}
	if h.store != nil {
		if err := h.store.Close(); err != nil {
			h.log.Error("closing the store", "err", err)
		}
	}
}

// Reload reads the configuration again. A good file is applied, a bad one leaves everything as it is.
func (h *Host) Reload(ctx context.Context) error {
	select {
	case <-h.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	changes, err := h.deps.Config.Reload()
	if err != nil {
		return err
	}
	c := h.deps.Config.Config()
	if err := h.reloadDoor(c); err != nil {
		return err
	}
	h.chooseModel(ctx, c)
	h.makeWorkspaces(c)
	if err := h.router.Apply(ctx, h.settings(c)); err != nil {
		return err
	}
	h.servers.Apply(mcpSettings(c)) //nolint:contextcheck // servers live with the host, not with the reload
	h.reloadAccounts(c)
	for _, w := range c.Warnings {
		h.log.Warn("the configuration", "problem", w.String())
	}
	h.log.Info("the configuration was read again", "changed", fmt.Sprint(changes))
	return nil
}

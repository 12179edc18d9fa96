package router

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/admission"
	"parley/router/budget"
	"parley/router/chain"
	"parley/router/clock"
	"parley/router/command"
	"parley/router/commit"
	"parley/router/cron"
	"parley/router/delivery"
	"parley/router/event"
	"parley/router/filestore"
	"parley/router/inbound"
	"parley/router/lane"
	"parley/router/rights"
	"parley/router/settings"
	"parley/router/toolhost"
	"parley/router/turn"
	"parley/sessions"
	"parley/tools"
)

// The keys of log lines.
const (
	keyErr      = "err"
	keySession  = "session"
	keyRun      = "run"
	keyDelivery = "delivery"
	keyAddress  = "address"
	keyMessage  = "message"
	keyClass    = "class"
	keyReason   = "reason"
	keyRule     = "rule"
	keyState    = "state"
	keyStep     = "step"
	keyCommand  = "command"
	keyJob      = "job"
)

// Deps holds what New makes a Router from.
type Deps struct {
	Store    sessions.Store
	Settings *settings.Snapshot
	// Model finds a model by provider/model. The error names what is known.
	Model func(name string) (agent.Candidate, error)
	// Models lists the models that the configuration names, provider/model, each once; nil = none.
	Models func() []string
	// Accounts says how each account is and what to do about it, one line each; nil = none.
	Accounts func() []string
	// Troubles says which model providers are left alone at the moment, one line each; nil = none.
	Troubles func() []string
	Tools    func(d tools.Deps) []tools.Tool // called once, with what the session tools work with; nil = none
	Secrets  func() *channels.SecretSet      // gives what takes the secrets that the host knows out of answers; nil = there are none
	Redact   func(string) string             // takes the secrets that the host knows out of a text; nil = there are none
	Log      *slog.Logger
	Metrics  *Metrics
	Version  string
	// Media is the folder for files that came with messages; "" = they are fetched each time.
	Media string
	// Outbox is the folder for files to send; "" = none can be.
	Outbox string
	// Workspace gives the folder of an agent's own files; nil = there are none.
	Workspace func(sessions.AgentID) string
	// TranscriptPath says where a session's transcript file is (contract N13).
	TranscriptPath func(sessions.AgentID, sessions.ID) string
	// Export writes a file for the host's owner and says where it is; a name is a plain file name. nil = nowhere.
	Export func(name string, text []byte) (path string, err error)
	// Busy is called when the first session has work, and when none has any more. It must not block; nil = not called.
	Busy func(bool)
	// Now tells the time of day, by which it is seen how old a stored time is; nil = the computer's clock.
	Now func() time.Time
	// JobsNow tells the time of day to the scheduler of jobs; nil = the computer's clock.
	JobsNow func() time.Time
	// Jitter draws a time below another, by which a retry comes later; nil = at random.
	Jitter func(time.Duration) time.Duration
	// Turn prepares the context in which a session's turns run, so that what is done in it can be told from others'; nil = as it is.
	Turn func(ctx context.Context, key sessions.Key) context.Context
	// MoreTools gives further tools, for sandboxed sessions or for the others; it is asked for each turn. nil = none.
	MoreTools func(ctx context.Context, sandboxed bool) []tools.Tool
}

// Router connects channels, sessions and agents. Start it before the adapters; Stop it after them.
type Router struct {
	Committer    *commit.Committer
	Advancer     *chain.Advancer
	Budgets      *budget.Tracker
	Rights       *rights.Resolver
	Worker       *turn.Worker
	Scheduler    *cron.Scheduler
	ToolHost     *toolhost.Host
	Admission    *admission.Controller
	CommandTable *command.Table
	Receiver     *inbound.Receiver

	deps     Deps
	store    sessions.Store
	log      *slog.Logger
	metrics  *Metrics
	settings atomic.Pointer[settings.Snapshot]
	owners   ownerLoads
	Gate     *delivery.Dispatcher
	Lanes    *lane.Executor
	Ages     *clock.Steady
	retry    *clock.Retrier
	Media    *filestore.Cache
	Outbox   *filestore.Outbox
	watch    sync.WaitGroup
	Events   *event.Bus
	reports  *failedReports
}

// New makes a router that does nothing yet.
func New(d Deps) *Router {
	r := &Router{deps: d, store: d.Store, log: d.Log, metrics: d.Metrics, Ages: clock.New(), Events: &event.Bus{}}
	r.Ages.Set(d.Now, nil, d.Jitter)
	d.Settings.Moved = settings.NewMovedChats()
	r.settings.Store(d.Settings.Prepare())
	r.Media = filestore.NewCache(d.Media, d.Log)
	r.Outbox = filestore.NewOutbox(d.Outbox, d.Log)
	r.Gate = delivery.New(delivery.Config{Store: d.Store, Settings: r.settings.Load, Outbox: r.Outbox, Ages: r.Ages, Log: d.Log, Metrics: d.Metrics.ofGate(), Changed: func(d sessions.Delivery) {
		r.Events.Delivery(d)
		r.reports.changed(d)
	}})
	r.Lanes = lane.New(func(ctx context.Context, key sessions.Key, claimed *sessions.Run) bool {
		return r.Worker.Process(ctx, key, claimed)
	}, d.Settings.Agents.Defaults)
	r.Lanes.Changed = d.Busy
	r.retry = &clock.Retrier{Ages: r.Ages, Log: r.log, Host: r.Lanes.Host}
	r.Committer = commit.New(commit.Config{Store: d.Store, Settings: r.settings.Load, Lanes: r.Lanes, Gate: r.Gate, Events: r.Events, Log: d.Log, Drop: func(id sessions.ID) { r.Worker.Transcripts.Forget(id) },
		People: func(ctx context.Context) { _ = r.LoadOwners(ctx) }}) // an error takes the owners of the store their rights
	r.reports = &failedReports{store: d.Store, settings: r.settings.Load, gate: r.Gate, commit: r.Committer, ages: r.Ages, redact: d.Redact}
	r.reports.unseen.Store(true) // of an earlier process
	r.Advancer = chain.New(chain.Config{Store: d.Store, Settings: r.settings.Load, Ages: r.Ages, Retry: r.retry, Log: d.Log, TranscriptPath: d.TranscriptPath})
	r.Budgets = budget.New(budget.Config{Ledger: d.Store, Sessions: d.Store, Settings: r.settings.Load, Retry: r.retry, Log: d.Log})
	r.Rights = rights.New(rights.Config{Store: d.Store, Settings: r.settings.Load, Media: r.Media, MoreTools: d.MoreTools})
	r.Worker = turn.New(turn.Config{Store: d.Store, Settings: r.settings.Load, Ages: r.Ages, Retry: r.retry, Events: r.Events, Media: r.Media, Lanes: r.Lanes, Chain: r.Advancer,
		Gate: r.Gate, Commit: r.Committer, Budgets: r.Budgets, Rights: r.Rights, Metrics: d.Metrics.ofTurns(), Log: d.Log, Model: d.Model, Workspace: d.Workspace, Redact: d.Redact, Secrets: d.Secrets, Context: d.Turn})
	r.Scheduler = cron.New(cron.Config{Store: d.Store, Settings: r.settings.Load, Events: r.Events, Gate: r.Gate, Commit: r.Committer, Log: d.Log, Now: d.JobsNow,
		ModelKnown: func(name string) error { return r.ToolHost.ModelKnown(name) }})
	r.ToolHost = toolhost.New(toolhost.Config{Store: d.Store, Settings: r.settings.Load, Ages: r.Ages, Media: r.Media, Outbox: r.Outbox, Chain: r.Advancer, Gate: r.Gate,
		Commit: r.Committer, Rights: r.Rights, Cron: r.Scheduler, Log: d.Log, Model: d.Model})
	r.Admission = admission.New(admission.Config{Store: d.Store, Settings: r.settings.Load, Events: r.Events, Gate: r.Gate, Commit: r.Committer, Log: d.Log})
	kit := r.toolDeps()
	if d.Tools != nil {
		r.Rights.Tools = d.Tools(kit)
	}
	r.CommandTable = command.New(command.Config{Store: d.Store, Settings: r.settings.Load, Rights: r.Rights, Worker: r.Worker, Cron: r.Scheduler, Host: r.ToolHost,
		Admission: r.Admission, Leaving: r.Gate.Leaving, Log: d.Log, Version: d.Version, Tools: kit, Model: d.Model, Models: d.Models, Accounts: d.Accounts, Troubles: d.Troubles, Export: d.Export})
	r.Receiver = inbound.New(inbound.Config{Store: d.Store, Settings: r.settings.Load, Ages: r.Ages, Events: r.Events, Lanes: r.Lanes, Gate: r.Gate, Commit: r.Committer,
		Worker: r.Worker, Host: r.ToolHost, Admission: r.Admission, Commands: r.CommandTable, Metrics: d.Metrics.ofInbound(), Log: d.Log})
	return r
}

// toolDeps gives the session tools what they work with. What a reload may change is asked at each call.
func (r *Router) toolDeps() tools.Deps {
	set := r.settings.Load
	return tools.Deps{
		Current: func(at channels.Address) channels.Address { return set().Moved.Current(at) },
		Store:   r.store, Host: r.ToolHost, Scope: set().Session.Scope, TranscriptPath: r.deps.TranscriptPath, Redact: r.deps.Redact,
		Rules:       func() sessions.Rules { return set().Visibility() },
		Limits:      func() sessions.AgentToAgent { return set().Session.AgentToAgent },
		SpawnDepth:  func() int { return settings.OrDefault(set().Agents.Defaults.Subagents.MaxSpawnDepth, 1) },
		AllowAgents: func(id sessions.AgentID) []string { return set().AllowAgents(id) },
		Zone:        func() string { return set().Agents.Defaults.Timezone },
		Announce:    func() string { return set().Agents.Defaults.Subagents.Announce },
		ModelOf:     func(s sessions.Session) string { return set().ModelOf(s) },
		Config:      func() tools.Config { return set().Tools },
		Workspace:   r.deps.Workspace,
		ByAgents:    r.Advancer.ByAgents,
	}
}

// Settings gives the settings in force.
func (r *Router) Settings() *settings.Snapshot { return r.settings.Load() }

// Start takes up what an earlier process left: interrupted runs are queued again, deliveries that wait are sent, those that were
// being sent are reconciled. It returns as soon as that is under way. ctx bounds everything that the router does from now on.
func (r *Router) Start(ctx context.Context) error {
	keys, sending, err := r.store.Recover(ctx)
	if err != nil {
		return fmt.Errorf("resume earlier work: %w", err)
	}
	if err := r.settings.Load().Moved.Load(ctx, r.store); err != nil {
		return fmt.Errorf("read moved chats: %w", err)
	}
	if err := r.LoadOwners(ctx); err != nil {
		return err
	}
	r.Lanes.Start(ctx)
	context.AfterFunc(ctx, r.Events.Close)
	if err := r.Gate.Start(ctx, sending); err != nil {
		return fmt.Errorf("resume earlier deliveries: %w", err)
	}
	if len(keys)+len(sending) > 0 {
		unknown := 0
		for _, d := range sending {
			if d.State == sessions.Sending {
				unknown++
			}
		}
		r.log.Info("resuming earlier work", "sessions", len(keys), "deliveries", len(sending), "ambiguous_deliveries", unknown)
	}
	begun, err := r.waitingLanes(ctx, keys)
	if err != nil {
		return fmt.Errorf("resume earlier work: %w", err)
	}
	for _, k := range keys {
		r.Lanes.WakeWithDeadline(k, begun[k].who, begun[k].by)
	}
	r.watch.Go(func() { r.expire(ctx) })
	r.watch.Go(func() { r.Scheduler.Run(ctx) })
	return nil
}

// Drain begins no further run, but for what a commit under way has claimed, and waits until those at work have ended, or ctx has. What is queued stays in the store.
func (r *Router) Drain(ctx context.Context) {
	r.Lanes.Close()
	idle := make(chan struct{})
	go func() {
		r.Lanes.Stop()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Stop waits until all that was under way has been handed over to the store. The context given to Start must have ended.
func (r *Router) Stop() {
	r.Lanes.Close()
	r.Lanes.Stop()
	r.Gate.Stop()
	r.watch.Wait()
}

// Apply replaces the settings for everything that is decided from now on. When it returns, nothing that the old send policy let
// out is still on its way.
func (r *Router) Apply(ctx context.Context, s *settings.Snapshot) error {
	r.owners.mu.Lock()
	was := r.settings.Load()
	s.Moved, s.Granted = was.Moved, was.Granted
	r.settings.Store(s.Prepare())
	r.owners.mu.Unlock()
	r.Worker.Transcripts.ForgetAll()
	r.Lanes.Resize(s.Agents.Defaults)
	return r.Gate.WaitAllInFlight(ctx)
}

// Attach connects an account's channel to the gate; nil disconnects it, and its deliveries wait.
func (r *Router) Attach(ref settings.AccountRef, ch channels.Channel) { r.Gate.Attach(ref, ch) }

// Key gives the session that an event would go to.
func (r *Router) Key(in channels.Inbound) sessions.Key {
	return r.settings.Load().Key(in)
}

// Working lists the sessions whose agent is working, and counts those that wait for their turn.
func (r *Router) Working() (working []sessions.Key, waiting int) { return r.Lanes.Working() }

// Watch gives what happens from now on, until cancel or the end of the host.
func (r *Router) Watch(w event.Filter) (events <-chan event.Event, cancel func()) {
	return r.Events.Watch(w)
}

// Tell emits an event of somebody else's: what accounts do is known to the gateway.
func (r *Router) Tell(e event.Event) { r.Events.Publish(e) }

// Position gives the place behind all that has happened.
func (r *Router) Position() event.Position { return r.Events.Position() }

// RetryDelivery sends a failed, expired, held or dropped delivery again.
func (r *Router) RetryDelivery(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	return r.Gate.Retry(ctx, id)
}

// DropDelivery gives up on a delivery.
func (r *Router) DropDelivery(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	return r.Gate.Drop(ctx, id)
}

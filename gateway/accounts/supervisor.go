package accounts

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/router"
	"parley/router/settings"
	"parley/sessions/sqlstore"
)

// Deps holds the parts of the host that a Supervisor uses.
type Deps struct {
	Adapters []Adapter
	Config   func() *config.Config // in force
	Store    *sqlstore.Store
	Router   *router.Router
	Log      *slog.Logger
	Stopping <-chan struct{} // closed when the host begins to stop
}

// Supervisor keeps the accounts of the configuration connected.
type Supervisor struct {
	Deps

	mu   sync.Mutex
	list []*Account
	life context.Context // of the adapters, from start; nil before
	wg   sync.WaitGroup
	held map[settings.AccountRef]*channels.Holds // one each, whatever channels it has one after the other

	page     *webchat.Channel // the chat of the page; nil = it is switched off
	changing sync.Mutex       // held while accounts are started, stopped or replaced
	webhooks atomic.Int32     // requests of platforms that are under way
	told     reportedAccounts
}

// New opens the accounts of the configuration in force; nothing runs yet. An account that cannot be opened is shown, and does not stop
// the others.
func New(d Deps) *Supervisor {
	s := &Supervisor{Deps: d}
	for _, conf := range d.Config().Channels {
		a := s.open(conf)
		if page, ok := a.ch.(*webchat.Channel); ok && s.page == nil {
			s.page = page
		}
		s.list = append(s.list, a)
	}
	return s
}

// Refs names the accounts.
func (s *Supervisor) Refs() (refs []settings.AccountRef) {
	for _, a := range s.All() {
		refs = append(refs, a.ref)
	}
	return refs
}

// Page returns the chat of the page; nil when it is switched off.
func (s *Supervisor) Page() *webchat.Channel { return s.page }

// holds gives an account's.
func (s *Supervisor) holds(ref settings.AccountRef, dir string, log *slog.Logger) *channels.Holds {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = make(map[settings.AccountRef]*channels.Holds)
	}
	if s.held[ref] == nil {
		s.held[ref] = channels.NewHolds(dir, log)
	}
	return s.held[ref]
}

// All returns the accounts, in the order of the configuration.
func (s *Supervisor) All() []*Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// open opens the channel of a configured account. One that cannot be opened is shown, and does not stop the others.
func (s *Supervisor) open(conf config.Account) *Account {
	a := &Account{ref: settings.AccountRef{Channel: conf.Kind, Account: conf.ID}, conf: conf, state: channels.Stopped}
	log := s.Log.With("channel", conf.Kind, "account", conf.ID)
	dir := filepath.Join(s.Config().State, "channels", string(conf.Kind), string(conf.ID))
	for _, row := range s.Adapters {
		if row.Kind != conf.Kind {
			continue
		}
		a.ch, a.err = row.Open(conf, Env{
			Log: log, Dir: dir, Holds: s.holds(a.ref, dir, log),
			Cursor: func(ctx context.Context) (string, error) { return s.Store.Cursor(ctx, conf.Kind, conf.ID) },
			Seen: func(ctx context.Context) ([]channels.Position, error) {
				return s.Store.Positions(ctx, conf.Kind, conf.ID)
			},
			Identified: func(ctx context.Context, who channels.UserID) { s.identified(ctx, a.ref, who) },
			Sent: func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error) {
				_, own, err := s.Store.OwnMessage(ctx, chat, id)
				return own, err
			},
		})
	}
	if a.err != nil {
		a.ch = nil
		log.Error("account cannot be used", "err", a.err)
		a.set(channels.Stopped, a.err.Error())
	}
	return a
}

// identified notes who an account is, until the store has taken it or ctx ends.
func (s *Supervisor) identified(ctx context.Context, ref settings.AccountRef, who channels.UserID) {
	var names []channels.AccountID
	for _, c := range s.Config().Channels {
		if c.Kind == ref.Channel {
			names = append(names, c.ID)
		}
	}
	wait := channels.NewBackoff(minRestartPause, maxRestartPause)
	for ctx.Err() == nil {
		err := s.Router.Identified(ctx, ref, who, names)
		if err == nil {
			return
		}
		s.Log.Error("cannot save the identity of an account", "channel", ref.Channel, "account", ref.Account, "err", err, "hint", "events of the account wait for this")
		channels.Sleep(ctx, wait.NextBackOff())
	}
}

// Start connects all accounts, until ctx ends.
func (s *Supervisor) Start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = ctx
	for _, a := range s.list {
		s.start(ctx, a)
	}
}

// start attaches an account to the gate and runs its adapter under supervision. Nothing of it is running; changing is held,
// but at the start of the host, when nobody can change anything yet.
func (s *Supervisor) start(ctx context.Context, a *Account) {
	if a.ch == nil || ctx.Err() != nil {
		return
	}
	s.Router.Attach(a.ref, a.ch)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	a.cancel, a.ended = cancel, ended
	a.set(channels.Connected, "")
	s.wg.Go(func() {
		defer close(ended)
		var menu sync.WaitGroup
		menu.Go(func() { s.publish(ctx, a) })
		a.supervise(ctx, s.Router.Receiver.Accept, s.Log)
		cancel()
		menu.Wait()
	})
}

// Wait blocks until all adapters have ended; it is called when the context of Start has ended.
func (s *Supervisor) Wait() { s.wg.Wait() }

// Reload brings the accounts in line with a new configuration: those that are gone, changed or given up are stopped, those
// that are new, changed or given up are started. The others are not touched. The page's account stays as it is: people are
// connected to it.
func (s *Supervisor) Reload(c *config.Config) {
	s.changing.Lock() // one change at a time; the list itself is locked only for moments
	defer s.changing.Unlock()
	var keep, gone []*Account
	for _, a := range s.All() {
		i := slices.IndexFunc(c.Channels, func(n config.Account) bool { return n.Kind == a.conf.Kind && n.ID == a.conf.ID })
		if a.ch == s.page && s.page != nil || i >= 0 && a.err == nil && reflect.DeepEqual(a.conf.Adapter, c.Channels[i].Adapter) && a.current() {
			keep = append(keep, a)
		} else {
			gone = append(gone, a)
		}
	}
	for _, a := range gone {
		s.Router.Attach(a.ref, nil)
		a.end()
	}
	limit := time.After(endTimeout)
	for _, a := range gone {
		if err := a.wait(limit); err != nil {
			s.Log.Error("cannot replace an account with changed configuration", "err", err)
			a.markStale()
			keep = append(keep, a)
		}
	}
	var fresh []*Account
	for _, conf := range c.Channels {
		if !slices.ContainsFunc(keep, func(a *Account) bool { return a.conf.Kind == conf.Kind && a.conf.ID == conf.ID }) {
			fresh = append(fresh, s.open(conf))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range fresh {
		s.start(s.life, a)
	}
	s.list = append(keep, fresh...)
}

// Restart starts an account again that runs, waits or has given up.
func (s *Supervisor) Restart(a *Account) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	switch {
	case !s.has(a):
		return errConfigChanged(a)
	case a.ch == nil:
		return api.Refuse(http.StatusConflict, "%s cannot be used: %v; change the configuration, then run parley reload", a, a.err)
	case a.isLinking():
		return api.Refuse(http.StatusConflict, "a login of %s is running: end it first", a)
	}
	if err := s.halt(a); err != nil {
		return err
	}
	s.start(s.life, a)
	return nil
}

// has reports whether an account is still one of the host's, with the configuration in force.
func (s *Supervisor) has(a *Account) bool {
	a.mu.Lock()
	old := a.old
	a.mu.Unlock()
	return !old && slices.Contains(s.All(), a)
}

func errConfigChanged(a *Account) error {
	return api.Refuse(http.StatusConflict, "the configuration of %s changed: try again; if the error returns, run parley reload", a)
}

// publish tells a platform that has a menu which commands there are. Best effort: the commands work without.
func (s *Supervisor) publish(ctx context.Context, a *Account) {
	c := channels.Probe(a.ch).Commander
	if c == nil {
		return
	}
	for wait := time.Second; ctx.Err() == nil; wait = min(2*wait, time.Hour) {
		err := a.catchPanic(s.Log, func() error { return c.Publish(ctx, s.Router.CommandTable.Commands()) })
		if err == nil || ctx.Err() != nil {
			return
		}
		e := channels.Classify(err)
		if e.Class == channels.Unauthorized || e.Class == channels.Unsupported || e.Class == channels.Rejected {
			s.Log.Warn("cannot publish the command menu", "channel", a.ref.Channel, "account", a.ref.Account, "err", err)
			return
		}
		select {
		case <-time.After(max(wait, e.RetryAfter)):
		case <-ctx.Done():
		}
	}
}

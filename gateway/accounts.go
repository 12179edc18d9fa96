package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/router"
)

// accounts are the logins that the host keeps connected.
type accounts struct {
	mu   sync.Mutex
	list []*account
	life context.Context // of the adapters, from start; nil before
	wg   sync.WaitGroup

	held map[router.AccountRef]*channels.Holds // one each, whatever channels it has one after the other
}

// holds gives an account's.
func (as *accounts) holds(ref router.AccountRef, dir string, log *slog.Logger) *channels.Holds {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.held == nil {
		as.held = make(map[router.AccountRef]*channels.Holds)
	}
	if as.held[ref] == nil {
		as.held[ref] = channels.NewHolds(dir, log)
	}
	return as.held[ref]
}

func (as *accounts) all() []*account {
	as.mu.Lock()
	defer as.mu.Unlock()
	return slices.Clone(as.list)
}

// makeAccount opens the channel of a configured account. One that cannot be opened is shown, and does not stop the others.
func (h *Host) makeAccount(conf config.Account) *account {
	a := &account{ref: router.AccountRef{Channel: conf.Kind, Account: conf.ID}, conf: conf, state: channels.Stopped}
	log := h.log.With("channel", conf.Kind, "account", conf.ID)
	dir := filepath.Join(h.deps.Config.Config().State, "channels", string(conf.Kind), string(conf.ID))
	for _, row := range h.deps.Adapters {
		if row.Kind != conf.Kind {
			continue
		}
		a.ch, a.err = row.Open(conf, AdapterEnv{
			Log: log, Dir: dir, Holds: h.accounts.holds(a.ref, dir, log),
			Cursor: func(ctx context.Context) (string, error) { return h.store.Cursor(ctx, conf.Kind, conf.ID) },
			Seen: func(ctx context.Context) ([]channels.Position, error) {
				return h.store.Positions(ctx, conf.Kind, conf.ID)
			},
			Identified: func(ctx context.Context, who channels.UserID) { h.identified(ctx, a.ref, who) },
			Sent: func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error) {
				_, own, err := h.store.OwnMessage(ctx, chat, id)
				return own, err
			},
		})
	}
	if a.err != nil {
		a.ch = nil
		log.Error("an account cannot be used", "err", a.err)
		a.set(channels.Stopped, a.err.Error())
	}
	return a
}

// identified notes who an account is, until the store has taken it or ctx ends.
func (h *Host) identified(ctx context.Context, ref router.AccountRef, who channels.UserID) {
	var names []channels.AccountID
	for _, c := range h.deps.Config.Config().Channels {
		if c.Kind == ref.Channel {
			names = append(names, c.ID)
		}
	}
	wait := channels.NewBackoff(firstPause, longPause)
	for ctx.Err() == nil {
		err := h.router.Identified(ctx, ref, who, names)
		if err == nil {
			return
		}
		h.log.Error("cannot note an account's identity", "channel", ref.Channel, "account", ref.Account, "err", err, "hint", "its events wait for that")
		channels.Sleep(ctx, wait.NextBackOff())
	}
}

// openAccounts makes the accounts of a configuration; nothing runs yet.
func (h *Host) openAccounts(c *config.Config) {
	for _, conf := range c.Channels {
		a := h.makeAccount(conf)
		if page, ok := a.ch.(*webchat.Channel); ok && h.page == nil {
			h.page = page
		}
		h.accounts.list = append(h.accounts.list, a)
	}
}

// startAccounts connects all accounts, until ctx ends.
func (h *Host) startAccounts(ctx context.Context) {
	h.accounts.mu.Lock()
	defer h.accounts.mu.Unlock()
	h.accounts.life = ctx
	for _, a := range h.accounts.list {
		h.startAccount(ctx, a)
	}
}

// startAccount attaches an account to the gate and runs its adapter under supervision. Nothing of it is at work; h.changing is held,
// but at the start of the host, when nobody can change anything yet.
func (h *Host) startAccount(ctx context.Context, a *account) {
	if a.ch == nil || ctx.Err() != nil {
		return
	}
	h.router.Attach(a.ref, a.ch)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	a.cancel, a.ended = cancel, ended
	a.set(channels.Connected, "")
	h.accounts.wg.Go(func() {
		defer close(ended)
		var menu sync.WaitGroup
		menu.Go(func() { h.publish(ctx, a) })
		a.supervise(ctx, h.router.Accept, h.log)
		cancel()
		menu.Wait()
	})
}

// reloadAccounts brings the accounts in line with a new configuration: those that are gone, changed or given up are stopped, those
// that are new, changed or given up are started. The others are not touched. The page's account stays as it is: people are
// connected to it.
func (h *Host) reloadAccounts(c *config.Config) {
	as := &h.accounts
	h.changing.Lock() // one change at a time; the list itself is locked only for moments
	defer h.changing.Unlock()
	var keep, gone []*account
	for _, a := range as.all() {
		i := slices.IndexFunc(c.Channels, func(n config.Account) bool { return n.Kind == a.conf.Kind && n.ID == a.conf.ID })
		if a.ch == h.page && h.page != nil || i >= 0 && a.err == nil && reflect.DeepEqual(a.conf.Adapter, c.Channels[i].Adapter) && a.current() {
			keep = append(keep, a)
		} else {
			gone = append(gone, a)
		}
	}
	for _, a := range gone {
		h.router.Attach(a.ref, nil)
		a.end()
	}
	limit := time.After(endWithin)
	for _, a := range gone {
		if err := a.wait(limit); err != nil {
			h.log.Error("the configuration of an account changed, but it cannot be replaced", "err", err)
			a.outdate()
			keep = append(keep, a)
		}
	}
	var fresh []*account
	for _, conf := range c.Channels {
		if !slices.ContainsFunc(keep, func(a *account) bool { return a.conf.Kind == conf.Kind && a.conf.ID == conf.ID }) {
			fresh = append(fresh, h.makeAccount(conf))
		}
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, a := range fresh {
		h.startAccount(as.life, a)
	}
	as.list = append(keep, fresh...)
}

// restart starts an account again that runs, waits or has given up.
func (h *Host) restart(a *account) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	switch {
	case !h.has(a):
		return changed(a)
	case a.ch == nil:
		return api.Refuse(http.StatusConflict, "%s cannot be used: %v; change the configuration, then reload it", a, a.err)
	case a.beingLinked():
		return api.Refuse(http.StatusConflict, "%s is being linked: end that first", a)
	}
	if err := h.halt(a); err != nil {
		return err
	}
	h.startAccount(h.accounts.life, a)
	return nil
}

// has reports whether an account is still one of the host's, with the configuration in force.
func (h *Host) has(a *account) bool {
	a.mu.Lock()
	old := a.old
	a.mu.Unlock()
	return !old && slices.Contains(h.accounts.all(), a)
}

func changed(a *account) error {
	return api.Refuse(http.StatusConflict, "the configuration of %s changed meanwhile: try again; if it stays so, reload the configuration", a)
}

// publish tells a platform that has a menu which commands there are. Best effort: the commands work without.
func (h *Host) publish(ctx context.Context, a *account) {
	c := channels.Probe(a.ch).Commander
	if c == nil {
		return
	}
	for wait := time.Second; ctx.Err() == nil; wait = min(2*wait, time.Hour) {
		err := fenced(a.String(), h.log, func() error { return c.Publish(ctx, h.router.Commands()) })
		if err == nil || ctx.Err() != nil {
			return
		}
		e := channels.Classify(err)
		if e.Class == channels.Unauthorized || e.Class == channels.Unsupported || e.Class == channels.Rejected {
			h.log.Warn("the command menu was not published", "channel", a.ref.Channel, "account", a.ref.Account, "err", err)
			return
		}
		select {
		case <-time.After(max(wait, e.RetryAfter)):
		case <-ctx.Done():
		}
	}
}

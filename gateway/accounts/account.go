package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"parley/channels"
	"parley/gateway/config"
	"parley/router/settings"
)

// Account is one login under supervision.
type Account struct {
	ref  settings.AccountRef
	conf config.Account
	ch   channels.Channel
	err  error // why it could not be made

	cancel context.CancelFunc // ends the call of its adapter: Run, or Unpair; Supervisor.changing guards both once the host runs
	ended  chan struct{}      // closed when that call has ended

	mu       sync.Mutex
	state    channels.State // what the supervisor knows: Connected (it runs), Disconnected (it waits), a permanent one, or Stopped
	detail   string
	next     time.Time // Disconnected, or ended by the platform: when it is tried again
	since    time.Time // when the platform ended it; zero = it has run for a while since
	restarts int
	linking  *pendingLogin   // nil unless somebody links it now
	stuck    <-chan struct{} // the end of a call that did not end in time; nil: none did
	old      bool            // its configuration changed, and it could not be replaced as it was stuck
}

// Ref names the account.
func (a *Account) Ref() settings.AccountRef { return a.ref }

// Err says why the account cannot be used; nil = it can. Its configuration has to change first.
func (a *Account) Err() error { return a.err }

func (a *Account) set(state channels.State, detail string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state, a.detail, a.next = state, detail, time.Time{}
}

// waits notes that the adapter is started again after a pause.
func (a *Account) waits(why string, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state, a.detail, a.next = channels.Disconnected, why, time.Now().Add(wait)
	a.restarts++
}

// running reports whether its supervisor has not given up.
func (a *Account) running() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state == channels.Connected || a.state == channels.Disconnected
}

func (a *Account) isLinking() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.linking != nil
}

// busy reports whether its adapter, or a login, is running.
func (a *Account) busy() bool { return a.running() || a.isLinking() }

// String names an account for people.
func (a *Account) String() string { return fmt.Sprintf("%s (%s)", a.ref.Channel, a.ref.Account) }

// stateOfError gives the state of an account after an error that only a person can fix. The adapter may know better.
func stateOfError(e *channels.Error, canLink bool) channels.State {
	switch {
	case e.Class == channels.Rejected:
		return channels.Refused
	case canLink:
		return channels.LoggedOut
	}
	return channels.Revoked
}

// errorText is an error without its class: for people.
func errorText(e *channels.Error) string {
	if e.Err == nil {
		return string(e.Class)
	}
	return e.Err.Error()
}

// The pause before an adapter is started again.
const (
	minRestartPause = time.Second
	maxRestartPause = time.Minute
	steadyRun       = 5 * time.Minute  // a run of this length was a good one: the next pause is short again
	refusedPause    = 30 * time.Minute // before an account is tried again that its platform refused: it may have been an error of the platform
)

// supervise keeps an adapter running until ctx ends. Each account fails and restarts alone, with jitter and not before the platform
// allows it; an error that only a person can fix stops it, visibly, and for half an hour where trying again can do no harm.
func (a *Account) supervise(ctx context.Context, in channels.Inbox, log *slog.Logger) {
	log = log.With("channel", a.ref.Channel, "account", a.ref.Account)
	pause := minRestartPause
	for ctx.Err() == nil {
		a.set(channels.Connected, "")
		began := time.Now()
		err := a.catchPanic(log, func() error { return a.ch.Run(ctx, in) })
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("adapter exited unexpectedly")
		}
		e := channels.Classify(err)
		if time.Since(began) > steadyRun {
			pause = minRestartPause
			a.recovered()
		}
		if e.Class == channels.Unauthorized || e.Class == channels.Rejected {
			if a.refused(e, log) && channels.Sleep(ctx, time.Until(a.due())) {
				continue
			}
			return
		}
		wait := max(e.RetryAfter, pause/2+rand.N(pause/2+1))
		log.Warn("restarting the account", "err", err, "in", wait.Round(time.Millisecond).String())
		a.waits(errorText(e), wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, maxRestartPause)
	}
}

// refused notes that the platform has ended the account, and reports whether it is tried again automatically. It is not when that would take
// the login from somebody else, or when the login is gone.
func (a *Account) refused(e *channels.Error, log *slog.Logger) bool {
	a.set(stateOfError(e, channels.Probe(a.ch).Pairer != nil), errorText(e))
	now := a.Status(time.Now())
	if now.State == channels.LoggedOut && now.CanLink && now.LastSeen.IsZero() { // nothing is broken: nobody has linked it yet
		log.Warn("the account is not linked", "todo", cmp.Or(now.Todo, now.Detail), "err", e)
		return false
	}
	again := now.State == channels.Revoked || now.State == channels.Refused
	a.mu.Lock()
	if a.since.IsZero() {
		a.since = time.Now()
	}
	if again {
		a.next = time.Now().Add(refusedPause*3/4 + rand.N(refusedPause/2))
	}
	since, next := a.since, a.next
	a.mu.Unlock()
	attrs := []any{"state", now.State, "err", e, "detail", now.Detail, "todo", now.Todo, "since", since}
	if again {
		attrs = append(attrs, "nextTry", next)
	}
	log.Error("the platform refuses the account", attrs...)
	return again
}

// recovered notes that the account has run for a while.
func (a *Account) recovered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = time.Time{}
}

// due is when it is tried again.
func (a *Account) due() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next
}

// catchPanic calls the adapter; a panic is logged and becomes an error after which the account is started again.
func (a *Account) catchPanic(log *slog.Logger, call func() error) error {
	err := channels.CatchPanic(channels.Transient, call)
	if p, ok := errors.AsType[*channels.Panic](err); ok {
		log.Error("panic in the adapter", "account", a.String(), "panic", p.Value, "stack", p.Stack)
	}
	return err
}

package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"parley/channels"
	"parley/gateway/config"
	"parley/router"
)

// account is one login under supervision.
type account struct {
	ref  router.AccountRef
	conf config.Account
	ch   channels.Channel
	err  error // why it could not be made

	cancel context.CancelFunc // ends its adapter
	ended  chan struct{}      // closed when the adapter has ended

	mu       sync.Mutex
	state    channels.State
	detail   string
	restarts int
}

// Status is how an account is, for people and for /readyz.
type Status struct {
	Channel  channels.Kind      `json:"channel"`
	Account  channels.AccountID `json:"account"`
	State    channels.State     `json:"state"`
	Live     bool               `json:"live"`
	Name     string             `json:"name,omitempty"`
	Detail   string             `json:"detail,omitempty"`
	LastSeen time.Time          `json:"lastSeen,omitzero"`
	Restarts int                `json:"restarts"`
}

// status joins what the adapter knows with what its supervisor saw.
func (a *account) status(now time.Time) Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := Status{Channel: a.ref.Channel, Account: a.ref.Account, State: a.state, Detail: a.detail, Restarts: a.restarts}
	if a.ch == nil {
		return s
	}
	rep := channels.Probe(a.ch).Reporter
	if rep == nil {
		s.Live = a.state == channels.Connected
		return s
	}
	h := rep.Health()
	s.Name, s.LastSeen = h.Name, h.LastSeen
	if a.state != channels.Stopped {
		s.State, s.Detail, s.Live = h.State, firstOf(h.Detail, a.detail), h.Live(now)
	}
	return s
}

func (a *account) set(state channels.State, detail string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state, a.detail = state, detail
}

// running reports whether its supervisor has not given up.
func (a *account) running() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state != channels.Stopped
}

// The pause before an adapter is started again.
const (
	firstPause = time.Second
	longPause  = time.Minute
	steady     = 5 * time.Minute // a run of this length was a good one: the next pause is short again
)

// supervise keeps an adapter running until ctx ends. Each account fails and restarts alone, with jitter; an error that only a
// person can mend stops it, visibly.
func (a *account) supervise(ctx context.Context, in channels.Inbox, log *slog.Logger) {
	log = log.With("channel", a.ref.Channel, "account", a.ref.Account)
	pause := firstPause
	for ctx.Err() == nil {
		a.set(channels.Connected, "")
		began := time.Now()
		err := fenced(ctx, a.ch, in, log)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the adapter ended by itself")
		}
		e := channels.Classify(err)
		if e.Class == channels.Unauthorized || e.Class == channels.Rejected {
			log.Error("the account is stopped until the configuration changes", "err", err)
			a.set(channels.Stopped, err.Error())
			return
		}
		if time.Since(began) > steady {
			pause = firstPause
		}
		wait := max(e.RetryAfter, pause/2+rand.N(pause/2+1))
		log.Warn("the account is started again", "err", err, "in", wait.Round(time.Millisecond).String())
		a.set(channels.Disconnected, err.Error())
		a.mu.Lock()
		a.restarts++
		a.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longPause)
	}
}

// fenced runs an adapter; a panic is an error.
func fenced(ctx context.Context, ch channels.Channel, in channels.Inbox, log *slog.Logger) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic in the adapter", "panic", p, "stack", string(debug.Stack()))
			err = &channels.Error{Class: channels.Transient, Err: fmt.Errorf("the adapter panicked: %v", p)}
		}
	}()
	return ch.Run(ctx, in)
}

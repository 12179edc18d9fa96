package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

// pendingLogin is a login under way.
type pendingLogin struct {
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when the adapter has let go
}

const (
	loginTimeout  = 10 * time.Minute // an incomplete login ends after this
	logoutTimeout = 30 * time.Second
	nameTimeout   = 15 * time.Second // wait for the first connection after a login, to say as whom
)

// Why a login was ended from outside.
var (
	errChangedMeanwhile = errors.New("the configuration of this account changed: try again")
	errStopping         = errors.New("the host is stopping")
	errLoginTimeout     = fmt.Errorf("no device was linked within %s: try again", loginTimeout)
)

// Login links an account: it shows each step until a person has done it, then starts the account and gives the name that it has
// on its platform, if that is known soon. ctx ends it.
func (s *Supervisor) Login(ctx context.Context, a *Account, phone string, show func(channels.PairStep)) (name string, err error) {
	pairer, err := pairerOf(a)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, loginTimeout, errLoginTimeout)
	defer stop()
	l := &pendingLogin{cancel: cancel, ended: make(chan struct{})}
	if err := s.beginLogin(a, l); err != nil {
		return "", err
	}
	defer context.AfterFunc(s.life, func() { cancel(errStopping) })() //nolint:contextcheck // the accounts' life ends a login besides ctx
	err = a.catchPanic(s.Log, func() error { return pairer.Pair(ctx, phone, show) })
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	s.endLogin(a, l)
	if err != nil {
		s.Log.Info("account not linked", "channel", a.ref.Channel, "account", a.ref.Account, "err", err)
		return "", api.Refuse(http.StatusBadGateway, "%s is not linked: %s", a, adapterErrorText(err))
	}
	s.Log.Info("account linked", "channel", a.ref.Channel, "account", a.ref.Account)
	return s.nameOf(ctx, a), nil
}

// beginLogin takes an account for a login: its adapter is stopped and taken from the gate, so that Pair has it for itself. Only a
// send that has begun before may still be under way. What is to be sent waits until endLogin.
func (s *Supervisor) beginLogin(a *Account, l *pendingLogin) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.checkLinkable(a); err != nil {
		return err
	}
	if err := s.halt(a); err != nil {
		return err
	}
	a.set(channels.LoggedOut, "")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.linking = l
	return nil
}

// CanLink says why a login could not begin; nil when it could.
func (s *Supervisor) CanLink(a *Account) error {
	if _, err := pairerOf(a); err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.checkLinkable(a)
}

// checkLinkable says why an account cannot be linked now. changing is held.
func (s *Supervisor) checkLinkable(a *Account) error {
	now := a.Status(time.Now())
	switch {
	case !s.has(a) || s.life.Err() != nil:
		return errConfigChanged(a)
	case now.Linking:
		return api.Refuse(http.StatusConflict, "another login of %s is running: end it first", a)
	case now.State == channels.Connected || now.State == channels.Conflict || now.State == channels.Banned:
		as := ""
		if now.Name != "" {
			as = " as " + now.Name
		}
		return api.Refuse(http.StatusConflict, "%s is already linked%s (%s): to link another account, run parley logout %s first", a, as, api.InWords(now.State), a.ref.Channel)
	}
	return nil
}

// endLogin gives an account back: its adapter runs again, linked or not.
func (s *Supervisor) endLogin(a *Account, l *pendingLogin) {
	a.mu.Lock()
	a.linking = nil
	a.mu.Unlock()
	close(l.ended)
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.has(a) && !a.busy() && a.stop() == nil {
		s.start(s.life, a)
	}
}

// nameOf waits a while for an account to connect, and gives its name.
func (s *Supervisor) nameOf(ctx context.Context, a *Account) string {
	limit := time.After(nameTimeout)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		s := a.Status(time.Now())
		if s.Name != "" && s.Live || s.State.Permanent() {
			return s.Name
		}
		select {
		case <-tick.C:
		case <-limit:
			return s.Name
		case <-ctx.Done():
			return s.Name
		}
	}
}

// Logout ends the link of an account; the gate has nothing of it meanwhile, as during a login.
func (s *Supervisor) Logout(ctx context.Context, a *Account) error {
	pairer, err := pairerOf(a)
	if err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	switch {
	case !s.has(a) || s.life.Err() != nil:
		return errConfigChanged(a)
	case a.isLinking():
		return api.Refuse(http.StatusConflict, "a login of %s is running: end it first", a)
	case a.Status(time.Now()).State == channels.LoggedOut:
		return api.Refuse(http.StatusConflict, "%s is not linked", a)
	}
	if err := s.halt(a); err != nil {
		return err
	}
	a.set(channels.Stopped, "")
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	ended := make(chan struct{})
	a.cancel, a.ended = cancel, ended
	go func() { // an adapter that ignores ctx blocks no caller for ever
		defer close(ended)
		err = a.catchPanic(s.Log, func() error { return pairer.Unpair(ctx) })
	}()
	if late := a.wait(time.After(logoutTimeout + endTimeout)); late != nil {
		return late
	}
	s.start(s.life, a) //nolint:contextcheck // accounts live with the host, not with who logs out
	if err != nil {
		return api.Refuse(http.StatusBadGateway, "%s: unlink: %s", a, adapterErrorText(err))
	}
	s.Log.Info("account unlinked", "channel", a.ref.Channel, "account", a.ref.Account)
	return nil
}

// pairerOf gives what links an account.
func pairerOf(a *Account) (channels.Pairer, error) {
	if a.ch == nil {
		return nil, api.Refuse(http.StatusConflict, "%s cannot be used: %v; change the configuration, then run parley reload", a, a.err)
	}
	p := channels.Probe(a.ch).Pairer
	if p == nil {
		return nil, api.Refuse(http.StatusConflict, "%s needs no login: its settings are in the configuration (channels.%s)", a, a.ref.Channel)
	}
	return p, nil
}

// adapterErrorText is an error of an adapter in a line for people.
func adapterErrorText(err error) string { return errorText(channels.Classify(err)) }

package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

// linking is a login under way.
type linking struct {
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when the adapter has let go
}

const (
	loginWithin  = 10 * time.Minute // a login that nobody completes ends
	logoutWithin = 30 * time.Second
	nameWithin   = 15 * time.Second // wait for the first connection after a login, to say as whom
)

// Why a login was ended from outside.
var (
	errChanged  = errors.New("the configuration of this account changed meanwhile: try again")
	errStopping = errors.New("the host is stopping")
	errTooLong  = fmt.Errorf("nobody linked it within %s: try again", loginWithin)
)

// login links an account: it shows each step until a person has done it, then starts the account and gives the name that it has
// on its platform, if that is known soon. ctx ends it.
func (h *Host) login(ctx context.Context, a *account, phone string, show func(channels.PairStep)) (name string, err error) {
	pairer, err := pairs(a)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, loginWithin, errTooLong)
	defer stop()
	l := &linking{cancel: cancel, ended: make(chan struct{})}
	if err := h.beginLogin(a, l); err != nil {
		return "", err
	}
	defer context.AfterFunc(h.accounts.life, func() { cancel(errStopping) })() //nolint:contextcheck // the accounts' life ends a login besides ctx
	err = fenced(a.String(), h.log, func() error { return pairer.Pair(ctx, phone, show) })
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	h.endLogin(a, l)
	if err != nil {
		h.log.Info("an account was not linked", "channel", a.ref.Channel, "account", a.ref.Account, "err", err)
		return "", api.Refuse(http.StatusBadGateway, "%s is not linked: %s", a, reason(err))
	}
	h.log.Info("an account is linked", "channel", a.ref.Channel, "account", a.ref.Account)
	return h.nameOf(ctx, a), nil
}

// beginLogin takes an account for a login: its adapter is stopped and taken from the gate, so that Pair has it for itself. Only a
// send that has begun before may still be under way. What is to be sent waits until endLogin.
func (h *Host) beginLogin(a *account, l *linking) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	if err := h.linkable(a); err != nil {
		return err
	}
	if err := h.halt(a); err != nil {
		return err
	}
	a.set(channels.LoggedOut, "")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.linking = l
	return nil
}

// mayLogin says why a login could not begin; nil when it could.
func (h *Host) mayLogin(a *account) error {
	if _, err := pairs(a); err != nil {
		return err
	}
	h.changing.Lock()
	defer h.changing.Unlock()
	return h.linkable(a)
}

// linkable says why an account cannot be linked now. h.changing is held.
func (h *Host) linkable(a *account) error {
	now := a.status(time.Now())
	switch {
	case !h.has(a) || h.accounts.life.Err() != nil:
		return changed(a)
	case now.Linking:
		return api.Refuse(http.StatusConflict, "somebody is linking %s already: end that login first", a)
	case now.State == channels.Connected || now.State == channels.Conflict || now.State == channels.Banned:
		as := ""
		if now.Name != "" {
			as = " as " + now.Name
		}
		return api.Refuse(http.StatusConflict, "%s is linked already%s (%s): to link another one, run parley logout %s first", a, as, api.InWords(now.State), a.ref.Channel)
	}
	return nil
}

// endLogin gives an account back: its adapter runs again, linked or not.
func (h *Host) endLogin(a *account, l *linking) {
	a.mu.Lock()
	a.linking = nil
	a.mu.Unlock()
	close(l.ended)
	h.changing.Lock()
	defer h.changing.Unlock()
	if h.has(a) && !a.busy() && a.stop() == nil {
		h.startAccount(h.accounts.life, a)
	}
}

// nameOf waits a while for an account to connect, and gives its name.
func (h *Host) nameOf(ctx context.Context, a *account) string {
	limit := time.After(nameWithin)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		s := a.status(time.Now())
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

// logout ends the link of an account; the gate has nothing of it meanwhile, as during a login.
func (h *Host) logout(ctx context.Context, a *account) error {
	pairer, err := pairs(a)
	if err != nil {
		return err
	}
	h.changing.Lock()
	defer h.changing.Unlock()
	switch {
	case !h.has(a) || h.accounts.life.Err() != nil:
		return changed(a)
	case a.beingLinked():
		return api.Refuse(http.StatusConflict, "%s is being linked: end that first", a)
	case a.status(time.Now()).State == channels.LoggedOut:
		return api.Refuse(http.StatusConflict, "%s is not linked: there is nothing to end", a)
	}
	if err := h.halt(a); err != nil {
		return err
	}
	a.set(channels.Stopped, "")
	ctx, cancel := context.WithTimeout(ctx, logoutWithin)
	defer cancel()
	ended := make(chan struct{})
	a.cancel, a.ended = cancel, ended
	go func() { // an adapter that does not heed ctx holds up nobody for ever
		defer close(ended)
		err = fenced(a.String(), h.log, func() error { return pairer.Unpair(ctx) })
	}()
	if late := a.wait(time.After(logoutWithin + endWithin)); late != nil {
		return late
	}
	h.startAccount(h.accounts.life, a) //nolint:contextcheck // accounts live with the host, not with who logs out
	if err != nil {
		return api.Refuse(http.StatusBadGateway, "%s: the link was not ended: %s", a, reason(err))
	}
	h.log.Info("the link of an account was ended", "channel", a.ref.Channel, "account", a.ref.Account)
	return nil
}

// pairs gives what links an account.
func pairs(a *account) (channels.Pairer, error) {
	if a.ch == nil {
		return nil, api.Refuse(http.StatusConflict, "%s cannot be used: %v; change the configuration, then reload it", a, a.err)
	}
	p := channels.Probe(a.ch).Pairer
	if p == nil {
		return nil, api.Refuse(http.StatusConflict, "%s is not linked by a person: all that it needs is in the configuration (channels.%s)", a, a.ref.Channel)
	}
	return p, nil
}

// reason is an error of an adapter in a line for people.
func reason(err error) string { return bare(channels.Classify(err)) }

// phoneNumber reads a number as people write it and gives it as +4915…; empty stays empty.
func phoneNumber(text string) (string, error) {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -./()", r) {
			return -1
		}
		return r
	}, text)
	if digits == "" {
		return "", nil
	}
	digits = strings.TrimPrefix(strings.TrimPrefix(digits, "+"), "00")
	if strings.Trim(digits, "0123456789") != "" || len(digits) < 7 || len(digits) > 15 || digits[0] == '0' {
		return "", api.Bad("phone %q: want the whole number with its country code, for example +49 151 23456789", text)
	}
	return "+" + digits, nil
}

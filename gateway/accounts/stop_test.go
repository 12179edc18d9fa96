package accounts

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/router"
	"parley/router/settings"
)

// deaf is a channel that does not heed the end of its context, and ends when the test says so.
type deaf struct {
	scripted
	let, letPair chan struct{}
	held         []*channels.Holds // that it was opened with
}

func newDeaf() *deaf {
	d := &deaf{let: make(chan struct{}), letPair: make(chan struct{})}
	d.run = func(context.Context, int) error {
		<-d.let
		return errGone
	}
	return d
}

func (d *deaf) Pair(context.Context, string, func(channels.PairStep)) error {
	<-d.letPair
	return errors.New("late")
}

func (d *deaf) Unpair(context.Context) error {
	<-d.letPair
	return nil
}

func (d *deaf) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.runs)
}

// deafHost supervises one account, which is not heeding.
func deafHost(t *testing.T, d *deaf) (*Supervisor, *Account, *config.Config) {
	t.Helper()
	conf := config.Account{Kind: "fake", ID: "default", Adapter: &struct{ N int }{1}}
	c := &config.Config{State: t.TempDir(), Channels: []config.Account{conf}}
	quiet := slog.New(slog.DiscardHandler)
	s := New(Deps{Config: config.NewLive(c, nil, nil).Config, Log: quiet, Router: router.New(router.Deps{Settings: &settings.Snapshot{}, Log: quiet}),
		Adapters: []Adapter{{Adapter: config.Adapter{Kind: "fake"}, Open: func(_ config.Account, env Env) (channels.Channel, error) {
			d.held = append(d.held, env.Holds)
			return d, nil
		}}}})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		synctest.Wait()
		s.wg.Wait()
	})
	s.Start(ctx)
	synctest.Wait()
	return s, s.All()[0], c
}

// busy503 is what is said while an adapter does not end; it takes so long at most.
func busy503(t *testing.T, what string, most time.Duration, call func() error) {
	t.Helper()
	began := time.Now()
	err := call()
	no, ok := errors.AsType[*api.Error](err)
	if !ok || no.Status != http.StatusServiceUnavailable || !strings.Contains(no.Message, "fake (default)") || !strings.Contains(no.Message, "restart parley") {
		t.Errorf("%s: %v", what, err)
	}
	if took := time.Since(began); took > most {
		t.Errorf("%s took %s", what, took)
	}
}

// An adapter that does not end holds up a change for a while only, is marked, is not run twice, and can be started once it has ended.
func TestStuckRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeaf()
		s, a, _ := deafHost(t, d)
		busy503(t, "restart", endTimeout, func() error { return s.Restart(a) })
		busy503(t, "another", 0, func() error { return s.Restart(a) })
		busy503(t, "login", 0, func() error { _, err := s.Login(t.Context(), a, "", nil); return err })
		busy503(t, "logout", 0, func() error { return s.Logout(t.Context(), a) })
		if s := a.Status(time.Now()); s.State != channels.Stopped || s.Live || !strings.Contains(s.Line(), "still runs; if this persists, restart parley") || d.count() != 1 {
			t.Errorf("%d runs, %s", d.count(), s.Line())
		}
		close(d.let)
		synctest.Wait()
		if s := a.Status(time.Now()); !strings.Contains(s.Todo, "parley channels restart fake") {
			t.Errorf("%s", s.Line())
		}
		if err := s.Restart(a); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if s := a.Status(time.Now()); d.count() != 2 || s.Detail != "the platform is away" {
			t.Errorf("%d runs, %s", d.count(), s.Line())
		}
	})
}

// A reload that cannot replace an account leaves it marked, and replaces it when it has ended.
func TestStuckReload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeaf()
		s, a, c := deafHost(t, d)
		now := *c
		now.Channels = []config.Account{{Kind: "fake", ID: "default", Adapter: &struct{ N int }{2}}}
		began := time.Now()
		s.Reload(&now)
		if took := time.Since(began); took != endTimeout || d.count() != 1 || len(s.All()) != 1 || s.All()[0] != a {
			t.Errorf("after %s: %d runs, %v", took, d.count(), s.All())
		}
		close(d.let)
		synctest.Wait()
		if err := s.Restart(a); err == nil || !strings.Contains(err.Error(), "run parley reload") {
			t.Errorf("restart with the old configuration: %v", err)
		}
		if s := a.Status(time.Now()); s.Todo != "reload the configuration" {
			t.Errorf("%s", s.Line())
		}
		s.Reload(&now)
		synctest.Wait()
		if list := s.All(); len(list) != 1 || list[0] == a || d.count() != 2 {
			t.Errorf("%d runs, %v", d.count(), list)
		}
		if len(d.held) != 2 || d.held[0] == nil || d.held[0] != d.held[1] { // what the old channel is still told, the new one knows
			t.Errorf("holds of the two channels: %v", d.held)
		}
	})
}

// A Pair or Unpair that does not end is waited for no longer than a Run, and a Pair that ends late starts no old configuration.
func TestStuckPair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeaf()
		close(d.let)
		d.run = func(context.Context, int) error {
			return &channels.Error{Class: channels.Unauthorized, Err: errors.New("not linked")}
		}
		s, a, c := deafHost(t, d)
		ended := make(chan error, 1)
		go func() {
			_, err := s.Login(t.Context(), a, "", nil)
			ended <- err
		}()
		synctest.Wait()
		began := time.Now()
		s.Reload(&config.Config{State: c.State})
		if took := time.Since(began); took != endTimeout {
			t.Errorf("the reload took %s", took)
		}
		close(d.letPair)
		if err := <-ended; err == nil {
			t.Error("the login succeeded")
		}
		synctest.Wait()
		if d.count() != 1 {
			t.Errorf("%d runs of an account that is not configured", d.count())
		}
		d.run = func(ctx context.Context, _ int) error { // it is linked now
			<-ctx.Done()
			return nil
		}
		s.Reload(c)
		synctest.Wait()
		d.letPair = make(chan struct{})
		a = s.All()[0]
		busy503(t, "logout", logoutTimeout+endTimeout, func() error { return s.Logout(t.Context(), a) })
		busy503(t, "restart", 0, func() error { return s.Restart(a) })
		close(d.letPair)
		synctest.Wait()
		if err := s.Restart(a); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if d.count() != 3 {
			t.Errorf("%d runs", d.count())
		}
	})
}

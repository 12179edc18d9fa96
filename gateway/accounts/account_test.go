package accounts

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/config"
	"parley/router/settings"
)

// scripted is a channel whose Run does what a test says.
type scripted struct {
	channels.Channel
	run func(ctx context.Context, n int) error

	mu     sync.Mutex
	runs   []time.Time
	health channels.Health
}

func (s *scripted) Run(ctx context.Context, _ channels.Inbox) error {
	s.mu.Lock()
	s.runs = append(s.runs, time.Now())
	n := len(s.runs)
	s.mu.Unlock()
	return s.run(ctx, n)
}

func (s *scripted) Health() channels.Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health
}

func (s *scripted) set(h channels.Health) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.health = h
}

// linkable has a Pairer besides.
type linkable struct {
	*scripted
	channels.Pairer
}

func testAccount(ch channels.Channel) *Account {
	return &Account{ref: settings.AccountRef{Channel: "fake", Account: "default"}, conf: config.Account{}, ch: ch}
}

// supervised runs an account for a while of virtual time and gives when its Runs began.
func supervised(t *testing.T, a *Account, s *scripted, life time.Duration) []time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	a.supervise(ctx, nil, slog.New(slog.DiscardHandler))
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

var errGone = &channels.Error{Class: channels.Transient, Err: errors.New("the platform is away")}

// The pauses grow with jitter up to a minute, and are short again after a run that held.
func TestSupervisePauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{run: func(ctx context.Context, n int) error {
			switch n {
			case 12:
				return ctx.Err() // nil: an adapter that ends on its own is started again as well
			case 20:
				time.Sleep(steadyRun + time.Second)
			case 3:
				panic("a bug")
			}
			return errGone
		}}
		a := testAccount(s)
		runs := supervised(t, a, s, 40*time.Minute)
		if len(runs) < 25 {
			t.Fatalf("%d runs", len(runs))
		}
		most, odd, want := time.Duration(0), 0, minRestartPause
		for i := 1; i < len(runs); i++ {
			pause := runs[i].Sub(runs[i-1])
			if i == 20 {
				pause, want = pause-steadyRun-time.Second, minRestartPause
			}
			if pause < want/2 || pause > want {
				t.Errorf("pause %d is %s, want %s to %s", i, pause, want/2, want)
			}
			if pause%(minRestartPause/2) != 0 {
				odd++
			}
			most, want = max(most, pause), min(2*want, time.Minute)
		}
		if most > time.Minute || most < 31*time.Second {
			t.Errorf("the longest pause is %s", most)
		}
		if odd < len(runs)/2 {
			t.Error("the pauses have no jitter")
		}
		if got := a.Status(time.Now()); got.Restarts < len(runs)-1 || got.Live || got.State != channels.Disconnected || got.Detail != "the platform is away" || got.Next.IsZero() {
			t.Errorf("%d runs: %+v", len(runs), got)
		}
	})
}

// A platform that says how long to wait is not asked before, however long that is; meanwhile people read why.
func TestSuperviseRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{}
		s.run = func(ctx context.Context, n int) error {
			if n > 1 {
				s.set(channels.Health{State: channels.Connected, LastSeen: time.Now(), Stale: time.Minute})
				<-ctx.Done()
				return nil
			}
			s.set(channels.Health{State: channels.Banned, Detail: "banned for 3 h"})
			return &channels.Error{Class: channels.Limited, RetryAfter: 3 * time.Hour, Err: errors.New("banned")}
		}
		a := testAccount(s)
		go func() {
			time.Sleep(time.Hour)
			got := a.Status(time.Now())
			if got.State != channels.Banned || got.Detail != "banned for 3 h" || got.Live || time.Until(got.Next) != 2*time.Hour {
				t.Errorf("after an hour: %+v", got)
			}
		}()
		runs := supervised(t, a, s, 4*time.Hour)
		if len(runs) != 2 || runs[1].Sub(runs[0]) != 3*time.Hour {
			t.Errorf("runs at %v", runs)
		}
		if got := a.Status(time.Now()); got.Restarts != 1 || got.State != channels.Connected || got.Live { // it has not been seen for an hour
			t.Errorf("%+v", got)
		}
	})
}

// An adapter that ended for good is not run again, shows its own state and what to do, and is not live whatever it says.
func TestSupervisePermanent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class  channels.Class
		health channels.Health
		pairs  bool
		state  channels.State
		detail string
		todo   string
	}{
		"replaced":       {channels.Unauthorized, channels.Health{State: channels.Replaced, Detail: "another client took it over"}, true, channels.Replaced, "another client took it over", "parley channels restart fake"},
		"outdated":       {channels.Rejected, channels.Health{State: channels.Outdated, Detail: "too old: update parley"}, true, channels.Outdated, "too old: update parley", "parley channels restart fake"},
		"not linked":     {channels.Unauthorized, channels.Health{State: channels.LoggedOut}, true, channels.LoggedOut, "no", "parley login fake"},
		"says connected": {channels.Unauthorized, channels.Health{State: channels.Connected, LastSeen: time.Now().Add(time.Hour * 1e6), Stale: time.Hour}, false, channels.Revoked, "no", "parley channels restart fake"},
		"says nothing":   {channels.Rejected, channels.Health{}, false, channels.Refused, "no", "parley channels restart fake"},
		"says it all":    {channels.Unauthorized, channels.Health{State: channels.LoggedOut, Detail: "run parley login fake"}, true, channels.LoggedOut, "run parley login fake", ""},
		"was linked":     {channels.Unauthorized, channels.Health{State: channels.Disconnected}, true, channels.LoggedOut, "no", "parley login fake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{health: c.health, run: func(context.Context, int) error { return &channels.Error{Class: c.class, Err: errors.New("no")} }}
				var ch channels.Channel = s
				if c.pairs {
					ch = linkable{s, struct{ channels.Pairer }{}}
				}
				a := testAccount(ch)
				runs := supervised(t, a, s, refusedPause/2)
				got := a.Status(time.Now())
				if len(runs) != 1 || got.Since.IsZero() != (c.state == channels.LoggedOut) || got.State != c.state || got.Detail != c.detail || !strings.Contains(got.Todo, c.todo) || (c.todo == "") != (got.Todo == "") || got.Live || got.Restarts != 0 || a.running() {
					t.Errorf("%d runs, %+v", len(runs), got)
				}
			})
		})
	}
}

// What a platform refused may have been its own error: such an account is tried again automatically, rarely, and says since when and why. One
// whose login is gone or with somebody else is not. source: tdlib/telegram-bot-api#77, Discord's gateway close codes
func TestSuperviseEndedTriesAgain(t *testing.T) {
	t.Parallel()
	for state, again := range map[channels.State]bool{channels.Revoked: true, channels.Refused: true, channels.Replaced: false, channels.LoggedOut: false, channels.Outdated: false} {
		synctest.Test(t, func(t *testing.T) {
			s := &scripted{run: func(ctx context.Context, n int) error {
				if n < 4 {
					return &channels.Error{Class: channels.Unauthorized, Err: errors.New("401")}
				}
				<-ctx.Done()
				return nil
			}}
			s.health = channels.Health{State: state, Detail: "why"}
			a := testAccount(s)
			began := time.Now()
			then := make(chan string, 1)
			time.AfterFunc(40*time.Minute, func() { then <- a.Status(time.Now()).Line() })
			runs := supervised(t, a, s, 5*time.Hour)
			if !again {
				if len(runs) != 1 || !a.due().IsZero() {
					t.Errorf("%s: %d runs, due %s", state, len(runs), a.due())
				}
				return
			}
			if len(runs) < 4 || len(runs) > 5 || runs[1].Sub(runs[0]) < 20*time.Minute || runs[1].Sub(runs[0]) > 40*time.Minute {
				t.Fatalf("%s: runs at %v", state, runs)
			}
			if since, line := began.Local().Format(time.DateTime), <-then; !strings.Contains(line, "so since "+since) || !strings.Contains(line, "why") || !strings.Contains(line, "tries again at") {
				t.Errorf("%s", line)
			}
		})
	}
}

// What an account's lines say: in words, why, and what to do, also of one that could not be opened, is being linked or waits. The
// adapter is asked with nothing locked.
func TestAccountLines(t *testing.T) {
	t.Parallel()
	closed := testAccount(nil)
	closed.err = errors.New("token is missing")
	closed.set(channels.Stopped, closed.err.Error())
	paired := testAccount(linkable{scripted: &scripted{}})
	paired.set(channels.LoggedOut, "")
	paired.linking = &pendingLogin{}
	lost := testAccount(linkable{scripted: &scripted{}})
	lost.set(channels.LoggedOut, "another phone has it")
	away := testAccount(&scripted{})
	away.waits("no route to host", time.Hour)
	silent := testAccount(nil)
	silent.ch = asked{&scripted{}, func() channels.Health {
		if !silent.mu.TryLock() {
			t.Error("the adapter is asked under the account's mutex")
		} else {
			silent.mu.Unlock()
		}
		return channels.Health{State: channels.Connected}
	}}
	silent.set(channels.Connected, "")
	s := &Supervisor{}
	s.list = []*Account{closed, paired, lost, away, silent}
	got := s.Lines()
	for i, want := range []string{
		"fake (default): stopped; token is missing; change the configuration (parley check), then run parley reload",
		"fake (default): being linked",
		"fake (default): not linked; another phone has it; link it: parley login fake, or on the page under /channels",
		"fake (default): disconnected; no route to host; the host tries again at " + away.next.Format(time.DateTime),
		"fake (default): connected, silent",
	} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}

// asked is a channel whose Health is a function.
type asked struct {
	channels.Channel
	health func() channels.Health
}

func (a asked) Health() channels.Health { return a.health() }

// An account that nobody has linked is no error: a warning says what to do. One that lost its link, or its token, is one.
func TestNotLinkedWarns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pairs  bool
		health channels.Health
		want   []string
	}{
		"never linked":  {true, channels.Health{State: channels.LoggedOut, Detail: "it is not linked"}, []string{"level=WARN", "the account is not linked", "parley login fake"}},
		"adapter's way": {true, channels.Health{State: channels.LoggedOut, Detail: "run parley login fake"}, []string{"level=WARN", `todo="run parley login fake"`}},
		"lost":          {true, channels.Health{State: channels.LoggedOut, LastSeen: time.Now()}, []string{"level=ERROR", "parley login fake"}},
		"token":         {false, channels.Health{State: channels.Revoked}, []string{"level=ERROR", "run parley reload or restart the account: parley channels restart fake"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scripted{health: c.health, run: func(context.Context, int) error {
				return &channels.Error{Class: channels.Unauthorized, Err: errors.New("no")}
			}}
			a := testAccount(s)
			if c.pairs {
				a.ch = linkable{scripted: s}
			}
			var log strings.Builder
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), refusedPause/2)
				defer cancel()
				a.supervise(ctx, nil, slog.New(slog.NewTextHandler(&log, nil)))
			})
			for _, w := range c.want {
				if !strings.Contains(log.String(), w) {
					t.Errorf("no %q in %s", w, log.String())
				}
			}
		})
	}
}

package channeltest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"parley/channels"
)

// Place is somewhere that people write to the account under test.
type Place string

// The places. A platform that lacks one answers false to Say.
const (
	OneToOne  Place = "one-to-one"         // a direct chat
	Another   Place = "another one-to-one" // a direct chat with somebody else
	InGroup   Place = "group"
	InThread  Place = "thread" // a topic or thread of a group or room
	waitBound       = 2 * time.Minute
)

// Platform is the far side of an adapter under test: the people there, and the hand of whoever runs the platform.
type Platform interface {
	// Say makes a person write text at a place. It reports false when the platform has no such place.
	Say(at Place, text string) bool
	// Shown gives the texts that people see from the account at an address, oldest first.
	Shown(to channels.Address) []string
	// Fail makes the next Send to the address fail in a way that calls for this class. It reports false when it cannot.
	Fail(to channels.Address, class channels.Class) bool
	// Disconnect cuts every connection of the account.
	Disconnect()
	// Reopen makes a new channel for the same account, as a host does that was started again. The earlier one is not used any
	// more. cursor is the newest Inbound.Cursor that was committed.
	Reopen(t *testing.T, cursor string) channels.Channel
}

// Harness describes the adapter to the suite.
type Harness struct {
	// New makes a platform and a channel on it that logs to log. Whatever it starts ends with t.
	New func(t *testing.T, log *slog.Logger) (channels.Channel, Platform)
	// Virtual runs every check in a testing/synctest bubble: fast and exact, for stand-ins that need no real connections.
	Virtual bool
	// Secrets may not appear in any error, log line or health detail.
	Secrets []string
	// PlatformText is the longest text that the platform takes, in the unit of Limits; 0 = it takes any.
	PlatformText int
	// Without names the optional powers that the platform does not have.
	Without []string
	// Reconnects is how often the connection is cut in the leak check; 0 = 100.
	Reconnects int
}

// Run checks an adapter against the contract of the channels package.
func Run(t *testing.T, h Harness) {
	t.Helper()
	checks := []struct {
		name  string
		power string // that it needs
		check func(*world)
	}{
		{"refused event is offered again", "", checkRefused},
		{"refused event survives a restart", "", checkRefusedRestart},
		{"accepted event never comes again", "", checkAccepted},
		{"order per chat", "", checkOrder},
		{"address is whole in and out", "", checkAddress},
		{"send before run", "", checkSendBeforeRun},
		{"receipts", "", checkReceipts},
		{"error classes", "", checkClasses},
		{"cancelled send", "", checkCancelled},
		{"limits are true", "", checkLimits},
		{"health", "", checkHealth},
		{"run ends and leaks nothing", "", checkEnds},
		{"reconnects leak nothing", "", checkReconnects},
		{"changes of messages", "Amender", checkAmended},
		{"reactions of people", "Reacting", checkReactionsIn},
		{"reactions of the account", "Reacting", checkReactionsOut},
		{"quotes", "Quoter", checkQuotes},
		{"typing", "Typist", checkTyping},
		{"edits", "", checkEdit},
		{"removals", "", checkRemove},
		{"files from people", "Sharer", checkFilesIn},
		{"files of the account", "Sharer", checkFilesOut},
		{"people come and go", "Membership", checkMembers},
		{"lost answer", "Loser", checkLost},
		{"no answer", "Staller", checkStalled},
		{"menu", "Menu", checkMenu},
	}
	for _, c := range checks {
		if slices.Contains(h.Without, c.power) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if h.Virtual {
				synctest.Test(t, func(t *testing.T) { newWorld(t, h).play(c.check) }) // a bubble does not end while a goroutine is left
				return
			}
			before := goleak.IgnoreCurrent()
			t.Run("check", func(t *testing.T) { newWorld(t, h).play(c.check) })
			goleak.VerifyNone(t, before)
		})
	}
}

// world is one check: a channel, its platform, a supervisor and an inbox.
type world struct {
	*testing.T
	h        Harness
	ch       channels.Channel
	platform Platform
	log      *logText

	mu     sync.Mutex
	events []channels.Inbound
	offers int
	refuse func(channels.Inbound) error
	cursor string
	change chan struct{}
	halt   func()
}

// logText collects what the adapter logs.
type logText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t *testing.T, h Harness) *world {
	w := &world{T: t, h: h, log: &logText{}, change: make(chan struct{})}
	w.ch, w.platform = h.New(t, slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	return w
}

// play runs a check, stops the channel and looks for secrets in what was logged.
func (w *world) play(check func(*world)) {
	check(w)
	w.stop()
	w.public("the log", w.log.String())
}

// public fails when a text has a secret in it.
func (w *world) public(where, text string) {
	w.Helper()
	for _, secret := range w.h.Secrets {
		if strings.Contains(text, secret) {
			w.Errorf("%s has a secret in it: %s", where, strings.ReplaceAll(text, secret, "▮▮▮"))
		}
	}
}

// start runs the channel as the host's supervisor does: again and again while it fails.
func (w *world) start() {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			err := w.ch.Run(ctx, w.inbox)
			if ctx.Err() != nil {
				if err != nil {
					w.Errorf("Run returned %v after its context had ended, not nil", err)
				}
				return
			}
			if err == nil {
				w.Error("Run returned nil while its context was alive")
				return
			}
			_ = w.failure("Run", err)
			pause(ctx, 10*time.Millisecond)
		}
	}()
	w.halt = func() {
		began := time.Now()
		cancel()
		select {
		case <-done:
		case <-time.After(waitBound):
			w.Fatalf("Run did not end within %s", waitBound)
		}
		if took := time.Since(began); took > 10*time.Second {
			w.Errorf("Run took %s to end", took)
		}
	}
}

// stop ends Run. It may be called again.
func (w *world) stop() {
	if w.halt != nil {
		w.halt()
		w.halt = nil
	}
}

// restart stops the channel and starts another one on the same account.
func (w *world) restart() {
	w.Helper()
	w.stop()
	w.mu.Lock()
	cursor := w.cursor
	w.mu.Unlock()
	w.ch = w.platform.Reopen(w.T, cursor)
	w.start()
}

func (w *world) inbox(_ context.Context, in channels.Inbound) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offers++
	defer func() {
		close(w.change)
		w.change = make(chan struct{})
	}()
	if w.refuse != nil {
		if err := w.refuse(in); err != nil {
			return err
		}
	}
	w.events = append(w.events, in)
	if in.Cursor != "" {
		w.cursor = in.Cursor
	}
	return nil
}

// say writes at a place that the platform has.
func (w *world) say(at Place, text string) {
	w.Helper()
	if !w.platform.Say(at, text) {
		w.Skipf("the platform has no %s", at)
	}
}

// until waits until done is true of what the inbox has taken and how often it was asked.
func (w *world) until(what string, done func(events []channels.Inbound, offers int) bool) []channels.Inbound {
	w.Helper()
	bound := time.NewTimer(waitBound)
	defer bound.Stop()
	for {
		w.mu.Lock()
		events, offers, change := append([]channels.Inbound(nil), w.events...), w.offers, w.change
		w.mu.Unlock()
		if done(events, offers) {
			return events
		}
		select {
		case <-change:
		case <-bound.C:
			w.Fatalf("waited in vain for %s; taken so far: %v", what, texts(events))
		}
	}
}

// taken waits until the inbox has taken n events.
func (w *world) taken(n int) []channels.Inbound {
	w.Helper()
	return w.until("more events", func(events []channels.Inbound, _ int) bool { return len(events) >= n })
}

// address makes somebody write at a place and gives where that was.
func (w *world) address(at Place) channels.Address {
	w.Helper()
	w.mu.Lock()
	n := len(w.events)
	w.mu.Unlock()
	w.say(at, "where am I?")
	return w.taken(n + 1)[n].Address
}

// failure checks that an error is of the contract's type and has no secret in it.
func (w *world) failure(call string, err error) *channels.Error {
	w.Helper()
	w.public("an error of "+call, err.Error())
	e := channels.Classify(err)
	switch e.Class {
	case channels.Transient, channels.Limited, channels.Rejected, channels.Unauthorized, channels.Unsupported, channels.Ambiguous:
	default:
		w.Errorf("%s: unknown class %q", call, e.Class)
	}
	return e
}

func texts(events []channels.Inbound) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.Text)
	}
	return list
}

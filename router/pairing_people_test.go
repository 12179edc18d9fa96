package router

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/sessions"
)

// Whom an owner let in is taken back by its id, with or without its channel; from the next message on they are a stranger who gets a
// code. A repeated command finds nobody, an id in the configuration stays.
func TestPairRemove(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs)
		ann := direct("ann")
		g.say(ann, "ann", "hi")
		g.asks(direct(owner), owner, "/pair approve "+g.code(ann))
		g.say(ann, "ann", "thanks")
		g.until("ann is answered", func() bool { return len(g.fake.Texts(ann)) == 3 })
		if got := g.asks(direct(owner), owner, "/pair"); !strings.Contains(got, "These were let in by a code:\n\n- `ann`, `fake:ann` on account `default`, since "+time.Now().Format(time.DateOnly)) {
			t.Errorf("%q", got)
		}
		for words, want := range map[string]string{
			"/pair remove":                      "Usage",
			"/pair remove a b c":                "Usage",
			"/pair remove bo":                   "Nobody with this id",
			"/pair remove ann second":           "Nobody with this id",
			"/pair remove telegram:ann default": "Nobody with this id",
		} {
			if got := g.asks(direct(owner), owner, words); !strings.Contains(got, want) {
				t.Errorf("%s: %q", words, got)
			}
		}
		if got := g.asks(ann, "ann", "/pair remove ann"); got != "Only an owner can use /pair." {
			t.Errorf("by somebody else: %q", got)
		}
		if got := g.asks(direct(owner), owner, "/pair remove Fake:ann default"); got != "⚙️ Taken back: `ann`, `fake:ann` on account `default`." {
			t.Errorf("%q", got)
		}
		if got := g.asks(direct(owner), owner, "/pair remove ann"); !strings.Contains(got, "Nobody with this id") {
			t.Errorf("again: %q", got)
		}
		n := g.model.count()
		g.say(ann, "ann", "are you there?")
		g.code(ann)
		if g.model.count() != n {
			t.Error("somebody who was removed is answered")
		}
		if _, err := g.r.Unpair(t.Context(), fakeKind, "default", "ann"); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestFaultPairingComesAgain: a kill comes between the commit of a code and that of what else a stranger's message does; the person is let in and taken
// back meanwhile. The message that the platform delivers again then is taken, and causes nothing: it was refused for ever, and all behind it.
func TestFaultPairingComesAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs)
		ann := direct("ann")
		in := channels.Inbound{ID: "1", Event: channels.Message, Address: ann, Sender: channels.Sender{ID: "ann", Name: "Ann"}, Text: "hi", Time: time.Now()}
		if _, err := g.r.arrival(t.Context(), in); err != nil { // and no Accept: the process has ended
			t.Fatal(err)
		}
		g.asks(direct(owner), owner, "/pair approve "+g.code(ann))
		g.asks(direct(owner), owner, "/pair remove ann")
		before := len(g.fake.Texts(ann))
		for range 2 {
			if err := g.r.Accept(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		g.say(direct(owner), owner, "hello")
		g.until("the owner is answered", func() bool { return slices.Contains(g.fake.Texts(direct(owner)), "echo: hello") })
		if got := g.fake.Texts(ann); len(got) != before {
			t.Errorf("the person reads %q", got[before:])
		}
	})
}

// One id on two accounts: which one is to be said.
func TestPairRemoveOneOfSeveral(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs)
		now := time.Now()
		for _, account := range []string{"default", "second"} {
			p := sessions.Pairing{Channel: fakeKind, User: "ann", Hash: account, Created: now, Expires: now.Add(time.Hour)}
			p.Account = "default"
			if account != "default" {
				p.Account = "second"
			}
			if _, err := g.store.PutPairing(t.Context(), p, 3); err != nil {
				t.Fatal(err)
			}
			if _, err := g.r.Submit(t.Context(), sessions.Effects{Pairing: &sessions.Answer{Channel: fakeKind, Hash: account, Approve: true, Time: now}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := g.asks(direct(owner), owner, "/pair remove ann"); !strings.Contains(got, "- `/pair remove fake:ann default`\n- `/pair remove fake:ann second`") {
			t.Errorf("%q", got)
		}
		if _, err := g.r.Unpair(t.Context(), fakeKind, "", "ann"); !errors.Is(err, sessions.ErrConflict) {
			t.Error(err)
		}
		g.asks(direct(owner), owner, "/pair remove ann second")
		if left, err := g.store.Admitted(t.Context()); err != nil || len(left) != 1 || left[0].Account != "default" {
			t.Error(left, err)
		}
		if p, err := g.r.Unpair(t.Context(), fakeKind, "", "ann"); err != nil || p.Account != "default" {
			t.Error(p, err)
		}
	})
}

// Somebody who was turned down gets no code for a day, stands in the list as turned down, and takes no place of those who wait; the
// owner may take it back.
func TestTurnedDown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs)
		bo := direct("bo")
		writes := func(want int) {
			t.Helper()
			g.say(bo, "bo", "hi")
			synctest.Wait()
			if got := g.fake.Texts(bo); len(got) != want {
				t.Errorf("bo reads %q, want %d", got, want)
			}
		}
		writes(1)
		g.asks(direct(owner), owner, "/pair reject "+g.code(bo))
		writes(1)
		for _, id := range []string{"a", "b", "c"} { // three may wait
			g.say(direct(id), id, "hi")
			g.code(direct(id))
		}
		time.Sleep(2 * time.Hour) // of those who wait
		if got := g.asks(direct(owner), owner, "/pair list"); got != "⚙️ Nobody asks to be let in.\n\nThese were turned down and get no code:\n\n- `bo`, `fake:bo` on account `default`, for another 22 hours\n\n/pair remove with the id takes it back." {
			t.Errorf("%q", got)
		}
		time.Sleep(21 * time.Hour)
		writes(1)
		time.Sleep(2 * time.Hour)
		writes(2)
		g.asks(direct(owner), owner, "/pair reject "+g.code(bo))
		writes(2)
		g.asks(direct(owner), owner, "/pair remove bo")
		writes(3)
	})
}

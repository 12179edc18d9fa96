package router_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// Whom an owner let in is taken back by its id, with or without its channel; from the next message on they are a stranger who gets a
// code. A repeated command finds nobody, an id in the configuration stays.
func TestPairRemove(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		ann := routertest.Direct("ann")
		g.Say(ann, "ann", "hi")
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair approve "+g.Code(ann))
		g.Say(ann, "ann", "thanks")
		g.Until("ann is answered", func() bool { return len(g.Fake.Texts(ann)) == 3 })
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair"); !strings.Contains(got, "Approved people:\n\n- `ann`, `fake:ann` on account `default`, since "+time.Now().Format(time.DateOnly)) {
			t.Errorf("%q", got)
		}
		for words, want := range map[string]string{
			"/pair remove":                      "Usage",
			"/pair remove a b c":                "Usage",
			"/pair remove bo":                   "No person with this id",
			"/pair remove ann second":           "No person with this id",
			"/pair remove telegram:ann default": "No person with this id",
		} {
			if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, words); !strings.Contains(got, want) {
				t.Errorf("%s: %q", words, got)
			}
		}
		if got := g.Asks(ann, "ann", "/pair remove ann"); got != "Only an owner can use /pair. To become one, run `parley pairing approve fake ann --owner` on the host." {
			t.Errorf("by somebody else: %q", got)
		}
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair remove Fake:ann default"); got != "⚙️ Decision removed: `ann`, `fake:ann` on account `default`." {
			t.Errorf("%q", got)
		}
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair remove ann"); !strings.Contains(got, "No person with this id") {
			t.Errorf("again: %q", got)
		}
		n := g.Model.Count()
		g.Say(ann, "ann", "are you there?")
		g.Code(ann)
		if g.Model.Count() != n {
			t.Error("somebody who was removed is answered")
		}
		if _, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "default", "ann"); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestFaultPairingComesAgain: a kill comes between the commit of a code and that of what else a stranger's message does; the person is let in and taken
// back meanwhile. The message that the platform delivers again then is taken, and causes nothing: it was refused for ever, and all behind it.
func TestFaultPairingComesAgain(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		ann := routertest.Direct("ann")
		in := channels.Inbound{ID: "1", Event: channels.Message, Address: ann, Sender: channels.Sender{ID: "ann", Name: "Ann"}, Text: "hi", Time: time.Now()}
		if _, err := g.Router.Receiver.Arrival(t.Context(), in); err != nil { // and no Accept: the process has ended
			t.Fatal(err)
		}
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair approve "+g.Code(ann))
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair remove ann")
		before := len(g.Fake.Texts(ann))
		for range 2 {
			if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		g.Until("the owner is answered", func() bool { return slices.Contains(g.Fake.Texts(routertest.Direct(routertest.Owner)), "echo: hello") })
		if got := g.Fake.Texts(ann); len(got) != before {
			t.Errorf("the person reads %q", got[before:])
		}
	})
}

// One id on two accounts: which one is to be said.
func TestPairRemoveOneOfSeveral(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		now := time.Now()
		for _, account := range []string{"default", "second"} {
			p := sessions.Pairing{Channel: routertest.Kind, User: "ann", Hash: account, Created: now, Expires: now.Add(time.Hour)}
			p.Account = "default"
			if account != "default" {
				p.Account = "second"
			}
			if _, err := g.Store.PutPairing(t.Context(), p, 3); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: routertest.Kind, Hash: account, Approve: true, Time: now}}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair remove ann"); !strings.Contains(got, "- `/pair remove fake:ann default`\n- `/pair remove fake:ann second`") {
			t.Errorf("%q", got)
		}
		if _, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "", "ann"); !errors.Is(err, sessions.ErrConflict) {
			t.Error(err)
		}
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair remove ann second")
		if left, err := g.Store.Admitted(t.Context()); err != nil || len(left) != 1 || left[0].Account != "default" {
			t.Error(left, err)
		}
		if p, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "", "ann"); err != nil || p.Account != "default" {
			t.Error(p, err)
		}
	})
}

// Somebody who was turned down gets no code for a day, stands in the list as turned down, and takes no place of those who wait; the
// owner may take it back.
func TestTurnedDown(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		bo := routertest.Direct("bo")
		writes := func(want int) {
			t.Helper()
			g.Say(bo, "bo", "hi")
			synctest.Wait()
			if got := g.Fake.Texts(bo); len(got) != want {
				t.Errorf("bo reads %q, want %d", got, want)
			}
		}
		writes(1)
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair reject "+g.Code(bo))
		writes(1)
		for _, id := range []string{"a", "b", "c"} { // three may wait
			g.Say(routertest.Direct(id), id, "hi")
			g.Code(routertest.Direct(id))
		}
		time.Sleep(2 * time.Hour) // of those who wait
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair list"); got != "⚙️ There are no pairing requests.\n\nRejected people, who get no new code yet:\n\n- `bo`, `fake:bo` on account `default`, for another 22 hours\n\nTo undo a decision, send /pair remove with the id." {
			t.Errorf("%q", got)
		}
		time.Sleep(21 * time.Hour)
		writes(1)
		time.Sleep(2 * time.Hour)
		writes(2)
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair reject "+g.Code(bo))
		writes(2)
		g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair remove bo")
		writes(3)
	})
}

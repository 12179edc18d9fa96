package router_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// An owner lets people in and turns them down from a chat. Who is let in is told, once, in the chat that they wrote from; a repeated
// command, a code of another case, an old code.
func TestPairCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		ann, bo := routertest.Direct("ann"), routertest.Direct("bo")
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair"); got != "⚙️ There are no pairing requests." {
			t.Errorf("%q", got)
		}
		g.Fake.Say(channels.Inbound{Address: ann, Sender: channels.Sender{ID: "ann", Name: "An`n\nX"}, Text: "hi"})
		g.Say(bo, "bo", "hi")
		codeA, codeB := g.Code(ann), g.Code(bo)
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair list"); !strings.Contains(got, "`An'n X`, `fake:ann` on account `default`, for another 60 minutes") || !strings.Contains(got, "fake:bo") || strings.Contains(got, codeA) {
			t.Errorf("%q", got)
		}
		for words, want := range map[string]string{
			"/pair approve":                                   "Usage",
			"/pair maybe " + codeA:                            "Usage",
			"/pair approve " + codeA + " please":              "Usage", // no text for a model
			"/pair approve NOTACODE":                          "There is no request with this code",
			"/pair reject " + codeA + strings.Repeat("X", 20): "There is no request with this code",
		} {
			if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, words); !strings.Contains(got, want) {
				t.Errorf("%s: %q", words, got)
			}
		}
		if got := g.Asks(routertest.Group("g"), routertest.Owner, "/pair list"); got != "/pair works in direct chats only." {
			t.Errorf("in a group: %q", got)
		}
		in := g.Fake.Say(channels.Inbound{Address: routertest.Direct(routertest.Owner), Sender: routertest.Person(routertest.Owner), Text: "/pair Approve " + strings.ToLower(codeA)})
		g.Until("ann is told", func() bool { return len(g.Fake.Texts(ann)) == 2 })
		if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair approve "+codeA); !strings.Contains(got, "There is no request") {
			t.Errorf("a second use: %q", got)
		}
		if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/pair reject "+codeB); got != "⚙️ Rejected: `bo`, `fake:bo` on account `default`." {
			t.Errorf("%q", got)
		}
		if got := g.Fake.Texts(ann); len(got) != 2 || !strings.HasPrefix(got[1], "✅ You can talk to me now.") {
			t.Errorf("ann reads %q", got)
		}
		if got := g.Fake.Texts(bo); len(got) != 1 {
			t.Errorf("bo reads %q", got)
		}
		g.Say(ann, "ann", "thanks")
		g.Until("ann is answered", func() bool { return len(g.Fake.Texts(ann)) == 3 })
		g.Say(bo, "bo", "and I?")
		if _, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, codeB, sessions.FirstOwner); err == nil {
			t.Error("the old code still works")
		}
		if got := g.Fake.Texts(bo); len(got) != 1 {
			t.Errorf("turned down, and bo reads %q", got)
		}
	})
}

// Whoever else uses the command is not let through, and lets nobody in.
func TestPairIsForOwners(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access.AllowFrom = []string{routertest.Guest}
			s.Accounts[routertest.Account] = a
		})
		g.Say(routertest.Direct("ann"), "ann", "hi")
		code := g.Code(routertest.Direct("ann"))
		g.Say(routertest.Direct("ann"), "ann", "/pair approve "+code)
		if got := g.Asks(routertest.Direct(routertest.Guest), routertest.Guest, "/pair approve "+code); got != "Only an owner can use /pair. To become one, add `fake:2002` to `commands.ownerAllowFrom` in the host's configuration and run `parley reload`." {
			t.Errorf("%q", got)
		}
		if ok, err := g.Store.Paired(t.Context(), routertest.Kind, channels.DefaultAccount, "ann"); err != nil || ok {
			t.Error("let in", err)
		}
	})
}

// A stranger is told a code for words that are written now. Files, edits, reactions and what an adapter reads again after an absence
// get none.
func TestWhoGetsACode(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*channels.Inbound)
		want int
	}{
		"words":              {func(*channels.Inbound) {}, 1},
		"late, and recent":   {func(in *channels.Inbound) { in.Late, in.Time = true, time.Now().Add(-9*time.Minute) }, 1},
		"late, and old":      {func(in *channels.Inbound) { in.Late, in.Time = true, time.Now().Add(-11*time.Minute) }, 0},
		"old, but delivered": {func(in *channels.Inbound) { in.Time = time.Now().Add(-time.Hour) }, 1},
		"a file alone": {func(in *channels.Inbound) {
			in.Text, in.Media = " ", []channels.Media{{Kind: channels.Image, Ref: "x"}}
		}, 0},
		"an edit":    {func(in *channels.Inbound) { in.Event, in.Target = channels.Edited, "1" }, 0},
		"a reaction": {func(in *channels.Inbound) { in.Event, in.Target, in.Emoji = channels.Reacted, "1", "x" }, 0},
		"a bot":      {func(in *channels.Inbound) { in.Sender.Bot = true }, 0},
		"in a group": {func(in *channels.Inbound) { in.Address = routertest.Group("g") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
				for i := range 2 {
					in := channels.Inbound{Event: channels.Message, ID: channels.MessageID(fmt.Sprint(i)), Address: routertest.Direct("ann"), Sender: routertest.Person("ann"), Text: "hi", Time: time.Now()}
					c.edit(&in)
					g.Happens(in)
				}
				waiting, err := g.Store.Pairings(t.Context(), time.Now())
				if err != nil || len(waiting) != c.want || len(g.Deliveries()) != c.want || g.Model.Count() != 0 {
					t.Errorf("%d requests, %d notices, %d model calls (%v)", len(waiting), len(g.Deliveries()), g.Model.Count(), err)
				}
				if c.want == 1 && waiting[0].Address != routertest.Direct("ann") {
					t.Errorf("%+v", waiting[0])
				}
			})
		})
	}
}

// Where no person can be told of it, because it is not known where they wrote from, somebody is let in all the same.
func TestLetInWithoutAnAddress(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		now := time.Now()
		if _, err := g.Store.PutPairing(t.Context(), sessions.Pairing{Channel: routertest.Kind, Account: channels.DefaultAccount, User: "old", Hash: policy.HashCode(routertest.Kind, "CODE"), Created: now, Expires: now.Add(time.Hour)}, 3); err != nil {
			t.Fatal(err)
		}
		if p, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, " code ", sessions.FirstOwner); err != nil || p.User != "old" {
			t.Fatal(p, err)
		}
		if ok, err := g.Store.Paired(t.Context(), routertest.Kind, channels.DefaultAccount, "old"); err != nil || !ok || len(g.Deliveries()) != 0 {
			t.Error(ok, err, g.Deliveries())
		}
	})
}

// A code is in the chat that it was told in, and nowhere else when that is done: not in the delivery, not in the database.
func TestCodeIsNotKept(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Transient, Err: errors.New("no network")}})
		g.Say(routertest.Direct("ann"), "ann", "hi")
		g.Shown(1)
		code := g.Code(routertest.Direct("ann"))
		d := g.Deliveries()[0]
		if d.State != sessions.Sent || strings.Contains(d.Text, code) {
			t.Errorf("%+v", d)
		}
		g.Stop()
		files, err := filepath.Glob(filepath.Join(g.Dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(code)) {
				t.Errorf("the code is in %s", filepath.Base(f))
			}
		}
	})
}

package router

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

func pairs(s *Settings) {
	s.Accounts[account] = AccountSettings{Access: policy.Access{DMPolicy: policy.DMPairing, GroupPolicy: policy.GroupOpen}}
	s.Session.DMScope = sessions.PerChannelPeer
}

// code finds the code in what a stranger was told.
func (g *rig) code(to channels.Address) string {
	g.t.Helper()
	synctest.Wait()
	texts := g.fake.Texts(to)
	if len(texts) == 0 {
		g.t.Fatal("no notice")
	}
	m := regexp.MustCompile(`with this code: (\w+)\n`).FindStringSubmatch(texts[len(texts)-1])
	if m == nil {
		g.t.Fatalf("no code in %q", texts)
	}
	return m[1]
}

// An owner lets people in and turns them down from a chat. Who is let in is told, once, in the chat that they wrote from; a repeated
// command, a code of another case, an old code.
func TestPairCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs)
		ann, bo := direct("ann"), direct("bo")
		if got := g.asks(direct(owner), owner, "/pair"); got != "⚙️ Nobody asks to be let in." {
			t.Errorf("%q", got)
		}
		g.fake.Say(channels.Inbound{Address: ann, Sender: channels.Sender{ID: "ann", Name: "An`n\nX"}, Text: "hi"})
		g.say(bo, "bo", "hi")
		codeA, codeB := g.code(ann), g.code(bo)
		if got := g.asks(direct(owner), owner, "/pair list"); !strings.Contains(got, "`An'n X`, `fake:ann` on account `default`, for another 60 minutes") || !strings.Contains(got, "fake:bo") || strings.Contains(got, codeA) {
			t.Errorf("%q", got)
		}
		for words, want := range map[string]string{
			"/pair approve":                                   "Usage",
			"/pair maybe " + codeA:                            "Usage",
			"/pair approve " + codeA + " please":              "Usage", // no text for a model
			"/pair approve NOTACODE":                          "Nobody waits with this code",
			"/pair reject " + codeA + strings.Repeat("X", 20): "Nobody waits with this code",
		} {
			if got := g.asks(direct(owner), owner, words); !strings.Contains(got, want) {
				t.Errorf("%s: %q", words, got)
			}
		}
		if got := g.asks(groupChat("g"), owner, "/pair list"); got != "/pair works in direct chats only." {
			t.Errorf("in a group: %q", got)
		}
		in := g.fake.Say(channels.Inbound{Address: direct(owner), Sender: person(owner), Text: "/pair Approve " + strings.ToLower(codeA)})
		g.until("ann is told", func() bool { return len(g.fake.Texts(ann)) == 2 })
		if err := g.r.Accept(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := g.asks(direct(owner), owner, "/pair approve "+codeA); !strings.Contains(got, "Nobody waits") {
			t.Errorf("a second use: %q", got)
		}
		if got := g.asks(direct(owner), owner, "/pair reject "+codeB); got != "⚙️ Turned down: `bo`, `fake:bo` on account `default`." {
			t.Errorf("%q", got)
		}
		if got := g.fake.Texts(ann); len(got) != 2 || !strings.HasPrefix(got[1], "✅ You are let in.") {
			t.Errorf("ann reads %q", got)
		}
		if got := g.fake.Texts(bo); len(got) != 1 {
			t.Errorf("bo reads %q", got)
		}
		g.say(ann, "ann", "thanks")
		g.until("ann is answered", func() bool { return len(g.fake.Texts(ann)) == 3 })
		g.say(bo, "bo", "and I?")
		if _, err := g.r.LetIn(t.Context(), fakeKind, codeB); err == nil {
			t.Error("the old code still works")
		}
		if got := g.fake.Texts(bo); len(got) != 1 {
			t.Errorf("turned down, and bo reads %q", got)
		}
	})
}

// Whoever else uses the command is not let through, and lets nobody in.
func TestPairIsForOwners(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs, func(s *Settings) {
			a := s.Accounts[account]
			a.Access.AllowFrom = []string{guest}
			s.Accounts[account] = a
		})
		g.say(direct("ann"), "ann", "hi")
		code := g.code(direct("ann"))
		g.say(direct("ann"), "ann", "/pair approve "+code)
		if got := g.asks(direct(guest), guest, "/pair approve "+code); got != "Only an owner can use /pair." {
			t.Errorf("%q", got)
		}
		if ok, err := g.store.Paired(t.Context(), fakeKind, channels.DefaultAccount, "ann"); err != nil || ok {
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
		"in a group": {func(in *channels.Inbound) { in.Address = groupChat("g") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, pairs)
				for i := range 2 {
					in := channels.Inbound{Event: channels.Message, ID: channels.MessageID(fmt.Sprint(i)), Address: direct("ann"), Sender: person("ann"), Text: "hi", Time: time.Now()}
					c.edit(&in)
					g.happens(in)
				}
				waiting, err := g.store.Pairings(t.Context(), time.Now())
				if err != nil || len(waiting) != c.want || len(g.deliveries()) != c.want || g.model.count() != 0 {
					t.Errorf("%d requests, %d notices, %d model calls (%v)", len(waiting), len(g.deliveries()), g.model.count(), err)
				}
				if c.want == 1 && waiting[0].Address != direct("ann") {
					t.Errorf("%+v", waiting[0])
				}
			})
		})
	}
}

// Where no person can be told of it, because it is not known where they wrote from, somebody is let in all the same.
func TestLetInWithoutAnAddress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs)
		now := time.Now()
		if _, err := g.store.PutPairing(t.Context(), sessions.Pairing{Channel: fakeKind, Account: channels.DefaultAccount, User: "old", Hash: policy.HashCode(fakeKind, "CODE"), Created: now, Expires: now.Add(time.Hour)}, 3); err != nil {
			t.Fatal(err)
		}
		if p, err := g.r.LetIn(t.Context(), fakeKind, " code "); err != nil || p.User != "old" {
			t.Fatal(p, err)
		}
		if ok, err := g.store.Paired(t.Context(), fakeKind, channels.DefaultAccount, "old"); err != nil || !ok || len(g.deliveries()) != 0 {
			t.Error(ok, err, g.deliveries())
		}
	})
}

// A code is in the chat that it was told in, and nowhere else when that is done: not in the delivery, not in the database.
func TestCodeIsNotKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, pairs)
		g.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Transient, Err: errors.New("no network")}})
		g.say(direct("ann"), "ann", "hi")
		g.shown(1)
		code := g.code(direct("ann"))
		d := g.deliveries()[0]
		if d.State != sessions.Sent || strings.Contains(d.Text, code) {
			t.Errorf("%+v", d)
		}
		g.stop()
		files, err := filepath.Glob(filepath.Join(g.dir, "*"))
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

package delivery_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// noPreviews fails unless nothing is left of them in memory and in the store.
func noPreviews(g *routertest.Rig) {
	g.T.Helper()
	synctest.Wait()
	list, err := g.Store.Previews(g.T.Context())
	if err != nil || len(list) > 0 {
		g.T.Errorf("left: %+v, %v", list, err)
	}
	for _, run := range g.Runs() {
		if g.Router.Gate.HasPreview(run.ID) {
			g.T.Errorf("%s has one in memory", run.ID)
		}
	}
}

// TestStreaming: an answer grows in one message, not faster than it may, and that message becomes it; typing ends with it.
func TestStreaming(t *testing.T) {
	for name, c := range map[string]struct {
		to          channels.Address
		least, most int // edits before the last one
		every       time.Duration
	}{"direct": {routertest.Direct("a"), 8, 10, previewDirect}, "group": {routertest.Group("a"), 2, 3, previewSeveral}} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				w := routertest.TenSeconds()
				g := routertest.Writes(t, w, channeltest.Options{}, routertest.Edits)
				in := g.Say(c.to, routertest.Guest, "write")
				d := g.Ended(1)[0]
				sent, changed, typed := g.Fake.Calls(channeltest.OpSend), g.Fake.Calls(channeltest.OpEdit), g.Fake.Calls(channeltest.OpTyping)
				if len(sent) != 1 || len(changed) < c.least+1 || len(changed) > c.most+1 {
					t.Fatalf("%d sends, %d edits", len(sent), len(changed))
				}
				if n := len(sent[0].Out.Text); n < previewLeast || n > 120 || sent[0].Out.Key != string(d.Run)+".preview" || c.to.Type.Several() != (sent[0].Out.ReplyTo == in.ID) {
					t.Errorf("the first words: %+v", sent[0].Out)
				}
				last := sent[0]
				for _, e := range changed[:len(changed)-1] {
					if e.ID != sent[0].Receipt.ID || e.At.Sub(last.At) < c.every || !strings.HasPrefix(w.Answer, e.Out.Text) || len(e.Out.Text) <= len(last.Out.Text) {
						t.Errorf("an edit after %s: %q", e.At.Sub(last.At), e.Out.Text)
					}
					last = e
				}
				if got := g.Fake.Texts(channels.Address{}); !slices.Equal(got, []string{w.Answer}) {
					t.Errorf("shown in the end: %q", got)
				}
				if d.State != sessions.Sent || d.Repeat || len(d.Receipts) != 1 || d.Receipts[0].ID != sent[0].Receipt.ID {
					t.Errorf("%+v", d)
				}
				noPreviews(g)
				<-time.After(time.Minute)
				if now := g.Fake.Calls(channeltest.OpTyping); len(typed) != 2 || len(now) != len(typed) {
					t.Errorf("typing %d times, %d after the answer", len(typed), len(now)-len(typed))
				}
			})
		})
	}
}

// TestStreamingModes: what the settings and the platform say decides; without a word a draft in direct chats, nothing elsewhere.
func TestStreamingModes(t *testing.T) {
	off, draft, edit := channels.StreamOff, channels.StreamDraft, channels.StreamEdit
	for name, c := range map[string]struct {
		set    channels.Streaming
		to     channels.Address
		bare   bool // the platform can neither draft nor edit
		drafts bool
		edits  bool
	}{
		"nothing said, direct":   {channels.Streaming{}, routertest.Direct("a"), false, true, false},
		"nothing said, group":    {channels.Streaming{}, routertest.Group("a"), false, false, false},
		"off":                    {channels.Streaming{Direct: off}, routertest.Direct("a"), false, false, false},
		"a draft":                {channels.Streaming{Direct: draft, Group: edit}, routertest.Direct("a"), false, true, false},
		"edits":                  {channels.Streaming{Direct: edit}, routertest.Direct("a"), false, false, true},
		"edits, in a group":      {channels.Streaming{Direct: off, Group: edit}, routertest.Group("a"), false, false, true},
		"no draft in a group":    {channels.Streaming{Group: draft}, routertest.Group("a"), false, false, false},
		"the platform can not":   {channels.Streaming{Direct: draft}, routertest.Direct("a"), true, false, false},
		"nor edit":               {channels.Streaming{Direct: edit}, routertest.Direct("a"), true, false, false},
		"another account's says": {channels.Streaming{Direct: off, Group: edit}, routertest.Direct("a"), false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				w := routertest.TenSeconds()
				g := routertest.Writes(t, w, channeltest.Options{}, routertest.WithStreaming(c.set))
				if c.bare {
					g.Router.Attach(routertest.Account, g.Fake)
				}
				g.Say(c.to, routertest.Guest, "write")
				g.Ended(1)
				if d, e := len(g.Fake.Calls(channeltest.OpDraft)), len(g.Fake.Calls(channeltest.OpEdit)); (d > 0) != c.drafts || (e > 0) != c.edits {
					t.Errorf("%d drafts, %d edits", d, e)
				}
				if got := g.Fake.Texts(channels.Address{}); !slices.Equal(got, []string{w.Answer}) {
					t.Errorf("shown in the end: %q", got)
				}
				noPreviews(g)
			})
		})
	}
}

// TestNothingToStream: a fast answer, a short one and one that is silent are never shown before they are whole.
func TestNothingToStream(t *testing.T) {
	for name, w := range map[string]routertest.Scribe{
		"fast":   {Answer: strings.Repeat("word ", 100)},
		"short":  {Pause: time.Second, Answer: "only a few words here"},
		"silent": {Pause: 5 * time.Second, Answer: "NO_REPLY"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Writes(t, w, channeltest.Options{}, routertest.Edits)
				g.Say(routertest.Direct("a"), routertest.Guest, "write")
				g.Idle(1)
				<-time.After(time.Minute)
				if n := len(g.Fake.Calls(channeltest.OpEdit, channeltest.OpRemove)); n != 0 || len(g.Fake.Calls(channeltest.OpSend)) > 1 {
					t.Errorf("%d edits", n)
				}
				noPreviews(g)
			})
		})
	}
}

// TestLongStream: what is longer than a message shows its beginning, which becomes the first part; the others follow.
func TestLongStream(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		w := routertest.TenSeconds()
		g := routertest.Writes(t, w, channeltest.Options{Limits: channels.Limits{Text: 300}}, routertest.Edits)
		g.Say(routertest.Direct("a"), routertest.Guest, "write")
		d := g.Ended(1)[0]
		if got := g.Fake.Texts(channels.Address{}); len(got) != 3 || strings.Join(got, " ") != w.Answer || len(d.Receipts) != 3 || d.State != sessions.Sent {
			t.Errorf("%d messages %q, %+v", len(got), got, d)
		}
		if n := len(g.Fake.Calls(channeltest.OpEdit)); n < 3 || n > 6 {
			t.Errorf("%d edits of what does not grow any more", n)
		}
		noPreviews(g)
	})
}

// TestStreamThatEnds: a turn that is stopped, fails, or ends in silence after all leaves nothing of what was shown; where nothing can be
// removed, nothing that says anything.
func TestStreamThatEnds(t *testing.T) {
	broken := routertest.Scribe{Pause: 100 * time.Millisecond, Answer: routertest.TenSeconds().Answer, Fails: errors.New("broken")}
	for name, c := range map[string]struct {
		w    routertest.Scribe
		do   func(g *routertest.Rig)
		bare bool
		want []string
	}{
		"stopped":     {routertest.TenSeconds(), func(g *routertest.Rig) { g.Say(routertest.Direct("a"), routertest.Guest, "/stop") }, false, []string{"⏹"}},
		"fails":       {broken, nil, false, []string{"Something went wrong"}},
		"not removed": {broken, nil, true, []string{"…", "Something went wrong"}},
		"deleted":     {routertest.TenSeconds(), func(g *routertest.Rig) { _ = g.Store.Delete(g.T.Context(), "agent:main:fake:direct:"+routertest.Guest) }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Writes(t, c.w, channeltest.Options{}, routertest.Edits)
				if c.bare {
					g.Router.Attach(routertest.Account, struct {
						*channeltest.Fake
						channels.Editor
					}{g.Fake, g.Fake.Editor()})
				}
				g.Say(routertest.Direct("a"), routertest.Guest, "write")
				g.Shown(1)
				<-time.After(3 * time.Second)
				if c.do != nil {
					c.do(g)
				}
				<-time.After(10 * time.Second)
				synctest.Wait()
				got := g.Fake.Texts(channels.Address{})
				if len(got) != len(c.want) {
					t.Fatalf("%q", got)
				}
				for i, want := range c.want {
					if !strings.Contains(got[i], want) && want != "⏹" {
						t.Errorf("%q, want %q", got[i], want)
					}
				}
				noPreviews(g)
			})
		})
	}
}

// TestStreamUnderThePolicy: a flip ends the edits at once; when it is acknowledged no call reaches the chat any more, not even one that
// takes back what it shows.
//
// proves: P4, P7
func TestStreamUnderThePolicy(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits)
		g.Say(routertest.Direct("a"), routertest.Guest, "write")
		g.Shown(1)
		<-time.After(2500 * time.Millisecond)
		g.Fake.Script(channeltest.Step{Op: channeltest.OpEdit, Delay: 5 * time.Second}) // one is on its way
		<-time.After(time.Second)
		deny := policy.Deny
		began := time.Now()
		if _, err := g.Router.Patch(t.Context(), "agent:main:fake:direct:"+routertest.Guest, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) < time.Second {
			t.Error("the flip did not wait for the edit that was on its way")
		}
		n := len(g.Fake.Calls())
		d := g.Ended(1)[0]
		<-time.After(20 * time.Minute)
		if d.State != sessions.Withheld || len(g.Fake.Calls()) != n {
			t.Errorf("%s, %d calls after the flip: %+v", d.State, len(g.Fake.Calls())-n, g.Fake.Calls()[n:])
		}
		noPreviews(g)
	})
}

// TestNothingIsTakenBackAfterAFlip: a turn that fails after /send off leaves what was shown: not even that is taken back.
//
// proves: P4, P7
func TestNothingIsTakenBackAfterAFlip(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		w := routertest.TenSeconds()
		w.Fails = errors.New("broken")
		g := routertest.Writes(t, w, channeltest.Options{}, routertest.Edits)
		g.Say(routertest.Direct("a"), routertest.Guest, "write")
		g.Shown(1)
		deny := policy.Deny
		if _, err := g.Router.Patch(t.Context(), "agent:main:fake:direct:"+routertest.Guest, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		n := len(g.Fake.Calls())
		d := g.Ended(1)[0]
		<-time.After(20 * time.Minute)
		if d.Kind != sessions.Notice || d.State != sessions.Withheld || len(g.Fake.Calls()) != n {
			t.Errorf("%s %s, %d calls after the flip: %+v", d.Kind, d.State, len(g.Fake.Calls())-n, g.Fake.Calls()[n:])
		}
		noPreviews(g)
	})
}

// TestStreamOfADenied: what may not leave is not shown either, before or after a flip back.
//
// proves: P4
func TestStreamOfADenied(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits, func(s *settings.Snapshot) {
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{ChatType: channels.Group}}}
		})
		g.Say(routertest.Group("a"), routertest.Guest, "write")
		g.Ended(1)
		if calls := g.Fake.Calls(); len(calls) != 0 {
			t.Errorf("%+v", calls)
		}
		noPreviews(g)
	})
}

// TestStreamGivesWay: what is to be delivered in the chat goes first, no call overlaps another, and no preview takes the turn of a
// message where the account is paced.
func TestStreamGivesWay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits, routertest.WithPacing(channels.Pacing{PerGroupPerMinute: 8}), routertest.Edits)
		g.Fake.Script(channeltest.Step{Delay: 3 * time.Second, Times: -1})
		g.Say(routertest.Group("a"), routertest.Guest, "write")
		<-time.After(2 * time.Second) // the first words are on their way
		g.Say(routertest.Group("a"), routertest.Guest, "/whoami")
		calls := g.Shown(2)
		if g.Ended(2); len(g.Fake.Overlaps()) > 0 {
			t.Errorf("overlaps: %v", g.Fake.Overlaps())
		}
		if calls[1].At.Sub(calls[0].At) > 3500*time.Millisecond {
			t.Errorf("the answer to a command waited %s", calls[1].At.Sub(calls[0].At))
		}
		if got := g.Fake.Texts(routertest.Group("a")); len(got) != 2 || got[0] != routertest.TenSeconds().Answer {
			t.Errorf("%q", got)
		}
	})
}

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
	"parley/router/routertest"
	"parley/sessions"
)

// TestStreamFaults: whatever the platform makes of the first words or of the edits, the answer is there whole; what could not be taken
// back is marked.
func TestStreamFaults(t *testing.T) {
	const send, edit, remove = channeltest.OpSend, channeltest.OpEdit, channeltest.OpRemove
	step := func(op channeltest.Op, times int, c channels.Class) channeltest.Step {
		return channeltest.Step{Op: op, Times: times, Err: routertest.Class(c)}
	}
	lost := channeltest.Step{Op: send, Err: routertest.Class(channels.Ambiguous), Arrives: true}
	gone := channeltest.Step{Op: send, Err: routertest.Class(channels.Ambiguous)}
	for name, c := range map[string]struct {
		steps           []channeltest.Step
		limits          channels.Limits
		asks, keeps     bool // the platform can be asked what arrived; it removes nothing
		partial, repeat bool
		most            int // edits
	}{
		"an edit is refused":                  {steps: []channeltest.Step{step(edit, -1, channels.Rejected)}, most: 2},
		"and nothing can be removed":          {steps: []channeltest.Step{step(edit, -1, channels.Rejected)}, keeps: true, partial: true, repeat: true, most: 3},
		"nor removed at first":                {steps: []channeltest.Step{step(edit, -1, channels.Rejected), step(remove, 2, channels.Transient)}, most: 5},
		"edits fail now and then":             {steps: []channeltest.Step{step(edit, 2, channels.Transient), step(edit, 3, channels.Ambiguous)}, most: 12},
		"the platform asks to wait":           {steps: []channeltest.Step{step(edit, 1, channels.Limited)}, most: 2},
		"the first words are refused":         {steps: []channeltest.Step{step(send, 1, channels.Rejected)}},
		"the first words come later":          {steps: []channeltest.Step{step(send, 2, channels.Transient)}, most: 10},
		"they have to wait":                   {steps: []channeltest.Step{step(send, 1, channels.Limited)}},
		"nobody knows whether they arrived":   {steps: []channeltest.Step{lost}, partial: true, repeat: true},
		"nor that they did not":               {steps: []channeltest.Step{gone}, repeat: true},
		"the platform knows repeats":          {steps: []channeltest.Step{lost}, limits: channels.Limits{Idempotent: true}, most: 1},
		"and has not got them":                {steps: []channeltest.Step{gone}, limits: channels.Limits{Idempotent: true}, most: 1},
		"the platform can be asked":           {steps: []channeltest.Step{lost}, asks: true, most: 1},
		"and says that they did not arrive":   {steps: []channeltest.Step{gone}, asks: true},
		"the answer cannot be edited in once": {steps: []channeltest.Step{{Op: edit, Times: 9}, step(edit, 1, channels.Unauthorized)}, most: 12},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				w := routertest.TenSeconds()
				g := routertest.Writes(t, w, channeltest.Options{Limits: c.limits}, routertest.Edits)
				full := g.Fake.Full()
				if c.keeps {
					full.Remover = nil
					g.Router.Attach(routertest.Account, struct {
						*channeltest.Fake
						channels.Editor
					}{g.Fake, full.Editor})
				}
				if c.asks {
					g.Router.Attach(routertest.Account, struct {
						*channeltest.Full
						channels.Reconciler
					}{full, g.Fake.Reconciler()})
				}
				g.Fake.Script(c.steps...)
				g.Say(routertest.Direct("a"), routertest.Guest, "write")
				d := g.Ended(1)[0]
				<-time.After(time.Minute)
				got := g.Fake.Texts(channels.Address{})
				i := slices.Index(got, w.Answer)
				if i < 0 || (len(got) == 2) != c.partial || len(got) > 2 || d.State != sessions.Sent || d.Repeat != c.repeat {
					t.Errorf("%.80q; %s, marked %v", got, d.State, d.Repeat)
				}
				if n := len(g.Fake.Calls(edit)); n > c.most {
					t.Errorf("%d edits", n)
				}
				if len(g.Fake.Overlaps()) > 0 {
					t.Errorf("overlaps: %v", g.Fake.Overlaps())
				}
				noPreviews(g)
			})
		})
	}
}

// TestStreamInANewChat: where only so many chats may be written to for the first time in a day, no preview is the first message of one.
func TestStreamInANewChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits, routertest.WithPacing(channels.Pacing{NewChatsPerDay: 1}), routertest.Edits)
		for i, want := range []bool{false, true} {
			g.Say(routertest.Direct("a"), routertest.Guest, "write")
			g.Shown(i + 1)
			g.Until("all is sent", g.AllOver)
			if n := len(g.Fake.Calls(channeltest.OpEdit)); (n > 0) != want {
				t.Errorf("message %d: %d edits", i+1, n)
			}
		}
		n := len(g.Fake.Calls(channeltest.OpEdit))
		g.Say(routertest.Direct("b"), routertest.Guest, "write")
		<-time.After(time.Minute)
		synctest.Wait()
		if got := g.Fake.Texts(routertest.Direct("b")); len(got) != 1 || len(g.Fake.Calls(channeltest.OpEdit)) != n {
			t.Errorf("%q", got)
		}
	})
}

// TestStreamOfAMovedChat: the chat gets a new id while its answer is written: the answer comes there.
func TestStreamOfAMovedChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		w := routertest.TenSeconds()
		g := routertest.Writes(t, w, channeltest.Options{}, routertest.Edits)
		moved := &channels.Error{Class: channels.Transient, Moved: "new", Err: errors.New("scripted")}
		g.Fake.Script(channeltest.Step{Op: channeltest.OpEdit, Chat: "a", Times: -1, Err: moved})
		g.Say(routertest.Group("a"), routertest.Guest, "write")
		d := g.Ended(1)[0]
		got := g.Fake.Texts(routertest.Group("new"))
		if len(got) != 1 || got[0] != w.Answer || d.State != sessions.Sent || !d.Repeat || !strings.HasPrefix(w.Answer, g.Fake.Texts(routertest.Group("a"))[0]) {
			t.Errorf("%q, %+v", got, d)
		}
		noPreviews(g)
	})
}

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

// TestStreamFaults: whatever the platform makes of the first words or of the edits, the answer is there whole; what could not be taken
// back is marked.
func TestStreamFaults(t *testing.T) {
	const send, edit, remove = channeltest.OpSend, channeltest.OpEdit, channeltest.OpRemove
	step := func(op channeltest.Op, times int, c channels.Class) channeltest.Step {
		return channeltest.Step{Op: op, Times: times, Err: class(c)}
	}
	lost := channeltest.Step{Op: send, Err: class(channels.Ambiguous), Arrives: true}
	gone := channeltest.Step{Op: send, Err: class(channels.Ambiguous)}
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
			bubble(t, func(t *testing.T) {
				w := tenSeconds()
				g := writes(t, w, channeltest.Options{Limits: c.limits}, edits)
				full := g.fake.Full()
				if c.keeps {
					full.Remover = nil
					g.r.Attach(account, struct {
						*channeltest.Fake
						channels.Editor
					}{g.fake, full.Editor})
				}
				if c.asks {
					g.r.Attach(account, struct {
						*channeltest.Full
						channels.Reconciler
					}{full, g.fake.Reconciler()})
				}
				g.fake.Script(c.steps...)
				g.say(direct("a"), guest, "write")
				d := g.ended(1)[0]
				<-time.After(time.Minute)
				got := g.fake.Texts(channels.Address{})
				i := slices.Index(got, w.answer)
				if i < 0 || (len(got) == 2) != c.partial || len(got) > 2 || d.State != sessions.Sent || d.Repeat != c.repeat {
					t.Errorf("%.80q; %s, marked %v", got, d.State, d.Repeat)
				}
				if n := len(g.fake.Calls(edit)); n > c.most {
					t.Errorf("%d edits", n)
				}
				if len(g.fake.Overlaps()) > 0 {
					t.Errorf("overlaps: %v", g.fake.Overlaps())
				}
				g.noPreviews()
			})
		})
	}
}

// TestStreamInANewChat: where only so many chats may be written to for the first time in a day, no preview is the first message of one.
func TestStreamInANewChat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits, paced(channels.Pacing{NewChatsPerDay: 1}), edits)
		for i, want := range []bool{false, true} {
			g.say(direct("a"), guest, "write")
			g.shown(i + 1)
			g.until("all is sent", g.allOver)
			if n := len(g.fake.Calls(channeltest.OpEdit)); (n > 0) != want {
				t.Errorf("message %d: %d edits", i+1, n)
			}
		}
		n := len(g.fake.Calls(channeltest.OpEdit))
		g.say(direct("b"), guest, "write")
		<-time.After(time.Minute)
		synctest.Wait()
		if got := g.fake.Texts(direct("b")); len(got) != 1 || len(g.fake.Calls(channeltest.OpEdit)) != n {
			t.Errorf("%q", got)
		}
	})
}

// TestStreamOfAMovedChat: the chat gets a new id while its answer is written: the answer comes there.
func TestStreamOfAMovedChat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := tenSeconds()
		g := writes(t, w, channeltest.Options{}, edits)
		moved := &channels.Error{Class: channels.Transient, Moved: "new", Err: errors.New("scripted")}
		g.fake.Script(channeltest.Step{Op: channeltest.OpEdit, Chat: "a", Times: -1, Err: moved})
		g.say(groupChat("a"), guest, "write")
		d := g.ended(1)[0]
		got := g.fake.Texts(groupChat("new"))
		if len(got) != 1 || got[0] != w.answer || d.State != sessions.Sent || !d.Repeat || !strings.HasPrefix(w.answer, g.fake.Texts(groupChat("a"))[0]) {
			t.Errorf("%q, %+v", got, d)
		}
		g.noPreviews()
	})
}

// TestPreviewsLeaveRoom: what can be left out never takes the last token of a larger bucket: a message need not wait for it.
func TestPreviewsLeaveRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, to := newPacer(channels.Pacing{PerGroupPerMinute: 20}), groupChat("a")
		n := 0
		for p.Try(to) {
			n++
		}
		began := time.Now()
		if err := p.Wait(t.Context(), to); err != nil || time.Since(began) > 0 || n != 4 {
			t.Errorf("%d previews, then a message waited %s, %v", n, time.Since(began), err)
		}
	})
}

package router

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/sessions"
)

// byText finds messages as a platform does that keeps no keys: by what they say and answer.
type byText struct{ f *channeltest.Fake }

func (b byText) Arrived(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	for _, c := range b.f.Calls(channeltest.OpSend) {
		if c.To == out.To && c.Out.Text == strings.TrimSpace(out.Text) && c.Out.ReplyTo == out.ReplyTo {
			return b.f.Shown(out.To)[0].Receipt, true, nil
		}
	}
	return channels.Receipt{}, false, nil
}

// comparesTexts has a rig's platform do so.
func comparesTexts(g *rig) {
	full := g.fake.Full()
	g.r.Attach(account, struct {
		*channeltest.Fake
		channels.Editor
		channels.Reconciler
		channels.Remover
	}{g.fake, full.Editor, byText{g.fake}, full.Remover})
}

// TestFirstWordsAreFoundByTheirText: nobody knows whether the first words arrived, and the platform compares texts: they are asked for
// as they were sent, not as the answer is by now, in the same process and in the next.
func TestFirstWordsAreFoundByTheirText(t *testing.T) {
	for name, c := range map[string]struct {
		fails error
		kill  bool
	}{"answered": {}, "answered by the next process": {kill: true}, "fails": {fails: errors.New("broken")}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := tenSeconds()
				w.fails = c.fails
				g := writes(t, w, channeltest.Options{}, edits)
				comparesTexts(g)
				lost := channeltest.Step{Arrives: true, Err: &channels.Error{Class: channels.Ambiguous, Err: errors.New("lost")}}
				if c.kill {
					lost.Delay = sendGrace + previewTimeout
				}
				g.fake.Script(lost)
				to := groupChat("a")
				g.say(to, guest, "write")
				if c.kill {
					<-time.After(5 * time.Second)
					g.stop()
					g.start()
					comparesTexts(g)
				}
				d := g.ended(1)[0]
				<-time.After(time.Hour)
				got := g.fake.Texts(to)
				if len(got) != 1 || got[0] != d.Text || d.State != sessions.Sent || d.Repeat {
					t.Errorf("%s, marked %v: %q", d.State, d.Repeat, got)
				}
				g.noPreviews()
			})
		})
	}
}

// TestWordsAreSentAgainAsTheyWere: a platform that shows a repeated Send once, and cannot be asked, is given the first words again, also
// to take them back.
func TestWordsAreSentAgainAsTheyWere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := tenSeconds()
		w.fails = errors.New("broken")
		g := writes(t, w, channeltest.Options{Limits: channels.Limits{Idempotent: true}}, edits)
		g.fake.Script(channeltest.Step{Times: 20, Err: class(channels.Ambiguous)})
		g.say(groupChat("a"), guest, "write")
		g.until("the turn is over", func() bool { return len(g.deliveries()) == 1 })
		<-time.After(time.Hour)
		first := g.fake.Calls(channeltest.OpSend)[0].Out
		again := 0
		for _, c := range g.fake.Calls(channeltest.OpSend) {
			if c.Out.Key != first.Key {
				continue
			}
			if again++; c.Out.Text != first.Text || c.Out.ReplyTo != first.ReplyTo {
				t.Errorf("%q, first %q", c.Out.Text, first.Text)
			}
		}
		if got := g.fake.Texts(groupChat("a")); again < 2 || len(got) != 1 || strings.Contains(got[0], "word") {
			t.Errorf("%d times, %q", again, got)
		}
		g.noPreviews()
	})
}

package delivery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
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
func comparesTexts(g *routertest.Rig) {
	full := g.Fake.Full()
	g.Router.Attach(routertest.Account, struct {
		*channeltest.Fake
		channels.Editor
		channels.Reconciler
		channels.Remover
	}{g.Fake, full.Editor, byText{g.Fake}, full.Remover})
}

// TestFirstWordsAreFoundByTheirText: it is unknown whether the first words arrived, and the platform compares texts: they are asked for
// as they were sent, not as the answer is by now, in the same process and in the next.
func TestFirstWordsAreFoundByTheirText(t *testing.T) {
	for name, c := range map[string]struct {
		fails error
		kill  bool
	}{"answered": {}, "answered by the next process": {kill: true}, "fails": {fails: errors.New("broken")}} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				w := routertest.TenSeconds()
				w.Fails = c.fails
				g := routertest.Writes(t, w, channeltest.Options{}, routertest.Edits)
				comparesTexts(g)
				lost := channeltest.Step{Arrives: true, Err: &channels.Error{Class: channels.Ambiguous, Err: errors.New("lost")}}
				if c.kill {
					lost.Delay = sendGrace + previewTimeout
				}
				g.Fake.Script(lost)
				to := routertest.Group("a")
				g.Say(to, routertest.Guest, "write")
				if c.kill {
					<-time.After(5 * time.Second)
					g.Stop()
					g.Start()
					comparesTexts(g)
				}
				d := g.Ended(1)[0]
				<-time.After(time.Hour)
				got := g.Fake.Texts(to)
				if len(got) != 1 || got[0] != d.Text || d.State != sessions.Sent || d.Repeat {
					t.Errorf("%s, marked %v: %q", d.State, d.Repeat, got)
				}
				noPreviews(g)
			})
		})
	}
}

// TestWordsAreSentAgainAsTheyWere: a platform that shows a repeated Send once, and cannot be asked, is given the first words again, also
// to take them back.
func TestWordsAreSentAgainAsTheyWere(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		w := routertest.TenSeconds()
		w.Fails = errors.New("broken")
		g := routertest.Writes(t, w, channeltest.Options{Limits: channels.Limits{Idempotent: true}}, routertest.Edits)
		g.Fake.Script(channeltest.Step{Times: 20, Err: routertest.Class(channels.Ambiguous)})
		g.Say(routertest.Group("a"), routertest.Guest, "write")
		g.Until("the turn is over", func() bool { return len(g.Deliveries()) == 1 })
		<-time.After(time.Hour)
		first := g.Fake.Calls(channeltest.OpSend)[0].Out
		again := 0
		for _, c := range g.Fake.Calls(channeltest.OpSend) {
			if c.Out.Key != first.Key {
				continue
			}
			if again++; c.Out.Text != first.Text || c.Out.ReplyTo != first.ReplyTo {
				t.Errorf("%q, first %q", c.Out.Text, first.Text)
			}
		}
		if got := g.Fake.Texts(routertest.Group("a")); again < 2 || len(got) != 1 || strings.Contains(got[0], "word") {
			t.Errorf("%d times, %q", again, got)
		}
		noPreviews(g)
	})
}

package router_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/turn"
	"parley/sessions"
)

// The dialog of an app that forwards with a comment sends two messages, one shortly after the other. What is forwarded waits for its comment,
// so they are one turn even where the model answers at once; a comment ends the wait, and a plain message does not wait at all.
// source: moazbuilds/claudeclaw#194 (Discord: the forward and its comment are two MESSAGE_CREATE), openclaw/openclaw#19476 and HKUDS/nanobot#2585
// (Telegram: two updates, in either order)
func TestForwardWaitsForItsComment(t *testing.T) {
	comment, forward := channels.Inbound{Text: "What do you think?"}, channels.Inbound{Text: "We offer 50k", Forwarded: true, Origin: "Ann"}
	for _, c := range []struct {
		name   string
		sent   []channels.Inbound
		begins time.Duration // of the only turn, behind the last message
	}{
		{"a plain message", []channels.Inbound{comment}, 0},
		{"forward, comment", []channels.Inbound{forward, comment}, 0},
		{"three forwards, comment", []channels.Inbound{forward, forward, forward, comment}, 0},
		{"forward alone", []channels.Inbound{forward}, turn.PartTimeout},
		{"three forwards", []channels.Inbound{forward, forward, forward}, turn.PartTimeout},
	} {
		for _, gap := range []time.Duration{0, 30 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond} {
			for _, to := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("g")} {
				t.Run(fmt.Sprintf("%s/%s/%s", c.name, gap, to.Type), func(t *testing.T) {
					routertest.Bubble(t, func(t *testing.T) {
						g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
						var last time.Time
						for i, in := range c.sent {
							if i > 0 {
								<-time.After(gap)
							}
							in.Address, in.Sender, in.Mentioned = to, routertest.Person(routertest.Guest), to.Type.Several()
							last = time.Now()
							g.Fake.Say(in)
							g.Taken(i + 1)
						}
						g.Shown(1)
						if took := time.Since(last); took < c.begins || took > c.begins+100*time.Millisecond {
							t.Errorf("answered after %s, want %s", took, c.begins)
						}
						<-time.After(time.Minute)
						if n, answers := g.Model.Count(), len(g.Fake.Calls(channeltest.OpSend)); n != 1 || answers != 1 {
							t.Errorf("%d calls, %d answers", n, answers)
						}
						g.Model.Mu.Lock()
						defer g.Model.Mu.Unlock()
						var read strings.Builder
						for _, m := range g.Model.Asked[0].Messages {
							if m.Role == sessions.User {
								read.WriteString(m.Text() + "\n")
							}
						}
						isForward := func(in channels.Inbound) bool { return in.Forwarded }
						if n := len(slices.DeleteFunc(slices.Clone(c.sent), isForward)); strings.Count(read.String(), comment.Text) != n || strings.Count(read.String(), forward.Text) != len(c.sent)-n {
							t.Errorf("the model read %q", read.String())
						}
					})
				})
			}
		}
	}
}

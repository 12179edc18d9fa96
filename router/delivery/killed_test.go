package delivery_test

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/lane"
	"parley/router/routertest"
	"parley/sessions"
)

// goesOn starts the next process on what a kill has left.
func goesOn(g *routertest.Rig, image string) {
	g.T.Helper()
	g.Stop()
	g.Dir, g.Wrap = image, nil
	g.Start()
}

// TestFaultKilledWhileAsked denies a session while a message is on its way of which nobody knows then whether it arrived, permits it again, and kills the process as the platform
// is asked: the try that was begun behind the first one does not hide that one.
//
// proves: D4
func TestFaultKilledWhileAsked(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		decided, image := 0, ""
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return lifts{s, &decided, true} })
		var asked []channels.Outbound
		g.Router.Attach(routertest.Account, routertest.Finder{Fake: g.Fake, Asked: &asked, There: true, Err: func(int) error {
			if image == "" {
				image = g.Image()
			}
			return nil
		}})
		underWay := make(chan struct{})
		g.Fake.Script(channeltest.Step{Wait: underWay, Err: routertest.Class(channels.Ambiguous), Arrives: true})
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Until("it is on its way", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State == sessions.Sending })
		_, err := g.Store.Patch(t.Context(), g.Deliveries()[0].Session, sessions.Patch{SendPolicy: new(policy.Deny)})
		routertest.Check(t, err)
		close(underWay)
		g.Ended(1)
		goesOn(g, image)
		if d, n := g.Ended(1)[0], len(g.Fake.Texts(routertest.Direct("a"))); len(asked) == 0 || n > 1 && !d.Repeat {
			t.Errorf("asked %d times, shown %d times, and it is %s, marked %t", len(asked), n, d.State, d.Repeat)
		}
	})
}

// TestFaultKilledBehindTheAnswer kills a process that has its answer from the platform, and no receipt on disk: the reaction that stands for the turn goes all the same, once
// the account is there.
func TestFaultKilledBehindTheAnswer(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		image := ""
		var g *routertest.Rig
		g = routertest.NewWith(t, channeltest.Options{}, func(op, phase string) {
			if strings.HasPrefix(op, "PartSent") && phase == "before-commit" && image == "" {
				image = g.Image()
			}
		}, nil, acking("", true))
		g.Model.Set(routertest.Slowly(time.Second))
		in := g.Say(routertest.Group("garden"), routertest.Owner, "hello")
		g.Shown(1)
		g.Stop()
		was := len(g.Reactions())
		goesOn(g, image)
		<-time.After(5 * time.Second)
		if diff := cmp.Diff([]string{"garden/" + string(in.ID) + "="}, g.Reactions()[was:]); diff != "" {
			t.Error(diff)
		}
		g.WantOnce()
	})
}

// TestLostByAnInterruptedTurn interrupts a turn as it ends, loses the answer to that commit, and has the store fail when it is asked what has become of it.
//
// proves: D3
func TestLostByAnInterruptedTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var g *routertest.Rig
		var ends, looks atomic.Int64
		lose := answerLost(nil)
		g = routertest.NewWith(t, channeltest.Options{}, func(op, phase string) {
			if strings.HasPrefix(op, "Finish") && phase == "before-commit" && ends.Add(1) == 1 {
				for _, run := range g.Runs() {
					g.Router.Lanes.Abort([]sessions.StoppedRun{{Key: run.Key, ID: run.ID}}, lane.ErrInterrupted)
				}
			}
			lose(op, phase)
		}, func(s sessions.Store) sessions.Store {
			return aroundLook{s, func(sessions.DeliveryID) error {
				if looks.Add(1) == 1 {
					return os.ErrDeadlineExceeded
				}
				return nil
			}}
		}, held)
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.WantOnce()
	})
}

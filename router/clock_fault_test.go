package router_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
	"parley/tools"
)

// settings of a computer's clock, each some time after the one before.
var clockTurns = map[string][]time.Duration{
	"an hour on":                         {time.Hour},
	"an hour back":                       {-time.Hour},
	"ten years on":                       {87_660 * time.Hour},
	"ten years back":                     {-87_660 * time.Hour},
	"ten years on and back":              {87_660 * time.Hour, -87_660 * time.Hour},
	"back five minutes, again and again": slices.Repeat([]time.Duration{-5 * time.Minute}, 20),
	"on five minutes, again and again":   slices.Repeat([]time.Duration{5 * time.Minute}, 20),
}

// TestFaultClockDeliveries sets the clock while deliveries wait for their account: what was made is sent when the account is back, and
// expires after its time to live, not before.
//
// proves: D8
func TestFaultClockDeliveries(t *testing.T) {
	const ttl = 30 * time.Minute
	for name, turns := range clockTurns {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/late %v", name, late), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g, c := turned(t)
					g.Router.Attach(routertest.Account, nil)
					expiring(g, ttl, "a", "b", "c")
					for _, by := range turns {
						<-time.After(time.Minute)
						c.turn(by)
					}
					rest := ttl - time.Duration(len(turns))*time.Minute
					<-time.After(rest - time.Minute)
					want := sessions.Sent
					if late && turns[0] > 0 { // a clock that is set back makes it later
						<-time.After(2 * time.Minute)
						want = sessions.Expired
					}
					g.Router.Attach(routertest.Account, g.Fake.Full())
					<-time.After(10 * time.Second)
					states(g, want, 3)
				})
			})
		}
	}
}

// turned is a rig whose computer's clock is set.
func turned(t *testing.T) (*routertest.Rig, *setClock) {
	t.Helper()
	c := &setClock{}
	g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}, Clock: c.now, Wall: c.now}
	g.Start()
	return g, c
}

// expiring makes a delivery to each chat.
func expiring(g *routertest.Rig, ttl time.Duration, chats ...string) {
	g.T.Helper()
	var e sessions.Change
	for _, chat := range chats {
		e.Ops = append(e.Ops, sessions.EnqueueDelivery{ID: sessions.DeliveryID("d-" + chat), Kind: sessions.Announce, To: routertest.Direct(chat), Text: chat,
			Expires: time.Now().Add(ttl)})
	}
	if _, err := g.Router.Committer.Submit(g.T.Context(), e); err != nil {
		g.T.Fatal(err)
	}
}

// states fails unless there are n deliveries, all in a state.
func states(g *routertest.Rig, want sessions.DeliveryState, n int) {
	g.T.Helper()
	list := g.Deliveries()
	for _, d := range list {
		if d.State != want {
			g.T.Errorf("%s is %s, want %s: %s", d.Text, d.State, want, d.Error)
		}
	}
	if len(list) != n {
		g.T.Errorf("%d deliveries, want %d", len(list), n)
	}
}

// TestFaultClockRetry sets the clock while a platform has asked to wait: the call is made when that time is over, no earlier and no
// later.
func TestFaultClockRetry(t *testing.T) {
	for name, turns := range clockTurns {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, c := turned(t)
				const asked = 25 * time.Minute
				g.Fake.Script(channeltest.Step{Op: channeltest.OpSend, Err: &channels.Error{Class: channels.Limited, RetryAfter: asked, Err: errors.New("scripted")}})
				began := time.Now()
				expiring(g, 2*time.Hour, "a")
				for _, by := range turns {
					<-time.After(time.Minute)
					c.turn(by)
				}
				g.Shown(1)
				if took := time.Since(began); took < asked || took > asked+2*time.Second {
					t.Errorf("the second call was made after %s, asked for were %s", took, asked)
				}
			})
		})
	}
}

// TestFaultClockRestart sets the clock back while the host is down and something waits to be tried again: it waits no longer than was
// meant.
func TestFaultClockRestart(t *testing.T) {
	for _, back := range []time.Duration{5 * time.Minute, time.Hour, 87_660 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, c := turned(t)
				const asked = 10 * time.Minute
				g.Fake.Script(channeltest.Step{Op: channeltest.OpSend, Err: &channels.Error{Class: channels.Limited, RetryAfter: asked, Err: errors.New("scripted")}})
				expiring(g, 2*time.Hour, "a")
				<-time.After(time.Second)
				g.Stop()
				c.turn(-back)
				began := time.Now()
				g.Start()
				g.Shown(1)
				if took := time.Since(began); took > asked+time.Second {
					t.Errorf("it was tried after %s, %s were meant", took, asked)
				}
			})
		})
	}
}

// TestFaultClockChild sets the clock back while the host is down and a sub-agent has not ended: it has no more time than its limit.
func TestFaultClockChild(t *testing.T) {
	for _, back := range []time.Duration{5 * time.Minute, time.Hour, 87_660 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, c := turned(t)
				g.Say(routertest.Group("a"), routertest.Guest, "hello")
				g.Shown(1)
				g.Model.Set(routertest.Child{Work: routertest.Slowly(24 * time.Hour)}.Answer)
				run := g.Spawn(tools.SpawnRequest{Source: "s", Timeout: 100})
				<-time.After(10 * time.Second)
				g.Stop()
				c.turn(-back)
				g.Start()
				<-time.After(105 * time.Second)
				if now, err := g.Store.GetRun(t.Context(), run.ID); err != nil || now.Status != sessions.TimedOut {
					t.Errorf("it is %s (%v)", now.Status, err)
				}
				states(g, sessions.Sent, 2)
			})
		})
	}
}

// TestFaultClockSleep has the computer sleep for eight hours while something waits: it is as old as it is, and not sent eight hours late.
func TestFaultClockSleep(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, c := turned(t)
		g.Router.Attach(routertest.Account, nil)
		expiring(g, time.Hour, "a")
		expiring(g, 24*time.Hour, "b")
		synctest.Wait()
		began := time.Now()
		g.Router.Ages.Set(nil, func() time.Duration { return time.Since(began) + time.Until(c.now()) }, nil)
		c.turn(8 * time.Hour)
		<-time.After(time.Minute)
		g.Router.Attach(routertest.Account, g.Fake.Full())
		<-time.After(10 * time.Second)
		for _, d := range g.Deliveries() {
			if want := map[string]sessions.DeliveryState{"a": sessions.Expired, "b": sessions.Sent}[d.Text]; d.State != want {
				t.Errorf("%s is %s, want %s", d.Text, d.State, want)
			}
		}
	})
}

// TestFaultClockQueue sets the clock while messages wait for the running turn: each is answered, as none has waited for long.
//
// proves: D8
func TestFaultClockQueue(t *testing.T) {
	for name, turns := range clockTurns {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, c := turned(t)
				g.Model.Set(routertest.Slowly(9 * time.Minute))
				routertest.EachAlone(g.Settings)
				for i := range 3 {
					g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("message ", i))
					<-time.After(time.Second)
				}
				for _, by := range turns {
					<-time.After(time.Minute)
					c.turn(by)
				}
				<-time.After(time.Hour)
				states(g, sessions.Sent, 3)
			})
		})
	}
}

// TestFaultClockQuiet sets the clock back while a message is held back for more to come: it is answered all the same.
func TestFaultClockQuiet(t *testing.T) {
	for name, turns := range clockTurns {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, c := turned(t)
				g.Model.Set(routertest.Slowly(10 * time.Second))
				g.Say(routertest.Direct("a"), routertest.Guest, "one")
				<-time.After(9900 * time.Millisecond)
				g.Say(routertest.Direct("a"), routertest.Guest, "two")
				<-time.After(50 * time.Millisecond)
				c.turn(turns[0])
				<-time.After(time.Minute)
				states(g, sessions.Sent, 2)
			})
		})
	}
}

// TestFaultClockForgets sets the clock ahead by ten years for an hour: what was taken before is known still, and no session is archived.
func TestFaultClockForgets(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, c := turned(t)
		in := g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(1)
		c.turn(87_660 * time.Hour)
		<-time.After(time.Hour)
		c.turn(-87_660 * time.Hour)
		if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		states(g, sessions.Sent, 1)
	})
}

// TestFaultClockLordHowe has a job in a zone that moves its clocks by half an hour begin once a day in both directions.
func TestFaultClockLordHowe(t *testing.T) {
	for name, x := range map[string]struct{ from, cron, want string }{
		"the half hour that is not":   {"2026-10-02T20:00:00Z", "15 2 * * *", "10-03T15:45 10-04T15:15 10-05T15:15"}, // at 2:00 it is 2:30
		"the half hour that is twice": {"2026-04-03T20:00:00Z", "45 1 * * *", "04-04T14:45 04-05T15:15 04-06T15:15"}, // at 2:00 it is 1:30
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, _ := clocked(t, x.from)
				j := g.Make(sessions.Job{Cron: x.cron, Zone: "Australia/Lord_Howe"})
				<-time.After(72 * time.Hour)
				synctest.Wait()
				g.Same(g.Begun(j.ID), x.want)
			})
		})
	}
}

package router_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// A turn that was running is as old as the newest message that it took up: that one is answered, however old the first.
//
// proves: D8
func TestAgeOfATurnThatTookUpOthers(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Delivery.ReplyTTL = 5 * time.Minute
			s.Agents.Defaults.TimeoutSeconds = 60
			s.Messages.Queue.Queue = sessions.Queue{Mode: sessions.Collect, Cap: 20}
		})
		g.Model.Set(routertest.Slowly(50 * time.Second))
		began := time.Now()
		g.Say(routertest.Direct("a"), routertest.Guest, "first")
		<-time.After(2 * time.Second)
		g.Stop()
		<-time.After(118 * time.Second)
		g.Start()
		<-time.After(100 * time.Millisecond)
		g.Say(routertest.Direct("a"), routertest.Guest, "second")
		<-time.After(10 * time.Second)
		g.Stop()
		g.Start()
		<-time.After(10 * time.Second)
		g.Stop()
		<-time.After(365*time.Second - time.Since(began)) // the first is too old now, the second is not
		g.Model.Set(routertest.Slowly(time.Second))
		g.Start()
		<-time.After(2 * time.Minute)
		if !slices.ContainsFunc(g.Deliveries(), func(d sessions.Delivery) bool { return d.Text == "echo: second" && d.State == sessions.Sent }) {
			t.Errorf("%+v", g.Deliveries())
		}
	})
}

// TestOutdatedChildIsDeleted takes up sub-agents, and the announce step of one, two days late: nothing is shown, each is listed, and the
// sessions that were to be deleted are.
//
// proves: N14, N15, D8
func TestOutdatedChildIsDeleted(t *testing.T) {
	for _, cleanup := range []string{"delete", "keep"} {
		for _, at := range []string{"work", "announce"} {
			t.Run(cleanup+" at "+at, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := routertest.New(t, channeltest.Options{})
					g.Say(routertest.Group("a"), routertest.Guest, "hello")
					g.Shown(1)
					g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						if strings.Contains(p.System, "announce step") == (at == "announce") && !channels.Sleep(ctx, time.Hour) {
							return agent.Answer{}, ctx.Err()
						}
						return routertest.Text("the result"), nil
					})
					run := g.Spawn(tools.SpawnRequest{Source: "s", Cleanup: cleanup})
					<-time.After(time.Minute)
					g.Stop()
					<-time.After(50 * time.Hour)
					g.Start()
					<-time.After(time.Minute)
					var late []sessions.Delivery
					for _, d := range g.Deliveries() {
						if d.Kind == sessions.Announce {
							late = append(late, d)
						}
					}
					_, err := g.Store.Get(t.Context(), run.Key)
					if cleanup == "keep" {
						runs := g.Runs()
						if err != nil || len(late) > 0 || runs[len(runs)-1].Status != sessions.Failed {
							t.Errorf("%v; %v; %s", err, late, routertest.Kinds(runs))
						}
						return
					}
					if !errors.Is(err, sessions.ErrNotFound) {
						t.Errorf("its session is there: %v", err)
					}
					if len(late) != 1 || late[0].State != sessions.Expired || late[0].To != routertest.Group("a") {
						t.Fatalf("%+v", late)
					}
					if at == "announce" && !strings.Contains(late[0].Text, "the result") || at == "work" && !strings.Contains(late[0].Text, "too late") {
						t.Errorf("%s", late[0].Text)
					}
					g.Shown(1)
				})
			})
		}
	}
}

// A sub-agent was begun while the clock was a day ahead, and is past its time after the clock was put right: its late report is listed and not sent.
//
// proves: N14, D8
func TestOutdatedChildUnderAnotherClock(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		run := sessions.Run{ID: "r", Kind: sessions.ChildRun, Key: "agent:main:subagent:x", Created: time.Now().Add(24 * time.Hour)}
		c := sessions.Chain{Kind: "spawn", Cleanup: "delete", Origin: routertest.Direct("a"), Requester: "agent:main:main", Target: run.Key}
		run.Chain = &c
		var o sessions.Outcome
		if !g.Router.Advancer.CompleteExpired(t.Context(), g.Router.Settings(), run, &o) || len(o.Deliveries) != 1 || o.Deliveries[0].Expires.After(time.Now()) {
			t.Errorf("%+v", o.Deliveries)
		}
	})
}

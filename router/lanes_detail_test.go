package router_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// proves: N16
func TestPoolsAreApart(t *testing.T) {
	for _, blocked := range []string{"main", "child"} {
		t.Run(blocked, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				c := routertest.Child{}
				if blocked == "child" {
					c.Work = routertest.Slowly(time.Hour)
				}
				g := routertest.Parent(t, c, func(s *settings.Snapshot) {
					s.Agents.Defaults.MaxConcurrent = 1
					s.Agents.Defaults.Subagents.MaxConcurrent = 1
					s.Agents.Defaults.TimeoutSeconds = 7200
				})
				if blocked == "main" {
					g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						if !strings.Contains(p.System, "sub-agent") {
							channels.Sleep(ctx, time.Hour)
						}
						return c.Answer(ctx, p)
					})
				}
				began := time.Now()
				for i := range 2 {
					if blocked == "main" {
						g.Say(routertest.Group(fmt.Sprint("busy", i)), routertest.Guest, "work")
					} else {
						g.Spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i)})
					}
				}
				g.Until("one is at work", func() bool { working, _ := g.Router.Working(); return len(working) == 1 })
				if blocked == "main" {
					g.Spawn(tools.SpawnRequest{Source: "s"})
				} else {
					g.Say(routertest.Group("a"), routertest.Guest, "hello")
				}
				g.Shown(2)
				took := time.Since(began)
				synctest.Wait() // the lane that is done lets go a moment after its message is shown
				if working, _ := g.Router.Working(); took > time.Minute || len(working) != 1 {
					t.Errorf("it waited %s, now at work: %v", took, working)
				}
			})
		})
	}
}

func TestDrainBeginsNothing(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		g.Model.Set(routertest.Slowly(time.Minute))
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		g.Until("one is at work", func() bool { return g.Model.Count() == 1 && len(g.Runs()) == 2 })
		began := time.Now()
		drained := make(chan time.Duration, 1)
		go func() {
			g.Router.Drain(t.Context())
			drained <- time.Since(began)
		}()
		synctest.Wait()
		g.Say(routertest.Group("b"), routertest.Guest, "three")
		if took := <-drained; took < 50*time.Second {
			t.Errorf("drained after %s", took)
		}
		<-time.After(10 * time.Minute)
		var status []sessions.RunStatus
		for _, r := range g.Runs() {
			status = append(status, r.Status)
		}
		if !slices.Equal(status, []sessions.RunStatus{sessions.Done, sessions.Queued, sessions.Queued}) || g.Model.Count() != 1 {
			t.Errorf("%v after %d model calls", status, g.Model.Count())
		}
		g.Stop()
		g.Model.Set(nil)
		g.Start()
		g.Shown(3)
	})
}

// What waits of an earlier process counts for who asked for it, and where nobody knows, for its session.
func TestLanesOfAnEarlierProcess(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		begun, err := g.Router.WaitingLanes(t.Context(), []sessions.Key{routertest.KeyA})
		if err != nil || begun[routertest.KeyA].Who() != "session "+string(routertest.KeyA) {
			t.Errorf("%q, %v", begun[routertest.KeyA].Who(), err)
		}
	})
}

package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// A session that starts over ends the turns of the jobs that it made or that post into its chat, as /stop does: what they say belongs to the
// conversation before. The job itself stays.
//
// source: openclaw/openclaw#118018
// proves: X1, X3, X4
func TestNewSessionEndsJobs(t *testing.T) {
	chat := routertest.Direct(routertest.Guest)
	for name, reset := range map[string]func(*routertest.Rig, sessions.Key){
		"/new": func(g *routertest.Rig, _ sessions.Key) { g.Say(chat, routertest.Guest, "/new") },
		"API": func(g *routertest.Rig, key sessions.Key) {
			if _, ids, err := g.Router.Reset(g.T.Context(), "r", key); err != nil || len(ids) != 1 {
				g.T.Errorf("%v %v", ids, err)
			}
		},
	} {
		for whose, other := range map[string]bool{"made here": false, "posts here": true} {
			t.Run(name+"/"+whose, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := greeted(t)
					key := g.Runs()[0].Key
					g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
						channels.Sleep(ctx, 9*time.Minute)
						return routertest.Text("SECRET"), ctx.Err()
					})
					if other {
						now := time.Now()
						if err := g.Router.Scheduler.AddJob(t.Context(), "job", sessions.Job{ID: "j", Agent: "main", Name: "slow", Message: "do it", Every: time.Hour, Next: now.Add(time.Hour), Created: now, To: chat}); err != nil {
							t.Fatal(err)
						}
					} else {
						planJob(g, "slow", 0)
					}
					<-time.After(time.Hour + time.Minute)
					before := len(g.Fake.Shown(channels.Address{}))
					reset(g, key)
					<-time.After(20 * time.Minute)
					calls := g.Fake.Shown(channels.Address{})[before:]
					if name == "/new" && (len(calls) != 1 || !strings.Contains(calls[0].Out.Text, "New session started") || !strings.Contains(calls[0].Out.Text, "Stopped 1 scheduled job.")) || name == "API" && len(calls) > 0 {
						t.Errorf("%d messages: %+v", len(calls), calls)
					}
					g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return routertest.Text("ok"), nil })
					n := g.Model.Count()
					g.Say(chat, routertest.Guest, "good morning")
					g.Until("it is answered", func() bool { return g.Model.Count() > n })
					if p := g.Model.Asked[n]; len(p.Messages) != 1 || strings.Contains(strings.Join(routertest.WordsOf(p), " "), "SECRET") {
						t.Errorf("the model is shown %q", routertest.WordsOf(p))
					}
					if other { // its next time
						n := g.Model.Count()
						if <-time.After(time.Hour); g.Model.Count() == n {
							t.Error("the job does not begin again")
						}
					}
				})
			})
		}
	}
}

package router_test

import (
	"testing"
	"time"

	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// A session starts over when nobody wrote in it for long, or since the day began: what a command, a job, or the answer of a long turn
// did in it meanwhile does not keep it.
func TestResetByWhatPeopleWrote(t *testing.T) {
	for _, rule := range []sessions.ResetRule{{Mode: "daily", AtHour: 4}, {Mode: "idle", IdleMinutes: 60}} {
		for _, between := range []string{"", "/status", "job"} {
			t.Run(rule.Mode+" "+between, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Session.Reset = rule })
					<-time.After(3 * time.Hour) // virtual time begins at midnight
					g.Say(routertest.Direct("a"), routertest.Guest, "one")
					g.Shown(1)
					was := g.Session(routertest.GuestKey).ID
					g.Say(routertest.Direct("a"), routertest.Guest, "soon after")
					g.Shown(2)
					if g.Session(routertest.GuestKey).ID != was {
						t.Error("it starts over although somebody just wrote")
					}
					n := 2
					if between == "job" {
						at := time.Now().Add(90 * time.Minute)
						if err := g.Router.Scheduler.AddJob(t.Context(), "x", sessions.Job{ID: "j", Agent: "main", From: routertest.GuestKey, At: at, Message: "look", Created: time.Now(), Next: at}); err != nil {
							t.Fatal(err)
						}
						n++
					}
					<-time.After(2 * time.Hour)
					if between == "/status" {
						g.Say(routertest.Direct("a"), routertest.Guest, between)
						n++
					}
					g.Shown(n)
					if g.Session(routertest.GuestKey).ID != was {
						t.Error("it starts over although nobody wrote")
					}
					g.Say(routertest.Direct("a"), routertest.Guest, "two")
					g.Shown(n + 1)
					if g.Session(routertest.GuestKey).ID == was {
						t.Error("it does not start over")
					}
				})
			})
		}
	}
}

package router

import (
	"testing"
	"time"

	"parley/channels/channeltest"
	"parley/sessions"
)

// A session starts over when nobody wrote in it for long, or since the day began: what a command, a job, or the answer of a long turn
// did in it meanwhile does not keep it.
func TestResetByWhatPeopleWrote(t *testing.T) {
	for _, rule := range []sessions.ResetRule{{Mode: "daily", AtHour: 4}, {Mode: "idle", IdleMinutes: 60}} {
		for _, between := range []string{"", "/status", "job"} {
			t.Run(rule.Mode+" "+between, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Session.Reset = rule })
					<-time.After(3 * time.Hour) // virtual time begins at midnight
					g.say(direct("a"), guest, "one")
					g.shown(1)
					was := g.session(guestKey).ID
					g.say(direct("a"), guest, "soon after")
					g.shown(2)
					if g.session(guestKey).ID != was {
						t.Error("it starts over although somebody just wrote")
					}
					n := 2
					if between == "job" {
						at := time.Now().Add(90 * time.Minute)
						if err := g.r.AddJob(t.Context(), "x", sessions.Job{ID: "j", Agent: "main", From: guestKey, At: at, Message: "look", Created: time.Now(), Next: at}); err != nil {
							t.Fatal(err)
						}
						n++
					}
					<-time.After(2 * time.Hour)
					if between == "/status" {
						g.say(direct("a"), guest, between)
						n++
					}
					g.shown(n)
					if g.session(guestKey).ID != was {
						t.Error("it starts over although nobody wrote")
					}
					g.say(direct("a"), guest, "two")
					g.shown(n + 1)
					if g.session(guestKey).ID == was {
						t.Error("it does not start over")
					}
				})
			})
		}
	}
}

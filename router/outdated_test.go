package router

import (
	"slices"
	"testing"
	"time"

	"parley/channels/channeltest"
	"parley/sessions"
)

// A turn that was at work is as old as the newest message that it took up: that one is answered, however old the first.
//
// proves: D8
func TestAgeOfATurnThatTookUpOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Delivery.ReplyTTL = 5 * time.Minute
			s.Agents.Defaults.TimeoutSeconds = 60
			s.Messages.Queue.Queue = sessions.Queue{Mode: sessions.Collect, Cap: 20}
		})
		g.model.set(slowly(50 * time.Second))
		began := time.Now()
		g.say(direct("a"), guest, "first")
		<-time.After(2 * time.Second)
		g.stop()
		<-time.After(118 * time.Second)
		g.start()
		<-time.After(100 * time.Millisecond)
		g.say(direct("a"), guest, "second")
		<-time.After(10 * time.Second)
		g.stop()
		g.start()
		<-time.After(10 * time.Second)
		g.stop()
		<-time.After(365*time.Second - time.Since(began)) // the first is too old now, the second is not
		g.model.set(slowly(time.Second))
		g.start()
		<-time.After(2 * time.Minute)
		if !slices.ContainsFunc(g.deliveries(), func(d sessions.Delivery) bool { return d.Text == "echo: second" && d.State == sessions.Sent }) {
			t.Errorf("%+v", g.deliveries())
		}
	})
}

package router

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
)

// TestStopSparesOtherSessionsWork stops a chat while the announce of an exchange waits behind its turn: it is announced all the same.
//
// proves: S11
func TestStopSparesOtherSessionsWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		inner := pingPong(1, 30)
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.HasSuffix(lastUser(p), "long") || strings.Contains(p.System, "reply step") {
				if !sleep(ctx, time.Minute) {
					return agent.Answer{}, ctx.Err()
				}
			}
			return inner(ctx, p)
		})
		g.say(groupChat("b"), guest, "make a session here")
		g.shown(1)
		g.say(groupChat("a"), guest, "ask b")
		g.shown(2) // a has its answer, and its reply step is at work for a minute
		<-time.After(50 * time.Second)
		g.say(groupChat("b"), guest, "long")
		<-time.After(20 * time.Second) // the announce waits behind it
		g.say(groupChat("b"), guest, "/stop")
		<-time.After(10 * time.Minute)
		synctest.Wait()
		kinds := map[sessions.DeliveryKind]int{}
		for _, d := range g.deliveries() {
			kinds[d.Kind]++
		}
		if kinds[sessions.Announce] != 1 {
			t.Errorf("deliveries by kind: %v, want one announce", kinds)
		}
	})
}

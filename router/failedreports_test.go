package router_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
	"parley/tools"
)

// An owner hears in the owner's own chat of reports that a chat refuses, once an hour for each chat, over a restart too: one that fails just before
// the host ends is told of by the next process.
// source: https://core.telegram.org/bots/api#making-requests (400 Bad Request: message thread not found)
//
// proves: N15
func TestOwnersHearOfFailedReports(t *testing.T) {
	for name, c := range map[string]struct{ writes, reset bool }{"an owner has a chat": {writes: true}, "it started over": {writes: true, reset: true}, "no owner has one": {}} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Parent(t, routertest.Child{})
				own, shown := routertest.Direct(routertest.Owner), 1
				for _, text := range []string{"hello", "/new"} {
					if c.writes && text == "hello" || c.reset {
						g.Say(own, routertest.Owner, text)
						shown++
						g.Shown(shown)
					}
				}
				g.Fake.Script(channeltest.Step{Op: channeltest.OpSend, Chat: routertest.Group("a").Chat, Times: -1,
					Err: &channels.Error{Class: channels.Rejected, Err: errors.New("message thread not found")}})
				reports := func(n int) {
					for i := range n {
						g.Spawn(tools.SpawnRequest{Source: fmt.Sprint(time.Now(), i), Task: "compute"})
					}
				}
				told := func() (list []string) {
					for _, x := range g.Fake.Texts(own) {
						if strings.HasPrefix(x, "⚠️ A report did not reach ") {
							list = append(list, x)
						}
					}
					return list
				}
				want := func(n int) {
					t.Helper()
					if got := told(); len(got) != map[bool]int{true: n}[c.writes] {
						t.Errorf("owners read %q", got)
					}
				}
				<-time.After(40 * time.Minute)
				reports(3)
				<-time.After(5 * time.Minute)
				want(1)
				for _, text := range told() {
					for _, part := range []string{routertest.Group("a").String(), "message thread not found", "parley deliveries retry "} {
						if !strings.Contains(text, part) {
							t.Errorf("%q does not say %q", text, part)
						}
					}
				}
				g.Stop()
				g.Start()
				<-time.After(20 * time.Minute) // another hour of the clock, and not one since then
				reports(1)
				<-time.After(30 * time.Minute)
				want(1)
				<-time.After(10 * time.Minute) // an hour is over
				reports(1)
				g.Until("the report has failed", func() bool {
					list := slices.DeleteFunc(g.Deliveries(), func(d sessions.Delivery) bool { return d.Kind != sessions.Announce }) // owners may be told already
					return list[len(list)-1].State == sessions.DeliveryFail
				})
				g.Stop() // before anybody is told
				g.Start()
				<-time.After(5 * time.Minute)
				want(2)
			})
		})
	}
}

package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
)

// TestStopWordsInAGroup: without a mention a stop word is meant for the bot when an owner says it, or who asked for what is running;
// commands are when somebody says them who is let in by name.
func TestStopWordsInAGroup(t *testing.T) {
	for by, stops := range map[string]bool{routertest.Owner: true, routertest.Guest: true, "3003": false} {
		t.Run(by, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
					s.Accounts[routertest.Account] = settings.Account{Access: policy.Access{GroupPolicy: policy.GroupAllowlist, Groups: map[string]policy.GroupAccess{"a": {}}}}
				})
				g.Model.Set(routertest.Repeating(time.Minute))
				g.Say(routertest.Group("a"), routertest.Guest, "work")
				<-time.After(10 * time.Second)
				say := func(words string) {
					g.Fake.Say(channels.Inbound{Address: routertest.Group("a"), Sender: channels.Sender{ID: channels.UserID(by), Name: by}, Text: words})
				}
				say("wait")
				first := g.Shown(1)[0].Out.Text
				if stopped := strings.Contains(first, "Agent was aborted."); stopped != stops {
					t.Errorf("%s: %q", by, first)
				}
				say("/whoami")
				if got := g.Shown(2)[1].Out.Text; !strings.Contains(got, by) {
					t.Errorf("a command without a mention: %q", got)
				}
			})
		})
	}
}

// TestStopWordReachesSubagents: a stop word counts while only a sub-agent is working.
func TestStopWordReachesSubagents(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "started for one task") {
				channels.Sleep(ctx, time.Hour)
				return routertest.Text("too late"), ctx.Err()
			}
			if routertest.Last(p).Role == "toolResult" {
				return routertest.Text("started"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "long"}), nil
		})
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "do it")
		g.Shown(1)
		<-time.After(time.Minute)
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "abort")
		if got := g.Shown(2)[1].Out.Text; !strings.Contains(got, "Stopped 1 sub-agent") {
			t.Errorf("%q", got)
		}
	})
}

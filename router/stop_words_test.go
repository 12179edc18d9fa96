package router

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
)

// TestStopWordsInAGroup: without a mention a stop word is meant for the bot when an owner says it, or who asked for what is at work;
// commands are when somebody says them who is let in by name.
func TestStopWordsInAGroup(t *testing.T) {
	for by, stops := range map[string]bool{owner: true, guest: true, "3003": false} {
		t.Run(by, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, func(s *Settings) {
					s.Accounts[account] = AccountSettings{Access: policy.Access{GroupPolicy: policy.GroupAllowlist, Groups: map[string]policy.GroupAccess{"a": {}}}}
				})
				g.model.set(repeating(time.Minute))
				g.say(groupChat("a"), guest, "work")
				<-time.After(10 * time.Second)
				say := func(words string) {
					g.fake.Say(channels.Inbound{Address: groupChat("a"), Sender: channels.Sender{ID: channels.UserID(by), Name: by}, Text: words})
				}
				say("wait")
				first := g.shown(1)[0].Out.Text
				if stopped := strings.Contains(first, "Agent was aborted."); stopped != stops {
					t.Errorf("%s: %q", by, first)
				}
				say("/whoami")
				if got := g.shown(2)[1].Out.Text; !strings.Contains(got, by) {
					t.Errorf("a command without a mention: %q", got)
				}
			})
		})
	}
}

// TestStopWordReachesSubagents: a stop word counts while only a sub-agent is at work.
func TestStopWordReachesSubagents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.Contains(p.System, "started for one task") {
				sleep(ctx, time.Hour)
				return text("too late"), ctx.Err()
			}
			if last(p).Role == "toolResult" {
				return text("started"), nil
			}
			return call("c1", "sessions_spawn", map[string]any{"task": "long"}), nil
		})
		g.say(direct(guest), guest, "do it")
		g.shown(1)
		<-time.After(time.Minute)
		g.say(direct(guest), guest, "abort")
		if got := g.shown(2)[1].Out.Text; !strings.Contains(got, "Stopped 1 sub-agent") {
			t.Errorf("%q", got)
		}
	})
}

package router_test

import (
	"context"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// TestPostByAnotherSessionOfAChat: two sessions have heard from one chat; the one that it talks to now is denied: the other one does not post there.
//
// proves: P2, P4
func TestPostByAnotherSessionOfAChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Session.DMScope = sessions.PerPeer })
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello") // its session of its own
		g.Shown(1)
		g.Idle(1)
		old := g.Runs()[0].Key
		if err := g.Router.Apply(t.Context(), routertest.SettingsFor(func(s *settings.Snapshot) { s.Session.DMScope = sessions.DMMain })); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello again")
		g.Shown(2)
		g.Idle(2)
		now := g.Runs()[1].Key
		deny := policy.Deny
		if _, err := g.Router.Patch(t.Context(), now, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if old == now {
			t.Fatal("one session")
		}
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.Last(p).Role == sessions.ToolResult {
				return routertest.Text("NO_REPLY"), nil
			}
			return routertest.Call("c1", "message", map[string]any{"to": routertest.Direct(routertest.Guest).String(), "text": "leak"}), nil
		})
		<-time.After(time.Minute)
		if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: old, Agent: "main"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: "r9", Kind: sessions.TurnRun, Key: old, Agent: "main", Input: sessions.Message{ID: "m9", Role: sessions.User, Content: sessions.TextContent("go"), Run: "r9"}}}}); err != nil {
			t.Fatal(err)
		}
		g.Idle(3)
		for _, d := range g.Deliveries() {
			if d.Text == "leak" && d.State == sessions.Sent {
				t.Errorf("%s is denied for this chat, and %s posted there: %s", now, old, d.State)
			}
		}
	})
}

// TestPostAsksThePolicyOfNow: the caller's own send policy counts as it stands at the call, not when its turn began.
//
// proves: P4, P7
func TestPostAsksThePolicyOfNow(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, nil)
		deny := policy.Deny
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.Last(p).Role == sessions.ToolResult {
				return routertest.Text("NO_REPLY"), nil
			}
			if _, err := g.Router.Patch(ctx, routertest.KeyA, sessions.Patch{SendPolicy: &deny}); err != nil { // an owner's /send off while the model thinks
				t.Error(err)
			}
			return routertest.Call("c1", "message", map[string]any{"to": string(routertest.KeyB), "text": "leak"}), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "post to b")
		g.Idle(3)
		for _, d := range g.Deliveries() {
			if d.Text == "leak" {
				t.Errorf("left although the caller's session was denied: %s", d.State)
			}
		}
	})
}

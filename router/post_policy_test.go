package router

import (
	"context"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// TestPostByAnotherSessionOfAChat: two sessions have heard from one chat; the one that it talks to now is denied: the other one does not post there.
//
// proves: P2, P4
func TestPostByAnotherSessionOfAChat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Session.DMScope = sessions.PerPeer })
		g.say(direct(guest), guest, "hello") // its session of its own
		g.shown(1)
		g.idle(1)
		old := g.runs()[0].Key
		if err := g.r.Apply(t.Context(), settingsFor(func(s *Settings) { s.Session.DMScope = sessions.DMMain })); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		g.say(direct(guest), guest, "hello again")
		g.shown(2)
		g.idle(2)
		now := g.runs()[1].Key
		deny := policy.Deny
		if _, err := g.r.Patch(t.Context(), now, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if old == now {
			t.Fatal("one session")
		}
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if last(p).Role == sessions.ToolResult {
				return text("NO_REPLY"), nil
			}
			return call("c1", "message", map[string]any{"to": direct(guest).String(), "text": "leak"}), nil
		})
		<-time.After(time.Minute)
		if _, err := g.r.Submit(t.Context(), sessions.Effects{Session: &sessions.Session{Key: old, Agent: "main"}, Run: &sessions.Run{ID: "r9", Kind: sessions.TurnRun, Key: old, Agent: "main", Input: sessions.Message{ID: "m9", Role: sessions.User, Content: sessions.TextContent("go"), Run: "r9"}}}); err != nil {
			t.Fatal(err)
		}
		g.idle(3)
		for _, d := range g.deliveries() {
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
	bubble(t, func(t *testing.T) {
		g := twoChats(t, nil)
		deny := policy.Deny
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if last(p).Role == sessions.ToolResult {
				return text("NO_REPLY"), nil
			}
			if _, err := g.r.Patch(ctx, keyA, sessions.Patch{SendPolicy: &deny}); err != nil { // an owner's /send off while the model thinks
				t.Error(err)
			}
			return call("c1", "message", map[string]any{"to": string(keyB), "text": "leak"}), nil
		})
		g.say(groupChat("a"), guest, "post to b")
		g.idle(3)
		for _, d := range g.deliveries() {
			if d.Text == "leak" {
				t.Errorf("left although the caller's session was denied: %s", d.State)
			}
		}
	})
}

package router

import (
	"context"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// TestLostAnswerKeepsItsPlace loses the answer to the commit of what a tool posts. It is in the store, and what the turn says later
// does not overtake it in the chat.
//
// proves: S14
func TestLostAnswerKeepsItsPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if last(p).Role == sessions.ToolResult {
				return text("done"), nil
			}
			return call("c1", "message", map[string]any{"to": "current", "text": "posted"}), nil
		})
		lost := 0
		g.look(func(op, phase string) {
			if op == "Submit" && phase == sqlstore.AfterCommit && lost == 0 {
				lost++
				panic("the answer is lost")
			}
		})
		g.say(direct(guest), guest, "post it")
		shown := g.shown(2)
		if lost != 1 || shown[0].Out.Text != "posted" || shown[1].Out.Text == "posted" {
			t.Errorf("%d answers lost, the chat shows %q and then %q", lost, shown[0].Out.Text, shown[1].Out.Text)
		}
	})
}

// asksWhat is a platform that can be asked what arrived, and notes that it was.
type asksWhat struct{ asked int }

func (a *asksWhat) Arrived(context.Context, channels.Outbound) (channels.Receipt, bool, error) {
	a.asked++
	return channels.Receipt{}, false, nil
}

// TestNoQuestionReachesADeniedChat denies a chat and then has its platform asked whether a message arrived: the policy is looked at
// once the question counts as on its way, so that a deny is acknowledged either before, and nothing is asked, or behind it.
//
// proves: P4, P7
func TestNoQuestionReachesADeniedChat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.say(direct(guest), guest, "hello")
		g.shown(1)
		d := g.deliveries()[0]
		for n, o := range []policy.Override{policy.Deny, policy.Allow} {
			if _, err := g.r.Patch(t.Context(), d.Session, sessions.Patch{SendPolicy: &o}); err != nil {
				t.Fatal(err)
			}
			var platform asksWhat
			if _, _, err := g.r.gate.ask(t.Context(), &platform, d, channels.Outbound{Key: "k", To: d.To}); platform.asked != n || (err == nil) != (n == 1) {
				t.Errorf("under %s it is asked %d times: %v", o, platform.asked, err)
			}
		}
	})
}

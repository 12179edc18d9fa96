package twoworlds

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// A chat that another session denies gets nothing. The caller is told so, and neither which session nor which rule it was; the post
// stands in the transcript of the session that was meant and in no other.
// source: CWE-203
//
// proves: V4, P2
func TestDenialByASessionThatIsHidden(t *testing.T) {
	t.Parallel()
	s := &script{rules: sessions.Rules{Mode: sessions.SeeTree}}
	deny := policy.Deny
	said := map[sessions.Key]string{}
	for _, key := range []sessions.Key{"", "agent:main:fake:direct:3003", "agent:priv:main"} {
		in(t, s, func(w *world) {
			own := sessions.Session{Key: outside, Agent: "main", Last: chat("2002", channels.Direct)}
			w.turn(own, "own", "hello", "hi", sessions.TurnRun, true)
			if key != "" {
				w.turn(sessions.Session{Key: key, Agent: key.Agent(), Last: own.Last}, "other", "hello", "hi", sessions.TurnRun, true)
				_, err := w.store.Patch(w.ctx, key, sessions.Patch{SendPolicy: &deny})
				w.ok(err)
			}
			w.step(true, func() { w.call(s, call{tool: "message", args: `{"to":"fake/default/direct/2002","text":"tea"}`}) })
			made, err := w.store.ListDeliveries(w.ctx, sessions.DeliveryQuery{})
			w.ok(err)
			for _, d := range made { // as the gate decides
				_, err := w.store.BeginSend(w.ctx, d.ID, time.Now(), func(x sessions.Session) policy.Verdict {
					return policy.SendPolicy{}.Evaluate(policy.Subject{Key: string(x.Key), To: d.To, Override: x.Settings.SendPolicy})
				}, sessions.FirstContactQuota{})
				w.ok(err)
			}
			w.step(true, func() { w.call(s, call{tool: "sessions_history", args: `{"sessionKey":"current"}`}) })
			said[key] = strings.Join(w.answers(), "\n")
			if key == "" {
				return
			}
			other, err := w.store.Get(w.ctx, key)
			w.ok(err)
			if msgs, err := w.store.Tail(w.ctx, other.ID, sessions.TailQuery{}); err != nil || len(msgs) != 3 {
				t.Errorf("the transcript of %s has %d messages, %v", key, len(msgs), err)
			}
			if d, err := w.store.ListDeliveries(w.ctx, sessions.DeliveryQuery{}); err != nil || len(d) != 1 || d[0].State != sessions.Withheld {
				t.Errorf("deliveries %+v, %v", d, err)
			}
		})
	}
	one, two := said["agent:main:fake:direct:3003"], said["agent:priv:main"]
	if one != two || !strings.Contains(one, `"status":"withheld"`) || !strings.Contains(one, "the send policy does not allow messages to that chat") || strings.Contains(one, `"rule"`) {
		t.Errorf("denied by one: %s\nby another: %s", one, two)
	}
	if !strings.Contains(said[""], `"status":"queued"`) {
		t.Errorf("denied by nobody: %s", said[""])
	}
}

// Jobs of others than owners leave room for those of owners, and the refusal tells of nobody's jobs. The same call again is refused nothing.
// source: CWE-203
//
// proves: V4, S14
func TestJobsOfTheWholeHostAreBounded(t *testing.T) {
	t.Parallel()
	in(t, &script{rules: sessions.Rules{Mode: sessions.SeeTree}}, func(w *world) {
		own := sessions.Session{Key: outside, Agent: "main", Last: chat("2002", channels.Direct)}
		w.turn(own, "own", "hello", "hi", sessions.TurnRun, true)
		add := func(id string, owner bool) string {
			r, err := w.kit["cron"].Call(w.ctx, tools.Call{ID: id, Args: json.RawMessage(`{"action":"add","message":"tea","every":"24h"}`),
				Caller: tools.Caller{Session: own, Run: sessions.Run{ID: "r", Key: own.Key, Agent: "main"}, Owner: owner}})
			w.ok(err)
			return r.Text
		}
		first := add("first", false)
		for i := range 499 {
			w.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: fmt.Sprint("j", i), Agent: "priv", From: sessions.Key(fmt.Sprint("agent:priv:fake:direct:", i)), Message: "x", Every: 24 * time.Hour,
				Created: time.Now(), Next: time.Now().Add(24 * time.Hour)}}})
		}
		if got := add("more", false); !strings.Contains(got, `"status":"forbidden"`) || !strings.Contains(got, "no more scheduled jobs") || strings.ContainsAny(got, "0123456789") {
			t.Errorf("one more of a guest: %s", got)
		}
		if got := add("first", false); got != first {
			t.Errorf("the same call again: %s, want %s", got, first)
		}
		if got := add("owner", true); !strings.Contains(got, `"status":"added"`) {
			t.Errorf("an owner's: %s", got)
		}
	})
}

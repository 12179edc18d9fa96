package router

import (
	"errors"
	"strings"
	"testing"

	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// A text for a chat leaves once for its source, is in the transcript, and is held back by the policy of the session that it is sent for
// and of the one that the chat belongs to.
func TestSend(t *testing.T) {
	for name, c := range map[string]struct {
		session, deny sessions.Key
		state         sessions.DeliveryState
		in            sessions.Key // whose transcript has it
	}{
		"leaves":           {"", "", sessions.Sent, "agent:main:main"},
		"for a session":    {hookKey, "", sessions.Sent, hookKey},
		"denied there":     {"", "agent:main:main", sessions.Withheld, "agent:main:main"},
		"denied by chat":   {hookKey, "agent:main:main", sessions.Withheld, "agent:main:main"},
		"denied by sender": {hookKey, hookKey, sessions.Withheld, hookKey},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				g.say(direct(owner), owner, "hi")
				g.shown(1)
				g.answered(g.told(me(true)))
				if c.deny != "" {
					if _, err := g.r.Patch(t.Context(), c.deny, sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
						t.Fatal(err)
					}
				}
				q := SendRequest{Source: "send 1", To: direct(owner), Text: "the bins", Session: c.session}
				if x, err := g.r.Explain(t.Context(), c.session, direct(owner)); err != nil || x.Verdict.Allowed() != (c.state == sessions.Sent) || x.Session != c.in {
					t.Errorf("the explanation is %+v, %v", x, err) // contract P6: it agrees with the decision
				} else if says := x.Steps[0].Why; strings.Contains(says, "another session") != (c.session == hookKey && c.in != hookKey) {
					t.Errorf("the explanation says %q", says)
				}
				var id sessions.DeliveryID
				for i := range 3 {
					got, err := g.r.Send(t.Context(), q)
					want := sessions.Pending
					if i > 0 {
						want = c.state
					}
					if err != nil || i > 0 && got.Delivery.ID != id || got.Delivery.Session != c.in || got.Delivery.State != want || got.Verdict.Allowed() != (c.state == sessions.Sent) {
						t.Errorf("%d: %+v, %v", i, got, err)
					}
					id = got.Delivery.ID
					g.until("it is over", func() bool {
						d := g.deliveries()
						return len(d) == 2 && d[1].State.Final()
					})
					if i == 1 {
						g.stop()
						g.start()
					}
				}
				d := g.deliveries()[1]
				msgs := g.transcript(c.in)
				newest := msgs[len(msgs)-1]
				if d.ID != id || d.State != c.state || d.Kind != sessions.Posted || d.Session != c.in || newest.Text() != "the bins" || newest.Model != postModel || newest.Provenance.Tool != postedByAPI || newest.Deliveries[0].State != c.state {
					t.Errorf("%+v\n%+v", d, newest)
				}
				for _, by := range []string{string(d.Run), d.Message, string(d.ID), "send 1"} {
					if ts, err := g.store.Trace(t.Context(), by); err != nil || len(ts) != 1 || len(ts[0].Deliveries) != 1 || ts[0].Deliveries[0].ID != id || ts[0].Run == nil || ts[0].Run.ID != d.Run {
						t.Errorf("the trace of %q: %+v, %v", by, ts, err)
					}
				}
			})
		})
	}
}

// Nobody is written to who has not written, and nothing empty is sent.
func TestSendRefuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.say(direct(owner), owner, "hi")
		g.shown(1)
		g.idle(1)
		for want, q := range map[error]SendRequest{ErrWords: {To: direct("777"), Text: "hello"}, sessions.ErrNotFound: {To: direct(owner), Text: "hello", Session: hookKey}} {
			if _, err := g.r.Send(t.Context(), q); !errors.Is(err, want) {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if _, err := g.r.Send(t.Context(), SendRequest{To: direct(owner), Text: " \n"}); !errors.Is(err, ErrWords) {
			t.Error(err)
		}
		if d := g.deliveries(); len(d) != 1 {
			t.Errorf("%+v", d)
		}
	})
}

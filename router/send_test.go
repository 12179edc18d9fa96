package router_test

import (
	"errors"
	"strings"
	"testing"

	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/chain"
	"parley/router/routertest"
	"parley/router/toolhost"
	"parley/sessions"
)

// A text for a chat leaves once for its source and is in the transcript. The policy of the session that it is sent for and that of the one that
// the chat belongs to refuse it before anything is kept.
//
// proves: P4
func TestSend(t *testing.T) {
	for name, c := range map[string]struct {
		session, deny sessions.Key
		state         sessions.DeliveryState
		in            sessions.Key // whose transcript has it
	}{
		"leaves":           {"", "", sessions.Sent, "agent:main:main"},
		"for a session":    {routertest.HookKey, "", sessions.Sent, routertest.HookKey},
		"denied there":     {"", "agent:main:main", sessions.Withheld, "agent:main:main"},
		"denied by chat":   {routertest.HookKey, "agent:main:main", sessions.Withheld, "agent:main:main"},
		"denied by sender": {routertest.HookKey, routertest.HookKey, sessions.Withheld, routertest.HookKey},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hi")
				g.Shown(1)
				g.Answered(g.Told(routertest.Me(true)))
				if c.deny != "" {
					if _, err := g.Router.Patch(t.Context(), c.deny, sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
						t.Fatal(err)
					}
				}
				q := toolhost.SendRequest{Source: "send 1", To: routertest.Direct(routertest.Owner), Text: "the bins", Session: c.session}
				if x, err := g.Router.Explain(t.Context(), c.session, routertest.Direct(routertest.Owner)); err != nil || x.Verdict.Allowed() != (c.state == sessions.Sent) || x.Session != c.in {
					t.Errorf("the explanation is %+v, %v", x, err) // contract P6: it agrees with the decision
				} else if says := x.Steps[0].Why; strings.Contains(says, "has also written to the session") != (c.session == routertest.HookKey && c.in != routertest.HookKey) {
					t.Errorf("the explanation says %q", says)
				}
				if c.state == sessions.Withheld {
					_, err := g.Router.ToolHost.Send(t.Context(), q)
					if b, ok := errors.AsType[*policy.BlockedError](err); !ok || b.Verdict.Rule != "session override" || !strings.HasPrefix(err.Error(), "send blocked by session policy: session override (") {
						t.Errorf("%v", err)
					}
					if got := g.Deliveries(); len(got) != 1 || len(g.Transcript(c.in)) != 2 {
						t.Errorf("%+v, %+v", got, g.Transcript(c.in))
					}
					return
				}
				var id sessions.DeliveryID
				for i := range 3 {
					got, err := g.Router.ToolHost.Send(t.Context(), q)
					want := sessions.Pending
					if i > 0 {
						want = c.state
					}
					if err != nil || i > 0 && got.Delivery.ID != id || got.Delivery.Session != c.in || got.Delivery.State != want || got.Verdict.Allowed() != (c.state == sessions.Sent) {
						t.Errorf("%d: %+v, %v", i, got, err)
					}
					id = got.Delivery.ID
					g.Until("it is over", func() bool {
						d := g.Deliveries()
						return len(d) == 2 && d[1].State.Final()
					})
					if i == 1 {
						g.Stop()
						g.Start()
					}
				}
				d := g.Deliveries()[1]
				msgs := g.Transcript(c.in)
				newest := msgs[len(msgs)-1]
				if d.ID != id || d.State != c.state || d.Kind != sessions.Posted || d.Session != c.in || newest.Text() != "the bins" || newest.Model != "parley/post" || newest.Provenance.Tool != chain.PostedByAPI || newest.Deliveries()[0].State != c.state {
					t.Errorf("%+v\n%+v", d, newest)
				}
				for _, by := range []string{string(d.Run), d.Message, string(d.ID), "send 1"} {
					if ts, err := g.Store.Trace(t.Context(), by); err != nil || len(ts) != 1 || len(ts[0].Deliveries) != 1 || ts[0].Deliveries[0].ID != id || ts[0].Run == nil || ts[0].Run.ID != d.Run {
						t.Errorf("the trace of %q: %+v, %v", by, ts, err)
					}
				}
			})
		})
	}
}

// Nobody is written to who has not written, and nothing empty is sent.
func TestSendRefuses(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hi")
		g.Shown(1)
		g.Idle(1)
		for want, q := range map[error]toolhost.SendRequest{sessions.ErrBadRequest: {To: routertest.Direct("777"), Text: "hello"}, sessions.ErrNotFound: {To: routertest.Direct(routertest.Owner), Text: "hello", Session: routertest.HookKey}} {
			if _, err := g.Router.ToolHost.Send(t.Context(), q); !errors.Is(err, want) {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if _, err := g.Router.ToolHost.Send(t.Context(), toolhost.SendRequest{To: routertest.Direct(routertest.Owner), Text: " \n"}); !errors.Is(err, sessions.ErrBadRequest) {
			t.Error(err)
		}
		if d := g.Deliveries(); len(d) != 1 {
			t.Errorf("%+v", d)
		}
	})
}

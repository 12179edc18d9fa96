package tools

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"parley/sessions"
)

// Outside of sub-agents the call ends the turn, when something is to come, and only then.
//
// proves: N16
func TestSessionsYieldEndsTheTurn(t *testing.T) {
	t.Parallel()
	const own, child, other = sessions.Key("agent:main:main"), sessions.Key("agent:main:subagent:1"), sessions.Key("agent:main:cron:daily")
	asked := func(by sessions.Key) *sessions.Chain { return &sessions.Chain{Kind: "ask", Requester: by} }
	for _, c := range []struct {
		name string
		list []sessions.Run
		want string // "" = an error
	}{
		{"nothing", nil, ""},
		{"a sub-agent at work", []sessions.Run{{ID: "c", Key: child, Kind: sessions.ChildRun, Status: sessions.Running}},
			`{"status":"yielded","children":[{"childSessionKey":"agent:main:subagent:1","label":"sheep","status":"running"}]}`},
		{"a sub-agent that waits", []sessions.Run{{ID: "c", Key: child, Kind: sessions.ChildRun, Status: sessions.Queued}},
			`{"status":"yielded","children":[{"childSessionKey":"agent:main:subagent:1","label":"sheep","status":"queued"}]}`},
		{"a sub-agent that reports", []sessions.Run{{ID: "c", Key: child, Kind: sessions.ChildRun, Status: sessions.Failed}, {ID: "a", Key: child, Kind: sessions.AnnounceRun, Status: sessions.Running}},
			`{"status":"yielded","children":[{"childSessionKey":"agent:main:subagent:1","label":"sheep","status":"failed"}]}`},
		{"a sub-agent that has ended", []sessions.Run{{ID: "c", Key: child, Kind: sessions.ChildRun, Status: sessions.Done}}, ""},
		{"a result that waits", []sessions.Run{{ID: "r", Key: own, Kind: sessions.ResultRun, Status: sessions.Queued}},
			`{"status":"yielded","children":[{"childSessionKey":"agent:main:subagent:1","label":"sheep","status":"unknown"}]}`},
		{"another session's result", []sessions.Run{{ID: "r", Key: other, Kind: sessions.ResultRun, Status: sessions.Queued}}, ""},
		{"the result that is being worded", []sessions.Run{{ID: "run-1", Key: own, Kind: sessions.ResultRun, Status: sessions.Running}}, ""},
		{"a send without its answer", []sessions.Run{{ID: "s", Key: other, Kind: sessions.AskRun, Status: sessions.Running, Chain: asked(own)}},
			`{"status":"yielded","children":[{"childSessionKey":"agent:main:subagent:1","label":"sheep","status":"unknown"}]}`},
		{"a reply that waits", []sessions.Run{{ID: "s", Key: own, Kind: sessions.ReplyRun, Status: sessions.Queued, Chain: asked(own)}},
			`{"status":"yielded","children":[{"childSessionKey":"agent:main:subagent:1","label":"sheep","status":"unknown"}]}`},
		{"another one's send", []sessions.Run{{ID: "s", Key: other, Kind: sessions.AskRun, Status: sessions.Running, Chain: asked("agent:main:hook:abc")}}, ""},
		{"a send that is over", []sessions.Run{{ID: "s", Key: other, Kind: sessions.AskRun, Status: sessions.Done, Chain: asked(own)}}, ""},
		{"the announce of one", []sessions.Run{{ID: "s", Key: other, Kind: sessions.AnnounceRun, Status: sessions.Queued, Chain: asked(own)}}, ""},
		{"people's messages", []sessions.Run{{ID: "run-1", Key: own, Kind: sessions.TurnRun, Status: sessions.Running}, {ID: "t", Key: own, Kind: sessions.TurnRun, Status: sessions.Queued}}, ""},
	} {
		w := family()
		w.list = c.list
		w.idle = func(context.Context, Caller) error { t.Errorf("%s: it waited", c.name); return nil }
		r, err := SessionsYield(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{}`), Caller: w.caller})
		if err != nil || r.Yield != (c.want != "") || r.IsError != (c.want == "") || c.want != "" && r.Text != c.want {
			t.Errorf("%s: %s, yield %v, error %v, %v\nwant %s", c.name, r.Text, r.Yield, r.IsError, err, c.want)
		}
	}
}

// In a sub-agent the call waits for the host, and the turn goes on.
//
// proves: N16
func TestSessionsYieldWaitsInASubagent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.rules, w.depth = sessions.Rules{Mode: "agent"}, 3 // it sees those further below as well, and they are not its own
	w.caller.Session = w.add("agent:main:subagent:1", spawnedBy("agent:main:main"))
	w.add("agent:main:subagent:2", spawnedBy("agent:main:subagent:1"))
	w.add("agent:main:subagent:3", spawnedBy("agent:main:subagent:2"))
	w.list = []sessions.Run{{ID: "c", Key: "agent:main:subagent:2", Kind: sessions.ChildRun, Status: sessions.Running}}
	w.idle = func(_ context.Context, c Caller) error {
		if c.Session.Key != "agent:main:subagent:1" {
			t.Errorf("waits for %s", c.Session.Key)
		}
		w.list[0].Status = sessions.TimedOut
		return nil
	}
	r, err := SessionsYield(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{}`), Caller: w.caller})
	want := `{"status":"resumed","children":[{"childSessionKey":"agent:main:subagent:2","status":"timeout"}]}`
	if err != nil || r.Text != want || r.Yield || r.IsError {
		t.Errorf("%+v, %v; want %s", r, err, want)
	}
	stopped := errors.New("stopped")
	w.idle = func(ctx context.Context, _ Caller) error { return context.Cause(ctx) }
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	if r, err := SessionsYield(w.deps()).Call(ctx, Call{Caller: w.caller}); !errors.Is(err, stopped) {
		t.Errorf("the wait was ended: %+v, %v", r, err)
	}
}

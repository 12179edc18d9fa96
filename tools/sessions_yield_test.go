package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// Outside of sub-agents the call ends the turn, when a result is to come to the agent, and only then.
//
// proves: N16
func TestSessionsYieldEndsTheTurn(t *testing.T) {
	t.Parallel()
	const own, child, other = sessions.Key("agent:main:main"), sessions.Key("agent:main:subagent:1"), sessions.Key("agent:main:cron:daily")
	const nothing, posted = "timeoutSeconds", "The host posts results of sub-agents"
	chat := &sessions.Chain{Kind: "spawn", Origin: channels.Address{Channel: "telegram", Account: "default", Chat: "7"}}
	asked := &sessions.Chain{Kind: "ask", Requester: own}
	yielded := func(status string) string {
		return `{"status":"yielded","children":[{"childSessionKey":"agent:main:subagent:1","label":"sheep","status":"` + status + `"}]}`
	}
	at := func(status sessions.RunStatus, c *sessions.Chain) sessions.Run {
		return sessions.Run{ID: "c", Key: child, Kind: sessions.ChildRun, Status: status, Chain: c}
	}
	for _, c := range []struct {
		name, announce string
		list           []sessions.Run
		want           string // the result, or what a mistake says
	}{
		{"nothing", "requester", nil, nothing},
		{"a sub-agent at work", "requester", []sessions.Run{at(sessions.Running, chat)}, yielded("running")},
		{"a sub-agent that waits", "requester", []sessions.Run{at(sessions.Queued, chat)}, yielded("queued")},
		{"a sub-agent at work for a chat", "direct", []sessions.Run{at(sessions.Running, chat)}, posted},
		{"by default", "", []sessions.Run{at(sessions.Queued, chat)}, posted},
		{"a sub-agent at work without a chat", "direct", []sessions.Run{at(sessions.Running, &sessions.Chain{Kind: "spawn"})}, yielded("running")},
		{"a sub-agent that reports", "requester", []sessions.Run{at(sessions.Failed, chat), {ID: "a", Key: child, Kind: sessions.AnnounceRun, Status: sessions.Running, Chain: chat}}, posted},
		{"a sub-agent that has ended", "requester", []sessions.Run{at(sessions.Done, chat)}, nothing},
		{"a result that waits", "direct", []sessions.Run{{ID: "r", Key: own, Kind: sessions.ResultRun, Status: sessions.Queued}}, yielded("unknown")},
		{"another session's result", "requester", []sessions.Run{{ID: "r", Key: other, Kind: sessions.ResultRun, Status: sessions.Queued}}, nothing},
		{"the result that is being worded", "requester", []sessions.Run{{ID: "run-1", Key: own, Kind: sessions.ResultRun, Status: sessions.Running}}, nothing},
		{"a send without its answer", "requester", []sessions.Run{{ID: "s", Key: other, Kind: sessions.AskRun, Status: sessions.Running, Chain: asked}}, nothing},
		{"people's messages", "requester", []sessions.Run{{ID: "run-1", Key: own, Kind: sessions.TurnRun, Status: sessions.Running}, {ID: "t", Key: own, Kind: sessions.TurnRun, Status: sessions.Queued}}, nothing},
	} {
		w := family()
		w.list, w.announce = c.list, c.announce
		w.idle = func(context.Context, Caller) error { t.Errorf("%s: it waited", c.name); return nil }
		r, err := SessionsYield(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{}`), Caller: w.caller})
		ends := c.want != nothing && c.want != posted
		if err != nil || r.Yield != ends || r.IsError == ends || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s: %s, yield %v, error %v, %v\nwant %s", c.name, r.Text, r.Yield, r.IsError, err, c.want)
		}
	}
}

// A sub-agent that another session asked something waits for nothing in that turn: results come in turns of its own task.
//
// proves: N16
func TestSessionsYieldInAnAskedSubagent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.caller.Session = w.add("agent:main:subagent:1", spawnedBy("agent:main:main"))
	w.idle = func(context.Context, Caller) error { t.Error("it waited"); return nil }
	for _, kind := range []sessions.RunKind{sessions.AskRun, sessions.ReplyRun, sessions.AnnounceRun, sessions.TurnRun} {
		w.caller.Run.Kind = kind
		if r := call[problem](t, w, SessionsYield(w.deps()), `{}`); r.Status != "error" || !strings.Contains(r.Error, "nothing to wait for in this turn") {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

// A sub-agent that had ended before the turn was asked for is none that it waits for; one that ended since is.
//
// proves: S16
func TestSessionsYieldNamesWhatTheTurnWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld()
	asked := time.Now()
	w.caller.Session = w.add("agent:main:main")
	w.caller.Run.Kind, w.caller.Run.Created, w.announce = sessions.AskRun, asked, "requester"
	for id, ended := range map[string]time.Time{"1": asked.Add(-time.Minute), "2": asked.Add(time.Minute), "3": {}} {
		key := sessions.Key("agent:main:subagent:" + id)
		w.add(key, spawnedBy("agent:main:main"))
		run := sessions.Run{ID: sessions.RunID(id), Key: key, Kind: sessions.ChildRun, Status: sessions.Done, Ended: ended}
		if ended.IsZero() {
			run.Status = sessions.Running
		}
		w.list = append(w.list, run)
	}
	w.idle = func(context.Context, Caller) error { return nil }
	r, err := SessionsYield(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{}`), Caller: w.caller})
	if err != nil || strings.Contains(r.Text, "subagent:1") || !strings.Contains(r.Text, "subagent:2") || !strings.Contains(r.Text, "subagent:3") {
		t.Errorf("%+v, %v", r, err)
	}
}

// In a sub-agent the call waits for the host, and the turn goes on.
//
// proves: N16
func TestSessionsYieldWaitsInASubagent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.rules, w.depth = sessions.Rules{Mode: "agent"}, 3 // it sees those further below as well, and they are not its own
	w.caller.Session, w.caller.Run.Kind = w.add("agent:main:subagent:1", spawnedBy("agent:main:main")), sessions.ChildRun
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

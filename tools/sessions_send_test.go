package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

const group = `"sessionKey":"agent:main:telegram:group:-1001"`

func ends(r sessions.Run) func(context.Context, sessions.RunID) (sessions.Run, error) {
	return func(_ context.Context, id sessions.RunID) (sessions.Run, error) {
		r.ID = id
		return r, nil
	}
}

// proves: S1, S2, S3, S5, S6
func TestSessionsSendResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		end        sessions.Run
		want       string
		isError    bool
	}{
		{"accepted", `{` + group + `,"message":"hi","timeoutSeconds":0}`, sessions.Run{},
			`{"runId":"ask-1","status":"accepted","sessionKey":"agent:main:telegram:group:-1001","delivery":{"status":"pending","mode":"announce"}}`, false},
		{"ok", `{` + group + `,"message":"hi"}`, sessions.Run{Status: sessions.Done, Result: " <b>hello</b>\n"},
			`{"runId":"ask-1","status":"ok","sessionKey":"agent:main:telegram:group:-1001","reply":"<b>hello</b>","delivery":{"status":"pending","mode":"announce"}}`, false},
		{"ok with nothing to say", `{` + group + `,"message":"hi"}`, sessions.Run{Status: sessions.Done},
			`{"runId":"ask-1","status":"ok","sessionKey":"agent:main:telegram:group:-1001","reply":"","delivery":{"status":"pending","mode":"announce"}}`, false},
		{"failed", `{` + group + `,"message":"hi"}`, sessions.Run{Status: sessions.Failed, Error: "no model"},
			`{"runId":"ask-1","status":"error","sessionKey":"agent:main:telegram:group:-1001","error":"no model"}`, true},
		{"failed without a word", `{` + group + `,"message":"hi"}`, sessions.Run{Status: sessions.Failed},
			`{"runId":"ask-1","status":"error","sessionKey":"agent:main:telegram:group:-1001","error":"agent error"}`, true},
		{"stopped", `{` + group + `,"message":"hi"}`, sessions.Run{Status: sessions.Stopped},
			`{"runId":"ask-1","status":"error","sessionKey":"agent:main:telegram:group:-1001","error":"the run was stopped"}`, true},
	} {
		w := family()
		w.finish = ends(c.end)
		r, err := SessionsSend(w.deps()).Call(t.Context(), Call{ID: "c", Args: json.RawMessage(c.args), Caller: w.caller})
		if err != nil || r.Text != c.want || r.IsError != c.isError {
			t.Errorf("%s: %s (error %v), %v\nwant %s", c.name, r.Text, r.IsError, err, c.want)
		}
		q := w.asked[0]
		if q.Source != "tool:run-1:c" || q.From.Session.Key != "agent:main:main" || q.To != "agent:main:telegram:group:-1001" || q.Message != "hi" {
			t.Errorf("%s: asked %+v", c.name, q)
		}
	}
}

// proves: S1, S4
func TestSessionsSendTimesOut(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]time.Duration{`,"message":"hi"}`: 30 * time.Second, `,"message":"hi","timeoutSeconds":5}`: 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := family()
			start := time.Now()
			r := call[sendResult](t, w, SessionsSend(w.deps()), `{`+group+args)
			if took := time.Since(start); r.Status != "timeout" || r.RunID != "ask-1" || !strings.Contains(r.Error, "is in sessions_history") || took != want {
				t.Errorf("%s: %+v after %s, want timeout after %s", args, r, took, want)
			}
		})
	}
}

// When the host stops, the call is not over: the run is tried again and the wait goes on.
// proves: S6
func TestSessionsSendIsInterrupted(t *testing.T) {
	t.Parallel()
	w := family()
	ctx, stop := context.WithCancel(t.Context())
	w.finish = func(ctx context.Context, _ sessions.RunID) (sessions.Run, error) {
		stop()
		<-ctx.Done()
		return sessions.Run{}, ctx.Err()
	}
	r, err := SessionsSend(w.deps()).Call(ctx, Call{ID: "c", Args: json.RawMessage(`{` + group + `,"message":"hi"}`), Caller: w.caller})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v; want the context's error", r.Text, err)
	}
}

// The end of the calling run's own time is no timeout of the call: the run ends, and says so itself.
func TestSessionsSendInARunThatIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := family()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		r, err := SessionsSend(w.deps()).Call(ctx, Call{ID: "c", Args: json.RawMessage(`{` + group + `,"message":"hi"}`), Caller: w.caller})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, %v; want the context's error", r.Text, err)
		}
	})
}

// proves: S2, S5, S12
func TestSessionsSendRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args, status, says string
		hops                     []sessions.Key
		refuse                   error
	}{
		{"itself", `{"sessionKey":"main","message":"hi"}`, "forbidden", "cannot send to itself", nil, nil},
		{"itself by id", `{"sessionKey":"` + string(id(0)) + `","message":"hi"}`, "forbidden", "cannot send to itself", nil, nil},
		{"back along the chain", `{` + group + `,"message":"hi"}`, "forbidden", "agent:main:telegram:group:-1001 → cron:daily → main → agent:main:telegram:group:-1001",
			[]sessions.Key{"agent:main:telegram:group:-1001", "agent:main:cron:daily"}, nil},
		{"too many hops", `{` + group + `,"message":"hi"}`, "forbidden", "4 hops",
			[]sessions.Key{"agent:a:main", "agent:b:main", "agent:c:main", "agent:d:main"}, nil},
		{"no message", `{` + group + `,"message":" "}`, "error", "message is required", nil, nil},
		{"no session", `{"message":"x"}`, "error", "sessionKey is required", nil, nil},
		{"negative wait", `{` + group + `,"message":"x","timeoutSeconds":-1}`, "error", "0 to 3600", nil, nil},
		{"endless wait", `{` + group + `,"message":"x","timeoutSeconds":1e99}`, "error", "0 to 3600", nil, nil},
		{"huge", `{` + group + `,"message":"` + strings.Repeat("x", maxText+1) + `"}`, "error", "65536", nil, nil},
		{"the host says no", `{` + group + `,"message":"x"}`, "forbidden", "closed", nil, &Refused{"closed on Sundays"}},
		{"nothing stored, nobody waits", `{` + group + `,"message":"x","timeoutSeconds":0}`, "forbidden", "closed", nil, &Refused{"closed on Sundays"}},
		{"gone meanwhile", `{` + group + `,"message":"x"}`, "error", "not found", nil, fmt.Errorf("session: %w", sessions.ErrNotFound)},
		{"unknown argument", `{` + group + `,"message":"x","to":"y"}`, "error", "sessionKey, message, timeoutSeconds", nil, nil},
	} {
		w := family()
		w.refuse = c.refuse
		if c.hops != nil {
			w.caller.Run.Chain = &sessions.Chain{Hops: c.hops}
		}
		r, err := SessionsSend(w.deps()).Call(t.Context(), Call{ID: "c", Args: json.RawMessage(c.args), Caller: w.caller})
		var p problem
		if err != nil || json.Unmarshal([]byte(r.Text), &p) != nil || !r.IsError || p.Status != c.status || !strings.Contains(p.Error, c.says) || len(w.asked) > 0 {
			t.Errorf("%s: %s, %v; want %s …%s…", c.name, r.Text, err, c.status, c.says)
		}
	}
}

// proves: S12
func TestSessionsSendAllowsHopsUpToTheLimit(t *testing.T) {
	t.Parallel()
	w := family()
	w.limits.MaxHops = 2
	w.caller.Run.Chain = &sessions.Chain{Hops: []sessions.Key{"agent:a:main"}}
	if r := call[sendResult](t, w, SessionsSend(w.deps()), `{`+group+`,"message":"x","timeoutSeconds":0}`); r.Status != "accepted" {
		t.Errorf("second hop of two: %+v", r)
	}
}

// proves: S12, S14
func TestSessionsSendIsPaced(t *testing.T) {
	t.Parallel()
	w := family()
	w.limits.MaxPerMinute = 2
	now := noon
	d := w.deps()
	d.Now = func() time.Time { return now }
	tool := SessionsSend(d)
	send := func(callID, key string) string {
		return callAs[sendResult](t, w, tool, callID, `{"sessionKey":"`+key+`","message":"x","timeoutSeconds":0}`).Status
	}
	const g, c = "agent:main:telegram:group:-1001", "cron:daily"
	for i, step := range []struct {
		wait              time.Duration
		callID, key, want string
	}{
		{0, "1", g, "accepted"},
		{30 * time.Second, "2", g, "accepted"},
		{0, "3", g, "forbidden"},
		{0, "2", g, "accepted"}, // the same call again: sent once, counted once
		{0, "4", c, "accepted"}, // another pair
		{30 * time.Second, "5", g, "accepted"},
		{0, "6", g, "forbidden"},
		{time.Minute, "7", g, "accepted"},
	} {
		now = now.Add(step.wait)
		if got := send(step.callID, step.key); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	if len(w.asked) != 5 {
		t.Errorf("asked %d times, want 5: a repeated call must not send again", len(w.asked))
	}
}

// proves: S12
func TestPaceNeverLetsMoreThrough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := &pace{sent: map[route][]stamp{}}
		most, now := rapid.IntRange(1, 5).Draw(rt, "most"), noon
		var passed []time.Time
		for i := range rapid.IntRange(1, 60).Draw(rt, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "wait")) * time.Second)
			if p.allow(route{"a", "b"}, fmt.Sprint(i), now, most) {
				passed = append(passed, now)
			}
		}
		for i := range passed {
			if i >= most && passed[i].Sub(passed[i-most]) < time.Minute {
				rt.Fatalf("%d within %s, %d allowed", most+1, passed[i].Sub(passed[i-most]), most)
			}
		}
		if len(passed) < most && now.Sub(noon) == 0 {
			rt.Logf("few calls: %d", len(passed))
		}
	})
}

// Turns that other agents cause are counted apart and capped; a call that is repeated has its turn already.
//
// proves: S12, S14
func TestSessionsSendHoldsTurnsByAgentsToTheirCap(t *testing.T) {
	t.Parallel()
	const to = sessions.Key("agent:main:telegram:group:-1001")
	run := func(kind sessions.RunKind, source string, ago time.Duration) sessions.Run {
		return sessions.Run{Key: to, Kind: kind, Source: source, Created: noon.Add(-ago)}
	}
	for _, c := range []struct {
		name string
		had  []sessions.Run
		most int
		want string
	}{
		{"none", nil, 2, "accepted"},
		{"one less", []sessions.Run{run(sessions.AskRun, "", time.Minute)}, 2, "accepted"},
		{"as many", []sessions.Run{run(sessions.AskRun, "", time.Minute), run(sessions.ReplyRun, "", 59*time.Minute)}, 2, "forbidden"},
		{"people's turns do not count", []sessions.Run{run(sessions.TurnRun, "", 0), run(sessions.TurnRun, "", 0), run(sessions.AskRun, "", 0)}, 2, "accepted"},
		{"those of long ago do not count", []sessions.Run{run(sessions.AskRun, "", 61*time.Minute), run(sessions.AskRun, "", 0)}, 2, "accepted"},
		{"this call's own", []sessions.Run{run(sessions.AskRun, "tool:run-1:call-1", 0), run(sessions.AskRun, "", 0)}, 2, "accepted"},
		{"by default", slices.Repeat([]sessions.Run{run(sessions.AskRun, "", 0)}, 119), 0, "accepted"},
		{"by default, as many", slices.Repeat([]sessions.Run{run(sessions.AskRun, "", 0)}, 120), 0, "forbidden"},
	} {
		w := family()
		w.limits.MaxTurnsPerHour, w.list = c.most, c.had
		r := call[sendResult](t, w, SessionsSend(w.deps()), `{`+group+`,"message":"x","timeoutSeconds":0}`)
		if r.Status != c.want || (len(w.asked) > 0) != (c.want == "accepted") {
			t.Errorf("%s: %+v, want %s", c.name, r, c.want)
		}
		if says := map[int]string{0: "120 turns", 2: "2 turns"}[c.most]; c.want == "forbidden" && (!strings.Contains(r.Error, "session.agentToAgent.maxTurnsPerHour") || !strings.Contains(r.Error, says)) {
			t.Errorf("%s: %s; want it to say %s", c.name, r.Error, says)
		}
	}
}

// proves: S13
func TestRepliedInline(t *testing.T) {
	t.Parallel()
	result := func(id, s string) sessions.Message { return toolResult(id, s) }
	for _, c := range []struct {
		name  string
		steps []sessions.Message
		want  bool
	}{
		{"ok", []sessions.Message{toolCall("a"), result("a", `{"status":"ok","reply":"x"}`)}, true},
		{"timeout", []sessions.Message{result("a", `{"status":"timeout"}`)}, false},
		{"another call", []sessions.Message{result("b", `{"status":"ok"}`)}, false},
		{"no result", []sessions.Message{toolCall("a")}, false},
		{"no JSON", []sessions.Message{result("a", `ok`)}, false},
	} {
		if got := RepliedInline(c.steps, "a"); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

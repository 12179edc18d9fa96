package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/policy"
	"parley/sessions"
)

// proves: L4, L5, K1, S12
func TestSessionStatus(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.sessions[0].Label, w.sessions[0].Context, w.sessions[0].Usage, w.sessions[0].Turns, w.sessions[0].ByAgents = "den", 900, sessions.Usage{Input: 1000, Output: 20}, 7, 3
	w.sessions[0].Settings = sessions.Settings{Model: "mock/mock-1", SendPolicy: policy.Deny}
	at("telegram", "7", "direct")(&w.sessions[0])
	w.add("agent:main:subagent:1", spawnedBy("agent:main:main"))
	w.add("agent:main:subagent:2", spawnedBy("agent:main:main"))
	w.add("agent:work:subagent:3", spawnedBy("agent:main:main"))
	w.list = []sessions.Run{
		{ID: "now", Key: "agent:main:main", Status: sessions.Running, Started: noon.Add(-30 * time.Second)},
		{ID: "q1", Key: "agent:main:main", Status: sessions.Queued}, {ID: "q2", Key: "agent:main:main", Status: sessions.Queued},
		{ID: "past", Key: "agent:main:main", Status: sessions.Done},
		{ID: "c1", Key: "agent:main:subagent:1", Status: sessions.Running}, {ID: "c1b", Key: "agent:main:subagent:1", Status: sessions.Queued},
		{ID: "c2", Key: "agent:main:subagent:2", Status: sessions.Done},
		{ID: "c3", Key: "agent:work:subagent:3", Status: sessions.Running}, // of another agent
	}
	w.redact = func(s string) string { return strings.ReplaceAll(s, "den", "[secret]") }
	want := `{"key":"main","kind":"main","channel":"telegram","label":"[secret]","sessionId":"00000000-0000-4000-8000-000000000000","agent":"main","model":"mock/mock-1",` +
		`"contextTokens":900,"tokensIn":1000,"tokensOut":20,"turns":7,"turnsByAgents":3,"queued":2,"running":{"runId":"now","since":1772366370000},` +
		`"subagentsAtWork":2,"sendPolicy":"deny","updatedAt":1772366400000,"now":"2026-03-01T12:00:00Z"}`
	for _, args := range []string{`{}`, ``, `{"sessionKey":"current"}`, `{"sessionKey":"main"}`, fmt.Sprintf(`{"sessionKey":%q}`, id(0))} {
		r, err := SessionStatus(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(args), Caller: w.caller}) // the caller is as its turn found it: without all this
		if err != nil || r.Text != want {
			t.Errorf("%s: %s, %v\nwant %s", args, r.Text, err, want)
		}
	}
}

// proves: K9, V4
func TestSessionStatusOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, ref, key, status string }{
		{"agent", "cron:daily", "cron:daily", ""},
		{"tree", "agent:main:subagent:1", "agent:main:subagent:1", ""},
		{"tree", "cron:daily", "", "forbidden"},
		{"tree", string(id(2)), "", "error"},
		{"all", "agent:work:main", "", "forbidden"},
		{"agent", "cron:weekly", "", "error"},
	} {
		w := family()
		w.rules = sessions.Rules{Mode: c.mode}
		r := call[struct{ Key, Status string }](t, w, SessionStatus(w.deps()), fmt.Sprintf(`{"sessionKey":%q}`, c.ref))
		if r.Key != c.key || r.Status != c.status {
			t.Errorf("%s in mode %s: %+v", c.ref, c.mode, r)
		}
	}
}

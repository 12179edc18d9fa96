package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/channels"
	"parley/sessions"
)

// proves: N2, N5
func TestSessionsSpawnPassesOn(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]SpawnRequest{
		`{"task":" count\nsheep "}`: {Agent: "main", Task: " count\nsheep ", Cleanup: "keep"},
		`{"task":"t","label":" l ","agentId":"MAIN","model":"mock/mock-1","runTimeoutSeconds":90.5,"cleanup":"delete"}`: {Agent: "main", Task: "t", Label: "l", Model: "mock/mock-1", Timeout: 90, Cleanup: "delete"},
	} {
		w := newWorld()
		r, err := SessionsSpawn(w.deps()).Call(t.Context(), Call{ID: "c", Args: json.RawMessage(args), Caller: w.caller})
		if err != nil || r.IsError || r.Text != `{"status":"accepted","runId":"child-1","childSessionKey":"agent:main:subagent:c1"}` {
			t.Errorf("%s: %s, %v", args, r.Text, err)
		}
		got := w.spawned[0]
		if got.Source != "tool:run-1:c" || got.From.Run.ID != "run-1" {
			t.Errorf("%s: source %q from %+v", args, got.Source, got.From)
		}
		got.Source, got.From = "", Caller{}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want %+v", args, got, want)
		}
	}
}

// Who is told where the report goes is told the truth: nothing when it comes into the chat that is answered.
func TestSessionsSpawnSaysWhereItReports(t *testing.T) {
	t.Parallel()
	here := channels.Address{Channel: "c", Account: "default", Type: channels.Direct, Chat: "1"}
	there := here
	there.Chat = "2"
	for _, c := range []struct {
		key            sessions.Key
		answer, report channels.Address
		want           string
	}{
		{"", here, here, ""},
		{"", here, there, "c/default/direct/2"},
		{"", channels.Address{}, there, "c/default/direct/2"},
		{"", channels.Address{}, channels.Address{}, "none"},
		{"agent:main:subagent:1", channels.Address{}, there, ""},
	} {
		from := Caller{Session: sessions.Session{Key: c.key}, Run: sessions.Run{Reply: c.answer}}
		if got := reportTo(from, sessions.Run{Chain: &sessions.Chain{Origin: c.report}}); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := reportTo(Caller{}, sessions.Run{}); got != "" {
		t.Errorf("a sub-agent that is deleted since: %q", got)
	}
}

// proves: N2, N3, N4, N5, N8, G2
func TestSessionsSpawnRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args, status, says string
		allow                    []string
		from                     sessions.Key
		refuse                   error
	}{
		{"no task", `{"task":" "}`, "error", "task is required", nil, "", nil},
		{"nothing", ``, "error", "task is required", nil, "", nil},
		{"model", `{"task":"t","model":"mock/gpt"}`, "error", "known models: mock/mock-1", nil, "", nil},
		{"cleanup", `{"task":"t","cleanup":"burn"}`, "error", "keep, delete", nil, "", nil},
		{"timeout", `{"task":"t","runTimeoutSeconds":-3}`, "error", "0 to 604800", nil, "", nil},
		{"label", `{"task":"t","label":"` + strings.Repeat("x", 65) + `"}`, "error", "64", nil, "", nil},
		{"huge", `{"task":"` + strings.Repeat("x", maxText+1) + `"}`, "error", "65536", nil, "", nil},
		{"other agent", `{"task":"t","agentId":"coder"}`, "forbidden", "allowed: main", nil, "", nil},
		{"agent not in the list", `{"task":"t","agentId":"coder"}`, "forbidden", "allowed: main, work", []string{"Work"}, "", nil},
		{"no such agent", `{"task":"t","agentId":"ghost"}`, "forbidden", "there are: main, coder, work", []string{"*"}, "", nil},
		{"sub-agent", `{"task":"t"}`, "forbidden", "sub-agent", []string{"*"}, "agent:main:subagent:1", nil},
		{"the host says no", `{"task":"t"}`, "forbidden", "5 children", nil, "", &Refused{"5 children are at work"}},
		{"label in use", `{"task":"t","label":"l"}`, "error", "that label is already in use", nil, "", fmt.Errorf("%w: agent:other:main has it", sessions.ErrConflict)},
	} {
		w := newWorld()
		w.allow, w.refuse = c.allow, c.refuse
		if c.from != "" {
			w.caller.Session = w.add(c.from)
		}
		r, err := SessionsSpawn(w.deps()).Call(t.Context(), Call{ID: "c", Args: json.RawMessage(c.args), Caller: w.caller})
		var p problem
		if err != nil || json.Unmarshal([]byte(r.Text), &p) != nil || !r.IsError || p.Status != c.status || !strings.Contains(p.Error, c.says) || len(w.spawned) > 0 {
			t.Errorf("%s: %s, %v; want %s …%s…", c.name, r.Text, err, c.status, c.says)
		}
	}
	w := newWorld()
	w.refuse = errors.New("disk full")
	if r, err := SessionsSpawn(w.deps()).Call(t.Context(), Call{ID: "c", Args: json.RawMessage(`{"task":"t"}`), Caller: w.caller}); !errors.Is(err, w.refuse) {
		t.Errorf("a fault of the host: %s, %v", r.Text, err)
	}
}

// proves: N8
func TestSessionsSpawnByDepth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		above []sessions.AgentID
		most  int
		says  string // "" = spawned
	}{
		{nil, 1, ""},
		{[]sessions.AgentID{"main"}, 1, "sessions_spawn is not allowed from sub-agent sessions."},
		{[]sessions.AgentID{"main"}, 2, ""},
		{[]sessions.AgentID{"main", "main"}, 2, "depth 2, agents.defaults.subagents.maxSpawnDepth is 2"},
		{[]sessions.AgentID{"main", "main"}, 1, "depth 2, agents.defaults.subagents.maxSpawnDepth is 1"},
		{[]sessions.AgentID{"main", "main"}, 3, ""},
	} {
		w := newWorld()
		w.depth = c.most
		if c.above != nil {
			w.caller.Session = w.add("agent:main:subagent:1", spawnedBy("agent:main:main"), func(s *sessions.Session) { s.Above = c.above })
		}
		r := call[problem](t, w, SessionsSpawn(w.deps()), `{"task":"t"}`)
		if spawned := len(w.spawned) == 1; spawned != (c.says == "") || !spawned && (r.Status != "forbidden" || !strings.Contains(r.Error, c.says)) {
			t.Errorf("depth %d of %d: %+v, want %q", len(c.above), c.most, r, c.says)
		}
	}
}

// proves: N1, N3
func TestAgentsList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allow []string
		want  string
		spawn []string
	}{
		{nil, `{"requester":"main","allowAny":false,"agents":[{"id":"main"}]}`, []string{"main"}},
		{[]string{"WORK", "ghost"}, `{"requester":"main","allowAny":false,"agents":[{"id":"main"},{"id":"work","name":"Work"}]}`, []string{"main", "work"}},
		{[]string{"*"}, `{"requester":"main","allowAny":true,"agents":[{"id":"main"},{"id":"coder"},{"id":"work","name":"Work"}]}`, []string{"main", "coder", "work"}},
	} {
		w := newWorld()
		w.allow = c.allow
		r, err := AgentsList(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{}`), Caller: w.caller})
		if err != nil || r.Text != c.want {
			t.Errorf("allow %v: %s, %v; want %s", c.allow, r.Text, err, c.want)
		}
		for _, a := range []string{"main", "work", "coder", "ghost"} {
			r := call[spawnResult](t, w, SessionsSpawn(w.deps()), `{"task":"t","agentId":"`+a+`"}`)
			if got := r.Status == "accepted"; got != slices.Contains(c.spawn, a) {
				t.Errorf("allow %v: spawn of %s is %s", c.allow, a, r.Status)
			}
		}
	}
}

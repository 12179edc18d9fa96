package tools

import (
	"errors"
	"strings"
	"testing"

	"parley/sessions"
)

// proves: K1, K2, K9, V1, V2, V4
func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rules sessions.Rules
		ref   string
		key   sessions.Key // found
		want  string       // or this status
		says  string
	}{
		{"own main", sessions.Rules{}, "main", "agent:main:main", "", ""},
		{"current", sessions.Rules{Mode: "self"}, "current", "agent:main:main", "", ""},
		{"full key", sessions.Rules{Mode: "agent"}, "agent:main:telegram:group:-1001", "agent:main:telegram:group:-1001", "", ""},
		{"id", sessions.Rules{Mode: "agent"}, string(id(1)), "agent:main:telegram:group:-1001", "", ""},
		{"id in capitals and spaces", sessions.Rules{Mode: "agent"}, "  " + strings.ToUpper(string(id(1))) + "\n", "agent:main:telegram:group:-1001", "", ""},
		{"stripped cron key", sessions.Rules{Mode: "agent"}, "cron:daily", "agent:main:cron:daily", "", ""},
		{"spawned", sessions.Rules{}, "agent:main:subagent:1", "agent:main:subagent:1", "", ""},
		{"unknown key", sessions.Rules{Mode: "agent"}, "agent:main:telegram:group:-9", "", "error", "Session not found: agent:main:telegram:group:-9"},
		{"unknown key that would be hidden", sessions.Rules{}, "agent:main:telegram:group:-9", "", "forbidden", "Session not found, or history not permitted: agent:main:telegram:group:-9: not visible"},
		{"unknown key of another agent", sessions.Rules{Mode: "all"}, "agent:work:telegram:group:-9", "", "forbidden", "tools.agentToAgent.enabled"},
		{"unknown id", sessions.Rules{Mode: "agent"}, string(id(99)), "", "error", "Session not found"},
		{"no reference", sessions.Rules{}, "the family", "", "error", "neither a session key nor a session id"},
		{"reserved", sessions.Rules{Mode: "all", A2AEnabled: true}, "unknown", "", "error", ""},
		{"hidden key", sessions.Rules{}, "agent:main:telegram:group:-1001", "", "forbidden", "tools.sessions.visibility is tree"},
		{"hidden id looks unknown", sessions.Rules{}, string(id(1)), "", "error", "Session not found: " + string(id(1))},
		{"other agent", sessions.Rules{Mode: "all"}, "agent:work:main", "", "forbidden", "tools.agentToAgent.enabled"},
		{"other agent allowed", sessions.Rules{Mode: "all", A2AEnabled: true}, "agent:work:main", "agent:work:main", "", ""},
		{"empty", sessions.Rules{}, " ", "", "error", "required"},
	} {
		w := family()
		w.rules = c.rules
		s, bad, err := w.deps().find(t.Context(), w.caller, c.ref, "history")
		if err != nil || (bad == nil) != (c.want == "") || s.Key != c.key {
			t.Errorf("%s: found %q, %+v, %v; want %q %s", c.name, s.Key, bad, err, c.key, c.want)
			continue
		}
		if bad != nil && (bad.Status != c.want || !strings.Contains(bad.Error, c.says)) {
			t.Errorf("%s: %+v, want %s …%s…", c.name, bad, c.want, c.says)
		}
	}
}

// proves: V4
func TestEveryToolAsksTheSameRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool func(Deps) Tool
		args string
		want string
	}{
		{SessionsHistory, `{"sessionKey":"agent:main:subagent:1"}`, "forbidden"},
		{SessionsSend, `{"sessionKey":"agent:main:subagent:1","message":"hi"}`, "forbidden"},
		{SessionsSearch, `{"sessionKey":"agent:main:subagent:1","query":"x"}`, "forbidden"},
		{SessionStatus, `{"sessionKey":"agent:main:subagent:1"}`, "forbidden"},
		{Message, `{"to":"agent:main:subagent:1","text":"hi"}`, "forbidden"},
	} {
		w := family()
		w.rules = sessions.Rules{Mode: "self"}
		r := call[problem](t, w, c.tool(w.deps()), c.args)
		if r.Status != c.want || len(w.asked)+len(w.canceled)+len(w.steered)+len(w.posted) > 0 {
			t.Errorf("%s(%s): %+v", c.tool(w.deps()).Spec().Name, c.args, r)
		}
	}
}

// A fault of the store is the host's: the run fails and is tried again, and the model is told nothing wrong.
func TestFaultsOfTheStoreAreErrors(t *testing.T) {
	t.Parallel()
	w := family()
	w.rules = sessions.Rules{Mode: "agent"}
	w.fault = errors.New("disk full")
	args := map[string]string{
		"sessions_list": `{}`, "sessions_history": `{"sessionKey":"cron:daily"}`, "sessions_send": `{"sessionKey":"cron:daily","message":"x"}`,
		"remember": `{"text":"x"}`, "recall": `{}`, "sessions_search": `{"query":"x"}`, "session_status": `{"sessionKey":"cron:daily"}`,
		"sessions_yield": `{}`, "subagents": `{"action":"list"}`, "message": `{"to":"cron:daily","text":"x"}`,
	}
	for _, tool := range All(w.deps()) {
		a, ok := args[tool.Spec().Name]
		if !ok {
			continue
		}
		if r, err := tool.Call(t.Context(), Call{ID: "c", Args: []byte(a), Caller: w.caller}); !errors.Is(err, w.fault) {
			t.Errorf("%s: %s, %v; want the store's error", tool.Spec().Name, r.Text, err)
		}
	}
}

// A session may go away between two reads.
func TestSessionsThatGoAway(t *testing.T) {
	t.Parallel()
	w := family()
	w.rules = sessions.Rules{Mode: "agent"}
	w.gone = true
	if r := call[problem](t, w, SessionsHistory(w.deps()), `{"sessionKey":"cron:daily"}`); r.Status != "error" || !strings.Contains(r.Error, "Session not found: cron:daily") {
		t.Errorf("history: %+v", r)
	}
	if r := call[listResult](t, w, SessionsList(w.deps()), `{"messageLimit":1}`); r.Count != 7 {
		t.Errorf("list: %+v", r)
	}
}

package tools

import (
	"strings"
	"testing"

	"parley/sessions"
)

// What a session spawned it sees at any depth and under any agent; under self only where it looks after its sub-agents. Nobody else does.
// source: openclaw/openclaw#54878, openclaw/openclaw#19564
// proves: V1, V2, N19
func TestTreeAcrossAgents(t *testing.T) {
	t.Parallel()
	const child, deep = sessions.Key("agent:coder:subagent:1"), sessions.Key("agent:work:subagent:2")
	for _, mode := range []string{sessions.SeeSelf, sessions.SeeTree, sessions.SeeAgent, sessions.SeeAll} {
		w := newWorld()
		w.rules = sessions.Rules{Mode: mode}
		own := w.caller.Session.Key
		w.add(child, spawnedBy(own))
		w.add(deep, spawnedBy(child))
		w.add("agent:coder:subagent:3", spawnedBy("agent:coder:main"))
		for _, s := range w.sessions {
			w.messages[s.ID] = []sessions.Message{text("assistant", "hello")}
		}
		want := []string{string(child), string(deep)}
		list := call[listResult](t, w, SessionsList(w.deps()), `{}`)
		var listed []string
		for _, r := range list.Sessions {
			if strings.Contains(r.Key, "subagent") {
				listed = append(listed, r.Key)
			}
		}
		all, _, err := w.deps().Children(t.Context(), w.caller, 10)
		if err != nil || len(all) != 2 || all[0].Session.Key != child || all[1].Session.Key != deep {
			t.Errorf("%s: the sub-agents are %+v, %v", mode, all, err)
		}
		if _, err := w.deps().Child(t.Context(), w.caller, string(deep)); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		if mode == sessions.SeeSelf {
			want = nil
		}
		if strings.Join(listed, " ") != strings.Join(want, " ") {
			t.Errorf("%s: listed %q, want %q", mode, listed, want)
		}
		for _, key := range []sessions.Key{child, deep} {
			r, err := SessionsHistory(w.deps()).Call(t.Context(), Call{ID: "c", Args: []byte(`{"sessionKey":"` + string(key) + `"}`), Caller: w.caller})
			if err != nil || r.IsError != (mode == sessions.SeeSelf) {
				t.Errorf("%s: history of %s: %s %v", mode, key, r.Text, err)
			}
		}
		if r, _ := SessionsHistory(w.deps()).Call(t.Context(), Call{ID: "c", Args: []byte(`{"sessionKey":"agent:coder:subagent:3"}`), Caller: w.caller}); !strings.Contains(r.Text, statusForbidden) {
			t.Errorf("%s: the sub-agent of another session: %s", mode, r.Text)
		}
	}
}

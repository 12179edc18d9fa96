package sessions

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The contract as a set: from the sessions that a mode names, built up one sentence at a time.
func modelSees(r Rules, v Viewer, all []Session) map[Key]bool {
	sees := map[Key]bool{v.Key: true}
	add := func(ok func(Session) bool) {
		for _, s := range all {
			if ok(s) {
				sees[s.Key] = true
			}
		}
	}
	level := map[string]int{"self": 0, "": 1, "tree": 1, "agent": 2, "all": 3}[r.Mode] // a word that means nothing shows nothing
	if v.Sandboxed && (r.Clamp == "spawned" || r.Clamp == "") {
		level = min(level, 1)
	}
	owner := func(s Session) AgentID { return AgentID(strings.Split(string(s.Key), ":")[1]) }
	if level >= 1 {
		add(func(s Session) bool { return s.SpawnedBy == v.Key })
	}
	if level >= 2 {
		add(func(s Session) bool { return owner(s) == v.Agent })
	}
	named := func(a AgentID) bool {
		for _, p := range r.A2AAllow {
			if p == "*" || p == string(a) || strings.HasSuffix(p, "*") && strings.HasPrefix(strings.ToLower(string(a)), strings.ToLower(strings.TrimSuffix(p, "*"))) {
				return true
			}
		}
		return len(r.A2AAllow) == 0
	}
	if level == 3 && r.A2AEnabled && named(v.Agent) {
		add(func(s Session) bool { return named(owner(s)) })
	}
	return sees
}

// Random graphs of sessions, and for each every rule there is.
// proves: V1, V2, V3, V4
func TestVisibility(t *testing.T) {
	t.Parallel()
	agents := []AgentID{"main", "ops", "Ops2"}
	rapid.Check(t, func(t *rapid.T) {
		var all []Session
		for i := range rapid.IntRange(1, 12).Draw(t, "sessions") {
			a := rapid.SampledFrom(agents).Draw(t, "agent")
			s := Session{Key: Parts{Form: FormGroup, Agent: a, Channel: "x", Account: "default", ID: fmt.Sprint(i)}.Key(), Agent: a}
			if i > 0 && rapid.Bool().Draw(t, "child") {
				s.Key = SubagentKey(a, fmt.Sprint(i))
				s.SpawnedBy = all[rapid.IntRange(0, i-1).Draw(t, "parent")].Key
			}
			if rapid.Bool().Draw(t, "bare") { // only the key says whose it is
				s.Agent = ""
			}
			all = append(all, s)
		}
		who := rapid.SampledFrom(all).Draw(t, "viewer").Key
		allow := rapid.SliceOfN(rapid.SampledFrom([]string{"*", "main", "ops", "OPS*", "op", ""}), 0, 2).Draw(t, "allow")
		for _, mode := range []string{"self", "tree", "agent", "all", "", "everything"} {
			for _, clamp := range []string{"spawned", "all", ""} {
				for _, a2a := range []bool{true, false} {
					for _, sandboxed := range []bool{true, false} {
						checkVisibility(t, Rules{Mode: mode, Clamp: clamp, A2AEnabled: a2a, A2AAllow: allow}, Viewer{who, who.Agent(), sandboxed}, all)
					}
				}
			}
		}
	})
}

func checkVisibility(t *rapid.T, r Rules, v Viewer, all []Session) {
	want := modelSees(r, v, all)
	for _, s := range all {
		ok, why := r.See(v, s)
		if ok != want[s.Key] || ok != (why == "") {
			t.Fatalf("%+v, %+v sees %s (of %s, from %s): %v %q, want %v", r, v, s.Key, s.Agent, s.SpawnedBy, ok, why, want[s.Key])
		}
	}
	if ok, _ := r.See(v, Session{Key: UnknownKey, Agent: v.Agent, SpawnedBy: v.Key}); ok {
		t.Fatalf("%+v, %+v sees what is reserved", r, v)
	}
}

// proves: V1, V3
func TestEffectiveMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r         Rules
		sandboxed bool
		want      string
	}{
		{Rules{}, false, "tree"}, {Rules{Mode: "all"}, false, "all"}, {Rules{Mode: "all"}, true, "tree"}, {Rules{Mode: "agent", Clamp: "spawned"}, true, "tree"},
		{Rules{Mode: "self"}, true, "self"}, {Rules{Mode: "all", Clamp: "all"}, true, "all"}, {Rules{Mode: "everything"}, false, "self"},
	} {
		if got := c.r.Effective(Viewer{Sandboxed: c.sandboxed}); got != c.want {
			t.Errorf("%+v, sandboxed %v: %s, want %s", c.r, c.sandboxed, got, c.want)
		}
	}
}

func TestRefusalsNameTheKey(t *testing.T) {
	t.Parallel()
	v := Viewer{Key: "agent:a:main", Agent: "a"}
	boxed := Viewer{Key: "agent:a:main", Agent: "a", Sandboxed: true}
	other, mine := Session{Key: "agent:b:main", Agent: "b"}, Session{Key: "agent:a:cron:x", Agent: "a"}
	for _, c := range []struct {
		r    Rules
		v    Viewer
		s    Session
		want string
	}{
		{Rules{Mode: SeeSelf}, v, mine, "tools.sessions.visibility is self"},
		{Rules{}, v, mine, "tools.sessions.visibility is tree"},
		{Rules{Mode: SeeAgent}, v, other, "tools.sessions.visibility is agent"},
		{Rules{Mode: SeeAll}, boxed, mine, "agents.defaults.sandbox.sessionToolsVisibility is spawned"},
		{Rules{Mode: SeeAll}, v, other, "tools.agentToAgent.enabled is false"},
		{Rules{Mode: SeeAll, A2AEnabled: true, A2AAllow: []string{"a"}}, v, other, `tools.agentToAgent.allow does not name "b"`},
		{Rules{Mode: SeeAll, A2AEnabled: true, A2AAllow: []string{"b"}}, v, other, `tools.agentToAgent.allow does not name "a"`},
		{Rules{Mode: SeeAll, A2AEnabled: true}, v, Session{Key: UnknownKey}, "reserved"},
	} {
		if ok, why := c.r.See(c.v, c.s); ok || !strings.Contains(why, c.want) {
			t.Errorf("%+v: %v %q, want %q", c.r, ok, why, c.want)
		}
	}
}

package tools

import (
	"strings"
	"testing"
)

func names(all []Tool) string {
	var out []string
	for _, t := range all {
		out = append(out, t.Spec().Name)
	}
	return strings.Join(out, " ")
}

// proves: N7
func TestPermitted(t *testing.T) {
	t.Parallel()
	all := All(newWorld().deps())
	const every = "sessions_list sessions_history sessions_send sessions_spawn agents_list remember recall"
	for _, c := range []struct {
		name    string
		cfg     Config
		agent   Rights
		sub     bool
		parents []Rights
		want    string
	}{
		{"nothing set", Config{}, Rights{}, false, nil, every},
		{"a sub-agent has no session tools", Config{}, Rights{}, true, nil, "remember recall"},
		{"tools.deny", Config{Deny: []string{"sessions_*"}}, Rights{}, false, nil, "agents_list remember recall"},
		{"tools.allow", Config{Allow: []string{"recall", "group:sessions"}}, Rights{}, false, nil, "sessions_list sessions_history sessions_send sessions_spawn recall"},
		{"the agent's rights are inside the host's", Config{Allow: []string{"recall", "remember"}}, Rights{Allow: []string{"recall", "sessions_list"}}, false, nil, "recall"},
		{"an allowed name gives a session tool back", Config{Subagents: Subagents{Tools: Rights{Allow: []string{"sessions_list", "recall"}}}}, Rights{}, true, nil, "sessions_list recall"},
		{"a pattern names as well", Config{Subagents: Subagents{Tools: Rights{Allow: []string{"sessions_h*"}}}}, Rights{}, true, nil, "sessions_history"},
		{"a lone star names nothing", Config{Subagents: Subagents{Tools: Rights{Allow: []string{"*"}}}}, Rights{}, true, nil, "remember recall"},
		{"deny wins", Config{Subagents: Subagents{Tools: Rights{Allow: []string{"*", "sessions_list"}, Deny: []string{"remember", "sessions_list"}}}}, Rights{}, true, nil, "recall"},
		{"a list for sub-agents does not bind others", Config{Subagents: Subagents{Tools: Rights{Deny: []string{"*"}}}}, Rights{}, false, nil, every},
		{"a child has no more than its parent", Config{}, Rights{}, true, []Rights{{Deny: []string{"remember"}}}, "recall"},
		{"nor than its parent's parent", Config{}, Rights{}, true, []Rights{{}, {Allow: []string{"remember"}}}, "remember"},
	} {
		if got := names(Permitted(all, Rules(c.cfg, c.agent, c.sub, false, c.parents...)...)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

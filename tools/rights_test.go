package tools

import (
	"strings"
	"testing"

	"parley/policy"
	"parley/sessions"
)

func names(all []Tool) string {
	var out []string
	for _, t := range all {
		out = append(out, t.Spec().Name)
	}
	return strings.Join(out, " ")
}

// proves: N7, N8
func TestPermitted(t *testing.T) {
	t.Parallel()
	all := All(newWorld().deps())
	const every = "sessions_list sessions_history sessions_search session_status sessions_send sessions_spawn sessions_yield subagents agents_list message remember recall cron files fetch attachments"
	deny := func(names ...string) Config { return Config{Deny: names} }
	named := func(allow ...string) Config { return Config{Subagents: Subagents{Tools: Rights{Allow: allow}}} }
	chat := turnOf{}
	leaf, middle := turnOf{sub: true}, turnOf{sub: true, orchestrates: true}
	for _, c := range []struct {
		name    string
		cfg     Config
		agent   Rights
		turn    turnOf
		parents []Rights
		want    string
	}{
		{"nothing set", Config{}, Rights{}, chat, nil, every},
		{"a sub-agent has no session tools", Config{}, Rights{}, leaf, nil, "remember recall files fetch attachments"},
		{"tools.deny", deny("session*", "subagents", "message"), Rights{}, chat, nil, "agents_list remember recall cron files fetch attachments"},
		{"tools.allow", Config{Allow: []string{"recall", "group:sessions"}}, Rights{}, chat, nil, "sessions_list sessions_history sessions_search session_status sessions_send sessions_spawn sessions_yield subagents recall"},
		{"the agent's rights are inside the host's", Config{Allow: []string{"recall", "remember"}}, Rights{Allow: []string{"recall", "sessions_list"}}, chat, nil, "recall"},
		{"an allowed name gives a session tool back", named("sessions_list", "recall"), Rights{}, leaf, nil, "sessions_list recall"},
		{"a pattern names as well", named("sessions_h*"), Rights{}, leaf, nil, "sessions_history"},
		{"a lone star names nothing", named("*"), Rights{}, leaf, nil, "remember recall files fetch attachments"},
		{"deny wins", Config{Subagents: Subagents{Tools: Rights{Allow: []string{"*", "sessions_list"}, Deny: []string{"remember", "sessions_list"}}}}, Rights{}, leaf, nil, "recall files fetch attachments"},
		{"a list for sub-agents does not bind others", Config{Subagents: Subagents{Tools: Rights{Deny: []string{"*"}}}}, Rights{}, chat, nil, every},
		{"a child has no more than its parent", Config{}, Rights{}, leaf, []Rights{{Deny: []string{"remember"}}}, "recall files fetch attachments"},
		{"nor than its parent's parent", Config{}, Rights{}, leaf, []Rights{{}, {Allow: []string{"remember"}}}, "remember"},
		{"one that may spawn", Config{}, Rights{}, middle, nil, "sessions_spawn sessions_yield subagents agents_list remember recall files fetch attachments"},
		{"one that may spawn, denied", Config{Subagents: Subagents{Tools: Rights{Deny: []string{"subagents"}}}}, Rights{}, middle, nil, "sessions_spawn sessions_yield agents_list remember recall files fetch attachments"},
		{"one that may spawn, below one that may not", Config{}, Rights{}, middle, []Rights{{}, {Deny: []string{"sessions_spawn"}}}, "sessions_yield subagents agents_list remember recall files fetch attachments"},
	} {
		if got := names(permitted(all, Rules(c.cfg, facts(c.agent, c.turn, c.parents))...)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The policy knows the tools that come with parley by name: group:mcp means all others.
func TestBuiltInTools(t *testing.T) {
	t.Parallel()
	mcp := policy.ToolRules{Deny: []string{policy.MCPGroup}}
	for _, tool := range All(newWorld().deps()) {
		if name := tool.Spec().Name; !policy.BuiltInTool(name) || !policy.Permits(name, mcp).Allowed() {
			t.Errorf("%s is taken for a tool of an MCP server", name)
		}
	}
	if policy.BuiltInTool("git_log") || policy.Permits("git_log", mcp).Allowed() {
		t.Error("a tool of an MCP server is taken for one of ours")
	}
}

// turnOf is whose turn it is.
type turnOf struct{ sub, orchestrates bool }

func facts(own Rights, turn turnOf, parents []Rights) Facts {
	f := Facts{Agent: "main", Own: own, Sub: turn.sub, Spawns: turn.orchestrates}
	for _, p := range parents {
		f.Above = append(f.Above, AgentRights{"above", p})
	}
	return f
}

// proves: N8
func TestDepth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    sessions.Session
		want int
	}{
		{sessions.Session{Key: "agent:main:main"}, 0},
		{sessions.Session{Key: "agent:main:subagent:1", SpawnedBy: "agent:main:main", Above: []sessions.AgentID{"main"}}, 1},
		{sessions.Session{Key: "agent:main:subagent:1", SpawnedBy: "agent:main:main"}, 1},
		{sessions.Session{Key: "agent:main:subagent:2", SpawnedBy: "agent:main:subagent:1", Above: []sessions.AgentID{"main", "work"}}, 2},
	} {
		if got := Depth(c.s); got != c.want {
			t.Errorf("%s: %d, want %d", c.s.Key, got, c.want)
		}
	}
}

// permitted gives the tools of all that every layer permits.
func permitted(all []Tool, layers ...policy.ToolRules) []Tool {
	var out []Tool
	for _, t := range all {
		if policy.Permits(t.Spec().Name, layers...).Allowed() {
			out = append(out, t)
		}
	}
	return out
}

package tools

import (
	"slices"
	"strings"

	"parley/policy"
	"parley/sessions"
)

// sessionTools are what a sub-agent has not got unless tools.subagents.tools.allow names it (contract N7).
var sessionTools = []string{"sessions_list", "sessions_history", "sessions_search", "sessions_send", "sessions_spawn", "sessions_yield",
	"session_status", "agents_list", "subagents", "message"}

// orchestratorTools are those of them that a sub-agent has which may spawn (contract N8).
var orchestratorTools = []string{"sessions_spawn", "sessions_yield", "subagents", "agents_list"}

// Rules gives the layers that decide about the tools of a turn; all of them must permit a tool. agent are the rights of the agent
// whose turn it is. sub says that it is a sub-agent's turn, orchestrates that it may have sub-agents of its own; parents are then
// the rights of the agents above it, up to the first requester, so that a child never has more than its parent (contract N7).
func Rules(cfg Config, agent Rights, sub, orchestrates bool, parents ...Rights) []policy.ToolRules {
	layers := []policy.ToolRules{
		{Name: "tools", Allow: cfg.Allow, Deny: cfg.Deny},
		{Name: "agents.list[].tools", Allow: agent.Allow, Deny: agent.Deny},
	}
	if !sub {
		return layers
	}
	for _, p := range parents {
		layers = append(layers, policy.ToolRules{Name: "agents.list[].tools of the parent", Allow: p.Allow, Deny: p.Deny})
	}
	own := cfg.Subagents.Tools
	denied := unnamed(own.Allow)
	if orchestrates {
		denied = slices.DeleteFunc(denied, func(name string) bool { return slices.Contains(orchestratorTools, name) })
	}
	return append(layers, policy.ToolRules{Name: "tools.subagents.tools", Allow: own.Allow, Deny: own.Deny},
		policy.ToolRules{Name: "session tools of sub-agents", Deny: denied})
}

// Permitted gives the tools of all that every layer permits.
func Permitted(all []Tool, layers ...policy.ToolRules) []Tool {
	var out []Tool
	for _, t := range all {
		if policy.Permits(t.Spec().Name, layers...).Allowed() {
			out = append(out, t)
		}
	}
	return out
}

// unnamed gives the session tools that no entry of allow means in particular; a lone * means none in particular.
func unnamed(allow []string) []string {
	allow = slices.DeleteFunc(slices.Clone(allow), func(e string) bool { return strings.Trim(e, "* ") == "" })
	return slices.DeleteFunc(slices.Clone(sessionTools), func(name string) bool {
		return len(allow) > 0 && policy.Permits(name, policy.ToolRules{Allow: allow}).Allowed()
	})
}

// Depth says how far below the first requester a session is: 0 for those that no other one spawned.
func Depth(s sessions.Session) int {
	if len(s.Above) == 0 && subagent(s) {
		return 1 // made before the agents above it were kept
	}
	return len(s.Above)
}

// subagent reports whether a session is a sub-agent's.
func subagent(s sessions.Session) bool {
	p, err := s.Key.Parse()
	return err == nil && p.Form == sessions.FormSubagent || s.SpawnedBy != ""
}

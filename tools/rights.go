package tools

import (
	"fmt"
	"slices"
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// IsSessionTool reports whether a name is that of a tool on sessions: a turn that has it not may not use it.
func IsSessionTool(name string) bool { return slices.Contains(sessionTools, name) }

// sessionTools are what a sub-agent has not got unless tools.subagents.tools.allow names it (contract N7).
var sessionTools = []string{"sessions_list", "sessions_history", "sessions_search", "sessions_send", "sessions_spawn", "sessions_yield",
	"session_status", "agents_list", "subagents", "message", "cron"}

// orchestratorTools are those of them that a sub-agent has which may spawn (contract N8).
var orchestratorTools = []string{"sessions_spawn", "sessions_yield", "subagents", "agents_list"}

// Facts are what decides about the tools of a turn.
type Facts struct {
	Agent     sessions.AgentID
	Own       Rights              // agents.list[].tools of Agent
	Chats     []channels.ChatType // where the turn is; of a sub-agent's: where it was started from. Empty = in no chat
	Owner     bool                // it answers nobody but owners
	Mixed     bool                // it answers an owner and others
	Groups    []policy.ToolRules  // what the sections of those chats say: policy.Access.GroupTools
	Sandboxed bool                // the session is
	Sub       bool                // it is a sub-agent's
	Spawns    bool                // of a sub-agent: it may have sub-agents of its own
	Above     []AgentRights       // of a sub-agent: the agents above it, up to the first requester
}

// AgentRights are agents.list[].tools of one agent.
type AgentRights struct {
	Agent  sessions.AgentID
	Rights Rights
}

func (a AgentRights) layer() policy.ToolRules {
	return a.Rights.Under(fmt.Sprintf("agents.list[%s].tools", a.Agent))
}

// Senders are the kinds of people that the turn answers.
func (f Facts) Senders() []Sender {
	switch {
	case f.Owner:
		return []Sender{FromOwner}
	case f.Mixed:
		return []Sender{FromOwner, FromOther}
	}
	return []Sender{FromOther}
}

// Rules gives the layers that decide about the tools of a turn; all of them must permit a tool. A sub-agent has no more than the
// agents above it and than the turn that started it: the same chats, the same sender (contract N7).
func Rules(cfg Config, f Facts) []policy.ToolRules {
	layers := []policy.ToolRules{{Name: "tools", Allow: cfg.Allow, Deny: cfg.Deny}}
	for _, t := range chatTypes(f.Chats) {
		layers = append(layers, cfg.ByChatType[t].Under("tools.byChatType."+string(t)))
	}
	for _, who := range f.Senders() {
		layers = append(layers, cfg.BySender[who].Under("tools.bySender."+string(who)))
	}
	layers = append(append(layers, AgentRights{f.Agent, f.Own}.layer()), f.Groups...)
	if f.Sandboxed {
		layers = append(layers, cfg.Sandbox.Tools.Under("tools.sandbox.tools"))
	}
	if !f.Sub {
		return layers
	}
	for _, a := range f.Above {
		layers = append(layers, a.layer())
	}
	own := cfg.Subagents.Tools
	denied := unnamed(own.Allow)
	if f.Spawns {
		denied = slices.DeleteFunc(denied, func(name string) bool { return slices.Contains(orchestratorTools, name) })
	}
	return append(layers, own.Under("tools.subagents.tools"), policy.ToolRules{Name: "sub-agents", Deny: denied,
		Fixed: "a sub-agent has no session tools, unless tools.subagents.tools.allow names them"})
}

// chatTypes gives each type once; what is said about groups holds for rooms as well (contract P1).
func chatTypes(chats []channels.ChatType) []channels.ChatType {
	var out []channels.ChatType
	for _, t := range chats {
		if t == channels.Room {
			out = append(out, channels.Group)
		}
		out = append(out, t)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(t channels.ChatType) bool { return t == "" })
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

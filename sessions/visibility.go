package sessions

import (
	"fmt"
	"slices"
	"strings"

	"parley/policy"
)

// Viewer is the session whose agent asks.
type Viewer struct {
	Key       Key
	Agent     AgentID
	Sandboxed bool
}

// The modes of tools.sessions.visibility (contract V1), and the values of agents.defaults.sandbox.sessionToolsVisibility (V3).
const (
	SeeSelf  = "self"
	SeeTree  = "tree"
	SeeAgent = "agent"
	SeeAll   = "all"

	ClampSpawned = "spawned"
	ClampAll     = "all"
)

// Rules say which sessions a session sees. There is one such rule for every tool (contract V4).
type Rules struct {
	Mode       string   // tools.sessions.visibility; empty = tree
	Clamp      string   // agents.defaults.sandbox.sessionToolsVisibility; empty = spawned
	A2AEnabled bool     // tools.agentToAgent.enabled
	A2AAllow   []string // tools.agentToAgent.allow; empty = every agent
}

// Effective gives the mode that is in force for a viewer. Sandboxed sessions are held to tree unless the clamp is lifted; self
// stays self (contract V3). A mode that does not exist is taken as self.
func (r Rules) Effective(v Viewer) string {
	mode := r.Mode
	switch mode {
	case SeeAgent, SeeAll:
		if r.clamped(v) {
			return SeeTree
		}
		return mode
	case "":
		return SeeTree
	case SeeSelf, SeeTree:
		return mode
	}
	return SeeSelf
}

func (r Rules) clamped(v Viewer) bool { return v.Sandboxed && r.Clamp != ClampAll }

// See says whether the viewer's tools may show or touch the target, and if not, why, for the agent to read. What the viewer spawned
// it sees under any agent, unless the mode is self (contract V1); other sessions of other agents need the mode all and
// tools.agentToAgent (V2).
func (r Rules) See(v Viewer, target Session) (ok bool, why string) {
	if target.Key == UnknownKey {
		return false, "this session is reserved"
	}
	if target.Key == v.Key {
		return true, ""
	}
	mode := r.Effective(v)
	agent := target.Agent
	if agent == "" {
		agent = target.Key.Agent()
	}
	switch {
	case mode == SeeSelf:
		return false, r.only(v, "this session itself")
	case v.Key != "" && target.SpawnedBy == v.Key:
		return true, ""
	case mode == SeeTree:
		return false, r.only(v, "this session and what it spawned")
	case agent == v.Agent:
		return true, ""
	case mode == SeeAgent:
		return false, r.only(v, "sessions of this agent")
	}
	return r.across(v.Agent, agent)
}

// only words a refusal by the mode and names the key that would change it.
func (r Rules) only(v Viewer, what string) string {
	if r.clamped(v) && r.Effective(v) != r.Mode && r.Mode != "" {
		return fmt.Sprintf("not visible: this session is sandboxed and sees only %s (agents.defaults.sandbox.sessionToolsVisibility is %s)", what, ClampSpawned)
	}
	return fmt.Sprintf("not visible: only %s can be seen (tools.sessions.visibility is %s)", what, r.Effective(v))
}

// across decides about two different agents (contract V2).
func (r Rules) across(from, to AgentID) (bool, string) {
	if !r.A2AEnabled {
		return false, "not visible: it belongs to another agent, and tools.agentToAgent.enabled is false"
	}
	if len(r.A2AAllow) == 0 {
		return true, ""
	}
	for _, a := range []AgentID{from, to} {
		if !slices.ContainsFunc(r.A2AAllow, func(p string) bool { return matchAgent(p, a) }) {
			return false, fmt.Sprintf("not visible: it belongs to another agent, and tools.agentToAgent.allow does not name %q", string(a))
		}
	}
	return true, ""
}

// matchAgent: without * exact, with * whatever the case; a blank pattern matches nothing.
func matchAgent(pattern string, a AgentID) bool {
	pattern = strings.TrimSpace(pattern)
	if !strings.Contains(pattern, "*") {
		return pattern != "" && pattern == string(a)
	}
	return policy.Glob(strings.ToLower(pattern), strings.ToLower(string(a)))
}

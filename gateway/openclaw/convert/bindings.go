package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
	"parley/sessions"
)

// bindingConverter converts which agent answers where.
type bindingConverter struct {
	*output
	agents   map[string]any // the section agents of OpenClaw
	accounts accounts
}

// convert converts the bindings: which agent answers where, each binding as a whole. A binding that cannot be carried over would leave its chats to another
// agent, which may have more tools, so what it led to is closed.
func (c bindingConverter) convert(v any) {
	var out []any
	agents := agentIDs(c.config)
	outside, isDefault := acpAgents(c.agents)
	if isDefault && c.accounts.closeWhere(func(*account) bool { return true }) > 0 {
		c.Need("agents: the default agent", "it runs over ACP, which parley does not support, so all accounts are disabled: choose a default agent, then remove enabled: false")
	}
	for i, x := range jsontree.List(v) {
		m := jsontree.Object(x)
		what := fmt.Sprintf("bindings[%d]", i)
		match := jsontree.Object(m["match"])
		raw := match["channel"]
		if raw == nil {
			raw = match["provider"] // its older name
		}
		kind := channels.Kind(strings.ToLower(jsontree.Text(raw)))
		agent := ids.Agent(jsontree.Text(m["agentId"]))
		switch {
		case m["type"] == "acp":
			c.Leave(what, "parley has no ACP agents, so the default agent answers there. Connect the tools of an ACP agent as MCP servers (docs/mcp.md)")
			continue
		case !c.ids.Has(kind):
			c.Leave(what, fmt.Sprintf("parley has no channel %q", jsontree.Text(raw)))
			continue
		case !slices.Contains(agents, agent) && !slices.Contains(outside, agent):
			c.Leave(what, fmt.Sprintf("there is no agent %q, so the default agent answers there, as in OpenClaw", jsontree.Text(m["agentId"])))
			continue
		}
		to, never, why := c.binding(kind, match)
		if !slices.Contains(agents, agent) && why == "" {
			why = "its agent runs over ACP, which parley does not support"
		}
		switch {
		case never:
			c.Leave(what, why)
		case why != "":
			c.Need(what, why+bindingClosed)
			c.accounts.closeBound(kind, match)
		default:
			out = append(out, map[string]any{"agentId": string(agent), "match": to})
			c.Carry(what, "")
			if m["comment"] != nil {
				c.Leave(what+".comment", "bindings have no comment key: write a # comment in the file")
			}
		}
	}
	if out != nil {
		c.put([]string{"bindings"}, out)
	}
}

// bindingClosed says what becomes of a binding that cannot be carried over.
const bindingClosed = ": the matching accounts are disabled. Write the binding yourself, then remove enabled: false"

// acpAgents returns the agents that run in another program, and whether the default agent is one of them.
func acpAgents(agents map[string]any) (out []sessions.AgentID, isDefault bool) {
	all := listed(agents)
	first := max(slices.IndexFunc(all, func(r raw) bool { return r.fields["default"] == true }), 0)
	for i, r := range all {
		if isACP(r) {
			out, isDefault = append(out, ids.Agent(r.id)), isDefault || i == first
		}
	}
	return out, isDefault
}

// RunsOverACP reports whether an agent of a configuration of OpenClaw runs in another program; "" is the default agent.
func RunsOverACP(top map[string]any, agent string) bool {
	outside, isDefault := acpAgents(jsontree.Object(top["agents"]))
	if agent == "" {
		return isDefault
	}
	return slices.Contains(outside, ids.Agent(agent))
}

func isACP(r raw) bool { return jsontree.Object(r.fields["runtime"])["type"] == "acp" }

// binding converts the condition of a binding. never says that no chat can fulfil it; why says what cannot be carried over.
func (c bindingConverter) binding(k channels.Kind, match map[string]any) (to map[string]any, never bool, why string) {
	to = map[string]any{"channel": string(k)}
	for _, key := range slices.Sorted(maps.Keys(match)) {
		v := match[key]
		switch key {
		case "channel", "provider":
		case "accountId":
			if s := jsontree.Text(v); s == everybody {
				to[key] = s
			} else {
				to[key] = string(ids.Account(s))
			}
		case "guildId", "teamId":
			to[key] = strings.TrimSpace(fmt.Sprint(v))
		case "roles":
			to[key] = v
		case "peer":
			peer, known, isID := c.peer(k, jsontree.Object(v))
			switch {
			case !known:
				return nil, false, "its peer cannot be read"
			case !isID:
				return nil, true, fmt.Sprintf("no chat on %s has the id %v", k, jsontree.Object(v)["id"])
			}
			to[key] = peer
		default:
			return nil, false, "parley has no condition " + key
		}
	}
	if to["roles"] != nil && to["guildId"] == nil {
		return nil, false, "roles need guildId"
	}
	return to, false, ""
}

// peer writes one chat or person; known is false when it is neither, isID when no chat can have that id.
func (c bindingConverter) peer(k channels.Kind, m map[string]any) (out map[string]any, known, isID bool) {
	kind, id := strings.ToLower(jsontree.Text(m["kind"])), strings.TrimSpace(fmt.Sprint(m["id"]))
	if kind == "dm" {
		kind = "direct"
	}
	if m["id"] == nil || kind != "direct" && kind != "group" && kind != "channel" {
		return nil, false, false
	}
	if isID = id == everybody || variable.MatchString(id); !isID {
		if kind == "direct" {
			id, isID = c.ids.Person(k, id)
			isID = isID && !strings.HasPrefix(id, "@")
		} else {
			id, isID = c.ids.Chat(k, id)
		}
	}
	return map[string]any{"kind": kind, "id": id}, true, isID
}

// agentIDs are the agents of the new configuration.
func agentIDs(config map[string]any) (out []sessions.AgentID) {
	for _, a := range jsontree.List(jsontree.Object(config["agents"])["list"]) {
		out = append(out, sessions.AgentID(jsontree.Text(jsontree.Object(a)["id"])))
	}
	if out == nil {
		out = []sessions.AgentID{"main"}
	}
	return out
}

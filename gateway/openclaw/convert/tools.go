package convert

import (
	"maps"
	"slices"
	"strings"

	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/report"
	"parley/policy"
)

// rights are a pair of lists of tools as parley has them.
type rights struct{ allow, deny []string }

func (r rights) empty() bool { return len(r.allow)+len(r.deny) == 0 }

func (r rights) write() map[string]any {
	out := map[string]any{}
	if len(r.allow) > 0 {
		out["allow"] = anys(r.allow)
	}
	if len(r.deny) > 0 {
		out["deny"] = anys(r.deny)
	}
	return out
}

// nothing permits no tool.
var nothing = rights{deny: []string{"*"}}

// replaced says which tools of OpenClaw together do what a tool of parley does: all of them must be permitted for it.
var replaced = []struct {
	tool string
	by   []string
}{
	{"sessions_list", []string{"sessions_list"}}, {"sessions_history", []string{"sessions_history"}}, {"sessions_send", []string{"sessions_send"}},
	{"sessions_spawn", []string{"sessions_spawn"}}, {"sessions_search", []string{"sessions_list", "sessions_history"}}, {"sessions_yield", []string{"sessions_yield"}},
	{"session_status", []string{"session_status"}}, {"subagents", []string{"subagents"}}, {"agents_list", []string{"agents_list"}},
	{"files", []string{"read", "write", "edit"}}, {"attachments", []string{"read"}}, {"fetch", []string{"web_fetch"}},
	{"remember", []string{"memory_search", "write"}}, {"recall", []string{"memory_search"}}, {"message", []string{"message"}}, {"cron", []string{"cron"}},
}

// groupsOfTools are the shorthands of OpenClaw.
var groupsOfTools = map[string][]string{
	"group:runtime":    {"exec", "process", "code_execution"},
	"group:fs":         {"read", "write", "edit", "apply_patch"},
	"group:sessions":   {"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "sessions_yield", "subagents", "session_status"},
	"group:memory":     {"memory_search", "memory_get"},
	"group:web":        {"web_search", "x_search", "web_fetch"},
	"group:ui":         {"browser", "canvas"},
	"group:automation": {"cron", "gateway"},
	"group:messaging":  {"message"},
	"group:nodes":      {"nodes"},
	"group:agents":     {"agents_list"},
	"group:media":      {"image", "image_generate", "music_generate", "video_generate", "tts"},
}

// profiles are the base lists of tools.profile.
var profiles = map[string][]string{
	"minimal":   {"session_status"},
	"messaging": {"group:messaging", "sessions_list", "sessions_history", "sessions_send", "session_status", mcpOfOpenClaw},
	"coding":    {"group:fs", "group:runtime", "group:web", "group:sessions", "group:memory", "cron", "image", mcpOfOpenClaw},
}

// mcpOfOpenClaw names the tools of MCP servers in a list of OpenClaw.
const mcpOfOpenClaw = "bundle-mcp"

// allOfOpenClaw names all tools that come with OpenClaw.
const allOfOpenClaw = "group:openclaw"

// toolPolicy is one section of OpenClaw that says something about tools.
type toolPolicy struct {
	allow    []string
	limited  bool // only allow counts
	deny     []string
	unlisted bool // it cannot be read: nothing is permitted
}

// toolPolicies reads a section. Sections by provider or sender inside it count for everybody: parley has no such condition, and the stricter one holds.
func toolPolicies(r *report.Report, what string, m map[string]any, profile any) (out []toolPolicy) {
	allow, ok1 := texts(m["allow"])
	also, ok2 := texts(m["alsoAllow"])
	deny, ok3 := texts(m["deny"])
	if !ok1 || !ok2 || !ok3 {
		r.Need(what, "its lists cannot be read, so no tool is permitted here: write them again")
		return []toolPolicy{{unlisted: true}}
	}
	if profile != nil && profile != "full" {
		base, known := profiles[text(profile)]
		if !known {
			r.Need(what+".profile", "parley does not know this profile and permits no tool here: name the tools in allow")
		}
		out = append(out, toolPolicy{allow: slices.Concat(base, also), limited: true})
	}
	p := toolPolicy{allow: slices.Concat(allow, also), limited: len(allow) > 0, deny: deny}
	if len(allow) > 0 || len(deny) > 0 {
		out = append(out, p)
	}
	for _, key := range []string{"byProvider", "toolsBySender"} {
		for _, name := range slices.Sorted(maps.Keys(object(m[key]))) {
			at := what + "." + key + "." + name
			sub := object(object(m[key])[name])
			r.Need(at, "parley has no such condition, so the rule holds for everybody: move it to the group or agent that it is for, or remove it")
			out = append(out, toolPolicies(r, at, sub, sub["profile"])...)
		}
	}
	return out
}

// names reports whether an entry of a list names a tool of OpenClaw.
func names(entry, tool string) bool {
	entry = strings.ToLower(strings.TrimSpace(entry))
	switch entry {
	case "bash":
		entry = "exec"
	case "apply-patch":
		entry = "apply_patch"
	case allOfOpenClaw, "group:clawdbot", "group:moltbot", "group:all":
		return true
	}
	if g, ok := groupsOfTools[entry]; ok {
		return slices.Contains(g, tool)
	}
	return policy.Glob(entry, tool)
}

func (p toolPolicy) permits(tool string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(e string) bool { return names(e, tool) })
	}
	return !p.unlisted && !in(p.deny) && (!p.limited || in(p.allow))
}

// mcpEntry writes an entry that can mean tools of MCP servers as parley names them; "" = it means none.
func mcpEntry(entry string, denied bool) string {
	entry = strings.ToLower(strings.TrimSpace(entry))
	switch {
	case entry == "*", entry == mcpOfOpenClaw, entry == "group:plugins", entry == "group:mcp":
		return policy.MCPGroup
	case strings.HasPrefix(entry, "group:"), entry == "":
		return ""
	case strings.Contains(entry, "__"):
		to := strings.ReplaceAll(entry, "__", "_")
		if !denied && slices.ContainsFunc(replaced, func(r struct {
			tool string
			by   []string
		}) bool {
			return policy.Glob(to, r.tool)
		}) {
			return "" // it would name a tool of parley's own
		}
		return to
	case denied && strings.Contains(entry, "*"):
		return entry
	}
	return ""
}

// convert writes what all the policies together permit: as a list of what is denied, or, where tools of MCP servers are listed, of what is allowed.
func convert(all []toolPolicy) rights {
	if len(all) == 0 {
		return rights{}
	}
	var r rights
	var permitted []string
	for _, t := range replaced {
		if slices.ContainsFunc(t.by, func(tool string) bool {
			return slices.ContainsFunc(all, func(p toolPolicy) bool {
				return !p.permits(tool) || !p.permits(t.tool) && slices.Contains(t.by, t.tool)
			})
		}) {
			r.deny = append(r.deny, t.tool)
		} else {
			permitted = append(permitted, t.tool)
		}
	}
	servers, closed := []string{policy.MCPGroup}, false
	var deny []string
	for _, p := range all {
		closed = closed || p.unlisted
		for _, e := range p.deny {
			deny = append(deny, mcpEntry(e, true))
		}
		if !p.limited {
			continue
		}
		var here []string
		for _, e := range p.allow {
			if to := mcpEntry(e, false); to != "" {
				here = append(here, to)
			}
		}
		switch {
		case slices.Contains(here, policy.MCPGroup):
		case slices.Contains(servers, policy.MCPGroup):
			servers = here
		default: // two lists: what both name word by word
			servers = slices.DeleteFunc(servers, func(s string) bool { return !slices.Contains(here, s) })
		}
	}
	deny = slices.DeleteFunc(deny, func(s string) bool { return s == "" })
	if closed || slices.Contains(deny, policy.MCPGroup) {
		servers = nil
	}
	switch {
	case len(servers) == 0 && len(permitted) == 0:
		return nothing
	case slices.Contains(servers, policy.MCPGroup):
		r.deny = compact(slices.Concat(r.deny, deny))
		return r
	case len(servers) == 0:
		r.deny = compact(append(r.deny, policy.MCPGroup))
		return r
	}
	return rights{allow: compact(slices.Concat(permitted, servers)), deny: compact(deny)}
}

func compact(s []string) (out []string) {
	for _, x := range s {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// toolConverter converts the section tools.
type toolConverter struct {
	*output
	agents map[string]any // the section agents, whose tools restrict further
}

// convert converts the section. Agents that have a profile of their own have it in the place of the host's.
func (c toolConverter) convert(m map[string]any) {
	profile := m["profile"]
	if haveProfiles(c.agents) {
		profile = nil // every agent has its own, or the host's, in its entry
	}
	c.right("tools", []string{"tools"}, convert(toolPolicies(c.Report, "tools", m, profile)))
	c.sandboxTools(m)
	sub := object(object(m["subagents"])["tools"])
	r := convert(toolPolicies(c.Report, "tools.subagents.tools", sub, sub["profile"]))
	if r.allow = slices.DeleteFunc(r.allow, notOfSubagents); len(r.allow) == 0 && len(sub) > 0 && len(entries(sub["allow"])) > 0 && len(r.deny) == 0 {
		r = nothing // parley gives back session tools that a list allows; OpenClaw does not
	}
	c.right("tools.subagents.tools", []string{"tools", "subagents", "tools"}, r)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch key {
		case "allow", "alsoAllow", "deny", "profile", "byProvider", "toolsBySender", "sandbox", "subagents":
		case "sessions":
			c.visibility(object(m[key])["visibility"])
		case "agentToAgent":
			c.agentToAgent(object(m[key]))
		default:
			c.walkTop([]string{"tools", key}, m[key])
		}
	}
}

// notOfSubagents are tools that no list gives to a sub-agent in OpenClaw.
func notOfSubagents(tool string) bool {
	return strings.HasPrefix(tool, "sessions_") || slices.Contains([]string{"session_status", "subagents", "agents_list", "cron"}, tool)
}

// right writes rights at a place, if they say something.
func (c toolConverter) right(what string, to []string, r rights) {
	if r.empty() {
		return
	}
	for k, v := range r.write() {
		c.put(append(slices.Clone(to), k), v)
	}
	c.Differ(what, "the lists name parley's tools: a tool that replaces several is permitted only where all of them were")
}

// sandboxTools converts the tools of sandboxed sessions, which parley has once for all agents: what one of them may not is denied.
func (c toolConverter) sandboxTools(m map[string]any) {
	if mode, _ := strictestSandbox(c.Report, c.agents); mode == "" || mode == "off" {
		return
	}
	section := func(t map[string]any) (map[string]any, bool) {
		v := object(t["sandbox"])["tools"]
		return object(v), v != nil
	}
	var all []toolPolicy
	add := func(what string, s map[string]any) {
		all = append(all, toolPolicies(c.Report, what, s, nil)...)
		if len(entries(s["allow"])) == 0 { // OpenClaw's own list
			all = append(all, toolPolicy{limited: true, allow: append(slices.Clone(sandboxDefault), mustTexts(s["alsoAllow"])...)})
		}
	}
	global, _ := section(m)
	add("tools.sandbox.tools", global)
	for _, r := range listed(c.agents) {
		if own, has := section(object(r.fields["tools"])); has {
			c.Need(r.what+".tools.sandbox.tools", "parley has one such list for all agents, so the strictest holds")
			add(r.what+".tools.sandbox.tools", own)
		}
	}
	c.right("tools.sandbox.tools", []string{"tools", "sandbox", "tools"}, convert(all))
}

func mustTexts(v any) []string {
	out, _ := texts(v)
	return out
}

// sandboxDefault are the tools that OpenClaw gives to sandboxed sessions where no list says so.
var sandboxDefault = []string{"exec", "process", "read", "write", "edit", "apply_patch", "image", "sessions_list", "sessions_history", "sessions_send",
	"sessions_spawn", "sessions_yield", "subagents", "session_status"}

// visibility carries tools.sessions.visibility over.
func (c toolConverter) visibility(v any) {
	if v == nil {
		return
	}
	mode := text(v)
	if !slices.Contains([]string{"self", "tree", "agent", "all"}, mode) {
		mode = "self"
		c.Need("tools.sessions.visibility", "parley does not know this value, so a session sees only itself: choose self, tree, agent or all")
	} else {
		c.Carry("tools.sessions.visibility", "")
	}
	c.put([]string{"tools", "sessions", "visibility"}, mode)
}

// agentToAgent carries over which agents reach each other. A list that cannot be read reaches nobody.
func (c toolConverter) agentToAgent(m map[string]any) {
	if m["enabled"] != true {
		c.Carry("tools.agentToAgent", "off")
		return
	}
	allow, ok := texts(m["allow"])
	if !ok {
		c.Need("tools.agentToAgent.allow", "the list cannot be read, so agents cannot reach each other: write it again, and set enabled: true")
		return
	}
	var names []string
	for _, e := range allow {
		if strings.Contains(e, "*") {
			names = append(names, strings.ToLower(e))
		} else if e != "" {
			names = append(names, string(ids.Agent(e)))
		}
	}
	if len(allow) > 0 && len(names) == 0 {
		return // an empty list would mean all
	}
	c.put([]string{"tools", "agentToAgent", "enabled"}, true)
	if len(names) > 0 {
		c.put([]string{"tools", "agentToAgent", "allow"}, anys(names))
	}
	c.Carry("tools.agentToAgent", "")
}

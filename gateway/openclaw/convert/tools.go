package convert

import (
	"maps"
	"slices"
	"strings"

	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
	"parley/gateway/openclaw/toolrights"
)

func writeRights(r toolrights.Rights) map[string]any {
	out := map[string]any{}
	if len(r.Allow) > 0 {
		out["allow"] = anys(r.Allow)
	}
	if len(r.Deny) > 0 {
		out["deny"] = anys(r.Deny)
	}
	return out
}

// toolPolicies reads a section. Sections by provider or sender inside it count for everybody: parley has no such condition, and the stricter one holds.
func toolPolicies(r *report.Report, what string, m map[string]any, profile any) (out []toolrights.Policy) {
	allow, ok1 := jsontree.Texts(m["allow"])
	also, ok2 := jsontree.Texts(m["alsoAllow"])
	deny, ok3 := jsontree.Texts(m["deny"])
	if !ok1 || !ok2 || !ok3 {
		r.Need(what, "its lists cannot be read, so no tool is permitted here: write them again")
		return []toolrights.Policy{{Unreadable: true}}
	}
	if profile != nil && profile != "full" {
		base, known := toolrights.Profile(jsontree.Text(profile))
		if !known {
			r.Need(what+".profile", "parley does not know this profile and permits no tool here: name the tools in allow")
		}
		out = append(out, toolrights.Policy{Allow: slices.Concat(base, also), Limited: true})
	}
	p := toolrights.Policy{Allow: slices.Concat(allow, also), Limited: len(allow) > 0, Deny: deny}
	if len(allow) > 0 || len(deny) > 0 {
		out = append(out, p)
	}
	for _, key := range []string{"byProvider", "toolsBySender"} {
		for _, name := range slices.Sorted(maps.Keys(jsontree.Object(m[key]))) {
			at := what + "." + key + "." + name
			sub := jsontree.Object(jsontree.Object(m[key])[name])
			r.Need(at, "parley has no such condition, so the rule holds for everybody: move it to the group or agent that it is for, or remove it")
			out = append(out, toolPolicies(r, at, sub, sub["profile"])...)
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
	c.right("tools", []string{"tools"}, toolrights.Combine(toolPolicies(c.Report, "tools", m, profile)))
	c.sandboxTools(m)
	sub := jsontree.Object(jsontree.Object(m["subagents"])["tools"])
	r := toolrights.Combine(toolPolicies(c.Report, "tools.subagents.tools", sub, sub["profile"]))
	if r.Allow = slices.DeleteFunc(r.Allow, toolrights.IsDeniedToSubagents); len(r.Allow) == 0 && len(sub) > 0 && len(entries(sub["allow"])) > 0 && len(r.Deny) == 0 {
		r = toolrights.Nothing() // parley gives back session tools that a list allows; OpenClaw does not
	}
	c.right("tools.subagents.tools", []string{"tools", "subagents", "tools"}, r)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch key {
		case "allow", "alsoAllow", "deny", "profile", "byProvider", "toolsBySender", "sandbox", "subagents":
		case "sessions":
			c.visibility(jsontree.Object(m[key])["visibility"])
		case "agentToAgent":
			c.agentToAgent(jsontree.Object(m[key]))
		default:
			c.walkTop([]string{"tools", key}, m[key])
		}
	}
}

// right writes rights at a place, if they say something.
func (c toolConverter) right(what string, to []string, r toolrights.Rights) {
	if r.IsEmpty() {
		return
	}
	for k, v := range writeRights(r) {
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
		v := jsontree.Object(t["sandbox"])["tools"]
		return jsontree.Object(v), v != nil
	}
	var all []toolrights.Policy
	add := func(what string, s map[string]any) {
		all = append(all, toolPolicies(c.Report, what, s, nil)...)
		if len(entries(s["allow"])) == 0 { // OpenClaw's own list
			all = append(all, toolrights.Policy{Limited: true, Allow: append(toolrights.Sandbox(), mustTexts(s["alsoAllow"])...)})
		}
	}
	global, _ := section(m)
	add("tools.sandbox.tools", global)
	for _, r := range kept(c.agents) {
		if own, has := section(jsontree.Object(r.fields["tools"])); has {
			c.Need(r.what+".tools.sandbox.tools", "parley has one such list for all agents, so the strictest holds")
			add(r.what+".tools.sandbox.tools", own)
		}
	}
	c.right("tools.sandbox.tools", []string{"tools", "sandbox", "tools"}, toolrights.Combine(all))
}

func mustTexts(v any) []string {
	out, _ := jsontree.Texts(v)
	return out
}

// visibility carries tools.sessions.visibility over.
func (c toolConverter) visibility(v any) {
	if v == nil {
		return
	}
	mode := jsontree.Text(v)
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
	allow, ok := jsontree.Texts(m["allow"])
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

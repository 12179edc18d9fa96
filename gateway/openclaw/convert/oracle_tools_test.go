package convert_test

import (
	"slices"
	"strings"
)

// shorthands are the groups of tools that the documentation lists.
var shorthands = map[string][]string{
	"group:runtime": {"exec", "process", "code_execution"}, "group:fs": {"read", "write", "edit", "apply_patch"},
	"group:sessions": {"sessions_list", "sessions_history", "sessions_search", "sessions_send", "sessions_spawn", "sessions_yield", "subagents", "session_status"},
	"group:memory":   {"memory_search", "memory_get"}, "group:web": {"web_search", "web_fetch"}, "group:ui": {"browser", "canvas"},
	"group:automation": {"cron", "gateway"}, "group:messaging": {"message"}, "group:nodes": {"nodes"},
}

// profileTools are the tools of a profile.
var profileTools = map[string][]string{
	"minimal":   {"session_status"},
	"coding":    {"group:fs", "group:runtime", "group:web", "group:sessions", "group:memory", "cron", "bundle-mcp"},
	"messaging": {"group:messaging", "sessions_list", "sessions_history", "sessions_search", "sessions_send", "sessions_spawn", "sessions_yield", "subagents", "session_status", "bundle-mcp"},
}

// sandboxTools are the tools of sandboxed sessions where no list says so. source: openclaw src/agents/sandbox/constants.ts
var sandboxTools = []string{"exec", "process", "read", "write", "edit", "apply_patch", "image", "sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "sessions_yield",
	"subagents", "session_status"}

// inList reports whether a list of tools has one; server tools have two underscores in their names.
func inList(list []string, tool string) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		e = strings.ToLower(strings.TrimSpace(e))
		if g, ok := shorthands[e]; ok {
			return slices.Contains(g, tool)
		}
		server := strings.Contains(tool, "__")
		switch e {
		case "bundle-mcp", "group:plugins":
			return server
		case "group:openclaw":
			return !server
		case "bash":
			e = "exec"
		}
		return glob(e, tool)
	})
}

func words(v any) (out []string) {
	for _, x := range entriesOf(v) {
		out = append(out, str(x))
	}
	return out
}

// says is the verdict of one section: deny wins, and a list of what is allowed excludes everything else.
func says(m map[string]any, tool string) bool {
	allow := words(m["allow"])
	if len(allow) > 0 {
		allow = append(allow, words(m["alsoAllow"])...)
	}
	return !inList(words(m["deny"]), tool) && (len(allow) == 0 || inList(allow, tool))
}

// byProfile is the verdict of a profile with what is allowed besides.
func byProfile(profile any, also []string, tool string) bool {
	if profile == nil || profile == "full" {
		return true
	}
	return inList(append(slices.Clone(profileTools[str(profile)]), also...), tool)
}

// turn is who uses tools where.
type turn struct {
	spot
	agent     string
	sandboxed bool
	sub       bool
}

// permits reports whether a turn has a tool. Every level can restrict further and none can give back.
func (c claw) permits(t turn, tool string) bool {
	host, own := obj(c.top["tools"]), obj(c.agent(t.agent)["tools"])
	profile := host["profile"]
	also := words(host["alsoAllow"])
	if own["profile"] != nil {
		profile, also = own["profile"], nil
	}
	if !byProfile(profile, append(also, words(own["alsoAllow"])...), tool) || !says(host, tool) || !says(own, tool) {
		return false
	}
	for _, level := range []map[string]any{host, own} {
		for _, p := range obj(level["byProvider"]) { // whichever provider is asked
			if !says(obj(p), tool) || !byProfile(obj(p)["profile"], words(obj(p)["alsoAllow"]), tool) {
				return false
			}
		}
	}
	if !c.senderMay(host, own, t.spot, tool) || !c.chatMay(t.spot, tool) {
		return false
	}
	if t.sandboxed {
		box := obj(obj(host["sandbox"])["tools"])
		if mine := obj(own["sandbox"])["tools"]; mine != nil {
			box = obj(mine)
		}
		if !says(box, tool) || box["allow"] == nil && !inList(append(slices.Clone(sandboxTools), words(box["alsoAllow"])...), tool) {
			return false
		}
	}
	if !t.sub {
		return true
	}
	// "Sub-agents get all tools except session tools": an allow list narrows and gives nothing back.
	without := []string{"sessions_list", "sessions_history", "sessions_send", "sessions_spawn"}
	return says(obj(obj(host["subagents"])["tools"]), tool) && !slices.Contains(without, tool)
}

// senderMay is tools.toolsBySender; an agent's own match takes the place of the host's.
func (c claw) senderMay(host, own map[string]any, s spot, tool string) bool {
	for _, level := range []map[string]any{own, host} {
		if p, ok := bySender(obj(level["toolsBySender"]), s); ok {
			return says(p, tool)
		}
	}
	return true
}

func bySender(m map[string]any, s spot) (map[string]any, bool) {
	for _, key := range []string{"channel:" + s.kind + ":" + s.person, "id:" + s.person, s.person, "e164:" + s.person, "*"} {
		if p, ok := m[key]; ok {
			return obj(p), true
		}
	}
	return nil, false
}

// chatMay is the most specific of: the chat's toolsBySender, its tools, then those of "*", or on Discord of the server.
func (c claw) chatMay(s spot, tool string) bool {
	f, _ := c.section(s.kind, s.account)
	var here, def map[string]any
	switch {
	case s.chat == "":
		return says(obj(directEntry(f, s.person)["tools"]), tool)
	case s.kind == "discord":
		guild := obj(obj(f["guilds"])[s.guild])
		here, def = obj(obj(guild["channels"])[s.chat]), guild
	default:
		groups := obj(f["groups"])
		here, def = obj(groups[s.chat]), obj(groups["*"])
	}
	for _, m := range []map[string]any{here, def} {
		if p, ok := bySender(obj(m["toolsBySender"]), s); ok {
			return says(p, tool)
		}
		if m["tools"] != nil {
			return says(obj(m["tools"]), tool)
		}
	}
	return true
}

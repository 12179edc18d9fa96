package toolrights

import (
	"slices"
	"strings"

	"parley/policy"
)

// Rights are two lists of tools as parley has them.
type Rights struct{ Allow, Deny []string }

// IsEmpty reports whether the rights restrict nothing.
func (r Rights) IsEmpty() bool { return len(r.Allow)+len(r.Deny) == 0 }

// Nothing permits no tool.
func Nothing() Rights { return Rights{Deny: []string{"*"}} }

// Policy is one section of OpenClaw that says something about tools.
type Policy struct {
	Allow      []string
	Limited    bool // only Allow counts
	Deny       []string
	Unreadable bool // nothing is permitted
}

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

// Profile returns the base list of tools.profile.
func Profile(name string) (tools []string, known bool) {
	tools, known = profiles[name]
	return tools, known
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

func (p Policy) permits(tool string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(e string) bool { return names(e, tool) })
	}
	return !p.Unreadable && !in(p.Deny) && (!p.Limited || in(p.Allow))
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

// Combine returns what all the policies together permit: as a list of what is denied, or, where tools of MCP servers are listed, of what is allowed.
func Combine(all []Policy) Rights {
	if len(all) == 0 {
		return Rights{}
	}
	var r Rights
	var permitted []string
	for _, t := range replaced {
		if slices.ContainsFunc(t.by, func(tool string) bool {
			return slices.ContainsFunc(all, func(p Policy) bool {
				return !p.permits(tool) || !p.permits(t.tool) && slices.Contains(t.by, t.tool)
			})
		}) {
			r.Deny = append(r.Deny, t.tool)
		} else {
			permitted = append(permitted, t.tool)
		}
	}
	servers, closed := []string{policy.MCPGroup}, false
	var deny []string
	for _, p := range all {
		closed = closed || p.Unreadable
		for _, e := range p.Deny {
			deny = append(deny, mcpEntry(e, true))
		}
		if !p.Limited {
			continue
		}
		var here []string
		for _, e := range p.Allow {
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
		return Nothing()
	case slices.Contains(servers, policy.MCPGroup):
		r.Deny = compact(slices.Concat(r.Deny, deny))
		return r
	case len(servers) == 0:
		r.Deny = compact(append(r.Deny, policy.MCPGroup))
		return r
	}
	return Rights{Allow: compact(slices.Concat(permitted, servers)), Deny: compact(deny)}
}

func compact(s []string) (out []string) {
	for _, x := range s {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// IsDeniedToSubagents reports whether a tool is one that no list gives to a sub-agent in OpenClaw.
func IsDeniedToSubagents(tool string) bool {
	return strings.HasPrefix(tool, "sessions_") || slices.Contains([]string{"session_status", "subagents", "agents_list", "cron"}, tool)
}

// Sandbox returns the tools that OpenClaw gives to sandboxed sessions where no list says so.
func Sandbox() []string {
	return []string{"exec", "process", "read", "write", "edit", "apply_patch", "image", "sessions_list", "sessions_history", "sessions_send",
		"sessions_spawn", "sessions_yield", "subagents", "session_status"}
}

package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ToolRules say which tools may be called. An entry is a name, a pattern with *, or a group ("group:sessions").
type ToolRules struct {
	Allow []string // only these; empty = all
	Deny  []string // never these; wins over Allow
	Name  string   // the config key that they come from, for verdicts: "tools", "agents.list[main].tools"
	Fixed string   // why, where the host itself says so and no entry of a configuration
}

// Rights is a pair of lists of tools.
type Rights struct {
	Allow []string `yaml:"allow" json:"allow,omitempty" doc:"Only these tools. Empty = all tools that no rule denies."`
	Deny  []string `yaml:"deny" json:"deny,omitempty" doc:"Never these tools; deny overrides allow."`
}

// Under gives the rights as a layer that a config key names.
func (r Rights) Under(key string) ToolRules {
	return ToolRules{Name: key, Allow: r.Allow, Deny: r.Deny}
}

// MCPGroup names all tools that do not come with parley.
const MCPGroup = "group:mcp"

// toolGroups name several tools at once.
var toolGroups = map[string][]string{
	"group:sessions": {"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "sessions_search", "sessions_yield", "session_status", "subagents"},
	"group:fs":       {"files", "attachments"},
	"group:web":      {"fetch"},
	"group:memory":   {"remember", "recall"},
}

// ungrouped are the tools that come with parley and are in no group.
var ungrouped = []string{"agents_list", "message", "cron"}

// indirect are the tools through which those are called that a request has no room for: the rights of the tool that is called decide.
var indirect = []string{"find_tool", "call_tool"}

// BuiltInTool reports whether a tool of this name comes with parley.
func BuiltInTool(name string) bool {
	name = strings.ToLower(name)
	if slices.Contains(ungrouped, name) || slices.Contains(indirect, name) {
		return true
	}
	for _, g := range toolGroups {
		if slices.Contains(g, name) {
			return true
		}
	}
	return false
}

// Permits says whether a tool may be called. Every layer must permit it: no deny entry matches, and an allow entry does or there
// is none.
func Permits(name string, layers ...ToolRules) Verdict {
	for i, l := range layers {
		if !l.permits(name) {
			return l.named(i).verdict(name)
		}
	}
	return Verdict{Allow, "tools", "nothing denies " + name}
}

// ToolVerdicts gives what each layer alone says about a tool.
func ToolVerdicts(name string, layers ...ToolRules) []Verdict {
	out := make([]Verdict, len(layers))
	for i, l := range layers {
		out[i] = l.named(i).verdict(name)
	}
	return out
}

// named is a layer with a name for its place where it has none.
func (l ToolRules) named(i int) ToolRules {
	if l.Name == "" {
		l.Name = fmt.Sprintf("tools layer %d", i)
	}
	return l
}

// permits is the verdict without the words for it: every tool is asked about in every turn.
func (l ToolRules) permits(name string) bool {
	match := func(e string) bool { return toolMatches(e, name) }
	return !slices.ContainsFunc(l.Deny, match) && (len(l.Allow) == 0 || slices.ContainsFunc(l.Allow, match))
}

func (l ToolRules) verdict(name string) Verdict {
	match := func(e string) bool { return toolMatches(e, name) }
	denied, allowed := slices.IndexFunc(l.Deny, match), slices.IndexFunc(l.Allow, match)
	switch {
	case denied >= 0 && l.Fixed != "":
		return Verdict{Deny, l.Name, l.Fixed}
	case denied >= 0:
		return Verdict{Deny, fmt.Sprintf("%s.deny[%d]", l.Name, denied), fmt.Sprintf("%s is denied by %q", name, l.Deny[denied])}
	case allowed >= 0:
		return Verdict{Allow, fmt.Sprintf("%s.allow[%d]", l.Name, allowed), fmt.Sprintf("%s is allowed by %q", name, l.Allow[allowed])}
	case len(l.Allow) > 0:
		return Verdict{Deny, l.Name + ".allow", fmt.Sprintf("%s is not in the list of allowed tools", name)}
	}
	return Verdict{Allow, l.Name, "nothing denies " + name}
}

func toolMatches(entry, name string) bool {
	entry, name = strings.ToLower(strings.TrimSpace(entry)), strings.ToLower(name)
	if entry == MCPGroup {
		return !BuiltInTool(name)
	}
	if g, ok := toolGroups[entry]; ok {
		return slices.Contains(g, name)
	}
	return Glob(entry, name)
}

// CheckTools finds entries that can match no tool. prefixes are what the names of tools may begin with that are not known yet: those
// of MCP servers.
func (r Rights) CheckTools(path string, prefixes []string) []Problem {
	var out []Problem
	for _, l := range []struct {
		name string
		list []string
	}{{"allow", r.Allow}, {"deny", r.Deny}} {
		for i, e := range l.list {
			if !knownTool(e, prefixes) {
				out = append(out, Problem{Path: fmt.Sprintf("%s.%s[%d]", path, l.name, i), Warning: true,
					Message: fmt.Sprintf("%q matches no tool; the groups are %s", e, strings.Join(toolGroupNames(), ", "))})
			}
		}
	}
	return out
}

func knownTool(entry string, prefixes []string) bool {
	entry = strings.ToLower(strings.TrimSpace(entry))
	if entry == MCPGroup {
		return true
	}
	match := func(name string) bool { return toolMatches(entry, name) }
	for _, g := range toolGroups {
		if slices.ContainsFunc(g, match) {
			return true
		}
	}
	start, _, open := strings.Cut(entry, "*")
	return slices.ContainsFunc(ungrouped, match) || slices.ContainsFunc(prefixes, func(p string) bool {
		p = strings.ToLower(p)
		return strings.HasPrefix(start, p) || open && strings.HasPrefix(p, start)
	})
}

func toolGroupNames() []string {
	return append(slices.Sorted(maps.Keys(toolGroups)), MCPGroup)
}

// Glob reports whether the pattern matches the whole text; * stands for any text, nothing else is special. It takes time
// linear in the text for each *.
func Glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}

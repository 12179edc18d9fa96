package policy

import (
	"fmt"
	"slices"
	"strings"
)

// ToolRules say which tools may be called. An entry is a name, a pattern with *, or a group ("group:sessions").
type ToolRules struct {
	Allow []string // only these; empty = all
	Deny  []string // never these; wins over Allow
	Name  string   // the config key that they come from, for verdicts: "tools", "agents.list[main].tools"
}

// Rights is a pair of lists of tools.
type Rights struct {
	Allow []string `yaml:"allow" json:"allow,omitempty" doc:"Only these; naming a session tool gives it back to sub-agents."`
	Deny  []string `yaml:"deny" json:"deny,omitempty" doc:"Never these."`
}

// toolGroups name several tools at once.
var toolGroups = map[string][]string{
	"group:sessions": {"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "sessions_search", "sessions_yield", "session_status", "subagents"},
}

// Permits says whether a tool may be called. Every layer must permit it: no deny entry matches, and an allow entry does or there
// is none.
func Permits(name string, layers ...ToolRules) Verdict {
	for i, l := range layers {
		if l.Name == "" {
			l.Name = fmt.Sprintf("tools layer %d", i)
		}
		if j := slices.IndexFunc(l.Deny, func(e string) bool { return toolMatches(e, name) }); j >= 0 {
			return Verdict{Deny, fmt.Sprintf("%s.deny[%d]", l.Name, j), fmt.Sprintf("%s is denied by %q", name, l.Deny[j])}
		}
		if len(l.Allow) > 0 && !slices.ContainsFunc(l.Allow, func(e string) bool { return toolMatches(e, name) }) {
			return Verdict{Deny, l.Name + ".allow", fmt.Sprintf("%s is not in the list of allowed tools", name)}
		}
	}
	return Verdict{Allow, "tools", "nothing denies " + name}
}

func toolMatches(entry, name string) bool {
	entry = strings.ToLower(strings.TrimSpace(entry))
	if g, ok := toolGroups[entry]; ok {
		return slices.Contains(g, strings.ToLower(name))
	}
	return Glob(entry, strings.ToLower(name))
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

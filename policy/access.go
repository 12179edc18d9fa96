package policy

import (
	"fmt"
	"maps"
	"slices"
)

// Check finds what contradicts itself in an account's section. Paths are relative to that section.
func (a Access) Check() []Problem {
	var out []Problem
	add := func(warning bool, path, format string, args ...any) {
		out = append(out, Problem{Path: path, Message: fmt.Sprintf(format, args...), Warning: warning})
	}
	switch a.DMPolicy {
	case "", DMPairing, DMDisabled:
	case DMOpen:
		if !everybody(a.AllowFrom) {
			add(false, "dmPolicy", `open needs "*" in allowFrom, which confirms that everybody may write`)
		}
	case DMAllowlist:
		if len(a.AllowFrom) == 0 {
			add(true, "dmPolicy", "allowlist with an empty allowFrom: only owners and people who were paired before can write")
		}
	default:
		add(false, "dmPolicy", "%q is none of pairing, allowlist, open, disabled", a.DMPolicy)
	}
	if (a.DMPolicy == "" || a.DMPolicy == DMPairing || a.DMPolicy == DMAllowlist) && everybody(a.AllowFrom) {
		add(true, "allowFrom", `"*" lets everybody write directly although dmPolicy is not open`)
	}
	switch a.GroupPolicy {
	case "", GroupAllowlist, GroupOpen, GroupDisabled:
	default:
		add(false, "groupPolicy", "%q is none of allowlist, open, disabled", a.GroupPolicy)
	}
	for _, l := range []struct {
		path string
		list []string
	}{{"allowFrom", a.AllowFrom}, {"groupAllowFrom", a.GroupAllowFrom}} {
		out = append(out, checkList(l.path, l.list)...)
	}
	nobody := (a.GroupPolicy == "" || a.GroupPolicy == GroupAllowlist) && len(a.GroupAllowFrom) == 0 && len(a.AllowFrom) == 0
	for _, id := range slices.Sorted(maps.Keys(a.Groups)) {
		out = append(out, a.Groups[id].check("groups."+id, nobody && id == "*", true)...)
	}
	return out
}

func (g GroupAccess) check(path string, nobody, topics bool) []Problem {
	out := checkList(path+".allowFrom", g.AllowFrom)
	on := g.Enabled == nil || *g.Enabled
	if nobody && on && len(g.AllowFrom) == 0 && len(g.Topics) == 0 {
		out = append(out, Problem{Path: path, Warning: true,
			Message: `only owners can use the bot here: groupPolicy is allowlist, and all lists of senders are empty; list the group by its id, or write allowFrom: ["*"]`})
	}
	if len(g.Topics) > 0 && !topics {
		out = append(out, Problem{Path: path + ".topics", Message: "a topic cannot have topics"})
		return out
	}
	for _, id := range slices.Sorted(maps.Keys(g.Topics)) {
		out = append(out, g.Topics[id].check(path+".topics."+id, nobody && len(g.AllowFrom) == 0, false)...)
	}
	return out
}

func checkList(path string, list []string) []Problem {
	var out []Problem
	for i, e := range list {
		if e == "" || e == "@" {
			out = append(out, Problem{Path: fmt.Sprintf("%s[%d]", path, i), Message: fmt.Sprintf("%q names no person", e)})
		}
	}
	return out
}

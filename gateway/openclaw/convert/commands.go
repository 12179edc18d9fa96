package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/gateway/openclaw/jsontree"
)

// commands reports what is left of the section commands; owners are converted at the end.
func (o *output) commands(m map[string]any, all accounts) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch k {
		case "ownerAllowFrom":
		case "allowFrom":
			o.commandLists(jsontree.Object(m[k]), all)
		default:
			o.Leave("commands."+k, "parley has no equivalent: admitted people use commands, and some commands are for owners only (docs/chats.md)")
		}
	}
}

// commandLists reports the accounts where more people may give commands than commands.allowFrom names.
//
// source: openclaw/openclaw docs/tools/slash-commands.md, commands.allowFrom: the only authorization of commands; a channel's list wins over "*"
func (o *output) commandLists(lists map[string]any, all accounts) {
	for _, a := range all {
		allowed, ok := lists[string(a.kind)].([]any)
		if !ok {
			allowed, ok = lists[everybody].([]any)
		}
		if !ok {
			continue // the account's own lists hold, as in parley
		}
		var may []string
		for _, e := range allowed {
			if id, ok := (accessConverter{output: o, kind: a.kind}).person(strings.TrimSpace(fmt.Sprint(e))); ok {
				may = append(may, id)
			}
		}
		if !slices.Contains(may, everybody) && slices.ContainsFunc(a.access.commanders(), func(id string) bool { return !slices.Contains(may, id) }) {
			o.Open("commands.allowFrom: "+a.what, "everybody whom the account lets in by a list or a code may use /new, /model, /think, /usage, /context and /compact (docs/owners.md); "+
				"OpenClaw had commands for the people of this list only: let in nobody else, if that matters")
		}
	}
}

// commanders are the people who may give commands in parley; "*" is anybody.
func (a access) commanders() (out []string) {
	if a.dm != disabled {
		out = append(out, a.allow...)
	}
	if a.dm == pairing || a.groupPolicy == open && len(a.groups) > 0 {
		out = append(out, everybody)
	}
	if a.groupPolicy == disabled {
		return out
	}
	out = append(out, a.fallback()...)
	var add func(groups map[string]group)
	add = func(groups map[string]group) {
		for _, g := range groups {
			if !g.off {
				out = append(out, g.allow...)
				add(g.topics)
			}
		}
	}
	add(a.groups)
	return out
}

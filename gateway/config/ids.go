package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/policy"
)

// Ids of people and chats are compared as the platform's adapter writes them, so what people write otherwise is rewritten here, once.
// What is no id would never match anybody: it is an error.

// access rewrites the ids of a section, in the keys that it has written itself; what it inherits was rewritten there.
func (d *decoder) access(a Adapter, x *policy.Access, written map[string]bool, path string) {
	if d.lax {
		return
	}
	if written["allowFrom"] {
		x.AllowFrom = d.people(a, x.AllowFrom, path+".allowFrom")
	}
	if written["groupAllowFrom"] {
		x.GroupAllowFrom = d.people(a, x.GroupAllowFrom, path+".groupAllowFrom")
	}
	if written["groups"] {
		groups := x.Groups
		x.Groups = renamed(groups, func(id string) (string, bool) { return d.chat(a, id, path+".groups."+id) }, d.twice(path+".groups."))
		for id, g := range groups {
			if to, ok := d.chat(a, id, ""); ok {
				x.Groups[to] = d.group(a, g, path+".groups."+id)
			}
		}
	}
}

func (d *decoder) group(a Adapter, g policy.GroupAccess, path string) policy.GroupAccess {
	g.AllowFrom = d.people(a, g.AllowFrom, path+".allowFrom")
	g.ToolsBySender = renamed(g.ToolsBySender, func(id string) (string, bool) { return d.person(a, id, path+".toolsBySender."+id) }, d.twice(path+".toolsBySender."))
	if g.Topics != nil {
		topics := make(map[string]policy.GroupAccess, len(g.Topics))
		for id, t := range g.Topics {
			topics[id] = d.group(a, t, path+".topics."+id)
		}
		g.Topics = topics
	}
	return g
}

// renamed gives a map with its keys rewritten. Of two keys that become one, the first in alphabetical order stays and twice is told of
// the other.
func renamed[V any](m map[string]V, rewrite func(string) (string, bool), twice func(key, first string)) map[string]V {
	if m == nil {
		return nil
	}
	out, from := make(map[string]V, len(m)), make(map[string]string, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		to, ok := rewrite(key)
		if first, has := from[to]; has && ok {
			twice(key, first)
			continue
		}
		out[to], from[to] = m[key], key
	}
	return out
}

func (d *decoder) twice(path string) func(key, first string) {
	return func(key, first string) {
		d.at(path+key, "is the same as "+quoted(first), "keep one")
	}
}

func (d *decoder) people(a Adapter, list []string, path string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i], _ = d.person(a, e, fmt.Sprintf("%s[%d]", path, i))
	}
	return out
}

// person rewrites the id of a person, with or without its channel. "*" and what is empty are not its business.
func (d *decoder) person(a Adapter, text, path string) (string, bool) {
	e := strings.TrimSpace(text)
	if kind, rest, ok := strings.Cut(e, ":"); ok && strings.EqualFold(kind, string(a.Kind)) {
		e = strings.TrimSpace(rest)
	}
	if a.Person == nil || e == "*" || e == "" || e == "@" {
		return text, true
	}
	id, err := a.Person(e)
	if err != nil {
		d.at(path, fmt.Sprintf("%s is not a %s user", quotedValue(e), a.Kind), err.Error())
		return text, false
	}
	if strings.HasPrefix(string(id), "@") {
		k := checker{decoder: d, root: d.root}
		k.report(Warning, path, k.redact(fmt.Sprintf("%s is a name; another person who takes the name gets these rights", quotedValue(e))),
			"use the person's id, which never changes; /whoami shows it")
	}
	return string(id), true
}

// chat rewrites the id of a group; without a path it reports nothing.
func (d *decoder) chat(a Adapter, text, path string) (string, bool) {
	e := strings.TrimSpace(text)
	if a.Chat == nil || e == "*" {
		return e, true
	}
	id, err := a.Chat(e)
	if err != nil {
		if path != "" {
			d.at(path, fmt.Sprintf("%s is not a %s chat", quotedValue(e), a.Kind), err.Error())
		}
		return text, false
	}
	return string(id), true
}

// withKind rewrites entries that name their channel; others stay.
func (d *decoder) withKind(list []string, path string) []string {
	out := slices.Clone(list)
	for i, e := range out {
		kind, _, ok := strings.Cut(strings.TrimSpace(e), ":")
		at := slices.IndexFunc(d.table, func(a Adapter) bool { return ok && strings.EqualFold(string(a.Kind), strings.TrimSpace(kind)) })
		if at < 0 || d.table[at].Person == nil {
			continue
		}
		if id, good := d.person(d.table[at], e, fmt.Sprintf("%s[%d]", path, i)); good && id != e {
			out[i] = string(d.table[at].Kind) + ":" + id
		}
	}
	return out
}

// global rewrites the ids that stand outside of channels.
func (d *decoder) global(c *Config) {
	c.Commands.OwnerAllowFrom = d.withKind(c.Commands.OwnerAllowFrom, "commands.ownerAllowFrom")
	links := make(map[string][]string, len(c.Session.IdentityLinks))
	for _, name := range slices.Sorted(maps.Keys(c.Session.IdentityLinks)) {
		links[name] = d.withKind(c.Session.IdentityLinks[name], "session.identityLinks."+name)
	}
	if len(links) > 0 {
		c.Session.IdentityLinks = links
	}
}

// at reports an error at a key path of the file.
func (d *decoder) at(path, text, hint string) {
	k := checker{decoder: d, root: d.root}
	k.wrong(path, k.redact(text), hint)
}

func quotedValue(s string) string {
	if presentable(s) {
		return fmt.Sprintf("%q", s)
	}
	return "this value"
}

// Person gives a person's id on a channel as its adapter writes it; without an adapter that says how, it stays.
func (t Table) Person(kind channels.Kind, text string) (channels.UserID, error) {
	if a, ok := t.find(kind); ok && a.Person != nil {
		return a.Person(strings.TrimSpace(text))
	}
	return channels.UserID(strings.TrimSpace(text)), nil
}

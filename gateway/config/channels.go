package config

import (
	"reflect"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"parley/channels"
	"parley/gateway/config/field"
)

var accountName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// section is a channel's fields while they are read: those that every channel has, and the adapter's own.
type section struct {
	common  common
	adapter any // pointer to the adapter's struct, or nil
}

func newSection(ts field.Cache, a Adapter) *section {
	s := &section{adapter: a.fresh()}
	ts.Fill(reflect.ValueOf(&s.common).Elem())
	s.common.Pacing = a.Pacing
	if a.Access != nil {
		s.common.Access = *a.Access
	}
	if s.adapter != nil {
		ts.Fill(reflect.ValueOf(s.adapter).Elem())
	}
	return s
}

// Section returns the structs whose fields together are the keys of a channel's section, with their defaults: those that every channel has, then the
// adapter's own.
func Section(a Adapter, fields field.Cache) []reflect.Value { return newSection(fields, a).values() }

// values gives the structs whose fields together are the section's keys.
func (s *section) values() []reflect.Value {
	out := []reflect.Value{reflect.ValueOf(&s.common).Elem()}
	if s.adapter != nil {
		out = append(out, reflect.ValueOf(s.adapter).Elem())
	}
	return out
}

// inherit makes a section that begins with the same values. Lists and maps are shared: nothing changes them in place.
func (s *section) inherit() *section {
	c := &section{common: s.common}
	if s.adapter != nil {
		p := reflect.New(reflect.TypeOf(s.adapter).Elem())
		p.Elem().Set(reflect.ValueOf(s.adapter).Elem())
		c.adapter = p.Interface()
	}
	return c
}

func (s *section) account(k channels.Kind, id, path string, line int) configured {
	return configured{
		Account: Account{
			Kind: k, ID: channels.AccountID(id), Line: line,
			Access: s.common.Access, Pacing: s.common.Pacing, Streaming: s.common.Streaming, TextChunkLimit: s.common.TextChunkLimit, Adapter: s.adapter,
		},
		path: path, enabled: s.common.Enabled,
	}
}

// configured is an account with what only the checks need.
type configured struct {
	Account
	path    string // its key path, names as written
	enabled bool
}

// channels reads the section of each channel kind.
func (d *decoder) channels(n *yaml.Node, at spot) {
	for _, p := range d.pairs(n, at) {
		to := at.key(keyText(p.key), p.line)
		a, ok := d.table.find(channels.Kind(p.key))
		if !ok {
			hint := "known channels: " + strings.Join(d.table.kinds(), ", ")
			if k, near := closest(p.key, d.table.kinds()); near {
				hint += "; did you mean \"" + k + "\"?"
			}
			d.wrong(to, "unknown channel", hint)
			continue
		}
		d.channel(a, p.node, to)
	}
}

func (d *decoder) channel(a Adapter, n *yaml.Node, at spot) {
	n, ok := d.visit(n, at)
	if !ok {
		return
	}
	var ps []pair
	if !isNull(n) {
		ps = d.pairs(n, at)
		if n.Kind != yaml.MappingNode {
			d.accounts = append(d.accounts, configured{Account: Account{Kind: a.Kind}, path: at.path})
			return
		}
	}
	off := disabled(ps)
	outer := d.lax
	d.lax = off
	defer func() { d.lax = outer }()

	s := newSection(d.types, a)
	seen := d.entries(ps, at, []string{AccountsKey}, s.values()...)
	d.access(a, &s.common.Access, seen, "channels."+string(a.Kind))
	accounts, to := d.accountPairs(ps, at)
	if len(accounts) == 0 {
		d.complete(seen, at, s.values()...)
		d.accounts = append(d.accounts, s.account(a.Kind, string(channels.DefaultAccount), at.path, at.line))
		return
	}
	for _, p := range accounts {
		d.account(a, s, seen, p, to.key(nameText(p.key), p.line), off)
	}
}

// disabled reports whether a section says enabled: false. It is asked before the section is read, because a disabled one may be
// incomplete.
func disabled(ps []pair) bool {
	for _, p := range ps {
		if p.key == "enabled" && p.node.Kind == yaml.ScalarNode && p.node.Value == "false" {
			return true
		}
	}
	return false
}

func (d *decoder) accountPairs(ps []pair, at spot) ([]pair, spot) {
	for _, p := range ps {
		if p.key != AccountsKey {
			continue
		}
		to := at.key(p.key, p.line)
		n, ok := d.visit(p.node, to)
		if !ok || isNull(n) {
			return nil, to
		}
		return d.pairs(n, to), to
	}
	return nil, at
}

func (d *decoder) account(a Adapter, from *section, inherited map[string]bool, p pair, at spot, off bool) {
	if !accountName.MatchString(p.key) {
		d.wrong(at, "an account name has 1 to 64 letters, digits, -, _ and .", "rename the account")
	}
	n, ok := d.visit(p.node, at)
	if !ok {
		return
	}
	s := from.inherit()
	var ps []pair
	if !isNull(n) {
		ps = d.pairs(n, at)
	}
	d.lax = off || disabled(ps)
	seen := d.entries(ps, at, nil, s.values()...)
	path := "channels." + string(a.Kind) + "." + AccountsKey + "." + p.key
	d.access(a, &s.common.Access, seen, path)
	for k, v := range inherited {
		seen[k] = seen[k] || v
	}
	if off {
		s.common.Enabled = false // a channel that is off has no account that is on
	}
	d.complete(seen, at, s.values()...)
	d.accounts = append(d.accounts, s.account(a.Kind, p.key, path, at.line))
}

// addAlways adds the account default of the kinds that need no configuration and have none.
func (d *decoder) addAlways() {
	for _, a := range d.table {
		if !a.Always || d.has(a.Kind) {
			continue
		}
		s := newSection(d.types, a)
		d.accounts = append(d.accounts, s.account(a.Kind, string(channels.DefaultAccount), "channels."+string(a.Kind), 0))
	}
}

func (d *decoder) has(k channels.Kind) bool {
	for _, c := range d.accounts {
		if c.Kind == k {
			return true
		}
	}
	return false
}

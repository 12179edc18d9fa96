package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"parley/gateway/config/field"
)

// Bounds of a file. Real ones are far below all of them.
const (
	maxNodes    = 100_000 // values, those that aliases repeat included
	maxDepth    = 20
	maxKey      = 128 // bytes of a key
	maxProblems = 100
)

var (
	channelsType = reflect.TypeFor[Channels]()
	configType   = reflect.TypeFor[Config]()
)

// decoder checks a node tree against struct types and fills the structs, in one walk. It continues after a mistake.
type decoder struct {
	file     string
	getenv   func(string) string
	table    Table
	types    field.Cache
	root     *yaml.Node
	problems []Problem
	accounts []configured // of all channels, in the order of the file
	nodes    int          // values seen
	expanded []string     // what variables gave, for redaction
	lax      bool         // inside something that is disabled: it may be incomplete
}

// spot is a place in the file.
type spot struct {
	path  string
	line  int
	depth int
}

func (s spot) key(k string, line int) spot {
	if s.path != "" {
		k = s.path + "." + k
	}
	return spot{k, line, s.depth + 1}
}

func (s spot) item(i, line int) spot {
	return spot{s.path + "[" + strconv.Itoa(i) + "]", line, s.depth + 1}
}

func (d *decoder) report(s Severity, line int, key, text, hint string) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, Problem{File: d.file, Line: line, Key: key, Text: text, Hint: hint, Severity: s})
	}
}

func (d *decoder) wrong(at spot, text, hint string) {
	d.report(SevereError, at.line, at.path, text, hint)
}

// value fills v from n. It reports whether n was written at all: a key without a value is not.
func (d *decoder) value(n *yaml.Node, v reflect.Value, f field.Field, at spot) bool {
	n, ok := d.visit(n, at)
	if !ok {
		return true
	}
	if isNull(n) {
		return false
	}
	switch t := v.Type(); {
	case t == field.SecretType:
		d.secret(n, v, f, at)
	case t == channelsType:
		d.channels(n, at)
	case t.Kind() == reflect.Pointer:
		p := reflect.New(t.Elem())
		if t.Elem().Kind() == reflect.Struct {
			d.types.Fill(p.Elem())
		}
		d.value(n, p.Elem(), f, at)
		v.Set(p)
	case t.Kind() == reflect.Struct:
		d.object(n, at, v)
	case t.Kind() == reflect.Map:
		d.mapping(n, v, f, at)
	case t.Kind() == reflect.Slice:
		d.list(n, v, f, at)
	case t.Kind() == reflect.Interface:
		if x, ok := d.free(n, at); ok {
			v.Set(reflect.ValueOf(&x).Elem())
		}
	default:
		d.scalar(n, v, f, at)
	}
	return true
}

// visit follows an alias and counts the node. ok is false when there is nothing to continue with; that was reported.
func (d *decoder) visit(n *yaml.Node, at spot) (*yaml.Node, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.nodes++
	switch {
	case d.nodes == maxNodes:
		d.wrong(spot{path: topOf(at.path), line: at.line}, "the file has too many values", "check for aliases that repeat each other")
		return n, false
	case d.nodes > maxNodes:
		return n, false
	case at.depth > maxDepth:
		d.wrong(spot{path: topOf(at.path), line: at.line}, "is nested too deeply", "check for an alias that contains itself")
		return n, false
	case n.Style&yaml.TaggedStyle != 0:
		d.wrong(at, "YAML tags are not supported", "remove the word that begins with !, or quote the value")
		return n, false
	}
	return n, true
}

func topOf(path string) string {
	if len(path) > 60 {
		return path[:60] + "…"
	}
	return path
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// pair is one entry of a mapping.
type pair struct {
	key  string
	line int
	node *yaml.Node
}

// pairs lists the entries of a mapping; repeated and impossible keys are reported and left out.
func (d *decoder) pairs(n *yaml.Node, at spot) []pair {
	if n.Kind != yaml.MappingNode {
		d.wrong(at, "must be a group of keys, is "+kindOf(n), "indent its keys below it, as key: value")
		return nil
	}
	out := make([]pair, 0, len(n.Content)/2)
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch first, twice := seen[k.Value]; {
		case k.Kind != yaml.ScalarNode || k.Style&yaml.TaggedStyle != 0 || k.ShortTag() == "!!null":
			d.wrong(spot{at.path, k.Line, 0}, "a key must be a plain word, is "+kindOf(k), "")
		case len(k.Value) > maxKey:
			d.wrong(spot{at.path, k.Line, 0}, "contains a key that is too long", fmt.Sprintf("shorten the key to at most %d bytes", maxKey))
		case k.ShortTag() == "!!merge":
			d.wrong(spot{at.path, k.Line, 0}, "merge keys (<<) are not supported", "write the keys out")
		case twice:
			d.wrong(at.key(keyText(k.Value), k.Line), "is set twice", fmt.Sprintf("line %d sets it first; keep one", first))
		default:
			seen[k.Value] = k.Line
			out = append(out, pair{k.Value, k.Line, n.Content[i+1]})
		}
	}
	return out
}

// plainKey is what a key may look like to be repeated in a problem: anything else might be a value in the wrong place.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`)

func keyText(k string) string {
	if plainKey.MatchString(k) {
		return k
	}
	return "(key)"
}

// nameText words a key that the file's author chose: an id, a name.
func nameText(k string) string {
	if presentable(k) {
		return k
	}
	return "(name)"
}

// object fills the structs in vs, whose fields together make one mapping.
func (d *decoder) object(n *yaml.Node, at spot, vs ...reflect.Value) {
	d.complete(d.entries(d.pairs(n, at), at, nil, vs...), at, vs...)
}

// entries fills fields from pairs and says which were written. also are further keys that the caller handles.
func (d *decoder) entries(ps []pair, at spot, also []string, vs ...reflect.Value) map[string]bool {
	seen := make(map[string]bool, len(ps))
	for _, p := range ps {
		if slices.Contains(also, p.key) {
			continue
		}
		if f, v, ok := d.lookup(p.key, vs); ok {
			to := at.key(p.key, p.line)
			seen[p.key] = d.value(p.node, v.FieldByIndex(f.Index), f, to)
			continue
		}
		d.unknown(p, at, also, vs)
	}
	return seen
}

func (d *decoder) lookup(key string, vs []reflect.Value) (field.Field, reflect.Value, bool) {
	for _, v := range vs {
		for _, f := range d.types.Of(v.Type()) {
			if f.Key == key {
				return f, v, true
			}
		}
	}
	return field.Field{}, reflect.Value{}, false
}

func (d *decoder) unknown(p pair, at spot, also []string, vs []reflect.Value) {
	if len(d.problems) >= maxProblems {
		return // hints take time
	}
	var known []string
	for _, v := range vs {
		for _, f := range d.types.Of(v.Type()) {
			known = append(known, f.Key)
		}
	}
	known = append(known, also...)
	hint := suggest(p.key, known)
	if _, near := closest(p.key, known); !near {
		if home := d.whereIs(p.key, configType, "", 0); home != "" && home != at.path {
			hint = "the key belongs to " + home + "; check the indentation"
		}
	}
	d.wrong(at.key(keyText(p.key), p.line), "unknown key", hint)
}

// whereIs finds the section that has a key of this name, for keys that slipped out of theirs.
func (d *decoder) whereIs(key string, t reflect.Type, path string, depth int) string {
	for _, f := range d.types.Of(t) {
		if f.Key == key && depth > 0 {
			return path
		}
		if f.Type.Kind() != reflect.Struct || f.Type == field.SecretType || depth > 4 {
			continue
		}
		if found := d.whereIs(key, f.Type, strings.TrimPrefix(path+"."+f.Key, "."), depth+1); found != "" {
			return found
		}
	}
	return ""
}

// complete reports required fields that were not written.
func (d *decoder) complete(seen map[string]bool, at spot, vs ...reflect.Value) {
	if d.lax {
		return
	}
	for _, v := range vs {
		for _, f := range d.types.Of(v.Type()) {
			if f.Required && !seen[f.Key] {
				d.wrong(at.key(f.Key, at.line), "is missing", strings.TrimSuffix(f.Doc, "."))
			}
		}
	}
}

// mapping fills a map with text keys. It replaces what was there.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, f field.Field, at spot) {
	t := v.Type()
	ps := d.pairs(n, at)
	m := reflect.MakeMapWithSize(t, len(ps))
	for _, p := range ps {
		to := at.key(nameText(p.key), p.line)
		e := d.element(t.Elem())
		if !d.value(p.node, e, f, to) {
			switch {
			case e.Kind() == reflect.Interface && p.node.Value != "": // null is written out
			case e.Kind() != reflect.Struct:
				d.wrong(to, "has no value", "")
			default:
				d.complete(nil, to, e)
			}
		}
		m.SetMapIndex(reflect.ValueOf(p.key).Convert(t.Key()), e)
	}
	v.Set(m)
}

// list fills a slice. It replaces what was there.
func (d *decoder) list(n *yaml.Node, v reflect.Value, f field.Field, at spot) {
	if n.Kind != yaml.SequenceNode {
		hint := "write [a, b], or one item a line, each after \"- \""
		if n.Kind == yaml.ScalarNode && presentable(n.Value) && v.Type().Elem().Kind() == reflect.String {
			hint = fmt.Sprintf("write [%q]", n.Value)
		}
		d.wrong(at, "must be a list, is "+kindOf(n), hint)
		return
	}
	s := reflect.MakeSlice(v.Type(), 0, len(n.Content))
	for i, c := range n.Content {
		to := at.item(i, c.Line)
		e := d.element(v.Type().Elem())
		if !d.value(c, e, f, to) {
			d.wrong(to, "is an empty item", "remove it")
		}
		s = reflect.Append(s, e)
		if d.nodes > maxNodes {
			break
		}
	}
	v.Set(s)
}

// element makes a map or list element with its defaults.
func (d *decoder) element(t reflect.Type) reflect.Value {
	e := reflect.New(t).Elem()
	if t.Kind() == reflect.Struct && t != field.SecretType {
		d.types.Fill(e)
	}
	return e
}

// kindOf words what a node is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "empty"
	}
	return "text"
}

// locate finds the line of a key path; for one that is not written, of the nearest key around it. shown is the path without keys
// that must not be repeated.
func locate(n *yaml.Node, path string) (line int, shown string) {
	line = n.Line
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; path != "" && i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			rest, ok := strings.CutPrefix(path, k.Value)
			if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
				continue
			}
			if rest == "" {
				return k.Line, nameText(k.Value)
			}
			dot := rest[:1]
			if dot == "[" {
				dot = ""
			}
			line, shown = locate(n.Content[i+1], strings.TrimPrefix(rest, "."))
			return max(k.Line, line), nameText(k.Value) + dot + shown
		}
	case yaml.SequenceNode:
		index, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(n.Content) {
			line, shown = locate(n.Content[i], strings.TrimPrefix(rest, "."))
			dot := ""
			if strings.HasPrefix(rest, ".") {
				dot = "."
			}
			return line, "[" + index + "]" + dot + shown
		}
	}
	return line, unwritten(path)
}

// unwritten words the part of a path that the file does not have, where inherited names may be.
func unwritten(path string) string {
	parts := strings.Split(path, ".")
	for i, p := range parts {
		name, index, has := strings.Cut(p, "[")
		if name != "" {
			name = nameText(name)
		}
		if has {
			name += "[" + index
		}
		parts[i] = name
	}
	return strings.Join(parts, ".")
}

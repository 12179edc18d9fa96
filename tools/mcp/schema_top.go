package mcp

import (
	"maps"
	"reflect"
	"slices"
)

// The bounds of what is put together at the top of a schema: branches may refer to each other.
const (
	maxTopDepth = 8
	maxBranches = 200
)

// widener puts the branches of one schema together.
type widener struct {
	root     map[string]any
	branches int // so far
}

// widened gives the top of a schema with the arguments of its branches in it, and without the branches: providers take no anyOf, oneOf, allOf and
// $ref there. Wanted is what each branch of anyOf and oneOf wants, and whatever one of allOf wants: that is wider than the server's schema, never
// narrower. Neither root nor top is changed.
// source: zod.dev/json-schema (discriminated unions), platform.openai.com/docs/guides/structured-outputs (root objects must not be anyOf)
func (w *widener) widened(top map[string]any, depth int) map[string]any {
	out := maps.Clone(top)
	if w.branches++; depth > maxTopDepth || w.branches > maxBranches {
		for _, k := range atTop {
			delete(out, k)
		}
		return out
	}
	if ref, ok := top["$ref"].(string); ok {
		if target, err := findReference(w.root, ref); err == nil {
			all, _ := out["allOf"].([]any)
			out["allOf"] = append([]any{target}, all...)
		}
	}
	properties, _ := out["properties"].(map[string]any)
	properties = maps.Clone(properties)
	wanted, _ := out["required"].([]any)
	wanted = slices.Clone(wanted)
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := out[key].([]any)
		var ofEach []any // what each branch so far wants
		for i, x := range list {
			if w.branches > maxBranches {
				break
			}
			branch, _ := x.(map[string]any)
			branch = w.widened(branch, depth+1)
			given, _ := branch["properties"].(map[string]any)
			for name, schema := range given {
				if properties == nil {
					properties = make(map[string]any)
				}
				properties[name] = either(properties[name], schema)
			}
			wants, _ := branch["required"].([]any)
			switch {
			case key == "allOf":
				wanted = append(wanted, wants...)
			case i == 0:
				ofEach = slices.Clone(wants)
			default:
				ofEach = slices.DeleteFunc(ofEach, func(name any) bool { return !slices.Contains(wants, name) })
			}
		}
		wanted = append(wanted, ofEach...)
	}
	if properties != nil {
		out["properties"] = properties
	}
	if wanted = withoutRepeats(wanted); len(wanted) > 0 {
		out["required"] = wanted
	}
	for _, k := range atTop {
		delete(out, k)
	}
	return out
}

// either gives a schema of what one of two allows; nil is none. The values of an argument that tells branches apart become one list.
func either(a, b any) any {
	if a == nil || reflect.DeepEqual(a, b) {
		return b
	}
	first, isSchema := a.(map[string]any)
	second, too := b.(map[string]any)
	if !isSchema || !too {
		return a
	}
	one, two := valuesOf(first), valuesOf(second)
	if one != nil && two != nil {
		out := maps.Clone(first)
		delete(out, "const")
		out["enum"] = withoutRepeats(append(slices.Clone(one), two...))
		return out
	}
	if forms, ok := first["anyOf"].([]any); ok && len(first) == 1 {
		if slices.ContainsFunc(forms, func(f any) bool { return reflect.DeepEqual(f, b) }) {
			return a
		}
		return map[string]any{"anyOf": append(slices.Clone(forms), b)}
	}
	return map[string]any{"anyOf": []any{a, b}}
}

// valuesOf are the values that a schema lists; nil = it lists none.
func valuesOf(s map[string]any) []any {
	if c, ok := s["const"]; ok {
		return []any{c}
	}
	list, _ := s["enum"].([]any)
	return list
}

// withoutRepeats keeps the first of values that are the same.
func withoutRepeats(list []any) (out []any) {
	for _, v := range list {
		if !slices.ContainsFunc(out, func(o any) bool { return reflect.DeepEqual(o, v) }) {
			out = append(out, v)
		}
	}
	return out
}

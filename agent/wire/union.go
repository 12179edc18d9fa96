package wire

import (
	"slices"
	"strconv"
	"strings"
)

// WithoutOtherBranches gives a fault of a validator without the errors of types that the refused value does not have: where a value may be one of
// several types, a validator lists what is wrong with it for each of them. What remains speaks of the type that was meant; where one of
// its errors names a field that may not be there, these are the ones that count. roles are those of the messages that were sent; one that
// no validator knows stands for any.
//
// source: docs.pydantic.dev/latest/concepts/unions (smart mode), docs.pydantic.dev/latest/errors/validation_errors, modelscope/ms-agent#574
func (f *Fault) WithoutOtherBranches(roles []string) *Fault {
	if len(f.entries) < 2 {
		return f
	}
	kept := slices.DeleteFunc(slices.Clone(f.entries), func(e map[string]any) bool { return isOfOtherRole(placeIn(e), roles) })
	if len(kept) == 0 {
		kept = f.entries
	}
	kept = meant(kept)
	if extra := slices.DeleteFunc(slices.Clone(kept), func(e map[string]any) bool { return e["type"] != "extra_forbidden" }); len(extra) > 0 {
		kept = extra
	}
	if len(kept) == len(f.entries) {
		return f
	}
	own := &Fault{Status: f.Status}
	r := faultReader{f: own}
	for _, e := range kept {
		r.walk("detail", e, 0)
	}
	r.end(f.Text)
	own.Code, own.Codes, own.entries = f.Code, f.Codes, nil
	return own
}

// branchNames are the words for the roles in the names that validators give to the types of messages.
var branchNames = []string{"system", "developer", "user", "assistant", "tool", "function"}

// isOfOtherRole reports whether an error is about a type of messages that the message at its place is not of.
func isOfOtherRole(place []string, roles []string) bool {
	i := slices.Index(place, "messages")
	if i < 0 || i+2 >= len(place) {
		return false
	}
	n, err := strconv.Atoi(place[i+1])
	if err != nil || n >= len(roles) || !slices.Contains(branchNames, roles[n]) {
		return false
	}
	name := strings.ToLower(place[i+2])
	return strings.HasSuffix(name, "param") && !strings.Contains(name, roles[n]) && slices.ContainsFunc(branchNames, func(role string) bool { return strings.Contains(name, role) })
}

// meant leaves out the errors of a type whose tag is another one, and that a value is of another type than it is, where an error inside of the
// same value says what is wrong with it.
func meant(entries []map[string]any) []map[string]any {
	others := make(map[string]bool) // places of types that are not meant
	inside := make(map[string]bool) // places of values that have an error inside
	for _, e := range entries {
		place := placeIn(e)
		if last := len(place) - 1; last > 1 && isTag(place[last]) && !isIndex(place[last-1]) && e["type"] == "literal_error" {
			others[strings.Join(place[:last], ".")] = true
			continue
		}
		for n := 1; n < len(place)-1; n++ {
			inside[strings.Join(place[:n], ".")] = true
		}
	}
	kept := slices.DeleteFunc(slices.Clone(entries), func(e map[string]any) bool {
		place := placeIn(e)
		last := len(place) - 1
		for n := 1; n <= len(place); n++ {
			if others[strings.Join(place[:n], ".")] {
				return true
			}
		}
		return last > 0 && isTypeName(place[last]) && inside[strings.Join(place[:last], ".")]
	})
	if len(kept) == 0 {
		return entries
	}
	return kept
}

// isTypeName reports whether a part of a place is the name of a plain type, or of a list: list[Text].
func isTypeName(part string) bool {
	return slices.Contains([]string{"str", "int", "float", "bool", "list", "dict", "none"}, part) || strings.Contains(part, "[")
}

func isTag(field string) bool { return field == "role" || field == "type" }

func isIndex(part string) bool { return part != "" && part[0] >= '0' && part[0] <= '9' }

// placeIn gives the parts of an error's place.
func placeIn(entry map[string]any) []string {
	loc, _ := entry["loc"].([]any)
	out := make([]string, 0, len(loc))
	for _, x := range loc {
		switch x := x.(type) {
		case string:
			out = append(out, x)
		case float64:
			out = append(out, strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	return out
}

// placeOf gives a place with dots between its parts; "" = it is none.
func placeOf(loc []any) string {
	return strings.Join(placeIn(map[string]any{"loc": loc}), ".")
}

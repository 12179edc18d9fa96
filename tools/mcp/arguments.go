package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"parley/channels/pattern"
)

var propertyName = pattern.New(`^[A-Za-z0-9_.-]{1,64}$`)

var notInProperties = pattern.New(`[^A-Za-z0-9_.-]`)

// renames are the arguments of a tool whose own names not all models take: the server's name by the name that models are told.
type renames map[string]string

// renamed returns the renames of these arguments, the same for the same names; nil when all models take all of them. A name gets _ for
// what is not allowed in it; where that is another argument's name, or the name is too long, a hash tells it apart.
func renamed(properties map[string]any) renames {
	var out renames
	taken := map[string]bool{}
	for name := range properties {
		taken[name] = propertyName.MatchString(name)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if propertyName.MatchString(name) {
			continue
		}
		plain := notInProperties.ReplaceAllString(name, "_")
		if len(plain) == 0 || len(plain) > 64 || taken[plain] {
			sum := sha256.Sum256([]byte(name))
			plain = plain[:min(len(plain), 55)] + "_" + hex.EncodeToString(sum[:4])
		}
		if out == nil {
			out = renames{}
		}
		taken[plain], out[plain] = true, name
	}
	return out
}

// restore gives a call's arguments the server's own names.
func (r renames) restore(args json.RawMessage) json.RawMessage {
	if len(r) == 0 {
		return args
	}
	m := decodeMembers(args)
	if m == nil {
		return args
	}
	out := members{}
	for name, v := range m {
		if own, ok := r[name]; ok {
			name = own
		}
		out[name] = v
	}
	if text, err := encodeJSON(out); err == nil {
		return text
	}
	return args
}

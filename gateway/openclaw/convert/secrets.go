package convert

import (
	"fmt"
	"strings"

	"parley/channels"
	"parley/channels/pattern"
)

var variable = pattern.New(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

// secretOr returns the reference that stands for a secret: package source put a variable into its place. Without one it refers to the variable
// name, which a person must set: package source reports every variable without a value.
func secretOr(name string, v any) string {
	if s, ok := v.(string); ok && len(references([]byte(s))) > 0 {
		return s
	}
	return "${" + name + "}"
}

// links carries over the ids of one person on several channels. An entry that names nobody here is left out.
func (o *output) links(v any) any {
	var out []any
	for _, e := range entries(v) {
		entry := strings.TrimSpace(fmt.Sprint(e))
		word, rest, _ := strings.Cut(entry, ":")
		k := channels.Kind(strings.ToLower(word))
		if id, ok := o.ids.Person(k, rest); ok && id != everybody && !strings.HasPrefix(id, "@") {
			out = append(out, string(k)+":"+id)
		} else {
			o.Leave("session.identityLinks: "+entry, "the entry names no person on a channel of parley")
		}
	}
	return out
}

package openclaw

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"parley/channels"
)

func (c *conversion) channel(kind string, v any) {
	what := "channels." + kind
	m, ok := v.(map[string]any)
	switch {
	case kind == "defaults":
		c.Report.Leave(what, "set it for each channel")
		return
	case !ok || !c.ids.has(channels.Kind(kind)):
		c.Report.Leave(what, "parley has no such channel")
		return
	}
	rs := slices.Concat(own[kind], account)
	to := []string{"channels", kind}
	accounts, _ := m["accounts"].(map[string]any)
	put(c.out, to, map[string]any{})
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if k != "accounts" {
			c.walk(rs, []string{k}, m[k], to, what+".")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(accounts)) {
		fields, _ := accounts[id].(map[string]any)
		in := append(slices.Clone(to), "accounts", id)
		put(c.out, in, map[string]any{})
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			c.walk(rs, []string{k}, fields[k], in, what+".accounts."+id+".")
		}
	}
	c.paired(kind)
}

// paired adds the people who were let in by pairing.
func (c *conversion) paired(kind string) {
	name := "credentials/" + kind + "-allowFrom.json"
	text, err := c.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var file struct {
		AllowFrom []string `json:"allowFrom"`
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		return // history.PairedPeople says so
	}
	section, _ := c.out["channels"].(map[string]any)[kind].(map[string]any)
	list, _ := section["allowFrom"].([]any)
	for _, p := range c.people(channels.Kind(kind), anys(file.AllowFrom)).([]any) {
		if p != "*" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	section["allowFrom"] = list
	c.Report.Differ(fmt.Sprintf("%s: %d people", name, len(file.AllowFrom)), "who was let in by pairing is in allowFrom now; take somebody out there, not with parley pairing remove")
}

func anys(s []string) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = s[i]
	}
	return out
}

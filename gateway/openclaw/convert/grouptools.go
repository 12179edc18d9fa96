package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/toolrights"
)

// groupTools converts the tools of a group. OpenClaw goes by the most specific section, parley by all of them together, which permits no more.
// def is the section of all groups, or of the server around a channel; it counts where the group says nothing.
func (c accessConverter) groupTools(at string, m, def map[string]any) (r toolrights.Rights, bySender map[string]toolrights.Rights) {
	whole, from := jsontree.Object(m["tools"]), []map[string]any{jsontree.Object(m["toolsBySender"])}
	if m["tools"] != nil && whole == nil || m["toolsBySender"] != nil && from[0] == nil {
		c.Need(at+".tools", "the value cannot be read, so no tool is permitted here")
		return toolrights.Nothing(), nil
	}
	if m["tools"] == nil {
		whole, from = jsontree.Object(def["tools"]), append(from, jsontree.Object(def["toolsBySender"]))
	}
	all := toolPolicies(c.Report, at+".tools", whole, nil)
	said := map[string][]toolrights.Policy{}
	for i, section := range from {
		before := maps.Clone(said)
		for _, who := range slices.Sorted(maps.Keys(section)) {
			own := jsontree.Object(section[who])
			if word, rest, _ := strings.Cut(who, ":"); word == "channel" {
				kind, id, _ := strings.Cut(rest, ":")
				if channels.Kind(strings.ToLower(kind)) != c.kind {
					continue // nobody of this channel
				}
				who = id
			}
			id, ok := c.senderKey(who)
			if !ok || own == nil {
				c.Need(fmt.Sprintf("%s.toolsBySender.%s", at, who), "parley knows no such person, so no tool is permitted in this group: write the person's id, and permit the tools again")
				return toolrights.Nothing(), nil
			}
			if _, has := before[id]; has && i > 0 {
				continue
			}
			said[id] = append(said[id], toolPolicies(c.Report, at+".toolsBySender."+who, own, nil)...)
		}
	}
	bySender = map[string]toolrights.Rights{}
	for id, all := range said {
		bySender[id] = toolrights.Combine(all)
	}
	return toolrights.Combine(all), bySender
}

// senderKey reads a key of toolsBySender: id:…, e164:…, or an id alone. Names name no person.
func (c accessConverter) senderKey(who string) (string, bool) {
	word, rest, ok := strings.Cut(who, ":")
	switch {
	case ok && (word == "id" || word == "e164"):
		return c.person(rest)
	case ok && (word == "username" || word == "name"):
		return "", false
	}
	return c.person(who)
}

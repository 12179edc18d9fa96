package convert

import (
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// sessionConverter converts the section session.
type sessionConverter struct {
	*output
	mainKey string // session.mainKey
	global  bool   // session.scope is global
}

// convert converts the section; bindings may have a dmScope of their own.
func (c *sessionConverter) convert(s map[string]any, bindings []any) {
	if k := jsontree.Text(s["mainKey"]); k != "" {
		c.mainKey = strings.ToLower(k)
	}
	c.global = s["scope"] == "global"
	rest := maps.Clone(s)
	delete(rest, "sendPolicy")
	delete(rest, "dmScope")
	for _, k := range []string{"reset", "resetByType", "resetByChannel"} {
		c.resets(k, rest[k])
		delete(rest, k)
	}
	for _, k := range slices.Sorted(maps.Keys(rest)) {
		c.walkTop([]string{"session", k}, rest[k])
	}
	if _, ok := s["idleMinutes"]; ok && s["reset"] == nil {
		c.put([]string{"session", "reset", "mode"}, "idle")
	}
	c.dmScope(jsontree.Text(s["dmScope"]), bindings, false)
	if (sendPolicyConverter{c.output, c.mainKey}).convert(s["sendPolicy"]) {
		c.dmScope(jsontree.Text(s["dmScope"]), bindings, true)
	}
}

// dmScope carries session.dmScope over. Without one OpenClaw's default is main and parley's is owner-main, which separates more. Rules about
// keys mean the keys of main then, so main is written for them.
func (c *sessionConverter) dmScope(scope string, bindings []any, byKey bool) {
	for _, b := range bindings { // a binding may separate people more than the host does
		if own := jsontree.Text(jsontree.Object(jsontree.Object(b)["session"])["dmScope"]); slices.Index(dmScopes, own) > slices.Index(dmScopes, scope) && (scope != "" || own != "main") {
			scope = own
			c.Differ("session.dmScope", "a binding has its own dmScope, parley has one for all: the strictest holds for all direct chats")
		}
	}
	switch {
	case scope == "" && byKey:
		c.put([]string{"session", "dmScope"}, "main")
		c.Different = slices.DeleteFunc(c.Different, func(i report.Item) bool { return i.What == "session.dmScope" })
		c.Differ("session.dmScope", "it is main, OpenClaw's default, because rules of session.sendPolicy name session keys")
	case scope == "":
		c.Differ("session.dmScope", "the main conversation belongs to the owners; everybody else has a session of their own. Set it to main to share one session")
	case slices.Contains(dmScopes, scope):
		c.put([]string{"session", "dmScope"}, scope)
		c.Carry("session.dmScope", "")
	default:
		c.put([]string{"session", "dmScope"}, "per-account-channel-peer")
		c.Need("session.dmScope", "parley does not know this value and keeps all direct chats apart: choose one of "+strings.Join(dmScopes, ", "))
	}
}

// dmScopes are OpenClaw's scopes, the one that shares most first.
var dmScopes = []string{"main", "per-peer", "per-channel-peer", "per-account-channel-peer"}

// resets writes reset rules with the mode that OpenClaw takes where a rule names none.
func (c *sessionConverter) resets(key string, v any) {
	set := jsontree.Object(v)
	if set == nil {
		return
	}
	place := []string{"session", key}
	one := func(what string, to []string, m map[string]any) {
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if k == "mode" || k == "atHour" || k == "idleMinutes" {
				out[k] = m[k]
				c.Carry(what+"."+k, "")
			} else {
				c.Leave(what+"."+k, "parley has no equivalent")
			}
		}
		if out["mode"] == nil {
			out["mode"] = "daily"
			if out["atHour"] == nil && out["idleMinutes"] != nil {
				out["mode"] = "idle"
			}
		}
		c.put(to, out)
	}
	if key == "reset" {
		one("session.reset", place, set)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(set)) {
		name := strings.ToLower(k)
		if key == "resetByType" && name == "dm" {
			name = "direct"
		}
		if key == "resetByChannel" && !c.ids.Has(channels.Kind(name)) {
			c.Leave("session."+key+"."+k, "parley has no such channel")
			continue
		}
		one("session."+key+"."+k, append(slices.Clone(place), name), jsontree.Object(set[k]))
	}
}

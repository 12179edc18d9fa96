package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/openclaw/report"
)

// Person is somebody whom an account lets write directly.
type Person struct {
	Channel channels.Kind
	Account channels.AccountID
	ID      channels.UserID
}

// Input is what a conversion reads.
type Input struct {
	Top    map[string]any // the effective configuration; variables stand in the places of secrets
	Table  config.Table
	Getenv func(string) string
	Paired []Person // whom OpenClaw let in by pairing, whatever the policy of the account is now
	Report *report.Report
}

// Result is what a conversion makes.
type Result struct {
	Config       []byte
	Needs        []string // variables that it takes from the environment and that nothing sets
	Paired       []Person // whom parley should keep as paired
	MainKey      string   // session.mainKey
	Global       bool     // session.scope is global
	HasWorkspace bool     // the configuration names a workspace
}

// conversion is one configuration under way.
type conversion struct {
	*report.Report
	in       Input
	ids      IDs
	out      map[string]any
	models   models
	accounts []account // as converted
	result   *Result
}

// Configuration converts a configuration. It never fails: what parley would refuse is closed or left out, and reported.
func Configuration(in Input) Result {
	r := Result{MainKey: "main"}
	c := &conversion{Report: in.Report, in: in, ids: IDs{in.Table}, out: map[string]any{}, models: readModels(in.Top), result: &r}
	top := in.Top
	c.agents(object(top["agents"]))
	c.tools(object(top["tools"]), object(top["agents"]))
	for _, kind := range slices.Sorted(maps.Keys(object(top["channels"]))) {
		c.channel(kind, object(top["channels"])[kind])
	}
	c.bindings(top["bindings"])
	c.session(object(top["session"]))
	for _, k := range slices.Sorted(maps.Keys(top)) {
		switch k {
		case "channels", "bindings", "agents", "tools", "models", "meta", "wizard", "$schema", "accessGroups", "mcp", "session", "commands", "hooks":
		default:
			c.walk(rules, []string{k}, top[k], nil, "")
		}
	}
	c.servers(object(top["mcp"]))
	c.hooks(object(top["hooks"]))
	c.commands(object(top["commands"]))
	c.providers(top["models"])
	c.defaultsThatDiffer()
	c.modelless()
	c.finish()
	c.owners(object(top["commands"]))
	c.paired()
	return r
}

// session converts the section session.
func (c *conversion) session(s map[string]any) {
	if k := text(s["mainKey"]); k != "" {
		c.result.MainKey = strings.ToLower(k)
	}
	c.result.Global = s["scope"] == "global"
	rest := maps.Clone(s)
	delete(rest, "sendPolicy")
	delete(rest, "dmScope")
	for _, k := range []string{"reset", "resetByType", "resetByChannel"} {
		c.resets(k, rest[k])
		delete(rest, k)
	}
	for _, k := range slices.Sorted(maps.Keys(rest)) {
		c.walk(rules, []string{"session", k}, rest[k], nil, "")
	}
	if _, ok := s["idleMinutes"]; ok && s["reset"] == nil {
		put(c.out, []string{"session", "reset", "mode"}, "idle")
	}
	c.dmScope(text(s["dmScope"]), false)
	if c.sendPolicy(s["sendPolicy"]) {
		c.dmScope(text(s["dmScope"]), true)
	}
}

// dmScope carries session.dmScope over. Without one OpenClaw's default is main and parley's is owner-main, which separates more. Rules about
// keys mean the keys of main then, so main is written for them.
func (c *conversion) dmScope(scope string, byKey bool) {
	for _, b := range list(c.in.Top["bindings"]) { // a binding may separate people more than the host does
		if own := text(object(object(b)["session"])["dmScope"]); slices.Index(dmScopes, own) > slices.Index(dmScopes, scope) && (scope != "" || own != "main") {
			scope = own
			c.Differ("session.dmScope", "a binding has its own dmScope, parley has one for all: the strictest holds for all direct chats")
		}
	}
	switch {
	case scope == "" && byKey:
		put(c.out, []string{"session", "dmScope"}, "main")
		c.Different = slices.DeleteFunc(c.Different, func(i report.Item) bool { return i.What == "session.dmScope" })
		c.Differ("session.dmScope", "it is main, as in OpenClaw by default, because rules of session.sendPolicy name session keys")
	case scope == "":
		c.Differ("session.dmScope", "the main conversation belongs to the owners; everybody else has a session of their own. Set it to main to share one session")
	case slices.Contains(dmScopes, scope):
		put(c.out, []string{"session", "dmScope"}, scope)
		c.Carry("session.dmScope", "")
	default:
		put(c.out, []string{"session", "dmScope"}, "per-account-channel-peer")
		c.Need("session.dmScope", "parley does not know this value and keeps all direct chats apart: choose one of "+strings.Join(dmScopes, ", "))
	}
}

// dmScopes are OpenClaw's scopes, the one that shares most first.
var dmScopes = []string{"main", "per-peer", "per-channel-peer", "per-account-channel-peer"}

// resets writes reset rules with the mode that OpenClaw takes where a rule names none.
func (c *conversion) resets(key string, v any) {
	set := object(v)
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
				c.Leave(what+"."+k, "parley has no such setting")
			}
		}
		if out["mode"] == nil {
			out["mode"] = "daily"
			if out["atHour"] == nil && out["idleMinutes"] != nil {
				out["mode"] = "idle"
			}
		}
		put(c.out, to, out)
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
		one("session."+key+"."+k, append(slices.Clone(place), name), object(set[k]))
	}
}

// otherDefaults are keys that both programs have and whose defaults differ. Those about rights are stricter in parley, so nothing opens.
var otherDefaults = []struct{ key, ours, theirs string }{
	{"tools.sessions.visibility", "tree", "all"}, {"tools.agentToAgent.enabled", "false", "true"}, {"agents.defaults.subagents.maxSpawnDepth", "1", "5"},
	{"messages.queue.mode", "collect", "steer"}, {"messages.queue.debounceMs", "1000", "500"}, {"agents.defaults.timeoutSeconds", "600", "172800"},
}

// defaultsThatDiffer reports the keys that the configuration leaves to a default that differs.
func (c *conversion) defaultsThatDiffer() {
	var out []string
	for _, d := range otherDefaults {
		if at(c.out, strings.Split(d.key, ".")) == nil {
			out = append(out, fmt.Sprintf("%s is %s (it was %s)", d.key, d.ours, d.theirs))
		}
	}
	if len(out) > 0 && len(c.accounts) > 0 {
		c.Differ("defaults", strings.Join(out, "; "))
	}
}

// put sets a value at a place.
func put(m map[string]any, to []string, v any) {
	for _, k := range to[:len(to)-1] {
		next, ok := m[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[k] = next
		}
		m = next
	}
	m[to[len(to)-1]] = v
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

func anys[T ~string](s []T) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = string(s[i])
	}
	return out
}

// texts returns the texts of a list; a single text is a list of one. ok is false when the value is neither.
func texts(v any) (out []string, ok bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		for _, x := range v {
			s, isText := x.(string)
			if !isText {
				return nil, false
			}
			out = append(out, strings.TrimSpace(s))
		}
		return out, true
	}
	return nil, v == nil
}

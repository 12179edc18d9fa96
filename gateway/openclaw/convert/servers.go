package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/gateway/configfile"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// servers converts mcp.servers into tools.mcp.servers. A server whose tools were restricted in a way that parley has not is not started.
func (o *output) servers(mcp map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(mcp)) {
		if k != "servers" {
			o.Leave("mcp."+k, "parley has no equivalent")
		}
	}
	all := jsontree.Object(mcp["servers"])
	for _, name := range slices.Sorted(maps.Keys(all)) {
		what, m, out := "mcp.servers."+name, jsontree.Object(all[name]), map[string]any{}
		to := strings.Trim(notInServers.Replace(strings.ToLower(name)), "-")
		for _, key := range slices.Sorted(maps.Keys(m)) {
			v := m[key]
			switch key {
			case "command", "args", "url", "cwd":
				out[key] = v
			case "workingDirectory":
				out["cwd"] = v
			case "enabled":
				if v != true {
					out["enabled"] = false
				}
			case "env", "headers":
				values := map[string]any{}
				for _, n := range slices.Sorted(maps.Keys(jsontree.Object(v))) {
					switch x := jsontree.Object(v)[n].(type) {
					case string, json.Number, bool:
						values[n] = fmt.Sprint(x)
					default:
						values[n] = secretOr(configfile.VariableName("mcp", to, n), x)
					}
				}
				out[key] = values
			case "requestTimeoutMs", "connectionTimeoutMs":
				if ms := number(v); ms > 0 {
					out[map[string]string{"requestTimeoutMs": "timeoutSeconds", "connectionTimeoutMs": "startSeconds"}[key]] = (ms + 999) / 1000
				}
			case "toolFilter", "tools":
				toolFilter(o.Report, what+"."+key, v, out)
			case "type", "transport", "description", "name":
			case "disabled":
				if v != false {
					out["enabled"] = false
				}
			default:
				if strings.Contains(strings.ToLower(key), "allow") || strings.Contains(strings.ToLower(key), "deny") || key == "include" || key == "exclude" || key == "agents" || key == "requester" {
					out["enabled"] = false
					o.Need(what+"."+key, "parley cannot restrict a server this way, so the server is not started: restrict it with allow and deny, then remove enabled: false")
				} else {
					o.Leave(what+"."+key, "parley has no equivalent for a server")
				}
			}
		}
		if to == "" || jsontree.Object(jsontree.Object(jsontree.Object(jsontree.Object(o.config["tools"])["mcp"])["servers"])[to]) != nil {
			o.Need(what, "another server has the same name in parley: add this one under tools.mcp.servers with another name")
			continue
		}
		o.put([]string{"tools", "mcp", "servers", to}, out)
		o.Carry(what, "")
	}
}

// number returns a whole number; 0 = it is none.
func number(v any) int64 {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Int64()
		return n
	case float64:
		return int64(v)
	}
	return 0
}

var notInServers = strings.NewReplacer(" ", "-", ".", "-", "_", "-", "/", "-", "@", "-", ":", "-")

// toolFilter converts which tools of a server count.
func toolFilter(r *report.Report, what string, v any, out map[string]any) {
	m := jsontree.Object(v)
	include, ok1 := jsontree.Texts(m["include"])
	exclude, ok2 := jsontree.Texts(m["exclude"])
	rest := maps.Clone(m)
	delete(rest, "include")
	delete(rest, "exclude")
	if m == nil || !ok1 || !ok2 || len(rest) > 0 {
		out["enabled"] = false
		r.Need(what, "parley cannot read this restriction, so the server is not started: write allow and deny, then remove enabled: false")
		return
	}
	if m["include"] != nil {
		out["allow"] = anys(include)
		if len(include) == 0 {
			out["enabled"] = false
		}
	}
	if len(exclude) > 0 {
		out["deny"] = anys(exclude)
	}
}

// hooks converts what programs outside may send. Mappings have templates of another kind, so they are left out: they would start turns.
func (o *output) hooks(m map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		what := "hooks." + k
		switch k {
		case "enabled":
			o.put([]string{"hooks", k}, m[k] == true)
		case "path":
			o.put([]string{"hooks", k}, m[k])
		case "token":
			o.put([]string{"hooks", k}, secretOr("PARLEY_HOOKS_TOKEN", m[k]))
		case "allowRequestSessionKey":
			o.put([]string{"hooks", k}, m[k] == true)
		case "allowedSessionKeyPrefixes":
			prefixes, ok := jsontree.Texts(m[k])
			if !ok || len(prefixes) == 0 {
				continue // parley then takes hook: alone
			}
			o.put([]string{"hooks", k}, anys(prefixes))
		case "allowedAgentIds":
			continue // hookAgents
		case "mappings":
			o.Need(what, "parley's templates have another form: write each mapping again (docs/automation.md)")
			continue
		default:
			o.Leave(what, hint(what))
			continue
		}
		o.Carry(what, "")
	}
	o.hookAgents(m)
	if m["enabled"] == true && m["token"] == nil {
		o.put([]string{"hooks", "enabled"}, false)
		o.Need("hooks.token", "hooks are off, because there is no token: set hooks.token and hooks.enabled")
	}
}

// hookAgents converts which agents hooks may ask. parley always lets them ask the default agent, so hooks that may not are off.
//
// source: openclaw/openclaw docs/gateway/config-hooks.md, allowedAgentIds: without it all agents, [] none, and the default agent needs it as well
func (o *output) hookAgents(m map[string]any) {
	const what = "hooks.allowedAgentIds"
	allowed, ok := jsontree.Texts(m["allowedAgentIds"])
	if m["allowedAgentIds"] == nil {
		if m["enabled"] == true {
			o.put([]string{"hooks", "allowedAgents"}, []any{everybody})
		}
		return
	}
	for i, id := range allowed {
		if id != everybody {
			allowed[i] = string(ids.Agent(id))
		}
	}
	def := o.defaultAgent()
	if !ok || !slices.Contains(allowed, everybody) && !slices.Contains(allowed, def) {
		o.put([]string{"hooks", "enabled"}, false)
		o.Need(what, "hooks are off, because the list does not name the default agent "+def+", and parley always lets hooks ask that one: set hooks.enabled to true if they may")
	}
	if len(allowed) > 0 {
		o.put([]string{"hooks", "allowedAgents"}, anys(allowed))
	}
	o.Carry(what, "")
}

// defaultAgent is the agent that answers where nothing else is said.
func (o *output) defaultAgent() string {
	all := jsontree.List(jsontree.Object(o.config["agents"])["list"])
	for _, a := range all {
		if jsontree.Object(a)["default"] == true {
			return jsontree.Text(jsontree.Object(a)["id"])
		}
	}
	if len(all) > 0 {
		return jsontree.Text(jsontree.Object(all[0])["id"])
	}
	return "main"
}

// closeWithoutModel disables all accounts of a host whose agents would have no language model, or one that OpenClaw did not ask: the built-in demo would
// answer people, or another provider would read what they write.
func (c *modelConverter) closeWithoutModel(all accounts) {
	agents, described := jsontree.Object(c.config["agents"]), jsontree.Object(jsontree.Object(c.config["models"])["providers"])
	named := func(v any) bool { return jsontree.Object(v)["model"] != nil }
	if own := jsontree.List(agents["list"]); named(agents["defaults"]) || len(own) > 0 && !slices.ContainsFunc(own, func(v any) bool { return !named(v) }) {
		return
	}
	const place = "agents.defaults.model"
	why, how := "OpenClaw's configuration names no model", "Set ANTHROPIC_API_KEY or OPENAI_API_KEY and import again; or describe a provider under models.providers, and name its model in "+place
	if c.lost {
		c.put([]string{"agents", "defaults", "model"}, "offline/offline") // a key in the environment would choose another provider
		why, how = "parley can use no model that "+place+" names", "Describe a provider under models.providers, and name its model in "+place
	} else if c.chosen(described) {
		return
	}
	effect := "The built-in offline model answers"
	if all.closeWhere(func(*account) bool { return true }) > 0 {
		effect, how = "The built-in offline model would answer people, so all accounts are disabled", how+". Then remove enabled: false"
	}
	c.Need("a language model", why+". "+effect+". "+how)
}

// chosen finds the model of a configuration that names none: that of a provider whose key is known, or the first one of the only provider.
//
// source: openclaw/openclaw docs/help/faq-models.md, "What is the default model?"
func (c *modelConverter) chosen(described map[string]any) bool {
	for _, provider := range []string{"anthropic", "openai"} { // parley's host looks for them in this order
		key := "${" + known[provider].key + "}"
		if jsontree.Object(described[provider])["apiKey"] == key {
			return true // the host does not start without it
		}
		if c.getenv(known[provider].key) != "" {
			if described[provider] == nil {
				c.put([]string{"models", "providers", provider}, map[string]any{"api": known[provider].api, "apiKey": key})
			}
			return true
		}
	}
	if len(described) != 1 {
		return false
	}
	for provider := range described {
		for _, m := range models(c.set[provider]) {
			if name, why := c.name(provider + "/" + jsontree.Text(m["id"])); why == "" && jsontree.Text(m["id"]) != "" {
				c.put([]string{"agents", "defaults", "model"}, name)
				c.Differ("agents.defaults.model", "OpenClaw's configuration names no model; it is the first one of the only provider: "+name)
				return true
			}
		}
	}
	return false
}

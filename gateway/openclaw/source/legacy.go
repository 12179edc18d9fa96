package source

import (
	"maps"
	"slices"
	"strings"

	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// move says where a key of an older version stands today. Places are dotted; * is any key, and the same one in to.
type move struct{ from, to string }

// moves are the keys that only changed their place, in order: the first ones bring the sections that later ones look into.
//
// source: openclaw/openclaw src/config/legacy.migrations.part-1.ts, part-2.ts and part-3.ts, docs/gateway/doctor/config-migrations.md
var moves = []move{
	{"inbound.groupChat", "routing.groupChat"}, {"inbound.allowFrom", "routing.allowFrom"}, {"inbound.workspace", "agent.workspace"}, {"inbound.agent", "agent"}, {"inbound.session", "session"},
	{"inbound.reply.session", "session"},
	{"whatsapp", "channels.whatsapp"}, {"telegram", "channels.telegram"}, {"discord", "channels.discord"}, {"slack", "channels.slack"}, {"signal", "channels.signal"},
	{"imessage", "channels.imessage"}, {"msteams", "channels.msteams"}, {"web.enabled", "channels.whatsapp.enabled"},
	{"routing.bindings", "bindings"}, {"routing.agentToAgent", "tools.agentToAgent"}, {"routing.queue", "messages.queue"},
	{"routing.groupChat.historyLimit", "messages.groupChat.historyLimit"}, {"routing.groupChat.mentionPatterns", "messages.groupChat.mentionPatterns"},
	{"agent.tools.allow", "tools.allow"}, {"agent.tools.deny", "tools.deny"}, {"agent.elevated", "tools.elevated"}, {"agent.bash", "tools.exec"},
	{"agent.sandbox.tools", "tools.sandbox.tools"}, {"agent.subagents.tools", "tools.subagents.tools"}, {"agent", "agents.defaults"},
	{"defaultModel", "agents.defaults.model"}, {"tools.bash", "tools.exec"}, {"tools.exec.timeoutSec", "tools.exec.timeoutSeconds"},
	{"gateway.token", "gateway.auth.token"}, {"messages.queue.byProvider", "messages.queue.byChannel"}, {"messages.queue.bySurface", "messages.queue.byChannel"}, {"session.resetByType.dm", "session.resetByType.direct"},
	{"session.typingMode", "agents.defaults.typingMode"}, {"heartbeat", "agents.defaults.heartbeat"}, {"media", "attachments"}, {"audit", "logging.audit"},
	{"messages.messagePrefix", "channels.whatsapp.responsePrefix"}, {"channels.whatsapp.messagePrefix", "channels.whatsapp.responsePrefix"},
	{"channels.telegram.token", "channels.telegram.botToken"}, {"channels.telegram.accounts.*.token", "channels.telegram.accounts.*.botToken"},
	{"channels.*.dm.policy", "channels.*.dmPolicy"}, {"channels.*.dm.allowFrom", "channels.*.allowFrom"},
	{"channels.*.accounts.*.dm.policy", "channels.*.accounts.*.dmPolicy"}, {"channels.*.accounts.*.dm.allowFrom", "channels.*.accounts.*.allowFrom"},
	{"channels.discord.guilds.*.channels.*.allowFrom", "channels.discord.guilds.*.channels.*.users"}, {"channels.discord.accounts.*.guilds.*.channels.*.allowFrom", "channels.discord.accounts.*.guilds.*.channels.*.users"},
	{"channels.discord.guilds.*.channels.*.allow", "channels.discord.guilds.*.channels.*.enabled"}, {"channels.discord.accounts.*.guilds.*.channels.*.allow", "channels.discord.accounts.*.guilds.*.channels.*.enabled"},
	{"channels.slack.channels.*.allow", "channels.slack.channels.*.enabled"}, {"channels.slack.accounts.*.channels.*.allow", "channels.slack.accounts.*.channels.*.enabled"},
	{"channels.googlechat.groups.*.allow", "channels.googlechat.groups.*.enabled"}, {"channels.googlechat.accounts.*.groups.*.allow", "channels.googlechat.accounts.*.groups.*.enabled"},
	{"session.threadBindings.ttlHours", "session.threadBindings.idleHours"}, {"channels.*.threadBindings.ttlHours", "channels.*.threadBindings.idleHours"},
	{"channels.*.accounts.*.threadBindings.ttlHours", "channels.*.accounts.*.threadBindings.idleHours"},
	{"mcp.servers.*.connectTimeout", "mcp.servers.*.connectionTimeoutMs"}, {"mcp.servers.*.connect_timeout", "mcp.servers.*.connectionTimeoutMs"}, {"mcp.servers.*.timeout", "mcp.servers.*.requestTimeoutMs"},
}

// modernize brings the layouts of older versions into today's. It reports where a key went, and never opens more than the old version did.
func modernize(tree map[string]any, r *report.Report) {
	_, old := tree["agent"]
	for _, m := range moves {
		relocate(tree, m, r)
	}
	mentions(tree)
	oldModels(jsontree.Object(jsontree.Object(tree["agents"])["defaults"]))
	if names := jsontree.Object(tree["aliases"]); names != nil {
		alias(section(section(tree, "agents"), "defaults"), names)
		delete(tree, "aliases")
	}
	if old {
		ofAnthropic(jsontree.Object(jsontree.Object(tree["agents"])["defaults"]))
	}
	oldAgents(tree, r)
	oldMatches(tree)
	for kind, c := range jsontree.Object(tree["channels"]) {
		oldAccount("channels."+kind, kind, jsontree.Object(c), r)
		for id, a := range jsontree.Object(jsontree.Object(c)["accounts"]) {
			oldAccount("channels."+kind+".accounts."+id, kind, jsontree.Object(a), r)
		}
	}
	oldSession(jsontree.Object(tree["session"]), r)
	oldServers(jsontree.Object(jsontree.Object(tree["mcp"])["servers"]))
	for _, p := range jsontree.Object(jsontree.Object(tree["models"])["providers"]) {
		if set := jsontree.Object(p); set["api"] == "openai" {
			set["api"] = "openai-completions"
		}
	}
	if bind, ok := jsontree.Object(tree["gateway"])["bind"].(string); ok {
		switch strings.ToLower(strings.TrimSpace(bind)) {
		case "0.0.0.0", "::", "[::]", "*":
			jsontree.Object(tree["gateway"])["bind"] = "lan"
		case "127.0.0.1", "localhost", "::1", "[::1]":
			jsontree.Object(tree["gateway"])["bind"] = "loopback"
		}
	}
	if allow, ok := jsontree.Object(tree["routing"])["allowFrom"]; ok {
		// OpenClaw gave it to WhatsApp, and dropped it without that section.
		if section := jsontree.Object(jsontree.Object(tree["channels"])["whatsapp"]); section != nil && section["allowFrom"] == nil {
			section["allowFrom"] = allow
		} else {
			r.Leave("routing.allowFrom", "OpenClaw used it for WhatsApp only, where channels.whatsapp.allowFrom counts")
		}
		delete(jsontree.Object(tree["routing"]), "allowFrom")
	}
	for _, key := range []string{"routing", "agent", "web"} {
		if m := jsontree.Object(tree[key]); m != nil && len(m) == 0 {
			delete(tree, key)
		}
	}
}

// relocate moves the values of a key to their new places. What is at the new place already wins.
func relocate(tree map[string]any, m move, r *report.Report) {
	from := strings.Split(m.from, ".")
	for _, place := range found(tree, from) {
		to := strings.Split(m.to, ".")
		for i, k := range from {
			if k == "*" {
				to[slices.Index(to, "*")] = place[i]
			}
		}
		at, target := tree, tree
		for _, k := range place[:len(place)-1] {
			at = jsontree.Object(at[k])
		}
		last, end := place[len(place)-1], to[len(to)-1]
		if jsontree.Object(at[last]) == nil && len(place) == 1 && m.from != "defaultModel" {
			continue // the conversion reports the odd value
		}
		for _, k := range to[:len(to)-1] {
			if target[k] != nil && jsontree.Object(target[k]) == nil {
				target = nil
				break
			}
			target = section(target, k)
		}
		if target == nil {
			continue
		}
		v := at[last]
		delete(at, last)
		have, taken := target[end]
		both, isList := have.([]any)
		more, moreIsList := v.([]any)
		switch {
		case !taken:
			target[end] = v
		case end == "deny" && isList && moreIsList: // leaving one out would allow what it denied
			target[end] = slices.Concat(both, more)
		default:
			fillMissing(jsontree.Object(have), jsontree.Object(v))
		}
		prune(tree, place[:len(place)-1], from)
		r.Carry(strings.Join(place, ".")+" → "+strings.Join(to, "."), "")
	}
}

// prune removes objects that moving a key emptied. Entries by name stay: that they are listed says something.
func prune(tree map[string]any, place, from []string) {
	for n := len(place); n > 0 && from[n-1] != "*"; n-- {
		at := tree
		for _, k := range place[:n-1] {
			at = jsontree.Object(at[k])
		}
		if m := jsontree.Object(at[place[n-1]]); m == nil || len(m) > 0 || n == 2 && place[0] == "channels" {
			return
		}
		delete(at, place[n-1])
	}
}

// found lists the places that a place with * stands for, as far as there are values.
func found(at map[string]any, place []string) (all [][]string) {
	for _, k := range slices.Sorted(maps.Keys(at)) {
		switch {
		case place[0] != "*" && place[0] != k:
		case len(place) == 1:
			all = append(all, []string{k})
		default:
			for _, rest := range found(jsontree.Object(at[k]), place[1:]) {
				all = append(all, append([]string{k}, rest...))
			}
		}
	}
	return all
}

// fillMissing copies what to does not have.
func fillMissing(to, from map[string]any) {
	if to == nil {
		return
	}
	for k, v := range from {
		if have, ok := to[k]; !ok {
			to[k] = v
		} else {
			fillMissing(jsontree.Object(have), jsontree.Object(v))
		}
	}
}

// mentions spreads the one requireMention of old versions over the groups. A section that lists groups gets no entry for all others: that would
// let them in.
func mentions(tree map[string]any) {
	chat := jsontree.Object(jsontree.Object(tree["routing"])["groupChat"])
	all, ok := chat["requireMention"]
	delete(chat, "requireMention")
	for _, kind := range []string{"telegram", "whatsapp", "imessage"} {
		section := jsontree.Object(jsontree.Object(tree["channels"])[kind])
		v, own := section["requireMention"]
		if delete(section, "requireMention"); !own {
			v = all
		}
		if section == nil || !ok && !own {
			continue
		}
		groups := jsontree.Object(section["groups"])
		if len(groups) == 0 {
			groups = map[string]any{"*": map[string]any{}}
			section["groups"] = groups
		}
		for _, g := range groups {
			if g := jsontree.Object(g); g != nil && g["requireMention"] == nil {
				g["requireMention"] = v
			}
		}
	}
	if routing := jsontree.Object(tree["routing"]); chat != nil && len(chat) == 0 {
		delete(routing, "groupChat")
	}
}

// oldModels brings the models of an agent into today's form: a first model, models after it, and names.
func oldModels(agent map[string]any) {
	for _, key := range []string{"model", "imageModel"} {
		after, ok := agent[key+"Fallbacks"].([]any)
		if !ok {
			continue
		}
		delete(agent, key+"Fallbacks")
		model := jsontree.Object(agent[key])
		if model == nil {
			model = map[string]any{}
			if first := jsontree.Text(agent[key]); first != "" {
				model["primary"] = first
			}
		}
		if list, _ := model["fallbacks"].([]any); len(list) == 0 {
			model["fallbacks"] = after
		}
		agent[key] = model
	}
	if allowed, ok := agent["allowedModels"].([]any); ok {
		models := section(agent, "models")
		for _, m := range allowed {
			if name := jsontree.Text(m); name != "" && models[name] == nil {
				models[name] = map[string]any{}
			}
		}
		delete(agent, "allowedModels")
	}
	if agent != nil {
		alias(agent, jsontree.Object(agent["modelAliases"]))
		delete(agent, "modelAliases")
	}
}

// ofAnthropic puts the provider in front of models that name none, as OpenClaw did when it had one section agent.
func ofAnthropic(agent map[string]any) {
	models := jsontree.Object(agent["models"])
	full := func(v any) any {
		name, ok := v.(string)
		if !ok || strings.TrimSpace(name) == "" || strings.Contains(name, "/") {
			return v
		}
		for _, m := range models {
			if strings.EqualFold(jsontree.Text(jsontree.Object(m)["alias"]), strings.TrimSpace(name)) {
				return v
			}
		}
		return "anthropic/" + strings.TrimSpace(name)
	}
	if _, ok := agent["model"].(string); ok {
		agent["model"] = full(agent["model"])
	}
	if m := jsontree.Object(agent["model"]); m != nil {
		m["primary"] = full(m["primary"])
		list, _ := m["fallbacks"].([]any)
		for i := range list {
			list[i] = full(list[i])
		}
	}
}

// alias writes short names of models where they stand today.
func alias(agent, names map[string]any) {
	for _, short := range slices.Sorted(maps.Keys(names)) {
		full := jsontree.Text(names[short])
		if full == "" {
			continue
		}
		entry := section(section(agent, "models"), full)
		if entry["alias"] == nil {
			entry["alias"] = short
		}
	}
}

// section returns an object of m, and makes it if it is missing.
func section(m map[string]any, key string) map[string]any {
	sub := jsontree.Object(m[key])
	if sub == nil {
		sub = map[string]any{}
		m[key] = sub
	}
	return sub
}

// agentIn returns the entry of an agent of the list, and makes it if it is missing.
func agentIn(agents map[string]any, id string) map[string]any {
	list, _ := agents["list"].([]any)
	for _, a := range list {
		if jsontree.Text(jsontree.Object(a)["id"]) == id {
			return jsontree.Object(a)
		}
	}
	entry := map[string]any{"id": id}
	agents["list"] = append(list, entry)
	return entry
}

// oldAgents brings routing.agents, routing.defaultAgentId and identity into the list of agents, and makes the default agent explicit.
func oldAgents(tree map[string]any, r *report.Report) {
	routing := jsontree.Object(tree["routing"])
	for _, id := range slices.Sorted(maps.Keys(jsontree.Object(routing["agents"]))) {
		old := jsontree.Object(jsontree.Object(routing["agents"])[id])
		if strings.TrimSpace(id) == "" || old == nil {
			continue
		}
		entry := agentIn(section(tree, "agents"), strings.TrimSpace(id))
		if p, ok := old["mentionPatterns"]; ok {
			delete(old, "mentionPatterns")
			fillMissing(section(entry, "groupChat"), map[string]any{"mentionPatterns": p})
		}
		if tools := jsontree.Object(jsontree.Object(old["sandbox"])["tools"]); tools != nil {
			delete(jsontree.Object(old["sandbox"]), "tools")
			fillMissing(section(section(section(entry, "tools"), "sandbox"), "tools"), tools)
		}
		oldModels(old)
		fillMissing(entry, old)
		r.Carry("routing.agents."+id+" → agents.list."+id, "")
	}
	delete(routing, "agents")
	agents := jsontree.Object(tree["agents"])
	if id := jsontree.Text(routing["defaultAgentId"]); id != "" {
		delete(routing, "defaultAgentId")
		if !hasDefault(agents) {
			agentIn(section(tree, "agents"), id)["default"] = true
		}
	}
	if identity := jsontree.Object(tree["identity"]); identity != nil {
		id := DefaultAgent(tree)
		if entries := jsontree.Object(agents["entries"]); entries != nil {
			fillMissing(section(entries, id), map[string]any{"identity": identity})
		} else {
			fillMissing(agentIn(section(tree, "agents"), id), map[string]any{"identity": identity})
		}
		delete(tree, "identity")
		r.Carry("identity → agents."+id+".identity", "")
	}
	agents = jsontree.Object(tree["agents"])
	list, _ := agents["list"].([]any)
	for _, a := range slices.Concat(list, slices.Collect(maps.Values(jsontree.Object(agents["entries"])))) {
		delete(jsontree.Object(a), "instructions") // OpenClaw has no such key; instruct writes it
	}
	if entries := jsontree.Object(agents["entries"]); entries != nil {
		if agents["list"] != nil {
			delete(agents, "list")
			r.Leave("agents.list", "OpenClaw reads agents.entries and not this list")
		}
		if !hasDefault(agents) && len(entries) > 1 {
			if entry := jsontree.Object(entries[DefaultAgent(tree)]); entry != nil {
				entry["default"] = true
			}
		}
	}
}

func hasDefault(agents map[string]any) bool {
	list, _ := agents["list"].([]any)
	return slices.ContainsFunc(slices.Concat(list, slices.Collect(maps.Values(jsontree.Object(agents["entries"])))), func(a any) bool { return jsontree.Object(a)["default"] == true })
}

// DefaultAgent returns the id of the agent for everything without a binding.
func DefaultAgent(tree map[string]any) string {
	agents := jsontree.Object(tree["agents"])
	list, _ := agents["list"].([]any)
	entries := jsontree.Object(agents["entries"])
	ids := slices.Sorted(maps.Keys(entries))
	marked := func(id string, a any) bool { return id != "" && jsontree.Object(a)["default"] == true }
	for _, id := range ids {
		if marked(id, entries[id]) {
			return id
		}
	}
	for _, a := range list {
		if id := jsontree.Text(jsontree.Object(a)["id"]); marked(id, a) && entries == nil {
			return id
		}
	}
	owner := jsontree.Text(jsontree.Object(jsontree.Object(agents["defaults"])["systemAgent"])["agentId"])
	switch {
	case entries[owner] != nil:
		return owner
	case entries["main"] != nil || len(ids) == 0 && len(list) == 0:
		return "main"
	case len(ids) > 0:
		return ids[0]
	}
	if id := jsontree.Text(jsontree.Object(list[0])["id"]); id != "" {
		return id
	}
	return "main"
}

// oldMatches renames conditions of bindings and of rules of the send policy. A condition beside the one that replaced it stays: it is unknown.
func oldMatches(tree map[string]any) {
	bindings, _ := tree["bindings"].([]any)
	rules, _ := jsontree.Object(jsontree.Object(tree["session"])["sendPolicy"])["rules"].([]any)
	for _, e := range slices.Concat(bindings, rules) {
		match := jsontree.Object(jsontree.Object(e)["match"])
		for _, m := range [][2]string{{"provider", "channel"}, {"surface", "channel"}, {"accountID", "accountId"}} {
			if v, ok := match[m[0]]; ok && empty(match[m[1]]) {
				match[m[1]] = v
				delete(match, m[0])
			}
		}
	}
}

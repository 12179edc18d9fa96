package convert_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"parley/gateway/openclaw/convert"
	"parley/gateway/openclaw/report"
)

// mapped says from which key of OpenClaw a key of parley is made, with a value to try.
// source: the JSON schema of openclaw 2026.9.6, testdata/openclaw-keys.txt
var mapped = []struct{ ours, theirs, value string }{
	{"gateway.trustedProxies", "gateway.trustedProxies", `["10.0.0.1"]`},
	{"models.providers.*.api", "models.providers.*.api", `"anthropic-messages"`}, {"models.providers.*.baseUrl", "models.providers.*.baseUrl", `"https://models.example/v1"`},
	{"models.providers.*.apiKey", "models.providers.*.apiKey", `"k"`}, {"models.providers.*.maxTokens", "models.providers.*.maxTokens", `4096`},
	{"models.providers.*.contextWindow", "models.providers.*.contextWindow", `32000`}, {"models.providers.*.headers", "models.providers.*.headers", `{"X-Team": "a"}`},
	{"models.providers.*.totalTimeoutSeconds", "models.providers.*.timeoutSeconds", `60`},
	{"models.providers.*.models.*.contextWindow", "models.providers.*.models[].contextWindow", `32000`}, {"models.providers.*.models.*.input", "models.providers.*.models[].cost.input", `1.5`},
	{"models.providers.*.models.*.output", "models.providers.*.models[].cost.output", `3.5`}, {"models.providers.*.models.*.cacheRead", "models.providers.*.models[].cost.cacheRead", `0.5`},
	{"models.providers.*.models.*.cacheWrite", "models.providers.*.models[].cost.cacheWrite", `2.5`}, {"models.providers.*.models.*.noImages", "models.providers.*.models[].input", `["text"]`},
	{"models.providers.*.models.*.headers", "models.providers.*.models[].headers", `{"X-Team": "a"}`}, {"models.providers.*.models.*.tools", "models.providers.*.models[].compat.supportsTools", `false`},
	{"models.providers.*.models.*.reasoning.levels", "models.providers.*.models[].thinkingLevelMap", `{"high": "high"}`},
	{"models.providers.*.models.*.reasoning.sendBack", "models.providers.*.models[].compat.requiresThinkingAsText", `true`},
	{"agents.defaults.model", "agents.defaults.model.primary", `"openai/gpt"`}, {"agents.defaults.fallbacks", "agents.defaults.model", `{"primary": "openai/gpt", "fallbacks": ["openai/other"]}`},
	{"agents.defaults.thinking", "agents.defaults.thinkingDefault", `"low"`}, {"agents.defaults.timeoutSeconds", "agents.defaults.timeoutSeconds", `300`},
	{"agents.defaults.maxConcurrent", "agents.defaults.maxConcurrent", `4`}, {"agents.defaults.timezone", "agents.defaults.userTimezone", `"Europe/Berlin"`},
	{"agents.defaults.subagents.archiveAfterMinutes", "agents.defaults.subagents.archiveAfterMinutes", `5`}, {"agents.defaults.subagents.maxConcurrent", "agents.defaults.subagents.maxConcurrent", `2`},
	{"agents.defaults.subagents.maxChildrenPerAgent", "agents.defaults.subagents.maxChildrenPerAgent", `2`}, {"agents.defaults.subagents.maxSpawnDepth", "agents.defaults.subagents.maxSpawnDepth", `2`},
	{"agents.defaults.subagents.model", "agents.defaults.subagents.model", `"openai/gpt"`}, {"agents.defaults.sandbox.mode", "agents.defaults.sandbox.mode", `"all"`},
	{"agents.defaults.sandbox.sessionToolsVisibility", "agents.defaults.sandbox.sessionToolsVisibility", `"all"`},
	{"agents.list[].id", "agents.entries", `{"main": {}}`}, {"agents.list[].default", "agents.entries.*.default", `true`}, {"agents.list[].name", "agents.entries.*.name", `"Ada"`},
	{"agents.list[].model", "agents.entries.*.model", `"openai/gpt"`}, {"agents.list[].fallbacks", "agents.entries.*.model", `{"primary": "openai/gpt", "fallbacks": ["openai/other"]}`},
	{"agents.list[].thinking", "agents.entries.*.thinkingDefault", `"low"`}, {"agents.list[].workspace", "agents.entries.*.workspace", `"/nowhere"`},
	{"agents.list[].subagents.allowAgents", "agents.entries.*.subagents.allowAgents", `["*"]`}, {"agents.list[].tools.allow", "agents.entries.*.tools.allow", `["github__x"]`},
	{"agents.list[].tools.deny", "agents.entries.*.tools.deny", `["sessions_send"]`}, {"agents.list[].groupChat.mentionPatterns", "agents.entries.*.groupChat.mentionPatterns", `["ada"]`},
	{"agents.defaults.compaction.model", "agents.defaults.compaction.model", `"openai/gpt"`},
	{"session.scope", "session.scope", `"global"`}, {"session.dmScope", "session.dmScope", `"per-peer"`}, {"session.identityLinks", "session.identityLinks", `{"ada": ["telegram:1001"]}`},
	{"session.sendPolicy.default", "session.sendPolicy.default", `"deny"`}, {"session.sendPolicy.rules[].action", "session.sendPolicy.rules", `[{"action": "deny", "match": {"channel": "telegram"}}]`},
	{"session.sendPolicy.rules[].match.channel", "session.sendPolicy.rules", `[{"action": "deny", "match": {"channel": "telegram"}}]`},
	{"session.sendPolicy.rules[].match.chatType", "session.sendPolicy.rules", `[{"action": "deny", "match": {"chatType": "group"}}]`},
	{"session.sendPolicy.rules[].match.keyPrefix", "session.sendPolicy.rules", `[{"action": "deny", "match": {"keyPrefix": "cron:"}}]`},
	{"session.sendPolicy.rules[].match.rawKeyPrefix", "session.sendPolicy.rules", `[{"action": "deny", "match": {"rawKeyPrefix": "agent:main:cron:"}}]`},
	{"session.agentToAgent.maxPingPongTurns", "-", `{"session": {"agentToAgent": {"maxPingPongTurns": 2}}}`}, // until 2026.6
	{"session.reset.mode", "session.reset.mode", `"idle"`}, {"session.reset.atHour", "session.reset.atHour", `5`}, {"session.reset.idleMinutes", "session.reset.idleMinutes", `30`},
	{"session.resetByType.*.mode", "session.resetByType", `{"direct": {"mode": "idle"}}`}, {"session.resetByType.*.atHour", "session.resetByType", `{"group": {"mode": "daily", "atHour": 5}}`},
	{"session.resetByType.*.idleMinutes", "session.resetByType", `{"thread": {"mode": "idle", "idleMinutes": 5}}`},
	{"session.resetByChannel.*.mode", "session.resetByChannel", `{"telegram": {"mode": "idle"}}`}, {"session.resetByChannel.*.atHour", "session.resetByChannel", `{"telegram": {"mode": "daily", "atHour": 5}}`},
	{"session.resetByChannel.*.idleMinutes", "session.resetByChannel", `{"telegram": {"mode": "idle", "idleMinutes": 5}}`},
	{"tools.allow", "tools.allow", `["github__x"]`}, {"tools.deny", "tools.deny", `["cron"]`}, {"tools.sessions.visibility", "tools.sessions.visibility", `"agent"`},
	{"tools.agentToAgent.enabled", "tools.agentToAgent.enabled", `true`}, {"tools.agentToAgent.allow", "tools.agentToAgent", `{"enabled": true, "allow": ["main"]}`},
	{"tools.subagents.tools.allow", "tools.subagents.tools.allow", `["message", "github__x"]`}, {"tools.subagents.tools.deny", "tools.subagents.tools.deny", `["message"]`},
	{"tools.sandbox.tools.allow", "-", `{"agents": {"defaults": {"sandbox": {"mode": "all"}}}, "tools": {"sandbox": {"tools": {"allow": ["github__x"]}}}}`},
	{"tools.sandbox.tools.deny", "-", `{"agents": {"defaults": {"sandbox": {"mode": "all"}}}, "tools": {"sandbox": {"tools": {"deny": ["read"]}}}}`},
	{"tools.mcp.servers.*.command", "mcp.servers.*.command", `"true"`}, {"tools.mcp.servers.*.args", "mcp.servers.*.args", `["x"]`}, {"tools.mcp.servers.*.env", "mcp.servers.*.env", `{"A": "b"}`},
	{"tools.mcp.servers.*.cwd", "mcp.servers.*.cwd", `"/tmp"`}, {"tools.mcp.servers.*.url", "mcp.servers.*.url", `"https://mcp.example/"`}, {"tools.mcp.servers.*.headers", "mcp.servers.*.headers", `{"A": "b"}`},
	{"tools.mcp.servers.*.enabled", "mcp.servers.*.enabled", `false`}, {"tools.mcp.servers.*.allow", "mcp.servers.*.toolFilter.include", `["x"]`}, {"tools.mcp.servers.*.deny", "mcp.servers.*.toolFilter.exclude", `["x"]`},
	{"tools.mcp.servers.*.timeoutSeconds", "mcp.servers.*.requestTimeoutMs", `5000`}, {"tools.mcp.servers.*.startSeconds", "mcp.servers.*.connectionTimeoutMs", `5000`},
	{"bindings[].agentId", "bindings", `[{"agentId": "main", "match": {"channel": "telegram"}}]`}, {"bindings[].match.channel", "bindings", `[{"agentId": "main", "match": {"channel": "telegram"}}]`},
	{"bindings[].match.accountId", "bindings", `[{"agentId": "main", "match": {"channel": "telegram", "accountId": "*"}}]`},
	{"bindings[].match.peer.kind", "bindings", `[{"agentId": "main", "match": {"channel": "telegram", "peer": {"kind": "group", "id": "-1"}}}]`},
	{"bindings[].match.peer.id", "bindings", `[{"agentId": "main", "match": {"channel": "telegram", "peer": {"kind": "group", "id": "-1"}}}]`},
	{"bindings[].match.guildId", "bindings", `[{"agentId": "main", "match": {"channel": "discord", "guildId": "41771983423143930"}}]`},
	{"bindings[].match.roles", "bindings", `[{"agentId": "main", "match": {"channel": "discord", "guildId": "41771983423143930", "roles": ["1"]}}]`},
	{"bindings[].match.teamId", "bindings", `[{"agentId": "main", "match": {"channel": "discord", "teamId": "T"}}]`},
	{"messages.queue.mode", "messages.queue.mode", `"followup"`}, {"messages.queue.cap", "messages.queue.cap", `5`}, {"messages.queue.drop", "messages.queue.drop", `"old"`},
	{"messages.queue.debounceMs", "-", `{"messages": {"queue": {"debounceMs": 5}}}`}, {"messages.queue.byChannel.*.mode", "messages.queue.byChannel.telegram", `"followup"`},
	{"messages.queue.byChannel.*.debounceMs", "messages.queue.debounceMsByChannel", `{"telegram": 5}`},
	{"messages.groupChat.mentionPatterns", "messages.groupChat.mentionPatterns", `["ada"]`}, {"messages.groupChat.historyLimit", "messages.groupChat.historyLimit", `5`},
	{"messages.ackReaction", "messages.ackReaction", `"👀"`}, {"messages.ackReactionScope", "messages.ackReactionScope", `"all"`}, {"messages.removeAckAfterReply", "messages.removeAckAfterReply", `true`},
	{"commands.ownerAllowFrom", "-", `{"commands": {"ownerAllowFrom": ["telegram:1001"]}, "channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1001"]}}}`},
	{"hooks.enabled", "-", `{"hooks": {"enabled": true, "token": "t"}}`}, {"hooks.path", "hooks.path", `"/in"`}, {"hooks.token", "hooks.token", `"t"`},
	{"hooks.allowRequestSessionKey", "hooks.allowRequestSessionKey", `true`}, {"hooks.allowedSessionKeyPrefixes", "hooks.allowedSessionKeyPrefixes", `["hook:ci-"]`},
	{"hooks.allowedAgents", "hooks.allowedAgentIds", `["main"]`}, {"log.level", "logging.level", `"warn"`},
	{"channels.telegram.token", "channels.telegram.botToken", `"${TELEGRAM_TOKEN}"`}, {"channels.telegram.apiUrl", "channels.telegram.apiRoot", `"https://tg.example"`}, {"channels.telegram.webhook.url", "channels.telegram.webhookUrl", `"https://me.example/tg"`},
	{"channels.telegram.webhook.secret", "channels.telegram.webhookSecret", `"abcdefgh"`}, {"channels.telegram.streaming.direct", "-", `{"channels": {"telegram": {"streaming": "off"}}}`},
	{"channels.telegram.streaming.group", "-", `{"channels": {"telegram": {"streaming": {"mode": "off"}}}}`},
	{"channels.discord.token", "channels.discord.token", `"x"`}, {"channels.discord.allowBots", "channels.discord.allowBots", `true`}, {"channels.whatsapp.readReceipts", "channels.whatsapp.sendReadReceipts", `false`},
	{"channels.*.enabled", "channels.telegram.enabled", `false`}, {"channels.*.dmPolicy", "channels.telegram.dmPolicy", `"disabled"`}, {"channels.*.allowFrom", "channels.telegram.allowFrom", `["1001"]`},
	{"channels.*.groupPolicy", "channels.telegram.groupPolicy", `"disabled"`}, {"channels.*.groupAllowFrom", "channels.telegram.groupAllowFrom", `["1001"]`}, {"channels.*.textChunkLimit", "channels.telegram.textChunkLimit", `1000`},
	{"channels.*.groups.*.enabled", "channels.telegram.groups", `{"-1": {"enabled": false}}`}, {"channels.*.groups.*.requireMention", "channels.telegram.groups", `{"-1": {"requireMention": false}}`},
	{"channels.*.groups.*.allowFrom", "channels.telegram.groups", `{"-1": {"allowFrom": ["1001"]}}`}, {"channels.*.groups.*.systemPrompt", "channels.telegram.groups", `{"-1": {"systemPrompt": "x"}}`},
	{"channels.*.groups.*.tools.allow", "channels.telegram.groups", `{"-1": {"allowFrom": ["*"], "tools": {"allow": ["github__x"]}}}`}, {"channels.*.groups.*.tools.deny", "channels.telegram.groups", `{"-1": {"tools": {"deny": ["cron"]}}}`},
	{"channels.*.groups.*.toolsBySender.*.allow", "channels.telegram.groups", `{"-1": {"toolsBySender": {"1001": {"allow": ["github__x"]}}}}`},
	{"channels.*.groups.*.toolsBySender.*.deny", "channels.telegram.groups", `{"-1": {"toolsBySender": {"id:1001": {"deny": ["cron"]}}}}`}, {"channels.*.groups.*.topics", "channels.telegram.groups", `{"-1": {"topics": {"7": {"enabled": false}}}}`},
	{"channels.*.accounts", "channels.telegram.accounts", `{"biz": {"botToken": "${TELEGRAM_TOKEN}"}}`},
}

// unmapped are keys of parley, by their beginnings, that no key of OpenClaw is made into, with the reason.
var unmapped = map[string]string{
	"state": "the importing command writes it", "store": "OpenClaw keeps its own database", "delivery": "OpenClaw has no such setting", "log.format": "OpenClaw's log has other formats",
	"gateway.listen": "its gateway is another program for other clients", "gateway.hosts": "as gateway.listen", "gateway.token": "parley makes its own", "gateway.tls": "as gateway.listen", "gateway.openai": "as gateway.listen", "gateway.mcp": "as gateway.listen",
	"models.dayTokens": "OpenClaw has no budget", "models.dayCost": "OpenClaw has no budget", "models.providers.*.": "parley finds out from the server's answers", "models.providers.*.models.*.": "parley finds out from the server's answers",
	"agents.defaults.instructions": "persona files become instructions", "agents.list[].instructions": "persona files become instructions", "agents.defaults.workspace": "not the same: each agent gets its own folder, agents.list[].workspace",
	"agents.defaults.maxSteps": "OpenClaw has no such bound", "agents.defaults.historyLimit": "OpenClaw has no such bound", "agents.defaults.compaction": "OpenClaw counts tokens that it keeps, parley the part that is full",
	"agents.defaults.budget": "OpenClaw has no budget", "agents.list[].budget": "OpenClaw has no budget", "agents.defaults.subagents.announce": "OpenClaw has no such choice",
	"session.sendPolicy.rules[].match.accountId": "OpenClaw has no such condition", "session.sendPolicy.rules[].match.to": "OpenClaw has no such condition",
	"session.agentToAgent.followUp": "OpenClaw has no such setting", "session.agentToAgent.max": "OpenClaw has no such bound", "tools.byChatType": "OpenClaw has no such layer", "tools.bySender": "OpenClaw's names single people, which becomes stricter lists",
	"tools.timeoutSeconds": "OpenClaw has it for single tools", "tools.fetch": "OpenClaw's fetch tool has other bounds", "tools.files": "OpenClaw's tools on files have other bounds", "tools.attachments": "OpenClaw has no such tool",
	"tools.mcp.servers.*.read": "OpenClaw confines no server", "tools.mcp.servers.*.write": "OpenClaw confines no server", "messages.stopWords": "OpenClaw has a fixed list", "messages.groupChat.maxBotTurns": "OpenClaw has bot loop protection instead",
	"messages.queue.byChannel.*.cap": "OpenClaw has one for all channels", "messages.queue.byChannel.*.drop": "OpenClaw has one for all channels", "hooks.mappings": "not the same: templates of another kind, the report asks for them",
	"channels.telegram.pollTimeoutSeconds": "OpenClaw has no such setting", "channels.telegram.takeOverWebhook": "OpenClaw has no such setting", "channels.discord.apiUrl": "OpenClaw has no such setting", "channels.discord.members": "OpenClaw has an intent instead",
	"channels.whatsapp.deviceName": "OpenClaw has no such setting", "channels.webchat": "OpenClaw's page is another program", "channels.*.pacing": "OpenClaw has no such setting", "channels.*.allowBots": "OpenClaw has it on Discord, of these channels",
	"channels.*.streaming": "on Telegram only a choice between shown and not shown is the same",
}

// TestKeys tries every key of parley: it is made of a key of OpenClaw, or a reason says why of none.
func TestKeys(t *testing.T) {
	t.Parallel()
	theirs := lines(t, "testdata/openclaw-keys.txt")
	for _, m := range mapped {
		if m.theirs != "-" && !slices.ContainsFunc(theirs, func(k string) bool {
			return k == m.theirs || strings.HasPrefix(k, m.theirs+".") || strings.HasPrefix(m.theirs, k+".")
		}) {
			t.Errorf("OpenClaw has no key %s", m.theirs)
		}
	}
	for _, key := range ourKeys(t) {
		rows := slices.DeleteFunc(slices.Clone(mapped), func(m struct{ ours, theirs, value string }) bool { return m.ours != key && !aboutAll(m.ours, key) })
		why := ""
		for begin, reason := range unmapped {
			if strings.HasPrefix(key, begin) || aboutAll(begin, key) || strings.HasPrefix(general(key), begin) {
				why = reason
			}
		}
		switch {
		case len(rows) == 0 && why == "":
			t.Errorf("parley's key %s is neither made of a key of OpenClaw nor listed with a reason", key)
		case len(rows) == 0 && slices.Contains(theirs, key) && !strings.HasPrefix(why, "not the same: "):
			t.Errorf("both programs have the key %s, and it is not carried over: %s", key, why)
		}
	}
	for _, m := range mapped {
		got := converted(t, m.theirs, m.value)
		if !has(got, strings.Replace(m.ours, "channels.*", "channels.telegram", 1)) {
			t.Errorf("%s = %s gives no %s: %v", m.theirs, m.value, m.ours, got)
		}
	}
}

// general writes a channel's key as one of all channels.
func general(key string) string {
	if seg := strings.SplitN(key, ".", 3); len(seg) == 3 && seg[0] == "channels" {
		return "channels.*." + seg[2]
	}
	return key
}

func aboutAll(all, key string) bool {
	return strings.HasPrefix(all, "channels.*") && general(key) == all
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(b), "\n"), func(l string) bool { return l == "" || l[0] == '#' })
}

// ourKeys are the keys of docs/config.schema.json that hold values.
func ourKeys(t *testing.T) (out []string) {
	t.Helper()
	b, err := os.ReadFile("../../../docs/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal(b, &top); err != nil {
		t.Fatal(err)
	}
	var walk func(n map[string]any, at string)
	resolve := func(v any) map[string]any {
		n := obj(v)
		if name, ok := strings.CutPrefix(str(n["$ref"]), "#/$defs/"); ok {
			return obj(obj(top["$defs"])[name])
		}
		return n
	}
	walk = func(n map[string]any, at string) {
		inner := 0
		for k, v := range obj(n["properties"]) {
			walk(resolve(v), strings.TrimPrefix(at+"."+k, "."))
			inner++
		}
		if m := resolve(n["additionalProperties"]); len(obj(m["properties"])) > 0 && !strings.HasSuffix(at, ".accounts") && !strings.HasSuffix(at, ".topics") {
			walk(m, at+".*")
			inner++
		}
		if m := resolve(n["items"]); len(obj(m["properties"])) > 0 {
			walk(m, at+"[]")
			inner++
		}
		if inner == 0 && at != "" {
			out = append(out, at)
		}
	}
	walk(top, "")
	slices.Sort(out)
	if len(out) < 200 {
		t.Fatalf("the schema has %d keys only", len(out))
	}
	return slices.Compact(out)
}

// converted puts a value at a key of OpenClaw, and gives what parley's configuration becomes. "-" means that the value is a whole configuration.
func converted(t *testing.T, key, value string) map[string]any {
	t.Helper()
	var v any
	numbers := json.NewDecoder(strings.NewReader(value))
	numbers.UseNumber()
	if err := numbers.Decode(&v); err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	top := map[string]any{"models": map[string]any{"providers": map[string]any{"openai": map[string]any{"apiKey": "${OPENAI_API_KEY}"}}}}
	if key == "-" {
		for k, x := range v.(map[string]any) {
			top[k] = x
		}
	} else {
		set(top, strings.Split(strings.ReplaceAll(key, "[]", ".[]"), "."), v)
	}
	var r report.Report
	got := convert.Configuration(convert.Input{Top: top, Table: table(), Getenv: func(string) string { return "" }, Report: &r})
	out := map[string]any{}
	if err := yaml.Unmarshal(got.Config, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// set puts a value at a place; * is any name, [] the one item of a list.
func set(m map[string]any, seg []string, v any) {
	name := strings.Replace(seg[0], "*", "main", 1)
	switch {
	case len(seg) == 1:
		m[name] = v
	case seg[1] == "[]":
		item := map[string]any{"id": "one"}
		set(item, seg[2:], v)
		m[name] = []any{item}
	default:
		in := obj(m[name])
		if in == nil {
			in = map[string]any{}
			m[name] = in
		}
		if name == "main" && seg[0] == "*" && seg[1] != "apiKey" && m["openai"] != nil { // a provider needs an address and a key
			in["apiKey"], in["baseUrl"] = "${MAIN_API_KEY}", "https://models.example/v1"
		}
		set(in, seg[1:], v)
	}
}

// has reports whether something stands at a place; * is any name, [] any item.
func has(v any, place string) bool {
	if place == "" {
		return true
	}
	name, rest, _ := strings.Cut(place, ".")
	name, isList := strings.CutSuffix(name, "[]")
	for k, x := range obj(v) {
		if name != "*" && k != name {
			continue
		}
		if !isList && has(x, rest) {
			return true
		}
		for _, item := range entriesOf(x) {
			if isList && has(item, rest) {
				return true
			}
		}
	}
	return false
}

// TestDefaults compares the defaults of keys that both programs have. A difference is reported, or it is stricter, or it is harmless.
// source: openclaw 2026.9.6, docs/gateway/config-agents, docs/gateway/config-tools, docs/concepts/queue.md, docs/channels/groups.md
func TestDefaults(t *testing.T) {
	t.Parallel()
	ours := ourDefaults(t)
	_, _, r := made(t, `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1"]}}}`, nil)
	said := shown(r.Different)
	for key, theirs := range map[string]string{
		"channels.telegram.dmPolicy": "pairing", "channels.telegram.groupPolicy": "allowlist", "channels.discord.allowBots": "false", "channels.whatsapp.readReceipts": "true", "session.scope": "per-sender",
		"session.dmScope": "main", "session.reset.mode": "none", "session.reset.atHour": "4", "tools.sessions.visibility": "all", "tools.agentToAgent.enabled": "true", "agents.defaults.sandbox.mode": "off",
		"agents.defaults.sandbox.sessionToolsVisibility": "spawned", "agents.defaults.subagents.archiveAfterMinutes": "60", "agents.defaults.subagents.maxConcurrent": "8",
		"agents.defaults.subagents.maxChildrenPerAgent": "5", "agents.defaults.subagents.maxSpawnDepth": "5", "agents.defaults.timeoutSeconds": "172800", "messages.ackReactionScope": "group-mentions",
		"messages.removeAckAfterReply": "false", "hooks.enabled": "false", "hooks.path": "/hooks", "log.level": "info",
	} {
		have, ok := ours[key]
		switch {
		case !ok:
			t.Errorf("parley has no default for %s", key)
		case have != theirs && !strings.Contains(said, key):
			t.Errorf("%s is %s, it was %s, and the report does not say so", key, have, theirs)
		case have != theirs && key != "session.dmScope" && !strings.Contains(said, key+" is "+have):
			t.Errorf("the report gives another default of %s than %s", key, have)
		}
	}
}

// ourDefaults are the defaults of docs/config.schema.json.
func ourDefaults(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../../docs/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal(b, &top); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		n := obj(v)
		if d, ok := n["default"]; ok {
			out[at] = strings.Trim(shown(d), `"`)
		}
		for k, x := range obj(n["properties"]) {
			walk(x, strings.TrimPrefix(at+"."+k, "."))
		}
	}
	walk(top, "")
	return out
}

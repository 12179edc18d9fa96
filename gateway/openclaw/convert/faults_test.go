package convert_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"parley/gateway/openclaw/convert"
	"parley/gateway/openclaw/report"
)

// made converts a configuration and gives it as parley's file has it.
func made(t *testing.T, text string, env map[string]string, paired ...convert.Person) (map[string]any, convert.Result, report.Report) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	top := map[string]any{}
	if err := d.Decode(&top); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if top["models"] == nil {
		top["models"] = map[string]any{"providers": map[string]any{"openai": map[string]any{"apiKey": "${OPENAI_API_KEY}"}}}
	}
	var r report.Report
	got := convert.Configuration(convert.Input{Top: top, Table: table(), Getenv: func(n string) string { return env[n] }, Paired: paired, Report: &r})
	out := map[string]any{}
	if err := yaml.Unmarshal(got.Config, &out); err != nil {
		t.Fatal(err)
	}
	return out, got, r
}

// stands gives what stands at a place; names are divided by spaces.
func at(v any, place string) any {
	for _, name := range strings.Fields(place) {
		if l := entriesOf(v); l != nil {
			v = l[int(name[0]-'0')]
		} else {
			v = obj(v)[name]
		}
	}
	return v
}

func shown(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestClosed has every input of which a part was left out, so that the rest meant the opposite.
// source: openclaw docs/concepts/session.md, docs/channels/groups.md, docs/channels/discord.md
func TestClosed(t *testing.T) {
	t.Parallel()
	const room = "41771983423143937"
	for _, c := range []struct {
		name, in, place, want, section string // section: of the report, with a word that it has
	}{
		{"allow for a channel that is not there", `{"session": {"sendPolicy": {"default": "deny", "rules": [{"action": "allow", "match": {"channel": "slack"}}]}}}`, "session sendPolicy", `{"default":"deny"}`, "left: slack"},
		{"deny for a channel that is not there", `{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"channel": "slack"}}]}}}`, "session sendPolicy", `{"default":"allow"}`, "left: slack"},
		{"deny for groups of such a channel", `{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"channel": "slack", "chatType": "group"}}]}}}`, "session sendPolicy", `{"default":"allow"}`, "left: slack"},
		{"deny with an unknown condition", `{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"channel": "telegram", "provider": "x"}}]}}}`, "session sendPolicy", `{"default":"allow","rules":[{"action":"deny","match":{"channel":"telegram"}}]}`, "need: denies more than before (channel telegram)"},
		{"deny by a prefix that means another session here", `{"session": {"mainKey": "home", "sendPolicy": {"rules": [{"action": "deny", "match": {"channel": "telegram", "keyPrefix": "main"}}]}}}`, "session sendPolicy", `{"default":"allow","rules":[{"action":"deny","match":{"channel":"telegram"}}]}`, "need: no condition keyPrefix main,"},
		{"allow with an unknown condition", `{"session": {"sendPolicy": {"default": "deny", "rules": [{"action": "allow", "match": {"channel": "telegram", "provider": "x"}}]}}}`, "session sendPolicy", `{"default":"deny"}`, "left: provider"},
		{"deny for an account", `{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"channel": "telegram", "accountId": "My Biz"}}]}}}`, "session sendPolicy rules 0", `{"action":"deny","match":{"accountId":"my-biz","channel":"telegram"}}`, "carried: rules[0]"},
		{"deny for any account", `{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"channel": "telegram", "accountId": "*"}}]}}}`, "session sendPolicy rules 0", `{"action":"deny","match":{"channel":"telegram"}}`, "carried: rules[0]"},
		{"deny for a kind of chat that is not there", `{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"chatType": "room"}}]}}}`, "session sendPolicy", `{"default":"allow","rules":[{"action":"deny","match":{}}]}`, "need: no condition chatType room,"},
		{"allow for any account", `{"session": {"sendPolicy": {"default": "deny", "rules": [{"action": "allow", "match": {"accountId": "*"}}]}}}`, "session sendPolicy", `{"default":"deny"}`, "left: accountId *,"},
		{"an account that is no text", `{"session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"accountId": 7}}]}}}`, "session sendPolicy", `{"default":"allow","rules":[{"action":"deny","match":{}}]}`, "need: accountId"},
		{"a binding whose roles parley refuses", `{"agents": {"list": [{"id": "main"}, {"id": "kids", "tools": {"deny": ["*"]}}]}, "channels": {"discord": {"token": "${DISCORD_TOKEN}"}}, "bindings": [{"agentId": "kids", "match": {"channel": "discord", "guildId": "41771983423143930", "roles": "x"}}]}`, "channels discord enabled", "false", "need: matching accounts are disabled"},
		{"it is left out", `{"agents": {"list": [{"id": "main"}, {"id": "kids", "tools": {"deny": ["*"]}}]}, "channels": {"discord": {"token": "${DISCORD_TOKEN}"}}, "bindings": [{"agentId": "kids", "match": {"channel": "discord", "guildId": "41771983423143930", "roles": "x"}}]}`, "bindings", "[]", "need: roles"},
		{"a binding of another account", `{"agents": {"list": [{"id": "main"}, {"id": "kids"}]}, "channels": {"discord": {"accounts": {"a": {"token": "${A}"}, "b": {"token": "${B}"}}}}, "bindings": [{"agentId": "kids", "match": {"channel": "discord", "accountId": "b", "guildId": "41771983423143930", "roles": "x"}}]}`, "channels discord accounts a enabled", "null", "need: bindings[0]"},
		{"the host's profile of tools, where only an agent over ACP has another", `{"tools": {"profile": "minimal"}, "agents": {"list": [{"id": "codex", "runtime": {"type": "acp"}, "tools": {"profile": "coding"}}]}}`, "tools deny 0", `"sessions_list"`, "different: tools"},
		{"the host's sandbox, where only an agent over ACP has another", `{"agents": {"defaults": {"sandbox": {"mode": "all"}}, "list": [{"id": "codex", "runtime": {"type": "acp"}, "sandbox": {"mode": "off"}}]}}`, "agents defaults sandbox mode", `"all"`, "different: sandbox"},
		{"and beside another agent", `{"tools": {"profile": "minimal"}, "agents": {"list": [{"id": "main", "default": true}, {"id": "codex", "runtime": {"type": "acp"}, "tools": {"profile": "coding"}}]}}`, "tools deny 0", `"sessions_list"`, "different: tools"},
		{"rules that are no list", `{"session": {"sendPolicy": {"rules": {"a": 1}}}}`, "session sendPolicy", `{"default":"deny"}`, "need: write them again"},
		{"names in the list of a group", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "groups": {"-1001": {"allowFrom": ["bob"], "requireMention": false}}}}}`, "channels telegram groups -1001 enabled", "false", "need: no list of senders"},
		{"a group without senders", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "groups": {"-1001": {}}}}}`, "channels telegram groups -1001 enabled", "false", "need: no list of senders"},
		{"an unknown policy of one group", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1"], "groups": {"-1001": {"groupPolicy": "odd"}}}}}`, "channels telegram groups -1001 enabled", "false", "need: does not know this policy"},
		{"one group closed", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1"], "groups": {"-1001": {"groupPolicy": "disabled"}}}}}`, "channels telegram groups -1001 enabled", "false", "carried: groups.-1001 closed"},
		{"users of a server", `{"channels": {"discord": {"token": "${DISCORD_TOKEN}", "guilds": {"41771983423143930": {"users": ["80351110224678912"], "channels": {"` + room + `": {"allow": true}}}}}}}`, "channels discord groups " + room + " allowFrom", `["80351110224678912"]`, "different: without their server"},
		{"roles of a server", `{"channels": {"discord": {"token": "${DISCORD_TOKEN}", "guilds": {"41771983423143930": {"roles": ["1"], "channels": {"` + room + `": {"allow": true}}}}}}}`, "channels discord groups " + room + " enabled", "false", "need: by a role alone"},
		{"a server without channels", `{"channels": {"discord": {"token": "${DISCORD_TOKEN}", "guilds": {"41771983423143930": {"users": ["80351110224678912"]}}}}}`, "channels discord groupPolicy", `"disabled"`, "need: no entry for a whole server"},
		{"channels by name, in one line", `{"channels": {"discord": {"token": "${DISCORD_TOKEN}", "guilds": {"41771983423143930": {"channels": {"general": {}, "help": {}}}}}}}`, "channels discord groupPolicy", `"disabled"`, "need: not by name"},
		{"a server's mentions", `{"channels": {"discord": {"token": "${DISCORD_TOKEN}", "guilds": {"41771983423143930": {"requireMention": false, "channels": {"` + room + `": {}}}}}}}`, "channels discord groups " + room + " requireMention", "false", "different: without their server"},
		{"tools of a group", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1"], "groups": {"-1001": {"tools": {"deny": ["*"]}}}}}}`, "channels telegram groups -1001 tools deny", `["*"]`, "carried: groups.-1001"},
		{"tools by sender", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1"], "groups": {"-1001": {"toolsBySender": {"id:1": {"deny": ["cron"]}}}}}}}`, "channels telegram groups -1001 toolsBySender 1 deny", `["cron"]`, "carried: groups.-1001"},
		{"tools by a name", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1"], "groups": {"-1001": {"toolsBySender": {"name:Bob": {"deny": ["cron"]}}}}}}}`, "channels telegram groups -1001 tools deny", `["*"]`, "need: no such person"},
		{"tools of an agent", `{"agents": {"list": [{"id": "main", "tools": {"deny": ["sessions_spawn", "sessions_send", "message"]}}]}}`, "agents list 0 tools deny", `["sessions_send","sessions_spawn","message"]`, "carried: tools"},
		{"a list of tools that parley has not", `{"tools": {"allow": ["exec"]}}`, "tools deny", `["*"]`, "different: parley's tools"},
		{"tools of sub-agents", `{"tools": {"subagents": {"tools": {"deny": ["group:fs"]}}}}`, "tools subagents tools deny", `["files","attachments","remember"]`, "different: parley's tools"},
		{"the sandbox of one agent", `{"agents": {"list": [{"id": "main"}, {"id": "b", "sandbox": {"mode": "all"}}]}}`, "agents defaults sandbox mode", `"all"`, "need: the strictest holds"},
		{"an account that inherits", `{"channels": {"telegram": {"allowFrom": ["1"], "accounts": {"biz": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["*"], "dmPolicy": "open"}}}}}`, "channels telegram accounts biz dmPolicy", `"allowlist"`, "different: does not count"},
		{"a topic with an agent of its own", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1"], "groups": {"-1001": {"topics": {"7": {"agentId": "b"}}}}}}}`, "channels telegram groups -1001 topics 7 enabled", "false", "need: single topic"},
	} {
		out, _, r := made(t, c.in, nil)
		if got := shown(at(out, c.place)); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.name, c.place, got, c.want)
		}
		name, word, _ := strings.Cut(c.section, ": ")
		section := map[string][]report.Item{"need": r.NeedsYou, "different": r.Different, "left": r.Left, "carried": r.Carried}[name]
		if !slices.ContainsFunc(section, func(i report.Item) bool { return strings.Contains(i.What+" "+i.Why, word) }) {
			t.Errorf("%s: no %q in %+v", c.name, word, section)
		}
		if len(r.OpenToMore) > 0 {
			t.Errorf("%s: %+v", c.name, r.OpenToMore)
		}
	}
}

// TestUnsetVariables: nothing is wrong but the missing value, so nothing is closed, and no value is called wrong.
// source: openclaw docs/gateway/configuration.md (environment variables in any string)
func TestUnsetVariables(t *testing.T) {
	t.Parallel()
	for in, place := range map[string]string{
		`{"channels": {"telegram": {"accounts": {"a": {"botToken": "${A}"}, "b": {"botToken": "${B}"}}}}}`:                                                                               "channels telegram accounts b",
		`{"channels": {"discord": {"accounts": {"a": {"token": "${A}"}, "b": {"token": "${B}"}}}}}`:                                                                                      "channels discord accounts b",
		`{"channels": {"whatsapp": {"dmPolicy": "allowlist", "allowFrom": ["${A}"]}}}`:                                                                                                   "channels whatsapp",
		`{"channels": {"whatsapp": {"groupPolicy": "allowlist", "groupAllowFrom": ["${A}"], "groups": {"*": {}}}}}`:                                                                      "channels whatsapp",
		`{"channels": {"telegram": {"botToken": "${T}", "dmPolicy": "allowlist", "allowFrom": ["${A}"]}}}`:                                                                               "channels telegram",
		`{"channels": {"discord": {"token": "${T}", "dmPolicy": "allowlist", "allowFrom": ["${A}"]}}}`:                                                                                   "channels discord",
		`{"agents": {"list": [{"id": "main"}, {"id": "b"}]}, "bindings": [{"agentId": "b", "match": {"channel": "telegram", "peer": {"kind": "group", "id": "${A}"}}}]}`:                 "bindings 0",
		`{"agents": {"list": [{"id": "main"}, {"id": "b"}]}, "bindings": [{"agentId": "b", "match": {"channel": "whatsapp", "peer": {"kind": "group", "id": "${A}"}}}]}`:                 "bindings 0",
		`{"agents": {"list": [{"id": "main"}, {"id": "b"}]}, "bindings": [{"agentId": "b", "match": {"channel": "whatsapp", "peer": {"kind": "direct", "id": "${A}"}}}], "session": {}}`: "bindings 0",
	} {
		out, got, r := made(t, in, nil)
		if v := at(out, place); v == nil || obj(v)["enabled"] != nil || !slices.Contains(got.Needs, "A") {
			t.Errorf("%s: %s, needs %v", in, shown(out), got.Needs)
		}
		if s := shown(r.NeedsYou) + shown(r.Left); strings.Contains(s, "refuses") || strings.Contains(s, "has the id") {
			t.Errorf("%s: %s", in, s)
		}
	}
	for _, in := range []string{`"channels": {"telegram": {"botToken": "${T}", "allowFrom": ["tg:${A}"]}}`, `"channels": {"telegram": {"botToken": "${T}"}}, "commands": {"ownerAllowFrom": ["telegram:${A}"]}`} {
		if _, _, r := made(t, "{"+in+"}", nil); !strings.Contains(shown(r.NeedsYou), "its variable has no value") {
			t.Errorf("%s: %+v", in, r.NeedsYou)
		}
	}
}

// TestSubagentsOfAnAgent: each key is carried over or left out, and none is both.
// source: openclaw docs/gateway/config-agents.md (agents.list[].subagents)
func TestSubagentsOfAnAgent(t *testing.T) {
	t.Parallel()
	out, _, r := made(t, `{"agents": {"list": [{"id": "a", "subagents": {"allowAgents": ["b"], "thinking": "low"}}, {"id": "b"}]}}`, nil)
	if got := shown(at(out, "agents list 0 subagents")); got != `{"allowAgents":["b"]}` || strings.Contains(shown(r.Left), `"agents.list.a.subagents"`) || !strings.Contains(shown(r.Left), `"agents.list.a.subagents.thinking"`) {
		t.Errorf("%s, %+v", got, r.Left)
	}
}

// TestOneDirectChat: what OpenClaw says of one person's direct chat keeps out this person, and others only where parley cannot tell them apart.
// source: openclaw docs/channels/telegram.md (channels.telegram.direct.<id>, "*" for the others)
func TestOneDirectChat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, dm, allow, section string }{
		{"closed under pairing", `"allowFrom": ["1001", "777"], "direct": {"777": {"dmPolicy": "disabled"}}`, `"pairing"`, `["1001"]`, "different: do not approve"},
		{"closed under pairing, and not listed", `"allowFrom": ["1001"], "direct": {"777": {"enabled": false}}`, `"pairing"`, `["1001"]`, "different: do not approve"},
		{"closed under allowlist", `"dmPolicy": "allowlist", "allowFrom": ["1001", "tg:777"], "direct": {"telegram:777": {"dmPolicy": "disabled"}}`, `"allowlist"`, `["1001"]`, "carried: direct.telegram:777"},
		{"closed under open", `"dmPolicy": "open", "allowFrom": ["*", "1001"], "direct": {"777": {"dmPolicy": "disabled"}}`, `"allowlist"`, `["1001"]`, "need: everybody except"},
		{"closed under open, nobody named", `"dmPolicy": "open", "allowFrom": ["*"], "direct": {"777": {"dmPolicy": "disabled"}}`, `"disabled"`, "null", "need: everybody except"},
		{"its own list has the person", `"dmPolicy": "open", "allowFrom": ["*"], "direct": {"777": {"allowFrom": ["777"]}}`, `"open"`, `["*"]`, "carried: direct.777"},
		{"its own list has somebody else", `"dmPolicy": "allowlist", "allowFrom": ["1001", "777"], "direct": {"777": {"allowFrom": ["1001"]}}`, `"allowlist"`, `["1001"]`, "carried: direct.777"},
		{"tools of one person", `"allowFrom": ["1001", "777"], "direct": {"777": {"tools": {"deny": ["cron"]}}}`, `"pairing"`, `["1001"]`, "need: restrictions of one direct chat"},
		{"only names it", `"dmPolicy": "open", "allowFrom": ["*"], "direct": {"777": {"systemPrompt": "Be short."}}`, `"open"`, `["*"]`, "left: direct.777.systemPrompt"},
		{"everybody else closed", `"allowFrom": ["1001", "777"], "direct": {"*": {"enabled": false}, "1001": {}}`, `"allowlist"`, `["1001"]`, "different: direct.*"},
		{"everybody closed", `"allowFrom": ["1001"], "direct": {"*": {"dmPolicy": "disabled"}}`, `"disabled"`, "null", "different: direct.*"},
		{"a topic closed", `"allowFrom": ["1001", "777"], "direct": {"777": {"topics": {"5": {"enabled": false}}}}`, `"pairing"`, `["1001"]`, "need: restrictions of one direct chat"},
	} {
		out, got, r := made(t, `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "groups": {"-1001": {}}, `+c.in+`}}}`, nil, convert.Person{Channel: "telegram", Account: "default", ID: "777"})
		if dm, allow := shown(at(out, "channels telegram dmPolicy")), shown(at(out, "channels telegram allowFrom")); dm != c.dm || allow != c.allow {
			t.Errorf("%s: %s %s, want %s %s", c.name, dm, allow, c.dm, c.allow)
		}
		if len(got.Paired) > 0 {
			t.Errorf("%s: %v stays paired", c.name, got.Paired)
		}
		r.Sort()
		name, word, _ := strings.Cut(c.section, ": ")
		section := map[string][]report.Item{"need": r.NeedsYou, "different": r.Different, "left": r.Left, "carried": r.Carried}[name]
		if !slices.ContainsFunc(section, func(i report.Item) bool { return strings.Contains(i.What+" "+i.Why, word) }) {
			t.Errorf("%s: no %q in %+v", c.name, word, section)
		}
		if c.allow != "null" && strings.Contains(c.in, `"1001", "777"]`) && !strings.Contains(shown(at(out, "channels telegram groupAllowFrom")), "777") {
			t.Errorf("%s: the person is kept out of groups as well", c.name)
		}
		if strings.Contains(shown(r.Carried), "channels.telegram.dmPolicy") && !strings.Contains(c.in, `"dmPolicy": `+c.dm+`,`) {
			t.Errorf("%s: dmPolicy changed, and stands under carried over", c.name)
		}
	}
}

// TestOwners: who is an owner, and whose the main conversation is.
// source: openclaw docs/channels/pairing.md (first owner), docs/concepts/session.md (dmScope)
func TestOwners(t *testing.T) {
	t.Parallel()
	const one = `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1001"]}}`
	for _, c := range []struct{ name, in, owners, scope, need string }{
		{"named", one + `, "commands": {"ownerAllowFrom": ["tg:1001"]}}`, `["telegram:1001"]`, "null", ""},
		{"named without a channel", one + `, "commands": {"ownerAllowFrom": [1001]}}`, `["telegram:1001"]`, "null", ""},
		{"the only person", one + `}`, `["telegram:1001"]`, "null", ""},
		{"several", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1001", 2002]}}}`, "null", "null", `commands: {ownerAllowFrom: ["telegram:1001", "telegram:2002"]}`},
		{"everybody is no person", `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["*"], "dmPolicy": "open"}}}`, "null", "null", "CHANNEL:ID"},
		{"named, but not let in", one + `, "commands": {"ownerAllowFrom": ["telegram:2002"]}}`, "null", "null", "listens to an owner everywhere"},
		{"an explicit scope", one + `, "session": {"dmScope": "main"}}`, `["telegram:1001"]`, `"main"`, ""},
		{"rules by key", one + `, "session": {"sendPolicy": {"rules": [{"action": "deny", "match": {"keyPrefix": "main"}}]}}}`, `["telegram:1001"]`, `"main"`, ""},
	} {
		out, _, r := made(t, c.in, nil)
		if got := shown(at(out, "commands ownerAllowFrom")); got != c.owners {
			t.Errorf("%s: owners %s, want %s", c.name, got, c.owners)
		}
		if got := shown(at(out, "session dmScope")); got != c.scope {
			t.Errorf("%s: dmScope %s, want %s", c.name, got, c.scope)
		}
		if need := fmt.Sprint(r.NeedsYou); c.need == "" && len(r.NeedsYou) > 0 || strings.Count(need, c.need) != 1 && c.need != "" {
			t.Errorf("%s: needs %s", c.name, need)
		}
	}
}

// TestOwnerCommands: without an owner the report has the command for each paired person, once.
func TestOwnerCommands(t *testing.T) {
	t.Parallel()
	in := `{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "accounts": {"biz": {"botToken": "${BIZ_TOKEN}"}}}}}`
	_, _, r := made(t, in, nil, convert.Person{Channel: "telegram", Account: "default", ID: "2002"}, convert.Person{Channel: "telegram", Account: "biz", ID: "2002"}, convert.Person{Channel: "telegram", Account: "biz", ID: "3003"})
	need := fmt.Sprint(r.NeedsYou)
	for _, id := range []string{"2002", "3003"} {
		if command := "parley pairing approve telegram " + id + " --owner"; strings.Count(need, command) != 1 {
			t.Errorf("no %q once in %s", command, need)
		}
	}
	if strings.Contains(need, "CHANNEL:ID") || len(r.NeedsYou) != 1 {
		t.Errorf("needs %s", need)
	}
}

// TestPaired: people who were let in by pairing count under that policy alone, for their account, and never in groups.
// source: openclaw docs/channels/pairing.md; https://github.com/openclaw/openclaw/pull/23017
func TestPaired(t *testing.T) {
	t.Parallel()
	who := []convert.Person{{Channel: "telegram", Account: "default", ID: "tg:2002"}, {Channel: "telegram", Account: "biz", ID: "3003"}, {Channel: "slack", Account: "default", ID: "U1"}}
	for _, c := range []struct{ in, want string }{
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "allowFrom": ["1001"], "groups": {"*": {}}}}}`, `[{"Channel":"telegram","Account":"default","ID":"2002"}]`},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "dmPolicy": "allowlist", "allowFrom": ["1001"]}}}`, "null"},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "dmPolicy": "open", "allowFrom": ["*"], "accounts": {"Biz": {"botToken": "${BIZ_TOKEN}", "dmPolicy": "pairing"}}}}}`, `[{"Channel":"telegram","Account":"biz","ID":"3003"}]`},
	} {
		out, got, _ := made(t, c.in, nil, who...)
		if shown(got.Paired) != c.want {
			t.Errorf("%s: %s, want %s", c.in, shown(got.Paired), c.want)
		}
		if strings.Contains(shown(out), "2002") || strings.Contains(shown(out), "3003") {
			t.Errorf("a paired person is in the configuration: %s", shown(out))
		}
	}
}

// TestNothingRefuses: one value never refuses everything.
// source: openclaw docs/channels/discord.md (SecretRef), docs/channels/telegram.md (token resolution)
func TestNothingRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, place, want string }{
		{`{"channels": {"telegram": {"dmPolicy": "allowlist", "allowFrom": ["1001"]}}}`, "channels telegram token", `"${TELEGRAM_BOT_TOKEN}"`},
		{`{"channels": {"discord": {"token": "${DISCORD_BOT_TOKEN}"}}}`, "channels discord token", `"${DISCORD_BOT_TOKEN}"`},
		{`{"channels": {"discord": {"token": 5}}}`, "channels discord token", `"${DISCORD_TOKEN}"`},
		{`{"channels": {"telegram": {"accounts": {"a": {}, "b": {"botToken": "${TELEGRAM_TOKEN}"}}}}}`, "channels telegram accounts a enabled", "false"},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "accounts": {"biz": {"botToken": "${BIZ_TOKEN}"}}}}}`, "channels telegram accounts default token", `"${TELEGRAM_TOKEN}"`},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "accounts": {"biz": {"botToken": "${BIZ_TOKEN}"}}}}}`, "channels telegram accounts default enabled", "null"},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "accounts": {"biz": {}}}}}`, "channels telegram accounts biz enabled", "false"},
		{`{"bindings": [{"agentId": "gone", "match": {"channel": "telegram"}}]}`, "bindings", "null"},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "accounts": {"biz": {"botToken": "${BIZ_TOKEN}"}}}}, "agents": {"list": [{"id": "main"}, {"id": "x", "runtime": {"type": "acp"}}]}, "bindings": [{"agentId": "x", "match": {"channel": "telegram", "accountId": "biz"}}]}`, "channels telegram accounts biz enabled", "false"},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}"}}, "agents": {"list": [{"id": "main"}, {"id": "x", "default": true, "runtime": {"type": "acp"}}]}}`, "channels telegram enabled", "false"},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}"}}, "agents": {"list": [{"id": "main"}, {"id": "x", "runtime": {"type": "acp"}}]}}`, "channels telegram enabled", "null"},
		{`{"bindings": [{"type": "acp", "agentId": "main", "match": {"channel": "telegram"}}]}`, "bindings", "null"},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}"}}, "bindings": [{"agentId": "main", "match": {"channel": "telegram", "peer": {"kind": "dm", "id": "telegram:1001"}}}]}`, "bindings 0 match peer", `{"id":"1001","kind":"direct"}`},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "groups": {"${GROUP}": {}}}}}`, "channels telegram groupPolicy", `"disabled"`},
		{`{"channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}", "textChunkLimit": "many"}}}`, "channels telegram enabled", "false"},
		{`{"messages": {"queue": {"mode": "odd"}}}`, "messages queue", `{}`},
		{`{"agents": {"list": [{"id": "a b"}, {"id": "a-b"}]}}`, "agents list", `[{"id":"a-b"}]`},
		{`{"channels": 5, "agents": "x", "tools": [], "session": false, "bindings": {}, "commands": [], "models": 3, "mcp": [], "hooks": 1, "env": 7}`, "channels", "null"},
		{`{"models": {"providers": {}}, "channels": {"telegram": {"botToken": "${TELEGRAM_TOKEN}"}}}`, "channels telegram enabled", "false"},
	} {
		out, _, _ := made(t, c.in, nil)
		if got := shown(at(out, c.place)); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.in, c.place, got, c.want)
		}
		imported(t, parsed(t, c.in), nil)
	}
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var top map[string]any
	if err := json.Unmarshal([]byte(text), &top); err != nil {
		t.Fatal(err)
	}
	return top
}

// TestProviders: keys that are none, and protocols with another known way.
// source: openclaw docs/providers/ollama.md, docs/concepts/model-providers.md
func TestProviders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, set, want string }{
		{"ollama", `{"baseUrl": "http://127.0.0.1:11434", "apiKey": ""}`, `{"api":"openai","baseUrl":"http://127.0.0.1:11434/v1"}`},
		{"ollama", `{"baseUrl": "http://192.168.1.5:11434", "apiKey": ""}`, `{"api":"openai","baseUrl":"http://192.168.1.5:11434/v1"}`},
		{"vllm", `{"baseUrl": "http://10.0.0.2:8000/v1", "apiKey": ""}`, `{"api":"openai","baseUrl":"http://10.0.0.2:8000/v1"}`},
		{"house", `{"baseUrl": "https://models.example/v1", "apiKey": "${HOUSE_KEY_1}"}`, `{"api":"openai","apiKey":"${HOUSE_KEY_1}","baseUrl":"https://models.example/v1"}`},
		{"google", `{"api": "google-generative-ai", "baseUrl": "https://generativelanguage.googleapis.com/v1beta", "apiKey": "${GEMINI_API_KEY}"}`, `{"api":"openai","apiKey":"${GEMINI_API_KEY}","baseUrl":"https://generativelanguage.googleapis.com/v1beta/openai"}`},
		{"google", `{"api": "google-generative-ai", "baseUrl": "https://stranger.example", "apiKey": "${GEMINI_API_KEY}"}`, "null"},
		{"google", `{"baseUrl": "https://generativelanguage.googleapis.com/v1", "apiKey": "${GEMINI_API_KEY}"}`, `{"api":"openai","apiKey":"${GEMINI_API_KEY}","baseUrl":"https://generativelanguage.googleapis.com/v1beta/openai"}`},
		{"gemini", `{"api": "openai-completions", "baseUrl": "https://generativelanguage.googleapis.com", "apiKey": "${GEMINI_API_KEY}"}`, `{"api":"openai-completions","apiKey":"${GEMINI_API_KEY}","baseUrl":"https://generativelanguage.googleapis.com/v1beta/openai"}`},
		{"google", `{"baseUrl": "https://generativelanguage.googleapis.com/v1beta/openai/", "apiKey": "${GEMINI_API_KEY}"}`, `{"api":"openai","apiKey":"${GEMINI_API_KEY}","baseUrl":"https://generativelanguage.googleapis.com/v1beta/openai/"}`},
	} {
		out, _, _ := made(t, `{"models": {"providers": {"`+c.name+`": `+c.set+`}}, "agents": {"defaults": {"model": "`+c.name+`/m"}}}`, nil)
		if got := shown(at(out, "models providers "+c.name)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.set, got, c.want)
		}
	}
}

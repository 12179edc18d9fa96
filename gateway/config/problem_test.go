package config

import (
	"fmt"
	"strings"
	"testing"
)

// Each text has exactly the problems listed, in this order.
// proves: K10, P2
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "gateway:\n  listn: 127.0.0.1:1\n", []string{`:2: gateway.listn: unknown key (did you mean "listen"?)`}},
		{"unknown key, nothing near", "store:\n  zebra: 1\n", []string{`:2: store.zebra: unknown key (known keys: dsn)`}},
		{"case", "store:\n  DSN: ''\n", []string{`:2: store.DSN: unknown key (did you mean "dsn"?)`}},
		{"slipped out of its section", "session:\nsendPolicy:\n  default: deny\n", []string{`:2: sendPolicy: unknown key (the key belongs to session; check the indentation)`}},
		{"key twice", "store: {}\nlog: {}\nstore: {}\n", []string{`:3: store: is set twice (line 1 sets it first; keep one)`}},
		{"group wanted, text", "store: sqlite\n", []string{`:1: store: must be a group of keys, is text (indent its keys below it, as key: value)`}},
		{"group wanted, list", "gateway:\n  - listen: x\n", []string{`:1: gateway: must be a group of keys, is a list (indent its keys below it, as key: value)`}},
		{"root is a list", "- a\n", []string{`:1: must be a group of keys, is a list (indent its keys below it, as key: value)`}},
		{"list wanted, number", "channels: {telegram: {token: x, allowFrom: 1001}}\n", []string{`:1: channels.telegram.allowFrom: must be a list, is a number (write ["1001"])`}},
		{"list wanted, group", "bindings: {agentId: main}\n", []string{`:1: bindings: must be a list, is a group of keys (write [a, b], or one item a line, each after "- ")`}},
		{"list wanted, perhaps a secret", "commands: {ownerAllowFrom: 123456:AAAAAAAAAAAAAAAAAAAA}\n", []string{`:1: commands.ownerAllowFrom: must be a list, is text (write [a, b], or one item a line, each after "- ")`}},
		{"empty item", "commands:\n  ownerAllowFrom:\n    -\n", []string{`:3: commands.ownerAllowFrom[0]: is an empty item (remove it)`}},
		{"number wanted", "delivery: {ttl: {replyMinutes: soon}}\n", []string{`:1: delivery.ttl.replyMinutes: must be a whole number, is "soon"`}},
		{"number in quotes", "delivery: {ttl: {replyMinutes: '5'}}\n", []string{`:1: delivery.ttl.replyMinutes: must be a whole number, is "5" (remove the quotes)`}},
		{"fraction", "delivery: {ttl: {replyMinutes: 1.5}}\n", []string{`:1: delivery.ttl.replyMinutes: must be a whole number, is "1.5"`}},
		{"range", "session:\n  agentToAgent: {maxPingPongTurns: 6}\n", []string{`:2: session.agentToAgent.maxPingPongTurns: must be between 0 and 5, is "6"`}},
		{"negative", "channels: {telegram: {token: x, pacing: {perSecond: -1}}}\n", []string{`:1: channels.telegram.pacing.perSecond: must be at least 0, is "-1"`}},
		{"not a number", "channels: {telegram: {token: x, pacing: {perSecond: .nan}}}\n", []string{`:1: channels.telegram.pacing.perSecond: must be a number, is ".nan"`}},
		{"yes", "tools: {agentToAgent: {enabled: yes}}\n", []string{`:1: tools.agentToAgent.enabled: must be true or false, is "yes" (write true)`}},
		{"enum", "session:\n  dmScope: per-pear\n", []string{`:2: session.dmScope: "per-pear" is not allowed (use one of: owner-main, main, per-peer, per-channel-peer, per-account-channel-peer; did you mean "per-peer"?)`}},
		{"enum, empty", "log: {level: ''}\n", []string{`:1: log.level: an empty text is not allowed (use one of: debug, info, warn, error)`}},
		{"text wanted, truth", "models: {providers: {a: {api: true}}}\n", []string{`:1: models.providers.a.api: must be text, is true or false (quote the value)`}},
		{"text wanted, list", "state: [a]\n", []string{`:1: state: must be text, is a list`}},
		{"missing", "models:\n  providers:\n    a: {}\n", []string{`:3: models.providers.a.api: is missing (Protocol: openai (and compatible servers), openai-completions, openai-responses, anthropic, or offline (built in))`}},
		{"missing, nothing written", "models:\n  providers:\n    a:\n", []string{`:3: models.providers.a.api: is missing (Protocol: openai (and compatible servers), openai-completions, openai-responses, anthropic, or offline (built in))`}},
		{"pattern", "agents: {list: [{id: Big Bot}]}\n", []string{`:1: agents.list[0].id: "Big Bot" is not allowed (Identifier: lower-case letters, digits, - and _)`}},
		{"telegram without token", "channels:\n  telegram:\n    dmPolicy: pairing\n", []string{`:2: channels.telegram.token: is missing (Token from @BotFather)`}},
		{"telegram without anything", "channels:\n  telegram:\n", []string{`:2: channels.telegram.token: is missing (Token from @BotFather)`}},
		{"token without value", "channels:\n  telegram:\n    token:\n", []string{`:2: channels.telegram.token: is missing (Token from @BotFather)`}},
		{"empty token", "channels:\n  telegram:\n    token: ''\n", []string{`:3: channels.telegram.token: is empty (Token from @BotFather)`}},
		{"unset variable", "channels:\n  telegram:\n    token: ${TG_TOKEN}\n", []string{`:3: channels.telegram.token: the environment variable TG_TOKEN is not set (set TG_TOKEN in .env beside this file)`}},
		{"unset variable, no secret", "state: ${DIR}\n", []string{`:1: state: the environment variable DIR is not set (set DIR, or write ${DIR:-default})`}},
		{"unset variable, secrets by name", "models: {providers: {a: {api: openai, baseUrl: 'http://h', headers: {X-A: '${K}'}}}}\n", []string{`:1: models.providers.a.headers.X-A: the environment variable K is not set (set K in .env beside this file)`}},
		{"curly quotes", "channels: {telegram: {token: “1234567:abcdefghijklmnopqrst”}}\n", []string{`:1: channels.telegram.token: contains curly quotes (use straight quotes: "…")`}},
		{"example token", "channels: {telegram: {token: '123:abc'}}\nmodels: {providers: {a: {api: openai, apiKey: your-api-key}}}\nagents: {defaults: {model: a/m}}\n", []string{
			`:1: channels.telegram.token: warning: is an example, not a real secret (Token from @BotFather)`,
			`:2: models.providers.a.apiKey: warning: is an example, not a real secret (API key; write ${NAME} to read it from the environment)`}},
		{"broken variable", "state: ${a b}\n", []string{`:1: state: contains a ${ that does not begin a variable (write ${NAME} or ${NAME:-default}; $${ stands for a plain ${)`}},
		{"unknown channel", "channels:\n  telegrm: {token: x}\n", []string{`:2: channels.telegrm: unknown channel (known channels: telegram, webchat; did you mean "telegram"?)`}},
		{"account without token", "channels:\n  telegram:\n    accounts:\n      a: {token: x}\n      b: {}\n", []string{`:5: channels.telegram.accounts.b.token: is missing (Token from @BotFather)`}},
		{"account with an unknown key", "channels:\n  telegram:\n    accounts:\n      a: {token: x, alowFrm: []}\n", []string{`:4: channels.telegram.accounts.a.alowFrm: unknown key (did you mean "allowFrom"?)`}},
		{"two accounts, one token", "channels:\n  telegram:\n    accounts:\n      a: {token: x}\n      b: {token: x}\n", []string{`:5: channels.telegram.accounts.b.token: is also used by channels.telegram.accounts.a (give each account its own login)`}},
		{"owner", "commands:\n  ownerAllowFrom:\n    - 1001\n    - telegrm:1\n", []string{
			`:3: commands.ownerAllowFrom[0]: "1001" names no channel: write <channel>:<user id>, with one of telegram, webchat (send /whoami to the bot to see your id)`,
			`:4: commands.ownerAllowFrom[1]: "telegrm:1" names no channel: write <channel>:<user id>, with one of telegram, webchat (did you mean "telegram"?)`}},
		{"open to the world", "gateway: {listen: 0.0.0.0:18790, token: ${PARLEY_TOKEN}}\n", []string{`:1: gateway.listen: other machines can reach this address, and gateway.token is not set (set gateway.token, or listen on 127.0.0.1)`}},
		{"all interfaces", "gateway: {listen: ':18790'}\n", []string{`:1: gateway.listen: other machines can reach this address, and gateway.token is not set (set gateway.token, or listen on 127.0.0.1)`}},
		{"no port", "gateway: {listen: localhost}\n", []string{`:1: gateway.listen: must be an address with a port (for example 127.0.0.1:18790)`}},
		{"dsn", "store: {dsn: 'mysql://root:hunter2@db/x'}\n", []string{`:1: store.dsn: is not a database that parley supports (leave it empty for SQLite in the state folder, or write postgres://user:password@host/database)`}},
		{"model without provider", "agents: {defaults: {model: gpt}}\n", []string{`:1: agents.defaults.model: must be provider/model (providers: offline)`}},
		{"unknown provider", "models: {providers: {mock: {api: offline}}}\nagents: {list: [{id: a, model: mok/m}]}\n", []string{`:2: agents.list[0].model: there is no model provider "mok" (providers: mock, offline; did you mean "mock"?)`}},
		{"unknown fallbacks", "models: {providers: {mock: {api: offline}}}\nagents:\n  defaults:\n    fallbacks: [mock/a, mok/b]\n    compaction: {model: mok/c}\n  list: [{id: a, fallbacks: [nothing]}]\n",
			[]string{`:4: agents.defaults.fallbacks[1]: there is no model provider "mok" (providers: mock, offline; did you mean "mock"?)`,
				`:5: agents.defaults.compaction.model: there is no model provider "mok" (providers: mock, offline; did you mean "mock"?)`,
				`:6: agents.list[0].fallbacks[0]: must be provider/model (providers: mock, offline)`}},
		{"fallbacks that are no use", "models: {providers: {mock: {api: offline}}}\nagents: {defaults: {fallbacks: [mock/a, mock/a, mock/b, \"\"]}}\n",
			[]string{`:2: agents.defaults.fallbacks[1]: warning: is listed twice (parley tries each model once)`,
				`:2: agents.defaults.fallbacks[2]: warning: is tried only while an earlier model is paused (a call makes at most 3 requests, including the one to the model itself)`,
				`:2: agents.defaults.fallbacks[3]: must be provider/model (remove the empty entry)`}},
		{"provider that is nowhere", "agents: {defaults: {model: zebra/z}}\n", []string{`:1: agents.defaults.model: there is no model provider "zebra" (providers: offline; set OPENAI_API_KEY or ANTHROPIC_API_KEY, or describe it under models.providers)`}},
		{"provider without its key", "agents: {defaults: {model: openai/gpt-5}}\n", []string{`:1: agents.defaults.model: there is no model provider "openai" (set OPENAI_API_KEY, or describe it under models.providers)`}},
		{"OpenClaw's file", "gateway: {port: 18789, bind: loopback}\n", []string{`: this looks like a configuration of OpenClaw (convert it with: parley import openclaw)`,
			`:1: gateway.port: unknown key (known keys: listen, hosts, token, tokens, tls, trustedProxies, openai, mcp)`, `:1: gateway.bind: unknown key (known keys: listen, hosts, token, tokens, tls, trustedProxies, openai, mcp)`}},
		{"OpenClaw's file in JSON5", "{ // ours\n  meta: {}, channels: {telegram: {botToken: '1'}}\n}\n", []string{`:1: a group that begins with { has no closing }; this looks like a configuration of OpenClaw (convert it with: parley import openclaw)`}},
		{"base address", "models: {providers: {a: {api: openai, baseUrl: localhost:1}}}\n", []string{`:1: models.providers.a.baseUrl: must be an http or https URL (for example http://127.0.0.1:11434/v1)`}},
		{"no key", "models: {providers: {a: {api: openai}}}\n", []string{`:1: models.providers.a: warning: has no apiKey and no baseUrl, so its server will refuse every call (set apiKey, or the baseUrl of a server that needs no key)`}},
		{"no key but a variable", "models: {providers: {a: {api: anthropic, apiKey: '${A_KEY}'}}}\n", []string{`:1: models.providers.a.apiKey: the environment variable A_KEY is not set (set A_KEY in .env beside this file)`}},
		{"no address but a variable", "models: {providers: {a: {api: openai, baseUrl: '${A_URL}'}}}\n", []string{`:1: models.providers.a.baseUrl: the environment variable A_URL is not set (set A_URL, or write ${A_URL:-default})`}},
		{"a key that is not set", "models: {providers: {a: {api: openai, apiKey: '${A_KEY}'}, b: {api: openai, baseUrl: '${B_URL}'}}}\ntools: {mcp: {servers: {x: {url: '${X_URL}'}, y: {command: '${Y}'}}}}\n", []string{
			`:1: models.providers.a.apiKey: the environment variable A_KEY is not set (set A_KEY in .env beside this file)`,
			`:1: models.providers.b.baseUrl: the environment variable B_URL is not set (set B_URL, or write ${B_URL:-default})`,
			`:2: tools.mcp.servers.x.url: the environment variable X_URL is not set (set X_URL, or write ${X_URL:-default})`,
			`:2: tools.mcp.servers.y.command: the environment variable Y is not set (set Y, or write ${Y:-default})`}},
		{"agent twice", "agents:\n  list:\n    - id: a\n    - id: a\n", []string{`:4: agents.list[1].id: "a" is the id of agents.list[0] as well`}},
		{"two defaults", "agents:\n  list:\n    - {id: a, default: true}\n    - {id: b, default: true}\n", []string{`:4: agents.list[1].default: only one agent can be the default (remove default here or from agents.list[0])`}},
		{"regular expression", "agents:\n  list:\n    - {id: a, groupChat: {mentionPatterns: ['(']}}\n", []string{`:3: agents.list[0].groupChat.mentionPatterns[0]: is not a regular expression: missing closing ) (put it in single quotes; escape special characters with \)`}},
		{"regular expression for all agents", "messages:\n  groupChat: {mentionPatterns: [ok, '[']}\n", []string{`:2: messages.groupChat.mentionPatterns[1]: is not a regular expression: missing closing ] (put it in single quotes; escape special characters with \)`}},
		{"pattern for everything", "agents:\n  list:\n    - {id: a, groupChat: {mentionPatterns: ['.*']}}\n", []string{`:3: agents.list[0].groupChat.mentionPatterns[0]: matches every message (set requireMention: false to answer every message of a group)`}},
		{"binding", "agents: {list: [{id: main}]}\nbindings:\n  - {agentId: mian, match: {channel: telegram}}\n", []string{
			`:3: bindings[0].agentId: there is no agent "mian" in agents.list (agents: main; did you mean "main"?)`,
			`:3: bindings[0].match: warning: channels.telegram is not configured, so this binding never matches (configure the channel, or remove the binding)`}},
		{"binding to a name", "channels: {telegram: {token: x}}\nbindings:\n  - {agentId: main, match: {channel: telegram, accountId: '*', peer: {kind: direct, id: '@gina'}}}\n", []string{
			`:3: bindings[0].match.peer.id: warning: "@gina" is a name; bindings match ids only, so this one never matches (use the id; /whoami shows it)`}},
		{"rule that never matches", "session:\n  sendPolicy:\n    rules:\n      - {match: {channel: telegrm}, action: deny}\n", []string{`:4: session.sendPolicy.rules[0].match.channel: can never match: there is no channel "telegrm"; the channels are telegram, webchat`}},
		{"open without everybody", "channels:\n  telegram:\n    token: x\n    dmPolicy: open\n", []string{`:4: channels.telegram.dmPolicy: open needs "*" in allowFrom, which confirms that everybody may write`}},
		{"inherited by an account", "channels:\n  telegram:\n    dmPolicy: open\n    accounts:\n      a: {token: x}\n", []string{`:5: channels.telegram.accounts.a.dmPolicy: open needs "*" in allowFrom, which confirms that everybody may write`}},
		{"binding to an account", "channels: {telegram: {accounts: {work: {token: x}}}}\nbindings:\n  - {agentId: main, match: {channel: telegram, accountId: wrok}}\n  - {agentId: main, match: {channel: telegram}}\n", []string{
			`:3: bindings[0].match.accountId: warning: there is no account "wrok", so this binding never matches (accounts: work; did you mean "work"?; "*" matches any)`,
			`:4: bindings[1].match.accountId: warning: there is no account "default", so this binding never matches (accounts: work; "*" matches any)`}},
		{"rule for an account", "channels: {telegram: {accounts: {work: {token: x}}}}\nsession:\n  sendPolicy:\n    rules:\n      - {match: {channel: telegram, accountId: wrok}, action: deny}\n      - {match: {to: telegram/default/group/-1}, action: deny}\n      - {match: {accountId: work}, action: deny}\n", []string{
			`:5: session.sendPolicy.rules[0].match.accountId: warning: there is no account "wrok", so this rule matches only a former account of this name (accounts: work; did you mean "work"?)`,
			`:6: session.sendPolicy.rules[1].match.to: warning: there is no account "default" of telegram, so this rule matches only a former account of this name (accounts: work)`}},
		{"agents that may be spawned", "agents: {list: [{id: main, subagents: {allowAgents: ['*', mian]}}]}\n", []string{`:1: agents.list[0].subagents.allowAgents[1]: warning: there is no agent "mian" (agents: main; did you mean "main"?)`}},
		{"several documents", "state: a\n---\nstate: b\n", []string{`:2: a second document begins here (a configuration is one document; remove the ---)`}},
		{"tag", "state: !secret x\n", []string{`:1: state: YAML tags are not supported (remove the word that begins with !, or quote the value)`}},
		{"merge", "log: &l {level: info}\nstore: {<<: *l}\n", []string{`:2: store: merge keys (<<) are not supported (write the keys out)`}},
		{"alias in itself", "channels: {telegram: {token: x, groups: &g {a: {topics: *g}}}}\n", []string{
			`:1: channels.telegram.groups.a.topics.a.topics.a.topics.a.topics…: is nested too deeply (check for an alias that contains itself)`,
			`:1: channels.telegram.groups.a.topics.a.topics: a topic cannot have topics`}},
		{"key without value", "session: {identityLinks: {bob: }}\n", []string{`:1: session.identityLinks.bob: has no value`}},
		{"key that is a list", "? [a]\n: b\n", []string{`:1: a key must be a plain word, is a list`}},
		{"all at once", "zebra: 1\nlog: {level: loud}\nstore: 7\n", []string{
			`:1: zebra: unknown key (known keys: state, gateway, store, models, agents, session, tools, bindings, messages, commands, channels, hooks, delivery, log)`,
			`:2: log.level: "loud" is not allowed (use one of: debug, info, warn, error)`,
			`:3: store: must be a group of keys, is a number (indent its keys below it, as key: value)`}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			_, ps, _ := load(x.text)
			compare(t, ps, x.want)
		})
	}
}

func compare(t *testing.T, ps []Problem, want []string) {
	t.Helper()
	var got []string
	for _, p := range ps {
		got = append(got, strings.TrimPrefix(p.String(), "/etc/parley/config.yaml"))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// What people get wrong about YAML itself: the line is the one to look at.
func TestSyntax(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, text, want string }{
		{"tab", "state: a\ngateway:\n\tlisten: x\n", `:3: a tab is used for indentation (use spaces)`},
		{"indentation", "state: a\ngateway:\n  listen: x\n token: y\n", `:4: the indentation does not match the lines above (start all keys of a group in the same column)`},
		{"too deep", "log:\n  level: info\n    format: json\n", `:3: unexpected ":" (check the indentation, or quote values that contain ": ")`},
		{"no colon", "state: a\nlog\nstore:\n", `:2: this line has no key (write ": " between key and value)`},
		{"star", "channels:\n  telegram:\n    allowFrom: [*]\n", `:3: a value begins with * or &, which YAML reserves (quote the value: "*")`},
		{"at sign", "state: a\nchannels:\n  telegram:\n    allowFrom: [@alice]\n", `:4: a value begins with a character that YAML reserves (quote the value; indent with spaces, not tabs)`},
		{"alias", "state: *secretword\n", `:1: a value begins with *, which YAML reserves (quote the value: "*")`},
		{"open list", "state: a\ncommands:\n  ownerAllowFrom: [a, b\nlog: {}\n", `:3: a list that begins with [ has no closing ] (close the list, or quote its items)`},
		{"open quote", "state: a\nstore:\n  dsn: \"abc\nlog: {}\n", `:3: a quoted text has no closing quote (add the missing quote)`},
		{"first line", "a: b: c\n", `:1: unexpected ":" (check the indentation, or quote values that contain ": ")`},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			_, ps, _ := load(x.text)
			compare(t, ps, []string{x.want})
		})
	}
}

// A secret in the wrong place, of whatever shape the place wants, is in no problem.
func TestSecretsStayOutOfProblems(t *testing.T) {
	t.Parallel()
	paths := []string{
		"state", "gateway", "gateway.listen", "gateway.token", "store.dsn", "store", "models", "models.providers", "models.providers.a",
		"models.providers.a.api", "models.providers.a.baseUrl", "models.providers.a.apiKey", "models.providers.a.maxTokens", "agents.list",
		"agents.defaults.model", "agents.defaults.sandbox.mode", "session.dmScope", "session.identityLinks", "tools.agentToAgent.enabled",
		"bindings", "commands.ownerAllowFrom", "channels", "channels.telegram", "channels.telegram.token", "channels.telegram.apiUrl",
		"channels.telegram.dmPolicy", "channels.telegram.allowFrom", "channels.telegram.groups", "channels.telegram.pacing",
		"channels.telegram.pacing.perSecond", "channels.telegram.enabled", "channels.telegram.accounts", "delivery.ambiguous", "log.level",
	}
	shapes := []string{"%s", "[%s]", "{%s}", "[[%s]]", "{x: %s}", "[{%s: 1}]", "!t %s", "'%s'", "\"%s", "[%s", "*%s", "- %s", "%s: %s", "${V}", "'${V}'", "[${V}]", "x${V}y"}
	secrets := []string{"123456789:AAFqwertyuiopasdfghjklzxcvbnmQWERTY", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF", "9876543210987654321098765432"}
	for _, path := range paths {
		for _, shape := range shapes {
			for _, secret := range secrets {
				text := ""
				for i, k := range strings.Split(path, ".") {
					text += "\n" + strings.Repeat("  ", i) + k + ":"
				}
				text += " " + strings.ReplaceAll(shape, "%s", secret) + "\n"
				_, ps, err := load(text, "V", secret)
				for _, p := range ps {
					if strings.Contains(p.String(), secret) {
						t.Errorf("%s\n→ %s", text, p)
					}
				}
				if err != nil && strings.Contains(fmt.Sprintf("%+v %#v", err, err), secret) {
					t.Errorf("%s\n→ the error contains the secret", text)
				}
			}
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	_, ps, _ := load(strings.Repeat("- x\n", 10) + "a: 1\n")
	if len(ps) == 0 {
		t.Error("no problem")
	}
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	if _, ps, _ := load(b.String()); len(ps) != maxProblems {
		t.Errorf("%d problems", len(ps))
	}
	bomb := "channels: {telegram: {token: x, groups: &g0 {z: {}}, accounts: {a: {groups: &g1 {a: {topics: *g0}, b: {topics: *g0}"
	for i := range 12 {
		bomb += fmt.Sprintf("}}, a%d: {groups: &g%d {", i, i+2)
		for j := range 9 {
			bomb += fmt.Sprintf("k%d: {topics: *g%d}, ", j, i+1)
		}
	}
	bomb += "}}}}}\n"
	_, ps, _ = load(bomb)
	if len(ps) != 1 || ps[0].Text != "the file has too many values" {
		t.Errorf("got %v", ps)
	}
}

func TestClosest(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ word, want string }{{"tokn", "token"}, {"TOKEN", "token"}, {"tokne", "token"}, {"botToken", ""}, {"x", ""}, {"", ""}} {
		if got, _ := closest(x.word, []string{"listen", "token"}); got != x.want {
			t.Errorf("%q: got %q, want %q", x.word, got, x.want)
		}
	}
}

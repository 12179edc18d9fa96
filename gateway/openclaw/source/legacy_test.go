package source

import "parley/gateway/openclaw/jsontree"

import "testing"

// Each old key is where it stands today.
//
// source: openclaw/openclaw src/config/legacy.migrations.part-1.ts to part-3.ts, src/config/config.legacy-config-detection.rejects-routing-allowfrom.test.ts,
// docs/gateway/doctor/config-migrations.md; the configuration page of January 2026 (dbb51006, docs/configuration.md)
func TestOldLayouts(t *testing.T) {
	t.Parallel()
	for old, now := range map[string]string{
		`{whatsapp: {allowFrom: ["+1"]}, telegram: {enabled: false}, discord: {enabled: false}}`:   `{channels: {whatsapp: {allowFrom: ["+1"]}, telegram: {enabled: false}, discord: {enabled: false}}}`,
		`{telegram: {enabled: false, allowFrom: ["1"]}, channels: {telegram: {allowFrom: ["2"]}}}`: `{channels: {telegram: {enabled: false, allowFrom: ["2"]}}}`,
		`{telegram: "x"}`:         `{telegram: "x"}`,
		`{web: {enabled: false}}`: `{channels: {whatsapp: {enabled: false}}}`,
		`{routing: {allowFrom: ["+15555550123"]}, channels: {whatsapp: {}}}`:                                                                                   `{channels: {whatsapp: {allowFrom: ["+15555550123"]}}}`,
		`{routing: {allowFrom: ["+15555550123"]}}`:                                                                                                             `{}`,
		`{routing: {allowFrom: ["+1"]}, whatsapp: {allowFrom: ["+2"]}}`:                                                                                        `{channels: {whatsapp: {allowFrom: ["+2"]}}}`,
		`{routing: {groupChat: {requireMention: false}}, channels: {whatsapp: {}}}`:                                                                            `{channels: {whatsapp: {groups: {"*": {requireMention: false}}}}}`,
		`{routing: {groupChat: {requireMention: false}}, whatsapp: {groups: {a: {}, b: {requireMention: true}}}}`:                                              `{channels: {whatsapp: {groups: {a: {requireMention: false}, b: {requireMention: true}}}}}`,
		`{routing: {groupChat: {requireMention: false}}}`:                                                                                                      `{}`,
		`{telegram: {enabled: false, requireMention: true}}`:                                                                                                   `{channels: {telegram: {enabled: false, groups: {"*": {requireMention: true}}}}}`,
		`{routing: {groupChat: {mentionPatterns: ["@openclaw"], historyLimit: 5}}}`:                                                                            `{messages: {groupChat: {mentionPatterns: ["@openclaw"], historyLimit: 5}}}`,
		`{routing: {agentToAgent: {enabled: true, allow: ["main"]}, queue: {mode: "queue", cap: 3, bySurface: {telegram: "steer"}}}}`:                          `{tools: {agentToAgent: {enabled: true, allow: ["main"]}}, messages: {queue: {mode: "queue", cap: 3, byChannel: {telegram: "steer"}}}}`,
		`{routing: {bindings: [{agentId: "a", match: {provider: "telegram", accountID: "b"}}]}}`:                                                               `{bindings: [{agentId: "a", match: {channel: "telegram", accountId: "b"}}]}`,
		`{bindings: [{agentId: "a", match: {channel: "telegram", provider: "x"}}]}`:                                                                            `{bindings: [{agentId: "a", match: {channel: "telegram", provider: "x"}}]}`,
		`{session: {sendPolicy: {rules: [{action: "deny", match: {provider: "discord"}}, {action: "deny", match: {surface: "discord", chatType: "group"}}]}}}`: `{session: {sendPolicy: {rules: [{action: "deny", match: {channel: "discord"}}, {action: "deny", match: {channel: "discord", chatType: "group"}}]}}}`,
		`{agent: {model: "openai/gpt-5.2", tools: {allow: ["sessions.list"], deny: ["danger"]}, elevated: {enabled: true}, bash: {timeoutSec: 12}, sandbox: {mode: "all", tools: {allow: ["browser.open"]}}, subagents: {tools: {deny: ["sandbox"]}}}}`: `{agents: {defaults: {model: "openai/gpt-5.2", sandbox: {mode: "all"}}},
			tools: {allow: ["sessions.list"], deny: ["danger"], elevated: {enabled: true}, exec: {timeoutSeconds: 12}, sandbox: {tools: {allow: ["browser.open"]}}, subagents: {tools: {deny: ["sandbox"]}}}}`,
		`{agent: {tools: {deny: ["x"]}}, tools: {deny: ["y"]}}`: `{tools: {deny: ["y", "x"]}}`,
		`{agent: {model: "claude-opus-4-5", modelFallbacks: ["openai/a", "Fast"], modelAliases: {Fast: "openrouter/b"}, allowedModels: ["zai/c"], workspace: "~/clawd"}}`: `{agents: {defaults: {workspace: "~/clawd",
			model: {primary: "anthropic/claude-opus-4-5", fallbacks: ["openai/a", "Fast"]}, models: {"openrouter/b": {alias: "Fast"}, "zai/c": {}}}}}`,
		`{aliases: {quick: "openai/x"}}`: `{agents: {defaults: {models: {"openai/x": {alias: "quick"}}}}}`,
		`{defaultModel: "openai/x"}`:     `{agents: {defaults: {model: "openai/x"}}}`,
		`{identity: {name: "Samantha"}}`: `{agents: {list: [{id: "main", identity: {name: "Samantha"}}]}}`,
		`{identity: {name: "S"}, routing: {agents: {b: {workspace: "~/b", mentionPatterns: ["@b"], sandbox: {mode: "all", tools: {deny: ["x"]}}}, a: {}}, defaultAgentId: "b"}}`: `{agents: {list: [{id: "a"}, {id: "b", default: true,
			identity: {name: "S"}, workspace: "~/b", groupChat: {mentionPatterns: ["@b"]}, sandbox: {mode: "all"}, tools: {sandbox: {tools: {deny: ["x"]}}}}]}}`,
		`{agents: {list: [{id: "x"}], entries: {b: {}, main: {}}}}`:                                               `{agents: {entries: {b: {}, main: {default: true}}}}`,
		`{agents: {entries: {b: {}, a: {}}, defaults: {systemAgent: {agentId: "b"}}}}`:                            `{agents: {entries: {b: {default: true}, a: {}}, defaults: {systemAgent: {agentId: "b"}}}}`,
		`{agents: {entries: {a: {}}}}`:                                                                            `{agents: {entries: {a: {}}}}`,
		`{gateway: {token: "${T}", bind: "0.0.0.0"}}`:                                                             `{gateway: {auth: {token: "${T}"}, bind: "lan"}}`,
		`{tools: {bash: {timeoutSec: 12}}}`:                                                                       `{tools: {exec: {timeoutSeconds: 12}}}`,
		`{channels: {telegram: {token: "${T}", accounts: {work: {token: "${W}"}}}}}`:                              `{channels: {telegram: {botToken: "${T}", accounts: {work: {botToken: "${W}"}}}}}`,
		`{channels: {discord: {token: "${T}", dm: {policy: "allowlist", allowFrom: ["1"], groupEnabled: true}}}}`: `{channels: {discord: {token: "${T}", dmPolicy: "allowlist", allowFrom: ["1"], dm: {groupEnabled: true}}}}`,
		`{channels: {discord: {token: "${T}", dm: {enabled: false, policy: "open"}}}}`:                            `{channels: {discord: {token: "${T}", dmPolicy: "disabled"}}}`,
		`{channels: {discord: {token: "${T}", dmPolicy: "pairing", dm: {policy: "open", enabled: true}}}}`:        `{channels: {discord: {token: "${T}", dmPolicy: "pairing"}}}`,
		`{channels: {discord: {token: "${T}", guilds: {g: {channels: {a: {allow: true, allowFrom: ["1"]}, b: {groupPolicy: "disabled"}, c: {groupPolicy: "odd"}, d: {groupPolicy: "open"}}}}}}}`: `{channels: {discord: {token: "${T}", guilds: {g: {channels: {a: {enabled: true, users: ["1"]}, b: {enabled: false}, c: {enabled: false}, d: {enabled: true}}}}}}}`,
		`{channels: {slack: {enabled: false, channels: {c: {allow: false}}}}}`:                                                                                         `{channels: {slack: {enabled: false, channels: {c: {enabled: false}}}}}`,
		`{channels: {telegram: {botToken: "${T}", streamMode: "block", groups: {"-1": {toolsBySender: {"@ann": {deny: ["*"]}, "id:ann": {allow: ["a"]}, "*": {}}}}}}}`: `{channels: {telegram: {botToken: "${T}", streaming: {mode: "block"}, groups: {"-1": {toolsBySender: {"id:ann": {allow: ["a"]}, "*": {}}}}}}}`,
		`{channels: {discord: {token: "${T}", streaming: true, chunkMode: "newline", draftChunk: {minChars: 1}}}}`:                                                     `{channels: {discord: {token: "${T}", streaming: {mode: "partial", chunkMode: "newline", preview: {chunk: {minChars: 1}}}}}}`,
		`{channels: {telegram: {botToken: "${T}", streaming: "off", blockStreaming: true}}}`:                                                                           `{channels: {telegram: {botToken: "${T}", streaming: {mode: "off", block: {enabled: true}}}}}`,
		`{channels: {telegram: {botToken: "${T}", streaming: {mode: "off"}, streamMode: "block"}}}`:                                                                    `{channels: {telegram: {botToken: "${T}", streaming: {mode: "off"}}}}`,
		`{session: {idleMinutes: 60, resetByType: {dm: {mode: "idle"}}, threadBindings: {ttlHours: 2}}}`:                                                               `{session: {reset: {mode: "idle", idleMinutes: 60}, resetByType: {direct: {mode: "idle"}}, threadBindings: {idleHours: 2}}}`,
		`{session: {idleMinutes: 60, reset: {mode: "daily"}}}`:                                                                                                         `{session: {reset: {mode: "daily", idleMinutes: 60}}}`,
		`{heartbeat: {every: "1h"}}`:                  `{agents: {defaults: {}}}`, // heartbeats became jobs
		`{models: {providers: {a: {api: "openai"}}}}`: `{models: {providers: {a: {api: "openai-completions"}}}}`,
		`{mcp: {servers: {a: {command: "x", type: "stdio", disabled: true, connect_timeout: 5, working_directory: "/w"}, b: {url: "u", type: "http"}, c: {url: "u", type: "sse", transport: "streamable-http"}}}}`: `{mcp: {servers: {a: {command: "x", enabled: false, connectionTimeoutMs: 5, workingDirectory: "/w"},
			b: {url: "u", transport: "streamable-http"}, c: {url: "u", transport: "streamable-http"}}}}`,
		`{inbound: {workspace: "~/clawd", groupChat: {mentionPatterns: ["@clawd"]}, reply: {session: {idleMinutes: 5}}}}`: `{agents: {defaults: {workspace: "~/clawd"}}, messages: {groupChat: {mentionPatterns: ["@clawd"]}}, session: {reset: {mode: "idle", idleMinutes: 5}}}`,
	} {
		s, r := load(t, map[string]string{"openclaw.json": old}, nil, nil)
		t.Run(old, func(t *testing.T) { sameTree(t, s.Tree, now) })
		if len(r.OpenToMore) > 0 {
			t.Errorf("%s: %+v", old, r.OpenToMore)
		}
	}
}

// Today's layout stays as it is.
//
// source: openclaw/openclaw docs/gateway/configuration-examples.md
func TestTodaysLayoutStays(t *testing.T) {
	t.Parallel()
	for _, now := range []string{
		`{agents: {defaults: {workspace: "~/.openclaw/workspace", model: {primary: "anthropic/claude-sonnet-4-6", fallbacks: ["openai/gpt-5.2"]}, sandbox: {mode: "non-main", scope: "session"}}, list: [{id: "main", default: true}, {id: "work"}]},
		bindings: [{agentId: "work", match: {channel: "whatsapp", accountId: "biz", peer: {kind: "group", id: "x"}}}],
		channels: {telegram: {botToken: "${T}", dmPolicy: "pairing", allowFrom: ["123456789"], groups: {"*": {requireMention: true}}, streaming: {mode: "partial"}}, discord: {token: "${D}", guilds: {g: {users: ["1"], channels: {c: {enabled: true}}}}}},
		session: {dmScope: "per-channel-peer", reset: {mode: "daily", atHour: 4}, sendPolicy: {default: "allow", rules: [{action: "deny", match: {channel: "discord", chatType: "group"}}]}},
		tools: {deny: ["exec"], exec: {timeoutSeconds: 5}}, mcp: {servers: {a: {command: "x", enabled: true, transport: "stdio"}}}, cron: {enabled: true}}`,
		`{agents: {entries: {main: {default: true, workspace: "~/x"}, b: {}}}}`, `{}`,
	} {
		s, r := load(t, map[string]string{"openclaw.json": now}, nil, nil)
		sameTree(t, s.Tree, now)
		if len(r.NeedsYou)+len(r.Different)+len(r.Left)+len(r.Carried) > 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestDefaultAgent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: "main", `{agents: {list: [{id: "a"}, {id: "b", default: true}]}}`: "b", `{agents: {list: [{id: "a"}, {id: "main"}]}}`: "a", `{agents: {list: [{}]}}`: "main",
		`{agents: {entries: {a: {}, b: {default: true}}, list: [{id: "c", default: true}]}}`: "b", `{agents: {entries: {a: {}, main: {}}}}`: "main", `{agents: {entries: {b: {}, a: {}}}}`: "a",
	} {
		v, err := ParseJSON5([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := DefaultAgent(jsontree.Object(v)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// A key of drafts that moved is known by the name that the file has.
func TestMovedStreaming(t *testing.T) {
	t.Parallel()
	_, r := load(t, map[string]string{"openclaw.json": `{channels: {telegram: {streamMode: "block", accounts: {a: {blockStreaming: true}}}, discord: {streaming: true, chunkMode: "newline"}}}`}, nil, nil)
	for _, what := range []string{"channels.telegram.streamMode → channels.telegram.streaming", "channels.telegram.accounts.a.blockStreaming → channels.telegram.accounts.a.streaming"} {
		if !hasLine(r.Carried, what, "") {
			t.Errorf("no %q in %+v", what, r.Carried)
		}
	}
	if hasLine(r.Carried, "chunkMode", "") {
		t.Errorf("the file has streaming itself: %+v", r.Carried)
	}
}

package convert_test

import (
	"math/rand/v2"
	"slices"

	"parley/channels"
	"parley/gateway/openclaw/convert"
)

// gen makes configurations: every key that restricts something, alone and together, now and then written wrongly.
type gen struct{ *rand.Rand }

func (g gen) one(in int) bool { return g.IntN(in) == 0 }

func pick[T any](g gen, from ...T) T { return from[g.IntN(len(from))] }

// maybe sets a key one time of n.
func (g gen) maybe(m map[string]any, n int, key string, v func() any) {
	if g.one(n) {
		m[key] = v()
	}
}

func (g gen) some(from []string, most int) []any {
	out := []any{}
	for range g.IntN(most + 1) {
		out = append(out, pick(g, from...))
	}
	return out
}

// people is a list of senders, with the forms and the mistakes that people write.
func (g gen) people(kind string) any {
	out := []any{}
	for range g.IntN(3) {
		p := pick(g, persons[kind]...)
		out = append(out, pick(g, p, p, p, kind+":"+p, "user:"+p))
	}
	switch g.IntN(12) {
	case 0:
		out = append(out, "*")
	case 1:
		out = append(out, "bob")
	case 2:
		out = append(out, "@alice")
	case 3:
		out = append(out, "accessGroup:team")
	case 4:
		out = append(out, "accessGroup:gone")
	}
	return out
}

func (g gen) flag() any { return g.one(2) }

var toolNames = []string{"read", "write", "edit", "exec", "web_fetch", "message", "cron", "sessions_send", "sessions_spawn", "sessions_list", "sessions_history", "session_status", "memory_search",
	"group:sessions", "group:fs", "group:web", "group:messaging", "group:openclaw", "bundle-mcp", "github__*", "github__*", "github__*", "sessions_*", "*", "browser", "group:runtime", "subagents", "agents_list"}

// tools is a section about tools.
func (g gen) tools() map[string]any {
	m := map[string]any{}
	g.maybe(m, 3, "allow", func() any { return g.some(toolNames, 4) })
	g.maybe(m, 2, "deny", func() any { return g.some(toolNames, 3) })
	return m
}

func (g gen) bySender(kind string) any {
	m := map[string]any{}
	for range g.IntN(3) {
		p := pick(g, persons[kind]...)
		m[pick(g, p, "id:"+p, "*", "channel:"+kind+":"+p)] = g.tools()
	}
	if g.one(12) {
		m["name:Bob"] = g.tools()
	}
	return m
}

func (g gen) restricted(kind string, m map[string]any) map[string]any {
	g.maybe(m, 5, "enabled", func() any { return !g.one(3) })
	g.maybe(m, 2, "requireMention", g.flag)
	g.maybe(m, 6, "tools", func() any { return g.tools() })
	g.maybe(m, 8, "toolsBySender", func() any { return g.bySender(kind) })
	return m
}

func (g gen) group(kind string, topics bool) any {
	m := g.restricted(kind, map[string]any{})
	g.maybe(m, 3, "allowFrom", func() any { return g.people(kind) })
	g.maybe(m, 6, "groupPolicy", func() any { return pick(g, "open", "allowlist", "disabled", "odd") })
	if topics {
		g.maybe(m, 3, "topics", func() any {
			t := map[string]any{}
			t[pick(g, "7", "7", "8", "*")] = g.group(kind, false)
			return t
		})
		return m
	}
	g.maybe(m, 5, "agentId", func() any { return "family" })
	delete(m, "tools") // a topic has none of its own
	delete(m, "toolsBySender")
	return m
}

func (g gen) guild(id string) any {
	m := map[string]any{}
	g.maybe(m, 2, "users", func() any { return g.people("discord") })
	g.maybe(m, 5, "roles", func() any { return g.some(roles, 1) })
	g.maybe(m, 3, "requireMention", g.flag)
	g.maybe(m, 8, "ignoreOtherMentions", g.flag)
	g.maybe(m, 8, "tools", func() any { return g.tools() })
	if !g.one(4) {
		rooms := map[string]any{}
		for range g.IntN(3) {
			r := g.restricted("discord", map[string]any{})
			g.maybe(r, 3, "users", func() any { return g.people("discord") })
			g.maybe(r, 5, "roles", func() any { return g.some(roles, 1) })
			g.maybe(r, 8, "allow", g.flag)
			room := pick(g, places["discord"]...)
			if i := slices.Index(servers, id); i >= 0 {
				room = places["discord"][i] // a channel belongs to one server
			}
			rooms[pick(g, "general", "*", room, room, room, room)] = r
		}
		m["channels"] = rooms
	}
	return m
}

// account is what a channel or one of its accounts says.
func (g gen) account(kind string, withToken bool) map[string]any {
	m := map[string]any{}
	if withToken && kind != "whatsapp" {
		m[map[string]string{"telegram": "botToken", "discord": "token"}[kind]] = any(pick(g, "1000:abc", "2000:def", "3000:ghi"))
	}
	g.maybe(m, 8, "enabled", g.flag)
	g.maybe(m, 2, "dmPolicy", func() any { return pick(g, "pairing", "allowlist", "allowlist", "open", "disabled", "odd") })
	g.maybe(m, 2, "allowFrom", func() any { return g.people(kind) })
	g.maybe(m, 3, "groupPolicy", func() any { return pick(g, "open", "allowlist", "allowlist", "disabled", "odd") })
	if kind == "discord" {
		g.maybe(m, 6, "dm", func() any {
			return map[string]any{"policy": pick(g, "open", "allowlist"), "allowFrom": g.people(kind), "enabled": !g.one(4)}
		})
		if g.one(2) {
			guilds := map[string]any{}
			for range g.IntN(3) {
				id := pick(g, append([]string{"*"}, servers...)...)
				guilds[id] = g.guild(id)
			}
			m["guilds"] = guilds
		}
		return m
	}
	g.maybe(m, 3, "groupAllowFrom", func() any { return g.people(kind) })
	if kind == "telegram" {
		g.maybe(m, 5, "direct", func() any {
			all := map[string]any{}
			for range 1 + g.IntN(2) {
				d := map[string]any{}
				g.maybe(d, 3, "enabled", g.flag)
				g.maybe(d, 6, "tools", func() any { return g.tools() })
				g.maybe(d, 3, "dmPolicy", func() any { return pick(g, "pairing", "allowlist", "open", "disabled", "odd") })
				g.maybe(d, 3, "allowFrom", func() any { return g.people(kind) })
				all[pick(g, append([]string{"*"}, persons[kind]...)...)] = d
			}
			return all
		})
	}
	if !g.one(3) {
		groups := map[string]any{}
		for range g.IntN(4) {
			groups[pick(g, append([]string{"*", "nonsense"}, slices.Concat(places[kind], places[kind])...)...)] = g.group(kind, kind == "telegram")
		}
		m["groups"] = groups
	}
	return m
}

// sendRule has mostly one condition: with more of them it hardly ever decides.
func (g gen) sendRule() any {
	match := map[string]any{}
	for range pick(g, 0, 1, 1, 1, 1, 2, 3) {
		switch g.IntN(13) {
		case 12:
			match["accountId"] = pick(g, "default", "biz", "*", "gone")
		case 0, 1, 2:
			match["channel"] = pick(g, "telegram", "discord", "whatsapp", "slack")
		case 3, 4, 5, 6:
			match["chatType"] = pick(g, "direct", "dm", "group", "group", "channel")
		case 7, 8:
			match["keyPrefix"] = pick(g, "main", "telegram:group:-1001", "telegram:dm:", "discord:", "home", "cron:", "telegram:direct:1001")
		case 9, 10:
			match["rawKeyPrefix"] = pick(g, "agent:main:", "agent:family:telegram:", "agent:main:main", "agent:main:telegram:group:", "agent:main:telegram:dm:1001")
		default:
			match["provider"] = "x"
		}
	}
	return map[string]any{"action": pick(g, "allow", "deny"), "match": match}
}

func (g gen) agent(id string) any {
	m := map[string]any{"id": id}
	g.maybe(m, 3, "sandbox", func() any {
		s := map[string]any{}
		g.maybe(s, 1, "mode", func() any { return pick(g, "off", "non-main", "all") })
		g.maybe(s, 4, "sessionToolsVisibility", func() any { return pick(g, "spawned", "all") })
		return s
	})
	g.maybe(m, 2, "tools", func() any { return g.toolSection() })
	g.maybe(m, 4, "default", func() any { return true })
	g.maybe(m, 12, "runtime", func() any { return map[string]any{"type": "acp"} })
	return m
}

// toolSection is a section with everything that the host and agents may say.
func (g gen) toolSection() map[string]any {
	m := g.tools()
	g.maybe(m, 3, "profile", func() any { return pick(g, "minimal", "coding", "messaging", "full") })
	if m["profile"] != nil && m["allow"] == nil {
		g.maybe(m, 3, "alsoAllow", func() any { return g.some(toolNames, 2) })
	}
	g.maybe(m, 12, "byProvider", func() any { return map[string]any{"openai": g.tools()} })
	g.maybe(m, 12, "toolsBySender", func() any { return g.bySender("telegram") })
	g.maybe(m, 5, "sandbox", func() any { return map[string]any{"tools": g.tools()} })
	return m
}

// configuration makes one of everything, and the people who were let in by pairing.
func (g gen) configuration() (map[string]any, []convert.Person) {
	top := map[string]any{
		"models":       map[string]any{"providers": map[string]any{"openai": map[string]any{"apiKey": "${OPENAI_API_KEY}"}}},
		"accessGroups": map[string]any{"team": map[string]any{"type": "message.senders", "members": map[string]any{"telegram": []any{"2002"}, "discord": []any{"80351110224678913"}, "*": []any{"+4915123456780"}}}},
		"mcp":          map[string]any{"servers": map[string]any{"github": map[string]any{"command": "/bin/true"}, "notes": map[string]any{"command": "/bin/true"}}},
	}
	chans := map[string]any{}
	for _, kind := range []string{"telegram", "discord", "whatsapp"} {
		if g.one(3) {
			continue
		}
		m := g.account(kind, true)
		g.maybe(m, 3, "accounts", func() any {
			a := map[string]any{"biz": g.account(kind, true)}
			g.maybe(a, 2, "default", func() any { return g.account(kind, g.one(2)) })
			return a
		})
		chans[kind] = m
	}
	if g.one(5) {
		chans["defaults"] = map[string]any{"groupPolicy": pick(g, "open", "allowlist", "disabled")}
	}
	top["channels"] = chans
	agents := map[string]any{}
	g.maybe(agents, 3, "defaults", func() any {
		return map[string]any{"sandbox": map[string]any{"mode": pick(g, "off", "non-main", "all"), "sessionToolsVisibility": pick(g, "spawned", "all")}}
	})
	if !g.one(3) {
		agents["list"] = []any{g.agent("main"), g.agent("family")}
	}
	top["agents"] = agents
	g.maybe(top, 1, "tools", func() any {
		m := g.toolSection()
		g.maybe(m, 3, "sessions", func() any { return map[string]any{"visibility": pick(g, "self", "tree", "agent", "all")} })
		g.maybe(m, 3, "agentToAgent", func() any {
			a := map[string]any{"enabled": !g.one(3)}
			g.maybe(a, 2, "allow", func() any { return g.some([]string{"main", "family", "fam*", "other"}, 2) })
			return a
		})
		g.maybe(m, 2, "subagents", func() any {
			t := g.tools()
			g.maybe(t, 2, "allow", func() any {
				return append(g.some(toolNames, 2), "github__*", pick(g, "sessions_list", "group:sessions", "message"))
			})
			return map[string]any{"tools": t}
		})
		return m
	})
	g.maybe(top, 1, "session", func() any {
		s := map[string]any{}
		g.maybe(s, 2, "dmScope", func() any { return pick(g, "main", "per-peer", "per-channel-peer", "per-account-channel-peer") })
		g.maybe(s, 8, "mainKey", func() any { return "home" })
		g.maybe(s, 1, "sendPolicy", func() any {
			p := map[string]any{}
			g.maybe(p, 2, "default", func() any { return pick(g, "allow", "deny", "deny", "deny") })
			rules := []any{}
			for range g.IntN(4) {
				rules = append(rules, g.sendRule())
			}
			p["rules"] = rules
			return p
		})
		return s
	})
	g.maybe(top, 3, "bindings", func() any {
		out := []any{}
		for range 1 + g.IntN(2) {
			kind := pick(g, "telegram", "discord", "whatsapp", "slack")
			m := map[string]any{"channel": kind}
			g.maybe(m, 3, "accountId", func() any { return pick(g, "*", "biz", "default") })
			if kind == "discord" {
				g.maybe(m, 3, "guildId", func() any { return pick(g, servers...) })
				if m["guildId"] != nil {
					g.maybe(m, 3, "roles", func() any { return []any{pick(g, roles...)} })
				}
			} else if kind != "slack" {
				g.maybe(m, 2, "peer", func() any {
					if g.one(2) {
						return map[string]any{"kind": pick(g, "dm", "direct"), "id": pick(g, persons[kind][0], kind+":"+persons[kind][1])}
					}
					return map[string]any{"kind": "group", "id": pick(g, places[kind]...)}
				})
			}
			b := map[string]any{"agentId": pick(g, "family", "main", "gone"), "match": m}
			g.maybe(b, 10, "type", func() any { return "acp" })
			out = append(out, b)
		}
		return out
	})
	g.maybe(top, 3, "commands", func() any {
		return map[string]any{"ownerAllowFrom": []any{pick(g, "telegram:1001", "discord:80351110224678912", "1001", "*", "telegram:@alice", "whatsapp:+4915123456789")}}
	})
	var paired []convert.Person
	for kind, ps := range persons {
		for _, account := range []string{"default", "biz"} {
			if g.one(4) {
				paired = append(paired, convert.Person{Channel: channels.Kind(kind), Account: channels.AccountID(account), ID: channels.UserID(pick(g, ps...))})
			}
		}
	}
	return top, paired
}

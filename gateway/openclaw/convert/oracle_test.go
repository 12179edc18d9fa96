package convert_test

import (
	"fmt"
	"slices"
	"strings"
)

// claw is an independent reading of OpenClaw's rules, written from its documentation and not from the code under test. It answers what OpenClaw
// did with a configuration. Where the documentation of different versions differs, it takes the reading that admits fewer.
//
// source: openclaw 2026.9.6, docs/channels/groups.md, pairing.md, access-groups.md, telegram/access-control.md, discord.md, whatsapp.md,
// docs/concepts/session.md, docs/gateway/config-tools/tool-policy.md, docs/gateway/config-agents/sessions.md, docs/tools/subagents.md,
// docs/tools/multi-agent-sandbox-tools.md, docs/gateway/sandbox-vs-tool-policy-vs-elevated.md
type claw struct {
	top    map[string]any
	paired map[string]bool // channel/account/person
}

// spot is one place where somebody writes, as the platform tells of it.
type spot struct {
	kind, account  string
	chat           string // "" = directly
	room           bool   // a channel of a server, not a group
	guild, topic   string
	person         string
	roles          []string
	mentioned      bool
	mentionsOthers bool
}

func obj(v any) map[string]any { m, _ := v.(map[string]any); return m }

func str(v any) string { s, _ := v.(string); return s }

func entriesOf(v any) []any { l, _ := v.([]any); return l }

// section is what holds for an account: what it says itself, else (WhatsApp) accounts.default, else the channel. Maps and lists replace one another.
func (c claw) section(kind, account string) (map[string]any, bool) {
	top := obj(obj(c.top["channels"])[kind])
	if top == nil || top["enabled"] == false {
		return nil, false
	}
	accounts := obj(top["accounts"])
	out := map[string]any{}
	lay := func(m map[string]any) {
		for k, v := range m {
			if k != "accounts" {
				out[k] = v
			}
		}
	}
	lay(top)
	if len(accounts) == 0 {
		return out, account == "default"
	}
	own := obj(accounts[account])
	if own == nil && (account != "default" || top["botToken"] == nil && top["token"] == nil) {
		return nil, false
	}
	if kind == "whatsapp" && account != "default" {
		lay(obj(accounts["default"]))
	}
	for newer, older := range map[string]string{"allowFrom": "allowFrom", "dmPolicy": "policy"} {
		if own[newer] == nil && obj(own["dm"])[older] != nil { // "inherit when their own allowFrom and legacy dm.allowFrom are unset"
			delete(out, newer)
		}
	}
	lay(own)
	if own["enabled"] == false {
		return nil, false
	}
	if kind == "telegram" && own["allowFrom"] != nil && top["allowFrom"] != nil && !slices.Contains(entriesOf(top["allowFrom"]), any("*")) {
		out["allowFrom"] = slices.DeleteFunc(slices.Clone(entriesOf(own["allowFrom"])), func(v any) bool { return v == "*" })
	}
	return out, true
}

// lists reports whether a list of senders has a person. Names never match; access groups of fixed people do.
func (c claw) lists(kind string, list []any, person string) bool {
	for _, v := range list {
		e := strings.TrimSpace(fmt.Sprint(v))
		if name, ok := strings.CutPrefix(e, "accessGroup:"); ok {
			g := obj(obj(c.top["accessGroups"])[name])
			if g["type"] == "message.senders" && c.lists(kind, slices.Concat(entriesOf(obj(g["members"])["*"]), entriesOf(obj(g["members"])[kind])), person) {
				return true
			}
			continue
		}
		for _, p := range []string{kind + ":", "tg:", "user:"} {
			if len(e) > len(p) && strings.EqualFold(e[:len(p)], p) {
				e = e[len(p):]
			}
		}
		if e == "*" || e == person || kind == "whatsapp" && "+"+strings.TrimPrefix(e, "+") == person {
			return true
		}
	}
	return false
}

func (c claw) direct(s spot) bool {
	f, ok := c.section(s.kind, s.account)
	if !ok {
		return false
	}
	dm := obj(f["dm"])
	policy, list := f["dmPolicy"], f["allowFrom"]
	if policy == nil {
		policy = dm["policy"]
	}
	if list == nil {
		list = dm["allowFrom"]
	}
	if policy == nil {
		policy = "pairing"
	}
	own := directEntry(f, s.person)
	if own["dmPolicy"] != nil {
		policy = own["dmPolicy"]
	}
	if own["allowFrom"] != nil {
		list = own["allowFrom"]
	}
	if dm["enabled"] == false || own["enabled"] == false {
		return false
	}
	listed := c.lists(s.kind, entriesOf(list), s.person)
	switch policy {
	case "open", "allowlist":
		return listed
	case "pairing":
		return listed || c.paired[s.kind+"/"+s.account+"/"+s.person]
	}
	return false
}

// directEntry is what holds for the direct chat of one person: its own entry, else that of "*".
func directEntry(f map[string]any, person string) map[string]any {
	all := obj(f["direct"])
	if own, ok := all[person]; ok {
		return obj(own)
	}
	return obj(all["*"])
}

// pairs reports whether a stranger is told a code.
func (c claw) pairs(s spot) bool {
	f, ok := c.section(s.kind, s.account)
	p := f["dmPolicy"]
	if p == nil {
		p = obj(f["dm"])["policy"]
	}
	return ok && (p == nil || p == "pairing") // whom an entry of direct keeps out, parley tells a code; an owner must approve it
}

// hears reports whether a message in a group or room starts a turn.
func (c claw) hears(s spot) bool {
	f, ok := c.section(s.kind, s.account)
	if !ok {
		return false
	}
	policy := f["groupPolicy"]
	if policy == nil {
		policy = obj(obj(c.top["channels"])["defaults"])["groupPolicy"]
	}
	if policy == nil {
		policy = "allowlist"
	}
	if policy != "open" && policy != "allowlist" {
		return false
	}
	if s.kind == "discord" {
		return c.inGuild(s, f, str(policy))
	}
	groups := obj(f["groups"])
	g, listed := groups[s.chat]
	if !listed {
		g, listed = groups["*"]
	}
	switch {
	case f["groups"] == nil && s.kind == "telegram" && policy == "allowlist":
		return false
	case f["groups"] != nil && !listed:
		return false
	}
	m := obj(g)
	if m["enabled"] == false {
		return false
	}
	list, has := m["allowFrom"], m["allowFrom"] != nil
	need, set := m["requireMention"], m["requireMention"] != nil
	if !set {
		need = obj(groups["*"])["requireMention"]
	}
	if m["groupPolicy"] != nil {
		policy = m["groupPolicy"]
	}
	if s.topic != "" {
		topics := obj(m["topics"])
		for _, id := range []string{"*", s.topic} { // the exact one wins where it says something
			t := obj(topics[id])
			if t["enabled"] == false {
				return false
			}
			if t["allowFrom"] != nil {
				list, has = t["allowFrom"], true
			}
			if t["requireMention"] != nil {
				need = t["requireMention"]
			}
			if t["groupPolicy"] != nil {
				policy = t["groupPolicy"]
			}
		}
	}
	if !has {
		if list = f["groupAllowFrom"]; list == nil {
			list = f["allowFrom"]
		}
	}
	switch {
	case policy == "open" && !has:
	case policy != "open" && policy != "allowlist", !c.lists(s.kind, entriesOf(list), s.person):
		return false
	}
	return s.mentioned || need == false
}

func (c claw) inGuild(s spot, f map[string]any, policy string) bool {
	guilds := obj(f["guilds"])
	g, listed := guilds[s.guild]
	if !listed {
		g, listed = guilds["*"]
	}
	if !listed {
		return policy == "open" && f["guilds"] == nil && s.mentioned
	}
	guild, rooms := obj(g), obj(obj(g)["channels"])
	room, has := rooms[s.chat]
	if !has {
		room, has = rooms["*"]
	}
	if len(rooms) > 0 && !has {
		return false
	}
	m := obj(room)
	if m["enabled"] == false || m["allow"] == false {
		return false
	}
	pick := func(key string) any {
		if len(entriesOf(m[key])) > 0 {
			return m[key]
		}
		return guild[key]
	}
	users, roles := entriesOf(pick("users")), entriesOf(pick("roles"))
	if len(users)+len(roles) > 0 && !c.lists("discord", users, s.person) &&
		!slices.ContainsFunc(roles, func(r any) bool { return slices.Contains(s.roles, fmt.Sprint(r)) }) {
		return false
	}
	need, others := m["requireMention"], m["ignoreOtherMentions"]
	if need == nil {
		need = guild["requireMention"]
	}
	if others == nil {
		others = guild["ignoreOtherMentions"]
	}
	if others == true && s.mentionsOthers && !s.mentioned {
		return false
	}
	return s.mentioned || need == false
}

// answers gives the agent of a chat: the most specific binding, else the default agent.
func (c claw) answers(s spot) string {
	if f, ok := c.section(s.kind, s.account); ok && s.topic != "" { // a topic may have its own
		if id := str(obj(obj(obj(obj(f["groups"])[s.chat])["topics"])[s.topic])["agentId"]); slices.Contains(c.agents(), id) {
			return id
		}
	}
	best, agent := 0, ""
	for _, b := range entriesOf(c.top["bindings"]) {
		m := obj(obj(b)["match"])
		if obj(b)["type"] == "acp" || m["channel"] != s.kind || !slices.Contains(c.agents(), str(obj(b)["agentId"])) {
			continue
		}
		acct, hasAcct := m["accountId"]
		if hasAcct && acct != "*" && acct != s.account || !hasAcct && s.account != "default" {
			continue
		}
		rank := 1
		if hasAcct && acct != "*" {
			rank = 2
		}
		if g := m["guildId"]; g != nil {
			if rank = 4; g != s.guild {
				continue
			}
		}
		if r := entriesOf(m["roles"]); r != nil {
			if rank = 5; !slices.ContainsFunc(r, func(x any) bool { return slices.Contains(s.roles, fmt.Sprint(x)) }) {
				continue
			}
		}
		if p := obj(m["peer"]); p != nil {
			kind, id, want := str(p["kind"]), fmt.Sprint(p["id"]), "group"
			if s.chat == "" {
				want = "direct"
			} else if s.room {
				want = "channel"
			}
			if rank = 7; kind == "dm" {
				kind = "direct"
			}
			have := s.chat
			if s.chat == "" {
				have = s.person
			}
			if kind != want || id != "*" && id != have && id != s.kind+":"+have {
				continue
			}
			if id == "*" {
				rank = 6
			}
		}
		if rank > best {
			best, agent = rank, str(obj(b)["agentId"])
		}
	}
	if agent != "" {
		return agent
	}
	list := entriesOf(obj(c.top["agents"])["list"])
	for _, a := range list {
		if obj(a)["default"] == true {
			return str(obj(a)["id"])
		}
	}
	if len(list) > 0 {
		return str(obj(list[0])["id"])
	}
	return "main"
}

func (c claw) agents() (out []string) {
	for _, a := range entriesOf(obj(c.top["agents"])["list"]) {
		out = append(out, str(obj(a)["id"]))
	}
	if out == nil {
		out = []string{"main"}
	}
	return out
}

func (c claw) agent(id string) map[string]any {
	for _, a := range entriesOf(obj(c.top["agents"])["list"]) {
		if obj(a)["id"] == id {
			return obj(a)
		}
	}
	return nil
}

// sandboxed reports whether a session runs in a sandbox: the agent's mode, else that of all.
func (c claw) sandboxed(agent string, isMain bool) bool {
	mode := obj(c.agent(agent)["sandbox"])["mode"]
	if mode == nil {
		mode = obj(obj(obj(c.top["agents"])["defaults"])["sandbox"])["mode"]
	}
	return mode == "all" || mode == "non-main" && !isMain
}

// seesAll reports whether the clamp of sandboxed sessions is lifted.
func (c claw) seesAll(agent string) bool {
	v := obj(c.agent(agent)["sandbox"])["sessionToolsVisibility"]
	if v == nil {
		v = obj(obj(obj(c.top["agents"])["defaults"])["sandbox"])["sessionToolsVisibility"]
	}
	return v == "all"
}

// visibility ranks tools.sessions.visibility; without one it is tree, the smaller of the defaults that OpenClaw had.
func (c claw) visibility() int {
	v := obj(obj(c.top["tools"])["sessions"])["visibility"]
	if v == nil {
		v = "tree"
	}
	return slices.Index([]string{"self", "tree", "agent", "all"}, str(v))
}

// reaches reports whether an agent may reach sessions of another.
func (c claw) reaches(from, to string) bool {
	m := obj(obj(c.top["tools"])["agentToAgent"])
	if from == to {
		return true
	}
	allow := entriesOf(m["allow"])
	in := func(id string) bool {
		return len(allow) == 0 || slices.ContainsFunc(allow, func(p any) bool { return glob(str(p), id) })
	}
	return m["enabled"] == true && in(from) && in(to)
}

// delivery is what the send policy is asked about.
type delivery struct{ channel, account, chatType, key string }

// leaves reports whether a delivery may leave: first deny wins, then any allow, then the default. unsure is a deny with a condition that OpenClaw's
// documentation does not have.
func (c claw) leaves(d delivery) (allowed, unsure bool) {
	p := obj(obj(c.top["session"])["sendPolicy"])
	matched := false
	stripped := d.key
	if rest, ok := strings.CutPrefix(d.key, "agent:"); ok {
		_, stripped, _ = strings.Cut(rest, ":")
	}
	for _, r := range entriesOf(p["rules"]) {
		m := obj(obj(r)["match"])
		fits, odd := true, false
		for k, v := range m {
			want := strings.ToLower(str(v))
			switch k {
			case "channel":
				fits = fits && want == d.channel
			case "chatType":
				fits = fits && strings.Replace(want, "dm", "direct", 1) == d.chatType
			case "accountId":
				fits = fits && (want == d.account || want == "*" && obj(r)["action"] != "allow")
			case "keyPrefix":
				fits = fits && (prefixed(stripped, want) || prefixed(d.key, want))
			case "rawKeyPrefix":
				fits = fits && prefixed(d.key, want)
			default:
				odd = true
			}
		}
		switch {
		case !fits:
		case obj(r)["action"] != "allow" && odd:
			unsure = true
		case obj(r)["action"] != "allow":
			return false, unsure
		case !odd:
			matched = true
		}
	}
	return matched || p["default"] == nil || p["default"] == "allow", unsure
}

// prefixed compares keys; sessions of direct chats were called dm before.
func prefixed(key, prefix string) bool {
	key = strings.ToLower(key)
	return strings.HasPrefix(key, prefix) || strings.HasPrefix(strings.Replace(key, ":direct:", ":dm:", 1), prefix)
}

func glob(pattern, s string) bool {
	head, tail, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	return strings.HasPrefix(s, head) && len(s) >= len(head)+len(tail) && strings.HasSuffix(s, tail)
}

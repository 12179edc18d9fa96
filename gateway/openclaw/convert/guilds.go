package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/jsontree"
)

// guilds converts the servers of Discord. parley lists channels by id, without their server, so everything that a server says is written into each
// of its channels. What is said of a whole server stays closed: parley cannot tell its other channels from those of other servers.
func (c accessConverter) guilds(what string, f map[string]any, a *access) {
	a.groupPolicy = c.groupPolicy(what, f)
	guilds := jsontree.Object(f["guilds"])
	switch {
	case a.groupPolicy == disabled:
		return
	case len(guilds) == 0 && a.groupPolicy == open && f["guilds"] == nil:
		return
	}
	for _, id := range slices.Sorted(maps.Keys(guilds)) {
		at := what + ".guilds." + id
		g := jsontree.Object(guilds[id])
		rooms := jsontree.Object(g["channels"])
		var names []string
		for _, room := range slices.Sorted(maps.Keys(rooms)) {
			key, ok := c.ids.Chat(c.kind, room)
			switch _, twice := a.groups[key]; {
			case id == everybody && len(guilds) > 1 && room != everybody:
				names = append(names, room) // its server may be one that is listed, whose entry would count
				continue
			case room == everybody || !ok:
				if open := jsontree.Object(rooms[room]); open["enabled"] != false && open["allow"] != false {
					names = append(names, room)
				}
				continue
			case twice:
				a.groups[key] = group{off: true}
				c.Need(at+".channels."+room, "two entries name this channel, so it is closed: keep one of them")
				continue
			}
			if a.groups == nil {
				a.groups = map[string]group{}
			}
			a.groups[key] = c.room(at+".channels."+room, rooms[room], g)
		}
		if len(rooms) == 0 || slices.Contains(names, everybody) {
			c.Need(at, "parley lists channels by id and has no entry for a whole server, so its channels are closed. "+roomAdvice(c.kind, c.usersOf(g)))
		} else if len(names) > 0 {
			c.Need(fmt.Sprintf("%s.channels: %s", at, strings.Join(names, ", ")), "parley lists channels by id, not by name, so these are closed. "+roomAdvice(c.kind, c.usersOf(g)))
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if !slices.Contains([]string{"channels", "users", "roles", "requireMention", "slug", "tools", "toolsBySender", "ignoreOtherMentions"}, key) {
				c.Leave(at+"."+key, "parley has no equivalent for a server")
			}
		}
	}
	if len(a.groups) == 0 {
		a.groupPolicy = disabled // without a list parley would listen in all channels
	}
}

func (c accessConverter) usersOf(m map[string]any) (out []string) {
	for _, p := range entries(m["users"]) {
		if id, ok := c.person(fmt.Sprint(p)); ok {
			out = append(out, id)
		}
	}
	return out
}

// roomAdvice says how to open a channel.
func roomAdvice(k channels.Kind, users []string) string {
	if len(users) == 0 {
		users = []string{"…"}
	}
	return fmt.Sprintf(`Add each one: channels.%s.groups: {"ID": {allowFrom: ["%s"]}}, and groupPolicy: allowlist`, k, strings.Join(users, `", "`))
}

// room converts one channel of a server.
func (c accessConverter) room(at string, v any, guild map[string]any) (g group) {
	m := jsontree.Object(v)
	if m == nil && v != nil && v != true || m["enabled"] != nil && m["enabled"] != true || m["allow"] != nil && m["allow"] != true {
		c.Carry(at, "closed")
		return group{off: true}
	}
	either := func(key string) any { // a channel's own list takes the place of its server's
		if len(entries(m[key])) > 0 {
			return m[key]
		}
		return guild[key]
	}
	users, roles := either("users"), len(entries(either("roles"))) > 0
	switch {
	case len(entries(users)) > 0:
		g.allow, _ = c.people(at+".users", users)
	case !roles:
		g.allow = []string{everybody}
	}
	if roles && !slices.Contains(g.allow, everybody) {
		c.Need(at+".roles", "parley has no roles in lists of senders: people whom OpenClaw admits by a role alone are not let in; add their ids to allowFrom")
	}
	g.off = len(g.allow) == 0
	g.mention = mention(m["requireMention"], guild["requireMention"])
	if m["ignoreOtherMentions"] == true || m["ignoreOtherMentions"] == nil && guild["ignoreOtherMentions"] == true {
		g.mention = mention(true) // a message to somebody else would be answered
		c.Differ(at+".ignoreOtherMentions", "the bot answers here only when it is mentioned")
	}
	g.prompt = jsontree.Text(m["systemPrompt"])
	g.tools, g.bySender = c.groupTools(at, m, guild)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(groupKeys, key) {
			c.Leave(at+"."+key, "parley has no equivalent for a channel")
		}
	}
	if !g.off {
		c.Differ(at, "channels are listed by their id, without their server")
	}
	return g
}

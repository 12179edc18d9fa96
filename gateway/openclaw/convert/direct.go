package convert

import (
	"maps"
	"slices"

	"parley/gateway/openclaw/jsontree"
)

// directChats converts the entries of single direct chats. parley has none: whom an entry keeps out leaves allowFrom. Where allowFrom has
// everybody, only the people whom it names are left.
func (c accessConverter) directChats(what string, chats map[string]any, a *access) {
	if len(chats) == 0 {
		return
	}
	before := *a
	before.allow = slices.Clone(a.allow)
	keepOut := func(who ...string) {
		a.allow = slices.DeleteFunc(a.allow, func(p string) bool { return slices.Contains(who, p) })
	}
	own := []string{everybody}
	for _, id := range slices.Sorted(maps.Keys(chats)) {
		who, ok := c.person(id)
		at := what + ".direct." + id
		if id == everybody || !ok {
			continue
		}
		own = append(own, who)
		e := c.directChat(at, chats[id], before)
		if e.admits(who) {
			switch {
			case !e.says:
			case slices.Contains(before.allow, who), slices.Contains(before.allow, everybody):
				c.Carry(at, "")
			default:
				c.Leave(at, "parley has no entry for one direct chat: to let this person in, add the id to allowFrom")
			}
			continue
		}
		keepOut(who, everybody)
		if !e.pairs() {
			a.unpaired = append(a.unpaired, who)
		}
		switch {
		case slices.Contains(before.allow, everybody):
			c.Need(at, `parley cannot admit everybody except one person, so only the people whom allowFrom names may write directly: add more of them, or admit everybody with dmPolicy: open and allowFrom: ["*"]`)
		case e.narrow:
			c.Need(at, "parley has no restrictions of one direct chat, so this person is not let in: to admit the person without the restrictions, add the id to allowFrom")
		case before.dm == pairing:
			c.Differ(at, "this person is not let in, but parley offers a pairing code, as to everybody who is not let in: do not approve it")
		default:
			c.Carry(at, "the person is not in allowFrom")
		}
	}
	if all := c.directChat(what+".direct.*", chats[everybody], before); all.says || all.narrow {
		for _, who := range before.allow {
			if !slices.Contains(own, who) && !all.admits(who) || who == everybody && !all.admits(everybody) {
				keepOut(who)
			}
		}
		if a.dm == pairing && !all.pairs() {
			a.dm = allowlist
		}
		if all.narrow {
			c.Need(what+".direct.*", "parley has no restrictions of direct chats, so it admits only people with an entry of their own: add others to allowFrom to admit them without the restrictions")
		} else {
			c.Differ(what+".direct.*", "dmPolicy and allowFrom of the account express it now")
		}
	}
	if a.dm == open && !slices.Contains(a.allow, everybody) {
		a.dm = allowlist
	}
	if a.dm == allowlist && len(a.allow) == 0 {
		a.dm = disabled
	}
	if a.dm != before.dm {
		c.Differ(what+".dmPolicy", "it is "+a.dm+", because of the entries under direct")
	}
	if len(a.allow) < len(before.allow) {
		c.Differ(what+".allowFrom", "the list is shorter, because of the entries under direct")
	}
}

// directChat is what one entry of direct says, with what it takes from its account.
type directChat struct {
	says   bool // it has a policy or a list of its own
	narrow bool // it restricts what the person may do
	off    bool
	policy string
	allow  []string
}

func (c accessConverter) directChat(at string, v any, account access) directChat {
	m, isObject := v.(map[string]any)
	e := directChat{policy: account.dm, allow: account.allow}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		sub, isSection := m[k].(map[string]any)
		switch {
		case m[k] == nil:
		case k == "enabled":
			e.says, e.off = true, m[k] != true
		case k == "dmPolicy":
			e.says, e.policy = true, jsontree.Text(m[k])
		case k == "allowFrom":
			e.says = true
			e.allow, _ = c.people(at+".allowFrom", m[k])
		case k == "tools" || k == "toolsBySender":
			e.narrow = e.narrow || !isSection || len(sub) > 0
		case k == "requireTopic":
			e.narrow = e.narrow || m[k] != false
		case k == "topics":
			for _, topic := range sub {
				e.narrow = e.narrow || jsontree.Object(topic) == nil || restricts(jsontree.Object(topic))
			}
		default:
			c.Leave(at+"."+k, "parley has no settings for single direct chats")
		}
	}
	if v != nil && !isObject {
		e.says, e.off = true, true
	}
	return e
}

// pairs reports whether a pairing counts for an entry.
func (e directChat) pairs() bool { return !e.off && !e.narrow && e.policy == pairing }

// admits reports whether an entry lets a person in. One that says nothing leaves that to its account.
func (e directChat) admits(who string) bool {
	switch {
	case e.off || e.narrow:
		return false
	case !e.says:
		return true
	}
	return slices.Contains([]string{pairing, allowlist, open}, e.policy) && (slices.Contains(e.allow, who) || slices.Contains(e.allow, everybody))
}

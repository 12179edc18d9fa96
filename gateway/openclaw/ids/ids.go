package ids

import (
	"strings"

	"parley/channels"
	"parley/gateway/config"
	"parley/sessions"
)

// Adapters writes ids of people and chats as this program's adapters do.
type Adapters struct{ Table config.Table }

// Has reports whether this program has such a channel.
func (x Adapters) Has(k channels.Kind) bool {
	_, ok := x.adapter(k)
	return ok
}

func (x Adapters) adapter(k channels.Kind) (config.Adapter, bool) {
	for _, a := range x.Table {
		if a.Kind == k {
			return a, true
		}
	}
	return config.Adapter{}, false
}

// Person returns a person's id, and whether the adapter knows it as one. An id that it does not know stays as it is.
func (x Adapters) Person(k channels.Kind, id string) (string, bool) {
	id = bare(k, id)
	a, ok := x.adapter(k)
	if !ok || a.Person == nil {
		return id, ok && id != ""
	}
	p, err := a.Person(id)
	if err != nil {
		return id, false
	}
	return string(p), true
}

// Chat returns the id of a group or room, and whether the adapter knows it as one.
func (x Adapters) Chat(k channels.Kind, id string) (string, bool) {
	id = bare(k, id)
	a, ok := x.adapter(k)
	if !ok || a.Chat == nil {
		return id, ok && id != ""
	}
	c, err := a.Chat(id)
	if err != nil {
		return id, false
	}
	return string(c), true
}

// bare removes the words that OpenClaw puts in front of ids, in any letter case: telegram:123, tg:123, user:77, telegram:group:-100.
func bare(k channels.Kind, id string) string {
	id = strings.TrimSpace(id)
	for {
		word, rest, ok := strings.Cut(id, ":")
		switch word = strings.ToLower(strings.TrimSpace(word)); {
		case ok && (word == string(k) || word == "tg" && k == "telegram" || word == "user" || word == "group" || word == "channel" || word == "dm" || word == "direct"):
			id = strings.TrimSpace(rest)
		default:
			return id
		}
	}
}

// Agent writes an agent's name as the function Agent does; package history asks for all ids through one interface.
func (Adapters) Agent(name string) sessions.AgentID { return Agent(name) }

// Agent writes an agent's name as parley has it.
func Agent(s string) sessions.AgentID {
	var b strings.Builder
	for _, c := range strings.ToLower(strings.TrimSpace(s)) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_':
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	id := strings.Trim(b.String(), "-")
	id = strings.TrimLeft(id[:min(len(id), 64)], "_-")
	if id == "" {
		return "main"
	}
	return sessions.AgentID(id)
}

// Account writes an account's name as OpenClaw compares it and parley takes it.
func Account(s string) channels.AccountID {
	s = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, strings.ToLower(strings.TrimSpace(s)))
	if s = strings.TrimLeft(s, "_-."); s == "" {
		return channels.DefaultAccount
	}
	return channels.AccountID(s[:min(len(s), 64)])
}

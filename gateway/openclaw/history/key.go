package history

import (
	"strings"

	"parley/channels"
	"parley/sessions"
)

// mapped is what a key of OpenClaw becomes.
type mapped struct {
	key    sessions.Key
	parent sessions.Key // of a sub-agent of a sub-agent
	note   string       // why it is not what it was
	left   string       // why it is not carried over; key is then empty
}

// Why a session is left out. Each reason is one line of the report.
const (
	noKey       = "they have no session key"
	unknownForm = "parley has no key of that form"
	heartbeat   = "isolated heartbeat runs, not conversations"
)

// keyFor returns parley's key for a key as it is in the store of an agent.
func keyFor(raw string, agent sessions.AgentID, mainKey string, chats IDs) mapped {
	raw = strings.TrimSpace(raw)
	rest := strings.FieldsFunc(raw, func(c rune) bool { return c == ':' })
	if len(rest) >= 3 && strings.EqualFold(rest[0], "agent") {
		agent, rest = chats.Agent(rest[1]), rest[2:]
	}
	if len(rest) == 0 {
		return mapped{left: noKey}
	}
	if end := len(rest) - 1; end > 0 && strings.EqualFold(rest[end], "heartbeat") {
		if m := keyOf(rest[:end], agent, mainKey, chats); m.key != "" {
			return mapped{left: heartbeat}
		}
	}
	return keyOf(rest, agent, mainKey, chats)
}

// keyOf returns the key for the segments behind agent:<agent>.
func keyOf(rest []string, agent sessions.AgentID, mainKey string, chats IDs) mapped {
	rest, thread := cutThread(rest)
	p := sessions.Parts{Agent: agent, Thread: channels.ThreadID(thread)}
	low := strings.ToLower(rest[0])
	switch {
	case len(rest) == 1 && low == "global":
		return mapped{key: sessions.GlobalKey}
	case len(rest) == 1 && low == "unknown":
		return mapped{left: "OpenClaw does not know whose they were"}
	case low == "acp":
		return mapped{left: "parley has no ACP sessions"}
	case low == "subagent":
		return subagent(p, rest)
	case len(rest) == 1 && (low == "main" || low == mainKey):
		p.Form = sessions.FormMain
	case strings.HasPrefix(low, "node-") && len(rest) == 1:
		p.Form, p.ID = sessions.FormNode, rest[0][len("node-"):]
	case low == "node" && len(rest) == 2:
		p.Form, p.ID = sessions.FormNode, rest[1]
	case low == "hook" && len(rest) >= 2:
		p.Form, p.ID = sessions.FormHook, strings.Join(rest[1:], ":")
	case low == "cron" && len(rest) == 2:
		p.Form, p.ID = sessions.FormCron, rest[1]
	case low == "cron" && len(rest) == 4 && rest[2] == "run":
		p.Form, p.ID = sessions.FormCron, rest[1]+":run:"+rest[3]
		return mapped{key: p.Key(), note: "a single run of a job; parley has one session for each job"}
	case (low == "dm" || low == "direct") && len(rest) >= 2:
		p.Form, p.ID = sessions.FormPeer, strings.Join(rest[1:], ":")
	case (low == "openai" || low == "openai-user") && len(rest) >= 2:
		p.Form, p.Channel, p.ID = sessions.FormOther, "openai", "owner/"+strings.Join(rest[1:], ":")
		return mapped{key: p.Key(), note: "the session of a client with the host's own token that names this user"}
	case (low == "dashboard" || low == "explicit") && len(rest) >= 2:
		p.Form, p.Channel, p.ID, p.Thread = sessions.FormOther, channels.Kind(low), strings.Join(rest[1:], ":"), ""
		return mapped{key: p.Key(), note: "a conversation of OpenClaw's dashboard or command line: no chat leads to it, parley sessions lists it"}
	case strings.HasPrefix(low, conflict) && len(rest) == 1:
		p.Form, p.Channel, p.ID, p.Thread = sessions.FormOther, "legacy-main", low[len(conflict):], ""
		return mapped{key: p.Key(), note: "an earlier main conversation that OpenClaw kept apart: no chat leads to it, parley sessions lists it"}
	default:
		return chatKey(p, rest, chats)
	}
	return done(p)
}

// conflict begins the key of a main session that OpenClaw found beside another one.
const conflict = "legacy-main-conflict-"

// done is the key of the parts, when parley reads it back as the same.
func done(p sessions.Parts) mapped {
	k := p.Key()
	if _, err := k.Parse(); err != nil || k == sessions.UnknownKey {
		return mapped{left: unknownForm}
	}
	return mapped{key: k}
}

// cutThread takes the last :thread: or :topic: off.
func cutThread(seg []string) (rest []string, thread string) {
	for i := len(seg) - 2; i > 0; i-- {
		if w := strings.ToLower(seg[i]); w == "thread" || w == "topic" {
			return seg[:i], strings.Join(seg[i+1:], ":")
		}
	}
	return seg, ""
}

func subagent(p sessions.Parts, seg []string) mapped {
	if len(seg) < 2 {
		return mapped{left: noKey}
	}
	p.Thread = ""
	m := mapped{key: sessions.SubagentKey(p.Agent, seg[len(seg)-1])}
	if len(seg) >= 4 && strings.EqualFold(seg[len(seg)-2], "subagent") {
		m.parent = sessions.SubagentKey(p.Agent, seg[len(seg)-3])
		m.note = "the sub-agent of a sub-agent; parley stores its parent, not a nested key"
	}
	return m
}

// chatKey reads <channel>[:<account>]:(dm|direct|group|channel):<id>.
func chatKey(p sessions.Parts, seg []string, chats IDs) mapped {
	at := -1
	for i := 1; i <= 2 && i < len(seg)-1; i++ {
		switch strings.ToLower(seg[i]) {
		case "dm", "direct", "group", "channel":
			at = i
		case "slash":
			return mapped{left: "sessions of slash commands: what they changed is in the session of the chat"}
		}
		if at > 0 {
			break
		}
	}
	if at < 0 {
		return mapped{left: unknownForm}
	}
	p.Channel, p.Account, p.ID = channels.Kind(strings.ToLower(seg[0])), channels.DefaultAccount, strings.Join(seg[at+1:], ":")
	if at == 2 {
		p.Account = channels.AccountID(strings.ToLower(seg[1]))
	}
	switch strings.ToLower(seg[at]) {
	case "group":
		p.Form, p.ID = sessions.FormGroup, chatID(chats, p.Channel, p.ID)
	case "channel":
		p.Form, p.ID = sessions.FormRoom, chatID(chats, p.Channel, p.ID)
	default:
		p.ID = personID(chats, p.Channel, p.ID)
		if p.Form = sessions.FormChannelPeer; at == 2 {
			p.Form = sessions.FormAccountPeer
		}
	}
	return done(p)
}

// IDs writes ids of people and chats as parley's adapters do.
type IDs interface {
	Person(k channels.Kind, id string) (written string, known bool)
	Chat(k channels.Kind, id string) (written string, known bool)
	Agent(name string) sessions.AgentID
	Has(k channels.Kind) bool // parley has such a channel
}

func personID(x IDs, k channels.Kind, id string) string {
	id, _ = x.Person(k, id)
	return id
}

func chatID(x IDs, k channels.Kind, id string) string {
	id, _ = x.Chat(k, id)
	return id
}

// legacyKey completes the keys of 2025, which name no agent and often no channel: +4915…, group:1203…@g.us, telegram:1001.
// source: openclaw/openclaw docs/concepts/session.md ("Legacy group:<id> keys")
func legacyKey(raw, channel string, chats IDs) string {
	word, id, ok := strings.Cut(raw, ":")
	channel = strings.ToLower(channel)
	switch {
	case !ok && strings.HasPrefix(raw, "+") && strings.Trim(raw[1:], "0123456789") == "" && len(raw) > 1:
		return "whatsapp:direct:" + raw
	case ok && word == "group" && strings.HasSuffix(id, "@g.us"):
		return "whatsapp:" + raw
	case ok && word == "group" && channel != "":
		return channel + ":" + raw
	case ok && chats.Has(channels.Kind(strings.ToLower(word))) && !strings.Contains(id, ":"):
		return word + ":direct:" + id
	}
	return raw
}

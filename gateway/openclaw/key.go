package openclaw

import (
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/convert"
	"parley/sessions"
)

// mapped is what a key of OpenClaw becomes.
type mapped struct {
	key    sessions.Key
	parent sessions.Key // of a sub-agent of a sub-agent
	note   string       // why it is not what it was
	left   string       // why it is not carried over; key is then empty
}

// keyFor makes parley's key of a key as it stands in the store of an agent.
func keyFor(raw string, agent sessions.AgentID, mainKey string, chats ids) mapped {
	raw = strings.TrimSpace(raw)
	rest := strings.FieldsFunc(raw, func(c rune) bool { return c == ':' })
	if len(rest) >= 3 && strings.EqualFold(rest[0], "agent") {
		agent, rest = agentID(rest[1]), rest[2:]
	}
	if len(rest) == 0 {
		return mapped{left: "it is no session key"}
	}
	rest, thread := cutThread(rest)
	p := sessions.Parts{Agent: agent, Thread: channels.ThreadID(thread)}
	low := strings.ToLower(rest[0])
	switch {
	case len(rest) == 1 && low == "global":
		return mapped{key: sessions.GlobalKey}
	case len(rest) == 1 && low == "unknown":
		return mapped{left: "nobody knows whose it was"}
	case low == "acp":
		return mapped{left: "there are no ACP sessions here"}
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
		return mapped{key: p.Key(), note: "a single run of a job; jobs have one session each here"}
	case (low == "dm" || low == "direct") && len(rest) >= 2:
		p.Form, p.ID = sessions.FormPeer, strings.Join(rest[1:], ":")
	case (low == "openai" || low == "openai-user") && len(rest) >= 2:
		p.Form, p.Channel, p.ID = sessions.FormOther, "openai", "owner/"+strings.Join(rest[1:], ":")
		return mapped{key: p.Key(), note: "the session of a client with the host's own token that names this user"}
	default:
		return chatKey(p, rest, chats)
	}
	return done(p)
}

// done is the key of the parts, when parley reads it back as the same.
func done(p sessions.Parts) mapped {
	k := p.Key()
	if _, err := k.Parse(); err != nil || k == sessions.UnknownKey {
		return mapped{left: "parley has no key of that form"}
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
		return mapped{left: "it is no session key"}
	}
	p.Thread = ""
	m := mapped{key: sessions.SubagentKey(p.Agent, seg[len(seg)-1])}
	if len(seg) >= 4 && strings.EqualFold(seg[len(seg)-2], "subagent") {
		m.parent = sessions.SubagentKey(p.Agent, seg[len(seg)-3])
		m.note = "the sub-agent of a sub-agent: that is told by its parent here, not by its key"
	}
	return m
}

// chatKey reads <channel>[:<account>]:(dm|direct|group|channel):<id>.
func chatKey(p sessions.Parts, seg []string, chats ids) mapped {
	at := -1
	for i := 1; i <= 2 && i < len(seg)-1; i++ {
		switch strings.ToLower(seg[i]) {
		case "dm", "direct", "group", "channel":
			at = i
		case "slash":
			return mapped{left: "a slash command's own session: what it changed is in the session of its chat"}
		}
		if at > 0 {
			break
		}
	}
	if at < 0 {
		return mapped{left: "parley has no key of that form"}
	}
	p.Channel, p.Account, p.ID = channels.Kind(strings.ToLower(seg[0])), channels.DefaultAccount, strings.Join(seg[at+1:], ":")
	if at == 2 {
		p.Account = channels.AccountID(strings.ToLower(seg[1]))
	}
	switch strings.ToLower(seg[at]) {
	case "group":
		p.Form, p.ID = sessions.FormGroup, chats.chat(p.Channel, p.ID)
	case "channel":
		p.Form, p.ID = sessions.FormRoom, chats.chat(p.Channel, p.ID)
	default:
		p.ID = chats.person(p.Channel, p.ID)
		if p.Form = sessions.FormChannelPeer; at == 2 {
			p.Form = sessions.FormAccountPeer
		}
	}
	return done(p)
}

// agentID writes an agent's name as parley has it.
func agentID(s string) sessions.AgentID { return convert.AgentID(s) }

package policy

import (
	"fmt"
	"slices"
	"strings"

	"parley/channels"
)

// Problem is something wrong with a configuration.
type Problem struct {
	Path    string // of the key, from the top of the section's owner: "session.sendPolicy.rules[2].match.channel", "groups.-100.topics"
	Message string // what is wrong and what to do
	Warning bool   // it works, but hardly as meant
}

func (p Problem) String() string { return p.Path + ": " + p.Message }

// Check finds rules that can never match and values that mean nothing (contract P2). known are the channel kinds that exist. A rule about a
// channel that is merely absent is a warning; what may be misspelt is not, because a misspelt deny would let everything out.
func (p SendPolicy) Check(known []channels.Kind) []Problem {
	var out []Problem
	if p.Default != "" && p.Default != Allow && p.Default != Deny {
		out = append(out, Problem{Path: defaultRule, Message: fmt.Sprintf("%q is not an action: write allow or deny", p.Default)})
	}
	for i, r := range p.Rules {
		path := rulePath(i)
		if r.Action != Allow && r.Action != Deny {
			out = append(out, Problem{Path: path + ".action", Message: fmt.Sprintf("%q is not an action: write allow or deny", r.Action)})
		}
		out = append(out, r.Match.check(path+".match", known)...)
		if by := p.shadow(i); by >= 0 {
			out = append(out, Problem{Path: path, Warning: true,
				Message: fmt.Sprintf("has no effect: rules[%d] (%s) matches everything that this rule matches", by, p.Rules[by].Action)})
		}
	}
	return out
}

// shadow gives a rule because of which rule i never decides: an earlier one that says the same of as much, or, for an allow, any
// deny that covers it. -1 = none.
func (p SendPolicy) shadow(i int) int {
	r := p.Rules[i]
	for j, o := range p.Rules {
		same := strict(o.Action) == strict(r.Action)
		if j == i || same && j > i || !same && strict(o.Action) == Allow {
			continue
		}
		if o.Match.covers(r.Match) {
			return j
		}
	}
	return -1
}

// covers reports whether everything that n matches is matched by m as well; false when that is not plain.
func (m SendMatch) covers(n SendMatch) bool {
	typ := m.ChatType == "" || m.ChatType == n.ChatType || m.ChatType == channels.Group && n.ChatType == channels.Room
	key := m.KeyPrefix == "" || n.KeyPrefix != "" && hasPrefixFold(n.KeyPrefix, m.KeyPrefix) || n.RawKeyPrefix != "" && hasPrefixFold(n.RawKeyPrefix, m.KeyPrefix)
	raw := m.RawKeyPrefix == "" || n.RawKeyPrefix != "" && hasPrefixFold(n.RawKeyPrefix, m.RawKeyPrefix)
	return typ && key && raw &&
		(m.Channel == "" || strings.EqualFold(string(m.Channel), string(n.Channel))) &&
		(m.AccountID == "" || m.AccountID == n.AccountID) && (m.To == "" || m.To == n.To)
}

// elsewhere are channels that are known by name, and that a host may do without: built in elsewhere, made by plugins, or of no platform at all. A
// rule about one of them says what it means and matches nothing.
var elsewhere = []channels.Kind{"bluebubbles", "discord", "email", "feishu", "googlechat", "imessage", "internal", "irc", "line", "mail", "matrix", "mattermost", "msteams",
	"nextcloud-talk", "nostr", "signal", "slack", "sms", "synology-chat", "telegram", "tlon", "twitch", "unknown", "webchat", "wechat", "whatsapp", "zalo", "zulip"}

func isOneOf(kinds []channels.Kind, name string) bool {
	return slices.ContainsFunc(kinds, func(c channels.Kind) bool { return strings.EqualFold(string(c), name) })
}

func (m SendMatch) check(path string, known []channels.Kind) []Problem {
	var out []Problem
	report := func(warning bool, field, format string, a ...any) {
		out = append(out, Problem{Path: path + "." + field, Message: "can never match: " + fmt.Sprintf(format, a...), Warning: warning})
	}
	never := func(field, format string, a ...any) { report(false, field, format, a...) }
	isKnown := func(k string) bool { return isOneOf(known, k) }
	anywhere := slices.Concat(known, elsewhere)
	if m.Channel != "" && !isKnown(string(m.Channel)) {
		report(isOneOf(elsewhere, string(m.Channel)), "channel", "there is no channel %q; the channels are %s", m.Channel, joinKinds(known))
	}
	switch m.ChatType {
	case "", channels.Direct, channels.Group, channels.Room:
	default:
		never("chatType", "%q is none of direct, group, channel", m.ChatType)
	}
	if m.KeyPrefix != "" && !fitsRaw(m.KeyPrefix, known) && !fitsStripped(m.KeyPrefix, known) {
		report(fitsRaw(m.KeyPrefix, anywhere) || fitsStripped(m.KeyPrefix, anywhere), "keyPrefix", "no session key starts with %q; keys look like agent:main:telegram:group:-100 or cron:daily", m.KeyPrefix)
	}
	if m.RawKeyPrefix != "" && !fitsRaw(m.RawKeyPrefix, known) {
		report(fitsRaw(m.RawKeyPrefix, anywhere), "rawKeyPrefix", "no whole session key starts with %q; they start with agent:<agentId>:", m.RawKeyPrefix)
	}
	for _, f := range [][2]string{{"keyPrefix", m.KeyPrefix}, {"rawKeyPrefix", m.RawKeyPrefix}} {
		t := prefixType(f[1])
		if t == channels.Direct && m.ChatType.Several() || t.Several() && m.ChatType == channels.Direct {
			never(f[0], "%q names %s sessions, but chatType is %s", f[1], t, m.ChatType)
		}
	}
	if a, err := channels.ParseAddress(m.To); err == nil && !a.IsZero() {
		switch {
		case !isKnown(string(a.Channel)):
			report(isOneOf(elsewhere, string(a.Channel)), "to", "there is no channel %q; the channels are %s", a.Channel, joinKinds(known))
		case m.Channel != "" && !strings.EqualFold(string(m.Channel), string(a.Channel)):
			never("to", "the address is on %s, but channel is %s", a.Channel, m.Channel)
		case m.AccountID != "" && m.AccountID != a.Account:
			never("to", "the address is of account %s, but accountId is %s", a.Account, m.AccountID)
		case m.ChatType != "" && !matchType(m.ChatType, a.Type):
			never("to", "the address is a %s chat, but chatType is %s", a.Type, m.ChatType)
		}
	}
	return out
}

func joinKinds(known []channels.Kind) string {
	if len(known) == 0 {
		return "none"
	}
	s := make([]string, len(known))
	for i, k := range known {
		s[i] = string(k)
	}
	return strings.Join(s, ", ")
}

// fitsRaw reports whether a whole session key may start with the prefix.
func fitsRaw(prefix string, known []channels.Kind) bool {
	if fits(prefix, "agent:") || fits(prefix, "global") || fits(prefix, "unknown") {
		seg := strings.SplitN(prefix, ":", 3)
		return len(seg) < 3 || seg[2] == "" || fitsStripped(seg[2], known)
	}
	return false
}

// fitsStripped reports whether a session key without its agent may start with the prefix.
func fitsStripped(prefix string, known []channels.Kind) bool {
	starts := []string{"main", "direct:", "cron:", "hook:", "node-", "subagent:", "openai:", "openai-user:", "global", "unknown"}
	for _, k := range known {
		starts = append(starts, string(k)+":")
	}
	return slices.ContainsFunc(starts, func(s string) bool { return fits(prefix, s) })
}

// fits reports whether one of the texts is the start of the other; whole words ("main") end where they end.
func fits(prefix, start string) bool {
	if hasPrefixFold(start, prefix) {
		return true
	}
	whole := start[len(start)-1] != ':' && start[len(start)-1] != '-'
	if whole {
		return hasPrefixFold(prefix, start+":")
	}
	return hasPrefixFold(prefix, start)
}

// prefixType gives the chat type that a key prefix spells out, "" when it leaves that open. The word stands after the channel, or
// after channel and account; when both places hold one, the first may be an account's name.
func prefixType(prefix string) channels.ChatType {
	seg := strings.Split(strings.ToLower(prefix), ":")
	if len(seg) > 2 && seg[0] == "agent" {
		seg = seg[2:]
	}
	if len(seg) > 1 && seg[0] == string(channels.Direct) {
		return channels.Direct
	}
	var found channels.ChatType
	for i := 1; i < len(seg)-1 && i <= 2; i++ {
		switch t := channels.ChatType(seg[i]); t {
		case channels.Direct, channels.Group, channels.Room:
			if found != "" {
				return ""
			}
			found = t
		}
	}
	return found
}

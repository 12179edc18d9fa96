package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/channels"
)

// Subject is a delivery as the send policy sees it.
type Subject struct {
	Key         string           // of the session, raw; empty = no session
	StrippedKey string           // the same without its agent, as sessions.Key.Stripped gives it
	PlainKey    string           // the key without its account, as sessions.Key.Plain gives it; empty = as Key
	Shown       string           // the name that people know instead of the key, as sessions.Key.Shown gives it; empty = as Key
	To          channels.Address // where it goes
	Was         []Subject        // the same under the names that its chat had before: a rule that matches one of them counts
	Override    Override         // the session's own
	ChatDeny    bool             // the session of the chat that its thread belongs to has the override deny
}

// The names of what decides besides rules.
const (
	overrideRule = "session override"
	chatRule     = "session override of the whole chat"
	policyPath   = "session.sendPolicy"
	defaultRule  = policyPath + ".default"
)

func rulePath(i int) string { return fmt.Sprintf("%s.rules[%d]", policyPath, i) }

// Evaluate says whether the delivery may leave (contract P1, P2): the session's override first, then a deny of the
// whole chat that a thread belongs to, then any matching deny, then any
// matching allow, then the default, which is allow when it is not set. An action that is neither allow nor deny denies.
func (p SendPolicy) Evaluate(s Subject) Verdict {
	if s.Override != Inherit {
		a := strict(s.Override)
		return Verdict{a, overrideRule, "this session's own send policy is " + string(a)}
	}
	if s.ChatDeny {
		return Verdict{Deny, chatRule, "this is a thread, topic or private answer of a chat whose own send policy is deny"}
	}
	allow := -1
	for i, r := range p.Rules {
		if !r.Match.matches(s) {
			continue
		}
		if strict(r.Action) == Deny {
			return Verdict{Deny, rulePath(i), "a deny rule matches: " + r.Match.String()}
		}
		if allow < 0 {
			allow = i
		}
	}
	if allow >= 0 {
		return Verdict{Allow, rulePath(allow), "an allow rule matches: " + p.Rules[allow].Match.String()}
	}
	if p.Default == "" {
		return Verdict{Allow, defaultRule, "no rule matches, and the default is not set, which means allow"}
	}
	a := strict(p.Default)
	return Verdict{a, defaultRule, "no rule matches, and the default is " + string(a)}
}

// Stricter gives the override that lets nothing out that either of two would not: deny before the rules before allow.
func Stricter(a, b Override) Override {
	switch {
	case a == b:
		return a
	case a != Allow && a != Inherit || b != Allow && b != Inherit:
		return Deny
	}
	return Inherit
}

// strict reads an action; what is not plainly allow is deny.
func strict(a Action) Action {
	if a == Allow {
		return Allow
	}
	return Deny
}

// Step is one line of an explanation: what was looked at, whether it applies, and why.
type Step struct {
	Rule    string `json:"rule"`
	Action  Action `json:"action,omitempty"`
	Matched bool   `json:"matched"`
	Why     string `json:"why"`
	Verdict bool   `json:"verdict,omitempty"` // the last step: what was decided, by Rule
}

// Explain shows how Evaluate comes to its verdict: the override, every rule, the default, and last the verdict itself.
func (p SendPolicy) Explain(s Subject) []Step {
	steps := make([]Step, 0, len(p.Rules)+3)
	o := Step{Rule: overrideRule, Action: s.Override, Matched: s.Override != Inherit, Why: "not set: the rules decide"}
	if o.Matched {
		o.Why = "set on this session; it wins over every rule"
	}
	steps = append(steps, o)
	if s.ChatDeny {
		steps = append(steps, Step{Rule: chatRule, Action: Deny, Matched: true, Why: "the session of the whole chat denies, and this thread has no override of its own"})
	}
	for i, r := range p.Rules {
		miss := r.Match.miss(s)
		st := Step{Rule: rulePath(i), Action: r.Action, Matched: miss == "", Why: miss}
		if st.Matched {
			st.Why = "matches: " + r.Match.String()
		}
		steps = append(steps, st)
	}
	v := p.Evaluate(s)
	d := Step{Rule: defaultRule, Action: p.Default, Matched: v.Rule == defaultRule, Why: "applies when no rule above matches"}
	if d.Action == "" {
		d.Action, d.Why = Allow, "not set, which means allow; applies when no rule above matches"
	}
	return append(steps, d, Step{Rule: v.Rule, Action: v.Action, Matched: true, Why: v.Reason, Verdict: true})
}

func (m SendMatch) matches(s Subject) bool { return m.miss(s) == "" }

// miss names the first field that does not match; "" = all do, by one of the names of the chat.
func (m SendMatch) miss(s Subject) string {
	if slices.ContainsFunc(s.Was, m.matches) {
		return ""
	}
	switch {
	case m.Channel != "" && !strings.EqualFold(string(m.Channel), string(s.To.Channel)):
		return fmt.Sprintf("channel is %q, not %q", s.To.Channel, m.Channel)
	case m.ChatType != "" && !matchType(m.ChatType, s.To.Type):
		return fmt.Sprintf("chatType is %q, not %q", s.To.Type, m.ChatType)
	case m.KeyPrefix != "" && !s.keyStarts(m.KeyPrefix) && s.Shown != "" && s.Shown != s.Key:
		return fmt.Sprintf("the key %q does not start with keyPrefix %q", s.Shown, m.KeyPrefix)
	case m.KeyPrefix != "" && !s.keyStarts(m.KeyPrefix):
		why := fmt.Sprintf("neither the key %q nor %q", s.Key, s.StrippedKey)
		if s.PlainKey != "" && s.PlainKey != s.Key {
			why += fmt.Sprintf(", nor %q without its account,", s.PlainKey)
		}
		return fmt.Sprintf("%s starts with keyPrefix %q", why, m.KeyPrefix)
	case m.RawKeyPrefix != "" && !hasPrefixFold(s.Key, m.RawKeyPrefix) && !hasPrefixFold(s.Shown, m.RawKeyPrefix):
		return fmt.Sprintf("the key %q does not start with rawKeyPrefix %q", cmp.Or(s.Shown, s.Key), m.RawKeyPrefix)
	case m.AccountID != "" && m.AccountID != s.To.Account:
		return fmt.Sprintf("accountId is %q, not %q", s.To.Account, m.AccountID)
	case m.To != "" && !matchTo(m.To, s.To):
		return fmt.Sprintf("the chat is %q (%s), not %q", s.To.Chat, s.To, m.To)
	}
	return ""
}

// keyStarts: a prefix may be written with or without the agent, and with or without the account of a chat (contract P1).
func (s Subject) keyStarts(prefix string) bool {
	plain := s.PlainKey
	if seg := strings.SplitN(plain, ":", 3); len(seg) == 3 && seg[0] == "agent" {
		plain = seg[2]
	}
	return slices.ContainsFunc([]string{s.Key, s.StrippedKey, s.PlainKey, plain, s.Shown}, func(k string) bool { return hasPrefixFold(k, prefix) })
}

// matchType: a rule for groups covers rooms, a rule for rooms covers only rooms (contract P1).
func matchType(want, have channels.ChatType) bool {
	if want == channels.Group {
		return have.Several()
	}
	return want == have
}

// matchTo: the chat's id, or the whole address. Either covers the chat's threads; an address with a thread only that thread.
func matchTo(want string, to channels.Address) bool {
	if to.IsZero() {
		return false
	}
	chat := to
	chat.Thread = ""
	return want == string(to.Chat) || want == to.String() || want == chat.String()
}

// hasPrefixFold is strings.HasPrefix without regard to case.
func hasPrefixFold(s, prefix string) bool {
	for _, p := range prefix {
		if s == "" {
			return false
		}
		r, n := utf8.DecodeRuneInString(s)
		if r != p && !strings.EqualFold(string(r), string(p)) {
			return false
		}
		s = s[n:]
	}
	return true
}

// String lists the fields that are set.
func (m SendMatch) String() string {
	var f []string
	for _, x := range [][2]string{
		{"channel", string(m.Channel)}, {"chatType", string(m.ChatType)}, {"keyPrefix", m.KeyPrefix}, {"rawKeyPrefix", m.RawKeyPrefix},
		{"accountId", string(m.AccountID)}, {"to", m.To},
	} {
		if x[1] != "" {
			f = append(f, x[0]+" "+x[1])
		}
	}
	if f == nil {
		return "everything"
	}
	return strings.Join(f, ", ")
}

package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// sendRule is one rule of session.sendPolicy as it can be carried over.
type sendRule struct {
	deny  bool
	match map[string]string // parley's conditions: channel, accountId, chatType, keyPrefix, rawKeyPrefix
}

func (r sendRule) write() map[string]any {
	match := map[string]any{}
	for k, v := range r.match {
		match[k] = v
	}
	action := "allow"
	if r.deny {
		action = "deny"
	}
	return map[string]any{"action": action, "match": match}
}

// sendPolicyConverter converts session.sendPolicy. session.dmScope is written before: it decides what prefixes of keys mean.
type sendPolicyConverter struct {
	*output
	mainKey string // session.mainKey
}

// convert converts the rules about what may leave. A rule that allows is carried over as a whole or not at all; one that denies does so without a
// condition that parley lacks, and the report says so. byKey reports whether a rule names session keys.
func (c sendPolicyConverter) convert(v any) (byKey bool) {
	const what = "session.sendPolicy"
	if v == nil {
		return false
	}
	p := jsontree.Object(v)
	def := jsontree.Text(p["default"])
	switch {
	case p["default"] == nil && p != nil:
		def = "allow"
	case def != "allow" && def != "deny":
		def = "deny"
		c.Need(what+".default", "the value is neither allow nor deny, so parley sends only what a rule allows: choose one")
	}
	c.put([]string{"session", "sendPolicy", "default"}, def)
	var rules []sendRule
	for i, x := range jsontree.List(p["rules"]) {
		r, ok := c.sendRule(fmt.Sprintf("%s.rules[%d]", what, i), jsontree.Object(x))
		if !ok {
			continue
		}
		byKey = byKey || r.match["keyPrefix"]+r.match["rawKeyPrefix"] != ""
		rules = append(rules, r)
	}
	rules = onlyGroups(c.Report, what, rules)
	out := make([]any, len(rules))
	for i, r := range rules {
		out[i] = r.write()
	}
	if len(out) > 0 {
		c.put([]string{"session", "sendPolicy", "rules"}, out)
	}
	if p["rules"] != nil && jsontree.List(p["rules"]) == nil {
		c.put([]string{"session", "sendPolicy", "default"}, "deny")
		c.Need(what+".rules", "the rules cannot be read, so parley sends nothing: write them again")
	}
	for _, k := range slices.Sorted(maps.Keys(p)) {
		if k != "default" && k != "rules" {
			c.Leave(what+"."+k, "parley has no equivalent")
		}
	}
	return byKey
}

// sendRule converts one rule; ok is false when it is left out, which is reported.
func (c sendPolicyConverter) sendRule(at string, m map[string]any) (r sendRule, ok bool) {
	action := jsontree.Text(m["action"])
	r = sendRule{deny: action != "allow", match: map[string]string{}}
	if action != "allow" && action != "deny" {
		c.Need(at+".action", "the value is neither allow nor deny, so the rule denies: choose one")
	}
	match, isMatch := m["match"].(map[string]any)
	var unknown []string
	if m["match"] != nil && !isMatch {
		unknown = append(unknown, "match")
	}
	for _, k := range slices.Sorted(maps.Keys(match)) {
		s, isText := match[k].(string)
		s = strings.TrimSpace(s)
		switch low := strings.ToLower(s); {
		case isText && s == "" || match[k] == nil:
		case isText && k == "channel":
			r.match[k] = low
			if !c.ids.Has(channels.Kind(low)) {
				c.Leave(at, fmt.Sprintf("parley has no channel %q, so the rule has no effect", low))
				return r, false
			}
		case isText && k == "chatType" && slices.Contains([]string{"dm", "direct", "group", "channel"}, low):
			r.match[k] = strings.Replace(low, "dm", "direct", 1)
		case isText && k == "accountId" && s == everybody && r.deny: // any account
		case isText && k == "accountId" && s != everybody:
			r.match[k] = string(ids.Account(s))
		case isText && (k == "keyPrefix" || k == "rawKeyPrefix"):
			if prefix, same := c.keyPrefix(s); same {
				r.match[k] = prefix
			} else {
				unknown = append(unknown, k+" "+s)
			}
		case isText && (k == "chatType" || k == "accountId"):
			unknown = append(unknown, k+" "+s)
		default:
			unknown = append(unknown, k)
		}
	}
	if raw := r.match["rawKeyPrefix"]; c.ofChat(raw) { // OpenClaw's keys of groups have no account, and keyPrefix goes by those too
		both, possible := bothPrefixes(raw, r.match["keyPrefix"])
		if !possible {
			c.Leave(at, "no session key matches both prefixes, so the rule had no effect")
			return r, false
		}
		delete(r.match, "rawKeyPrefix")
		r.match["keyPrefix"] = both
	}
	if c.noAccount(r.match["keyPrefix"]) {
		c.Leave(at, "with this dmScope the keys of direct chats contain the account, so the rule had no effect")
		return r, false
	}
	switch {
	case len(unknown) > 0 && r.deny:
		c.Need(at, fmt.Sprintf("parley has no condition %s, so this rule denies more than before (%s): keep it so, or remove the rule, which permits what OpenClaw denied",
			strings.Join(unknown, ", "), described(r.match)))
	case len(unknown) > 0:
		c.Leave(at, "parley has no condition "+strings.Join(unknown, ", ")+", and without it the rule would allow more")
	default:
		c.Carry(at, "")
	}
	return r, r.deny || len(unknown) == 0
}

// bothPrefixes returns the prefix of a whole key that stands for two: one of a whole key, and one with or without the agent.
func bothPrefixes(raw, prefix string) (string, bool) {
	if !strings.HasPrefix(prefix, "agent:") {
		seg := strings.SplitN(raw, ":", 3)
		prefix = seg[0] + ":" + seg[1] + ":" + prefix
	}
	switch {
	case strings.HasPrefix(raw, prefix):
		return raw, true
	case strings.HasPrefix(prefix, raw):
		return prefix, true
	}
	return "", false
}

// chatPart returns what a key prefix says behind the channel; ok is false when it names no channel and goes no deeper.
func (c sendPolicyConverter) chatPart(prefix string) (rest string, ok bool) {
	seg := strings.Split(prefix, ":")
	if seg[0] == "agent" && len(seg) > 2 {
		seg = seg[2:]
	}
	return strings.Join(seg[1:], ":"), len(seg) > 1 && c.ids.Has(channels.Kind(seg[0]))
}

// ofChat reports whether a prefix of a whole key goes as deep as the chats of a channel.
func (c sendPolicyConverter) ofChat(prefix string) bool {
	_, ok := c.chatPart(prefix)
	return ok && strings.HasPrefix(prefix, "agent:")
}

// noAccount reports whether a prefix means direct chats without their account, where all of them have it. parley would match them all the same.
func (c sendPolicyConverter) noAccount(prefix string) bool {
	rest, ok := c.chatPart(prefix)
	scope := jsontree.At(c.config, []string{"session", "dmScope"})
	return ok && rest != "" && scope == "per-account-channel-peer" && (strings.HasPrefix("direct:", rest) || strings.HasPrefix(rest, "direct:"))
}

func described(match map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(match)) {
		out = append(out, k+" "+match[k])
	}
	if out == nil {
		return "everything"
	}
	return strings.Join(out, ", ")
}

// keyPrefix writes the beginning of a session key as parley has it; ok is false when it cannot mean the same there, because the main session
// has another name.
func (c sendPolicyConverter) keyPrefix(s string) (prefix string, ok bool) {
	seg := strings.Split(strings.ToLower(s), ":")
	at := 0
	if seg[0] == "agent" {
		at = 2
	}
	for i, w := range seg {
		last := i == len(seg)-1
		switch {
		case w == "dm":
			seg[i] = "direct"
		case i == at && w == c.mainKey:
			seg[i] = "main"
		case i == at && c.mainKey != "main" && w != "" && (w == "main" || last && (strings.HasPrefix(c.mainKey, w) || strings.HasPrefix("main", w))):
			return s, false
		}
	}
	return strings.Join(seg, ":"), true
}

// onlyGroups keeps rules for groups from allowing rooms: parley counts rooms as groups, OpenClaw does not.
func onlyGroups(r *report.Report, what string, rules []sendRule) []sendRule {
	for _, rule := range rules {
		if rule.deny || rule.match["chatType"] != "group" {
			continue
		}
		rooms := sendRule{deny: true, match: maps.Clone(rule.match)}
		rooms.match["chatType"] = "channel"
		covered := func(o sendRule) bool {
			for k, v := range o.match {
				if rooms.match[k] != v {
					return false
				}
			}
			return true
		}
		if slices.ContainsFunc(rules, covered) {
			continue
		}
		rules = append(rules, rooms)
		r.Differ(what+": "+described(rule.match), "parley counts rooms as groups, so an added rule denies rooms and keeps this rule for groups only")
	}
	return rules
}

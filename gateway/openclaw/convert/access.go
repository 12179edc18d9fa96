package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/toolrights"
)

// The policies, which have the same names in both programs.
const (
	pairing   = "pairing"
	allowlist = "allowlist"
	open      = "open"
	disabled  = "disabled"
)

// everybody is the entry of a list that names all people.
const everybody = "*"

// access says who may cause runs on one account, before it is written.
type access struct {
	dm          string
	allow       []string
	unpaired    []string // people whose pairing does not count
	groupPolicy string
	senders     []string // groupAllowFrom
	hasSenders  bool     // the list is written, though it may be empty
	groups      map[string]group
	bots        bool
}

// group is one group, room or topic. Where off is false and allow is nil, the senders of what contains it hold.
type group struct {
	off      bool
	mention  *bool
	allow    []string
	prompt   string
	tools    toolrights.Rights
	bySender map[string]toolrights.Rights
	topics   map[string]group
}

// fallback returns the senders of groups that have no list of their own.
func (a access) fallback() []string {
	if a.hasSenders {
		return a.senders
	}
	return a.allow
}

func (a access) write(out map[string]any) {
	out["dmPolicy"], out["groupPolicy"] = a.dm, a.groupPolicy
	if len(a.allow) > 0 {
		out["allowFrom"] = anys(a.allow)
	}
	if len(a.senders) > 0 {
		out["groupAllowFrom"] = anys(a.senders)
	}
	if a.bots {
		out["allowBots"] = true
	}
	if groups := written(a.groups); groups != nil {
		out["groups"] = groups
	}
}

func written(groups map[string]group) map[string]any {
	if len(groups) == 0 {
		return nil
	}
	all := map[string]any{}
	for id, g := range groups {
		out := map[string]any{}
		if g.off {
			out["enabled"] = false
		}
		if g.mention != nil {
			out["requireMention"] = *g.mention
		}
		if len(g.allow) > 0 {
			out["allowFrom"] = anys(g.allow)
		}
		if g.prompt != "" {
			out["systemPrompt"] = g.prompt
		}
		if !g.tools.IsEmpty() {
			out["tools"] = writeRights(g.tools)
		}
		bySender := map[string]any{}
		for who, r := range g.bySender {
			bySender[who] = writeRights(r)
		}
		if len(bySender) > 0 {
			out["toolsBySender"] = bySender
		}
		if topics := written(g.topics); topics != nil {
			out["topics"] = topics
		}
		all[id] = out
	}
	return all
}

// accessConverter reads who may use the accounts of one channel.
type accessConverter struct {
	*output
	kind               channels.Kind
	senderGroups       map[string]any // accessGroups
	defaultGroupPolicy any            // channels.defaults.groupPolicy
}

// people returns the people of a list as parley writes them. What names no person is reported. set is false when there is no list.
func (c accessConverter) people(what string, v any) (out []string, set bool) {
	if v == nil {
		return nil, false
	}
	for _, p := range entries(v) {
		for _, s := range c.members(strings.TrimSpace(fmt.Sprint(p))) {
			id, ok := c.person(s)
			switch {
			case !ok && len(references([]byte(s))) > 0:
				c.Need(what+": "+s, unknownValue)
			case !ok:
				c.Need(what+": "+s, fmt.Sprintf("parley admits people on %s by id, not by name: write the id (/whoami shows it)", c.kind))
			case !slices.Contains(out, id):
				out = append(out, id)
			}
		}
	}
	return out, true
}

// unknownValue is why something that contains a variable is left out.
const unknownValue = "its variable has no value: set it in the environment, and import again"

// entries returns what stands in a list; a single value is a list of one.
func entries(v any) []any {
	if l, ok := v.([]any); ok || v == nil {
		return l
	}
	return []any{v}
}

// person returns the entry of a list as parley writes it. Names of people do not count: OpenClaw does not go by them, and a name can pass to
// somebody else.
func (c accessConverter) person(s string) (string, bool) {
	if s == everybody || variable.MatchString(s) {
		return s, true
	}
	id, ok := c.ids.Person(c.kind, s)
	if strings.HasPrefix(id, "@") || strings.HasPrefix(id, "-") {
		return s, false
	}
	return id, ok
}

// members resolves an access group of fixed people; all other entries stand for themselves.
func (c accessConverter) members(entry string) []string {
	name, ok := strings.CutPrefix(entry, "accessGroup:")
	if !ok {
		return []string{entry}
	}
	g := jsontree.Object(c.senderGroups[strings.TrimSpace(name)])
	if g["type"] != "message.senders" {
		return []string{entry} // it is no person, which people reports
	}
	var out []string
	for _, key := range []string{everybody, string(c.kind)} {
		for _, p := range jsontree.List(jsontree.Object(g["members"])[key]) {
			if s := strings.TrimSpace(fmt.Sprint(p)); s != everybody {
				out = append(out, s)
			}
		}
	}
	return out
}

// direct converts who may write directly.
func (c accessConverter) direct(what string, f map[string]any, a *access) {
	dm := jsontree.Object(f["dm"])
	from, key := f["allowFrom"], what+".allowFrom"
	if from == nil {
		from, key = dm["allowFrom"], what+".dm.allowFrom"
	}
	a.allow, _ = c.people(key, from)
	if a.dm = jsontree.Text(f["dmPolicy"]); a.dm == "" {
		a.dm = jsontree.Text(dm["policy"])
	}
	switch {
	case dm["enabled"] == false:
		a.dm = disabled
	case a.dm == "" && f["dmPolicy"] == nil:
		a.dm = pairing
	case a.dm == open && !slices.Contains(a.allow, everybody):
		a.dm = allowlist
		c.Differ(what+".dmPolicy", `OpenClaw's open without "*" admits only the people of allowFrom, so dmPolicy is allowlist`)
	case a.dm != pairing && a.dm != allowlist && a.dm != open && a.dm != disabled:
		a.dm = disabled
		c.Need(what+".dmPolicy", "parley does not know this policy, so the direct chats are closed: choose pairing, allowlist, open or disabled")
	}
	listed := slices.Clone(a.allow)
	if c.directChats(what, jsontree.Object(f["direct"]), a); len(a.allow) < len(listed) && f["groupAllowFrom"] == nil && c.kind != "discord" {
		a.senders, a.hasSenders = listed, true // groups go on by the whole list
	}
}

// groupPolicy returns the policy of an account's groups.
func (c accessConverter) groupPolicy(what string, f map[string]any) string {
	v, at := f["groupPolicy"], what+".groupPolicy"
	if v == nil {
		v, at = c.defaultGroupPolicy, "channels.defaults.groupPolicy"
	}
	switch p := jsontree.Text(v); {
	case v == nil:
		return allowlist
	case p == allowlist, p == open, p == disabled:
		return p
	}
	c.Need(at, "parley does not know this policy, so the groups are closed: choose allowlist, open or disabled")
	return disabled
}

// groups converts the groups of Telegram and WhatsApp.
func (c accessConverter) groups(what string, f map[string]any, a *access) {
	a.groupPolicy = c.groupPolicy(what, f)
	if f["groupAllowFrom"] != nil {
		a.senders, a.hasSenders = c.people(what+".groupAllowFrom", f["groupAllowFrom"])
	}
	if a.groupPolicy == disabled {
		return
	}
	raw := jsontree.Object(f["groups"])
	def := jsontree.Object(raw[everybody])
	for _, id := range slices.Sorted(maps.Keys(raw)) {
		at, key := what+".groups."+id, id
		if id != everybody {
			var ok bool
			if key, ok = c.ids.Chat(c.kind, id); !ok {
				c.Need(at, fmt.Sprintf("%s has no group with this id: write the group's id", c.kind))
				continue
			}
		}
		if _, twice := a.groups[key]; twice {
			a.groups[key] = group{off: true}
			c.Need(at, "two entries name this group, so it is closed: keep one of them")
			continue
		}
		if a.groups == nil {
			a.groups = map[string]group{}
		}
		a.groups[key] = c.group(at, raw[id], def, *a, scope{policy: a.groupPolicy})
	}
	switch {
	case len(a.groups) > 0:
	case f["groups"] != nil:
		a.groupPolicy = disabled // a list admits what it lists, and nothing is left of it; no list would mean all groups
	case c.kind == "telegram" && a.groupPolicy == allowlist:
		a.groupPolicy = disabled
		c.Differ(what+".groups", "OpenClaw ignores Telegram groups that are not listed, and none is: groupPolicy is disabled")
	case a.groupPolicy == allowlist && len(a.fallback()) == 0:
		a.groupPolicy = disabled
	}
}

// scope is what holds around a topic, or around a group.
type scope struct {
	policy string   // groupPolicy
	allow  []string // the list of the group around a topic
	has    bool     // there is one
	topic  bool
}

// group converts one group or topic with everything that restricts it.
func (c accessConverter) group(at string, v any, def map[string]any, a access, in scope) (g group) {
	m := jsontree.Object(v)
	if m == nil && v != nil && v != true {
		c.Need(at, "the entry cannot be read, so the group is closed")
		return group{off: true}
	}
	own, has := c.people(at+".allowFrom", m["allowFrom"])
	if !has {
		own, has = in.allow, in.has
	}
	policy := in.policy
	if m["groupPolicy"] != nil {
		policy = jsontree.Text(m["groupPolicy"])
	}
	switch {
	case policy == open && has, policy == allowlist && has:
		g.off = len(own) == 0
		g.allow = own
	case policy == open && a.groupPolicy == allowlist:
		g.allow = []string{everybody}
	case policy == open:
	case policy == allowlist:
		g.off = len(a.fallback()) == 0
		if a.groupPolicy == open || in.topic && m["groupPolicy"] != nil {
			g.allow = a.fallback()
		}
	case policy != disabled && m["groupPolicy"] != nil:
		c.Need(at+".groupPolicy", "parley does not know this policy, so the group is closed: choose allowlist, open or disabled")
		fallthrough
	default:
		g.off = true
	}
	if g.off && m["enabled"] != false && (policy == open || policy == allowlist) {
		c.Need(at, `no list of senders admits anybody here, so the group is closed: name people in allowFrom, or write "*" for everybody`)
	}
	if m["enabled"] != nil && m["enabled"] != true || policy == disabled {
		g.off = true
		c.Carry(at, "closed")
	}
	if _, routed := m["agentId"]; routed {
		g.off = true
		c.Need(at+".agentId", "parley has no agent for a single topic, so this chat is closed: with enabled: true the agent of its group answers")
	}
	g.mention = mention(m["requireMention"], def["requireMention"])
	g.prompt = jsontree.Text(m["systemPrompt"])
	g.tools, g.bySender = c.groupTools(at, m, def)
	inside := scope{policy: policy, allow: own, has: has, topic: true}
	topics := jsontree.Object(m["topics"])
	for _, id := range slices.Sorted(maps.Keys(topics)) {
		if id == everybody {
			g.off = g.off || restricts(jsontree.Object(topics[id]))
			c.Need(at+".topics.*", "parley has no entry for all topics of a group: write one for each topic. If the entry restricts them, the group is closed")
			continue
		}
		if g.topics == nil {
			g.topics = map[string]group{}
		}
		g.topics[id] = c.group(at+".topics."+id, topics[id], nil, a, inside)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(groupKeys, key) {
			c.Leave(at+"."+key, "parley has no equivalent for a group")
		}
	}
	if !g.off {
		c.Carry(at, "")
	}
	return g
}

// groupKeys are the keys of a group that are converted.
var groupKeys = []string{"enabled", "allow", "allowFrom", "users", "roles", "groupPolicy", "requireMention", "systemPrompt", "tools", "toolsBySender", "topics", "agentId", "ignoreOtherMentions"}

// restricts reports whether an entry closes something that would be open without it.
func restricts(m map[string]any) bool {
	return slices.ContainsFunc([]string{"enabled", "allowFrom", "groupPolicy", "requireMention", "tools", "toolsBySender", "agentId"}, func(k string) bool { return m[k] != nil })
}

// mention returns the first value that is set; what is no yes or no is yes.
func mention(values ...any) *bool {
	for _, v := range values {
		if v != nil {
			needed := v != false
			return &needed
		}
	}
	return nil
}

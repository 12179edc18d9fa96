package policy

import "parley/channels"

// Entry is the part of an account's section about one chat: the entry of a group, or of one of its topics.
type Entry struct {
	Path string // its key in the section: "groups.-100", "groups.*.topics.7"
	GroupAccess
}

// Entries gives what the section says about a chat of several people: the group's own entry, else that of the chat that a thread
// belongs to (parent), else "*"; then its topic's, which wins where it says something. listed is false when the section lists
// groups and this one is not among them.
func (a Access) Entries(at channels.Address, parent channels.ChatID) (list []Entry, listed bool) {
	if len(a.Groups) == 0 {
		return nil, true
	}
	for _, id := range []channels.ChatID{at.Chat, parent, "*"} {
		c, ok := a.Groups[string(id)]
		if !ok || id == "" {
			continue
		}
		list = []Entry{{"groups." + string(id), c}}
		topic := string(at.Thread)
		if topic == "" && parent != "" {
			topic = string(at.Chat)
		}
		if t, ok := c.Topics[topic]; ok && topic != "" {
			list = append(list, Entry{list[0].Path + ".topics." + topic, t})
		}
		return list, true
	}
	return nil, false
}

// SystemPrompt returns the prompt that the section has for a chat: the topic's, else the group's.
func (a Access) SystemPrompt(at channels.Address, parent channels.ChatID) (text string) {
	list, _ := a.Entries(at, parent)
	for _, e := range list {
		if e.SystemPrompt != "" {
			text = e.SystemPrompt
		}
	}
	return text
}

// Listens reports whether anybody but owners may be heard in a chat of several people.
func (a Access) Listens(at channels.Address, parent channels.ChatID) bool {
	g, listed := a.group(Facts{Address: at, Parent: parent})
	switch {
	case !listed || !g.enabled:
		return false
	case a.GroupPolicy == "" || a.GroupPolicy == GroupAllowlist:
		return g.byID || len(g.allow)+len(a.GroupAllowFrom)+len(a.AllowFrom) > 0
	}
	return a.GroupPolicy == GroupOpen
}

// NeedsMention reports whether the bot answers in a chat of several people only when it is mentioned. It reads the chat, what is written to
// the bot alone, and the session's own setting.
func (a Access) NeedsMention(f Facts) bool {
	g, _ := a.group(f)
	g.activate(f.Activation)
	return g.require && !g.takesPrivate(f)
}

// takesPrivate reports whether a message is taken because it is to the bot alone and no setting wants a mention.
func (g group) takesPrivate(f Facts) bool { return f.Private && g.reqPath == anyRequire }

// anyRequire is the path of the mention gate where no setting says anything.
const anyRequire = "requireMention"

// group is what the entries of a chat say together; the paths name the keys for reasons.
type group struct {
	enabled   bool
	off       string // the key that disables it
	allow     []string
	allowPath string
	require   bool
	reqPath   string
	byID      bool // the section names this very group, not only "*"
}

func (a Access) group(f Facts) (g group, listed bool) {
	g = group{enabled: true, require: true, reqPath: anyRequire}
	list, listed := a.Entries(f.Address, f.Parent)
	for i, e := range list {
		if i == 0 {
			g.byID = e.Path != "groups.*"
		}
		if e.Enabled != nil && !*e.Enabled {
			g.enabled, g.off = false, e.Path+".enabled"
		}
		if len(e.AllowFrom) > 0 {
			g.allow, g.allowPath = e.AllowFrom, e.Path+".allowFrom"
		}
		if e.RequireMention != nil {
			g.require, g.reqPath = *e.RequireMention, e.Path+".requireMention"
		}
	}
	return g, listed
}

// activate lets the session's own setting win over the section.
func (g *group) activate(activation string) {
	switch activation {
	case Always:
		g.require, g.reqPath = false, "activation"
	case OnMention:
		g.require, g.reqPath = true, "activation"
	}
}

// The settings of /activation.
const (
	OnMention = "mention"
	Always    = "always"
)

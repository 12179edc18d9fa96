package policy

import (
	"fmt"
	"regexp"

	"parley/channels"
)

// Facts are the input of Admit: one event, its sender and its chat.
type Facts struct {
	Event          channels.Event
	Address        channels.Address
	Parent         channels.ChatID // the chat that a thread with a chat id of its own belongs to
	Sender         channels.Sender
	Text           string // without the bot's own mention
	Own            bool   // sent by this login
	Mentioned      bool   // the bot was mentioned or replied to, says the platform
	MentionsOthers bool   // the platform says that another person was mentioned
	Private        bool   // the sender writes to the bot alone
	Command        bool   // the text is one of our commands
	Paired         bool   // the sender is in the paired store of this account
	Owner          bool
	Activation     string           // the session's own setting: mention, always, or empty
	Patterns       []*regexp.Regexp // from Mentions: words that count as a mention
	CanDetect      bool             // the platform can tell that the bot was mentioned
}

// FactsOf takes from an event what it knows. Command, Paired, Owner, Activation, Patterns and CanDetect are the caller's.
func FactsOf(in channels.Inbound) Facts {
	f := Facts{
		Event: in.Event, Address: in.Address, Parent: in.Parent, Sender: in.Sender, Text: in.Addressed, Own: in.SentByThisLogin,
		Mentioned: in.Mentioned, MentionsOthers: in.MentionsOthers, Private: in.Private, CanDetect: true,
	}
	if f.Text == "" {
		f.Text = in.Text
	}
	if in.Quote != nil && in.Quote.FromBot {
		f.Mentioned = true
	}
	return f
}

// Addressed reports whether an event is meant for the bot, wherever no mention is needed as well.
func (f Facts) Addressed() bool {
	return f.Mentioned || f.Private || f.Command || !f.MentionsOthers && mentioned(f.Text, f.Patterns)
}

// Outcome says what the host does with an event.
type Outcome string

// The outcomes.
const (
	Admit    Outcome = "admit"
	Drop     Outcome = "drop"
	Pair     Outcome = "pair"     // drop it, and tell the stranger a pairing code, once
	Remember Outcome = "remember" // group talk that is not meant for the bot: context, no run
)

// Admission is a decision about an event with its reason.
type Admission struct {
	Outcome Outcome
	Key     string // the key of the account's section that decided: "dmPolicy", "groups.-100.requireMention"
	Reason  string // one sentence for people; it names Key
}

func decided(o Outcome, key, format string, a ...any) Admission {
	return Admission{o, key, key + ": " + fmt.Sprintf(format, a...)}
}

// Admit decides whether an event may cause anything. Every kind of event passes it; only messages start runs, which is the
// caller's business, and only messages are answered with a pairing code.
func (a Access) Admit(f Facts) Admission {
	switch {
	case f.Own:
		return decided(Drop, "sender", "the message is the bot's own")
	case f.Sender.Bot && !a.AllowBots:
		return decided(Drop, "allowBots", "the sender is a bot")
	case f.Address.Type == channels.Direct:
		return a.admitDirect(f)
	case f.Address.Type.Several():
		return a.admitGroup(f)
	}
	return decided(Drop, "address", "the chat type %q is not known", f.Address.Type)
}

func (a Access) admitDirect(f Facts) Admission {
	if f.Sender.ID == "" {
		f.Sender.ID = channels.UserID(f.Address.Chat)
	}
	p := a.DMPolicy
	if p == "" {
		p = DMPairing
	}
	const key = "dmPolicy"
	switch {
	case f.Owner:
		return decided(Admit, "ownerAllowFrom", "the sender is an owner")
	case p != DMPairing && p != DMAllowlist && p != DMOpen:
		return decided(Drop, key, "direct chats are %s", p)
	case listed(a.AllowFrom, f.Address.Channel, f.Sender):
		return decided(Admit, "allowFrom", "the sender is listed")
	case f.Paired:
		return decided(Admit, key, "the sender was paired")
	case p == DMPairing && f.Event == channels.Message:
		return decided(Pair, key, "the sender is neither listed in allowFrom nor paired")
	case p == DMOpen:
		return decided(Drop, key, "open, but allowFrom has neither the sender nor \"*\"")
	}
	return decided(Drop, key, "%s, and the sender is neither listed in allowFrom nor paired", p)
}

func (a Access) admitGroup(f Facts) Admission {
	p := a.GroupPolicy
	if p == "" {
		p = GroupAllowlist
	}
	const key = "groupPolicy"
	if p != GroupAllowlist && p != GroupOpen {
		return decided(Drop, key, "groups are %s", p)
	}
	g, ok := a.group(f)
	if !ok {
		return decided(Drop, "groups", "this group is not listed")
	}
	if !g.enabled {
		return decided(Drop, g.off, "the bot does not listen here")
	}
	list, path := g.allow, g.allowPath
	if list == nil && p == GroupAllowlist {
		if list, path = a.GroupAllowFrom, "groupAllowFrom"; len(list) == 0 {
			list, path = a.AllowFrom, "allowFrom"
		}
		if len(list) == 0 {
			path = "" // a person who lists a group by its id and names no senders means everybody in it
		}
		if len(list) == 0 && !g.byID && !f.Owner {
			return decided(Drop, key, "allowlist, but groupAllowFrom and allowFrom are empty")
		}
	}
	// An owner stands in every list of senders; what is not listened to at all was dropped above.
	if path != "" && !f.Owner && !listed(list, f.Address.Channel, f.Sender) {
		return decided(Drop, path, "the sender is not listed")
	}
	return g.gate(f, a.Named(f))
}

// gate is the mention gate: a group message starts a run only if it addresses the bot.
func (g group) gate(f Facts, named bool) Admission {
	g.activate(f.Activation)
	switch {
	case !g.require:
		return decided(Admit, g.reqPath, "messages need no mention here")
	case g.takesPrivate(f):
		return decided(Admit, g.reqPath, "the message is only for the bot, and no setting requires a mention")
	case f.Mentioned:
		return decided(Admit, g.reqPath, "the bot was mentioned or replied to")
	case f.Command && (f.Owner || named) && !f.MentionsOthers:
		return decided(Admit, g.reqPath, "commands of people on an allow list need no mention")
	case !f.CanDetect && len(f.Patterns) == 0:
		return decided(Admit, g.reqPath, "the host cannot detect mentions here, so the message needs none")
	case !f.MentionsOthers && mentioned(f.Text, f.Patterns): // the platform's mention of another person beats a pattern
		return decided(Admit, g.reqPath, "a mention pattern matches")
	}
	return decided(Remember, g.reqPath, "the message does not mention the bot")
}

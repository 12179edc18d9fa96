package settings

import (
	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// About returns the prompt that the configuration has for the chat of a run (channels.*.groups.*.systemPrompt).
func (s *Snapshot) About(x sessions.Session, run sessions.Run) string {
	o := sessions.OriginOf(x, run)
	if !o.Chat.Type.Several() {
		return ""
	}
	return s.Account(o.Chat).Access.SystemPrompt(s.ConfigAddress(o.Chat), sessions.ParentChat(o))
}

// Acks reports whether a message that a chat's session has taken gets a reaction (messages.ackReaction). Where a mention is needed,
// each message that is accepted had one.
func (s *Snapshot) Acks(to channels.Address, parent channels.ChatID, x sessions.Session) bool {
	several := to.Type.Several()
	switch m := s.Messages; {
	case m.AckReaction == "":
		return false
	case m.AckReactionScope == sessions.AckAll:
		return true
	case m.AckReactionScope == sessions.AckDirect:
		return !several
	case m.AckReactionScope == sessions.AckGroups:
		return several
	}
	return several && s.Account(to).Access.NeedsMention(policy.Facts{Address: s.ConfigAddress(to), Parent: parent, Activation: x.Settings.Activation})
}

// The bounds of what is kept for the next turn: group talk, and what people did to messages.
const (
	defaultContextLines = 50      // messages.groupChat.historyLimit
	MaxContextLine      = 2 << 10 // bytes of one message
)

// ContextLimit returns how many lines of group talk are kept for a session.
func (s *Snapshot) ContextLimit() int {
	if n := s.Messages.GroupChat.HistoryLimit; n != nil {
		return *n
	}
	return defaultContextLines
}

// Listening says of a chat of several people that what is written there is not answered, which is another thing than whether something may be
// sent there. Zero when there is nothing to say.
func (s *Snapshot) Listening(to channels.Address) (x policy.Step) {
	to = s.Moved.Called(to)
	account, known := s.Accounts[Ref(to)]
	if !known || !to.Type.Several() {
		return x
	}
	to = s.ConfigAddress(to)
	section := "channels." + string(to.Channel) + "."
	a := account.Access.Admit(policy.Facts{Event: channels.Message, Address: to, Owner: true, Mentioned: true, CanDetect: true})
	switch {
	case a.Outcome == policy.Drop && a.Key == "groups":
		return policy.Step{Rule: section + a.Key, Why: "the host ignores messages in this group, because " + section + a.Key + " does not list the group. The send policy alone decides what the host sends"}
	case a.Outcome == policy.Drop:
		return policy.Step{Rule: section + a.Key, Why: "the host ignores messages in this chat. The send policy alone decides what the host sends"}
	case !account.Access.Listens(to, ""):
		return policy.Step{Rule: section + "groupPolicy", Why: "the host answers only owners in this chat, because no other people are listed. The send policy alone decides what the host sends"}
	}
	return x
}

package sessions

import (
	"fmt"
	"strings"
	"time"

	"parley/channels"
)

// RejectedFor is how long a person who was turned down gets no new code.
const RejectedFor = 24 * time.Hour

// Admitted is a person who was let in by a code.
type Admitted struct {
	Channel channels.Kind      `json:"channel"`
	Account channels.AccountID `json:"account"`
	User    channels.UserID    `json:"user"`
	Name    string             `json:"name,omitzero"`
	Since   time.Time          `json:"since"`
	Owner   bool               `json:"owner,omitzero"` // beside the owners of the configuration
}

// StillOwner says that a person has an owner's rights although an approval was taken back: a sentence after a space.
const StillOwner = " This person is still an owner, by `commands.ownerAllowFrom` or by another account."

// Moved says what became of the conversation of a person who became an owner.
type Moved string

// The values of Moved. The zero value: there was no conversation.
const (
	MovedNow   Moved = "moved"     // it is the owner's session now
	MovedLater Moved = "later"     // an answer is under way: it is moved with the next message, if that comes later
	MovedNever Moved = "kept"      // the owner's session has messages already
	MovedLoud  Moved = "kept_deny" // as MovedNever, and the send policy deny of the person's session stays with it: the owner's session has none
)

// Decided is what DecidePairing, GrantOwner and RevokePairing did.
type Decided struct {
	Owner bool // the person became an owner
	Moved Moved
}

// Approval is what became of a person who was approved.
type Approval struct {
	Pairing

	Owner    bool  `json:"owner"`                 // an owner now, or before
	First    bool  `json:"first,omitzero"`        // Owner because nobody was let in before
	Moved    Moved `json:"conversation,omitzero"` // what became of the conversation so far
	Handover `json:"sessions,omitzero"`
}

// AboutOwner says whether the person is an owner, how to change that, and what became of their conversation: sentences, each after a space.
func (a Approval) AboutOwner() string {
	var b strings.Builder
	id := fmt.Sprintf("%s %s", a.Channel, a.User)
	switch {
	case !a.Owner:
		fmt.Fprintf(&b, " This person is not an owner. To make this person an owner, run `parley pairing approve %s --owner`.", id)
	case a.First:
		fmt.Fprintf(&b, " This person is now the owner, as the first person who was let in. To undo that, run `parley pairing remove %s`.", id)
	default:
		b.WriteString(" This person is an owner.")
	}
	switch a.Moved {
	case MovedNow:
		fmt.Fprintf(&b, " The conversation so far continues in `%s`.", a.To)
	case MovedLater:
		fmt.Fprintf(&b, " The bot is still answering. With the first message after that answer, the conversation so far moves to `%s`.", a.To)
	case MovedNever, MovedLoud:
		fmt.Fprintf(&b, " The conversation so far was not moved and stays in `%s`, because `%s` has messages already.", a.From, a.To)
	}
	if a.Moved == MovedLoud {
		fmt.Fprintf(&b, " The `/send off` of that session no longer applies to this chat: answers leave. To withhold them again, for all owners, "+
			"send `/send off` in this chat or run `parley sessions patch %s --send-policy deny`. "+
			"To withhold them in this chat only, add a deny rule with `to` to `session.sendPolicy`.", a.To)
	}
	return b.String()
}

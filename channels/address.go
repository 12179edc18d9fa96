package channels

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Ids are distinct types so that one cannot be passed for another. Each is opaque: the platform's own text, never
// lowercased, trimmed or parsed outside the adapter that made it.
type (
	// Kind names a channel kind: "telegram", "discord", "whatsapp", "webchat". Lower case.
	Kind string
	// AccountID names one login on a channel kind, as configured. The account of a channel without `accounts` is DefaultAccount.
	AccountID string
	// ChatID is a chat as the platform identifies it: a Telegram chat id, a Discord channel id, a WhatsApp JID.
	ChatID string
	// ThreadID is a topic or thread inside a chat; empty when there is none.
	ThreadID string
	// MessageID is a message as the platform identifies it inside its chat.
	MessageID string
	// UserID is a person or bot as the platform identifies it.
	UserID string
)

// DefaultAccount is the account of a channel that is configured without `accounts`.
const DefaultAccount AccountID = "default"

// ChatType says how many people a chat has.
type ChatType string

// The chat types. Group is a chat of several people; Room is a public or guild channel, which is also a chat of several people
// (contract P1: a rule for groups covers rooms, a rule for rooms covers only rooms).
const (
	Direct ChatType = "direct"
	Group  ChatType = "group"
	Room   ChatType = "channel"
)

// Several reports whether the chat has more than two participants.
func (t ChatType) Several() bool { return t == Group || t == Room }

// Address says where a chat is. It is whole and comparable: it is captured once, stored, and never merged field by field.
// The zero Address is "nowhere".
type Address struct {
	Channel Kind      `json:"channel"`
	Account AccountID `json:"account"`
	Chat    ChatID    `json:"chat"`
	Thread  ThreadID  `json:"thread,omitempty"`
	Type    ChatType  `json:"type"`
}

// IsZero reports whether the address is nowhere.
func (a Address) IsZero() bool { return a == Address{} }

// Outer gives the thread that a thread lies in: what is behind its first dot; "" = it lies in the chat itself.
func (t ThreadID) Outer() ThreadID {
	_, outer, _ := strings.Cut(string(t), ".")
	return ThreadID(outer)
}

// String gives the address as one line of five or six segments, `telegram/default/group/-100123/7`; each segment is
// percent-encoded, so ParseAddress gives the same address back whatever the ids contain.
func (a Address) String() string {
	if a.IsZero() {
		return ""
	}
	s := strings.Join([]string{url.PathEscape(string(a.Channel)), url.PathEscape(string(a.Account)), url.PathEscape(string(a.Type)), url.PathEscape(string(a.Chat))}, "/")
	if a.Thread != "" {
		s += "/" + url.PathEscape(string(a.Thread))
	}
	return s
}

// ErrAddress is returned by ParseAddress for text that is no address.
var ErrAddress = errors.New("not an address: want channel/account/direct|group|channel/chat[/thread]")

// ParseAddress reads what Address.String wrote. The empty text is the zero address.
func ParseAddress(s string) (Address, error) {
	if s == "" {
		return Address{}, nil
	}
	raw := strings.Split(s, "/")
	if len(raw) != 4 && len(raw) != 5 {
		return Address{}, fmt.Errorf("%q: %w", s, ErrAddress)
	}
	seg := make([]string, 5)
	for i, r := range raw {
		v, err := url.PathUnescape(r)
		if err != nil || v == "" {
			return Address{}, fmt.Errorf("%q: %w", s, ErrAddress)
		}
		seg[i] = v
	}
	t := ChatType(seg[2])
	if t != Direct && t != Group && t != Room {
		return Address{}, fmt.Errorf("%q: %w", s, ErrAddress)
	}
	return Address{Channel: Kind(seg[0]), Account: AccountID(seg[1]), Type: t, Chat: ChatID(seg[3]), Thread: ThreadID(seg[4])}, nil
}

// Moved gives the id that a message has where its chat is now, "" when it has none: the messages of a person keep theirs, a group's new place
// numbers its messages from 1 again.
func (id MessageID) Moved(from, to Address) MessageID {
	if from.Chat != to.Chat && to.Type != Direct {
		return ""
	}
	return id
}

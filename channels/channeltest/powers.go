package channeltest

import (
	"reflect"

	"parley/channels"
)

// SharedFile is a file that somebody sent, as a whole.
type SharedFile struct {
	Kind channels.MediaKind
	Name string // empty where the platform keeps none
	MIME string
	Data []byte
}

// The optional powers of a Platform. A harness implements those that its platform has; the suite checks what goes with them.
// What returns bool reports false when the platform has no such thing at that place.
type (
	// Amender has people change and take back what they wrote.
	Amender interface {
		Amend(at Place, text, to string) bool
		Withdraw(at Place, text string) bool
	}
	// Reacting has people react to a message of the account, and sees the account's reactions to theirs.
	Reacting interface {
		React(at Place, to channels.MessageID, emoji string) bool
		Unreact(at Place, to channels.MessageID, emoji string) bool
		Reactions(to channels.Address, id channels.MessageID) []string // of the account, below a message of a person
	}
	// Quoter has a person answer a message of the account.
	Quoter interface {
		Quote(at Place, id channels.MessageID, text string) bool
	}
	// Typist counts the signs of typing that were shown.
	Typist interface {
		Typing(to channels.Address) int
	}
	// Sharer has people send files, and sees those of the account.
	Sharer interface {
		Share(at Place, text string, f SharedFile) bool
		Files(to channels.Address) []SharedFile
	}
	// Membership has people come and go.
	Membership interface {
		Join(at Place, name string) bool
		Leave(at Place, name string) bool
	}
	// Loser loses the answer to the next Send: the message is shown and the account does not learn of it.
	Loser interface {
		Lose(to channels.Address)
	}
	// Staller never answers the next Send to an address, nor shows it.
	Staller interface {
		Stall(to channels.Address)
	}
	// Menu counts how often the list of commands was written.
	Menu interface {
		Published() int
	}
)

// power finds an optional power.
func power[P any](w *world) P {
	w.Helper()
	p, ok := w.platform.(P)
	if !ok {
		w.Fatalf("the harness has no %[1]s; a platform that cannot do that is named so: Harness.Without: []string{%[1]q}", reflect.TypeFor[P]().Name())
	}
	return p
}

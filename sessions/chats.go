package sessions

import (
	"context"
	"time"

	"parley/channels"
)

// Chats are the store's records of platform chats and the messages in them, besides sessions.
type Chats interface {
	// Positions gives the newest accepted message of every chat that has written to a session which lives, for one account: where an
	// adapter goes on to read after it was away. A chat from which nothing has come since this was kept has none.
	Positions(ctx context.Context, kind channels.Kind, account channels.AccountID) ([]channels.Position, error)
	// Writers gives the chats that have written to a session, who did last first. Those of before a chat's move are its new address.
	Writers(ctx context.Context, key Key) ([]channels.Address, error)
	// OwnMessage reports whether this host sent a message in a chat (its thread does not matter), and what it was part of. It is
	// forgotten with the dedupe rows (Expire).
	OwnMessage(ctx context.Context, chat channels.Address, id channels.MessageID) (m OwnMessage, own bool, err error)
	// Asked finds the run that a message of a chat caused (its thread does not matter), as long as that is remembered.
	Asked(ctx context.Context, chat channels.Address, id channels.MessageID) (r Run, found bool, err error)
	// Moves gives, by the address of each chat that was another one (Readdress), the address that it had before.
	Moves(ctx context.Context) (map[channels.Address]channels.Address, error)
	// Identities gives the ids that people had before they got the one that they have now (MoveChat of a direct chat).
	Identities(ctx context.Context) ([]Identity, error)
	// Identify notes who an account is, before anything of it is accepted. What other accounts had that were the same login and are not
	// configured any more is the account's from then on: sessions with their settings, people who were let in, what waits, positions, jobs. It
	// may be repeated.
	Identify(ctx context.Context, l Login) (Identified, error)
	// Renames gives the accounts that another one replaced (Identify).
	Renames(ctx context.Context) ([]Rename, error)

	// BeginPreview notes that the first words of a run's answer are about to be sent; a second one of the run changes nothing. ErrConflict:
	// Known is set and the account has never written in that direct chat.
	BeginPreview(ctx context.Context, p Preview) error
	// ShowPreview notes that the platform took it. A run without a preview is ErrNotFound.
	ShowPreview(ctx context.Context, run RunID, id channels.MessageID) error
	// Previews gives all that were begun and not ended, by run.
	Previews(ctx context.Context) ([]Preview, error)
	// EndPreview forgets a preview: it became the answer, or it is gone.
	EndPreview(ctx context.Context, run RunID) error
}

// Identity says that two ids of a channel are one person's.
type Identity struct {
	Channel  channels.Kind
	Was, Now channels.UserID
}

// OwnMessage is the record of a message that the host sent.
type OwnMessage struct {
	Session Key    // of the delivery, or of the preview
	Text    string // of the whole delivery; a preview has none
}

// Preview is the message that shows an answer while it is being written.
type Preview struct {
	Run     RunID
	Session Key
	To      channels.Address
	Key     string // Outbound.Key that it is sent under
	State   PreviewState
	ID      channels.MessageID // shown: the platform's id of it
	Text    string             // that was sent first
	ReplyTo channels.MessageID // that it was sent with
	Known   bool               // only where the account has written before; not stored
}

// PreviewState is the state of a preview.
type PreviewState string

// The states. One that is found sending when the host starts may or may not have arrived.
const (
	PreviewSending PreviewState = "sending"
	PreviewShown   PreviewState = "shown"
)

// FirstContactQuota bounds in how many direct chats an account writes for the first time without being asked (DeliveryKind.Asked): to strangers,
// and what no caller waits for. The zero value is no bound.
type FirstContactQuota struct {
	Limit int       // chats since Since; 0 = no bound
	Since time.Time // the beginning of the day
	Until time.Time // its end, when what is beyond may be tried again
}

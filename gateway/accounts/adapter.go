package accounts

import (
	"context"
	"log/slog"

	"parley/channels"
	"parley/gateway/config"
)

// Adapter is one row of the program's table of channel kinds.
type Adapter struct {
	config.Adapter
	// Open makes the channel of an account. No I/O.
	Open func(a config.Account, env Env) (channels.Channel, error)
	// Platform gives the address of the platform's server; nil = there is none to reach.
	Platform func(a config.Account) string
	// StartLink makes the address that opens the chat with a bot and sends it a word, from the bot's name as Identify gives it; nil = the platform
	// has no such addresses.
	StartLink func(bot, word string) string
}

// Env holds the services of the host that an adapter uses.
type Env struct {
	Log    *slog.Logger
	Dir    string                                    // for the adapter's own files; it need not be there yet
	Holds  *channels.Holds                           // what its platform asked to wait; nil = forgotten with the channel
	Cursor func(ctx context.Context) (string, error) // newest committed cursor of the account

	// Seen gives the newest message on disk of every chat that has a session.
	Seen func(ctx context.Context) ([]channels.Position, error)

	// Identified must be told who the account is on its platform, once that is known and before the first event is offered. It blocks until
	// that is on disk, or ctx has ended.
	Identified func(ctx context.Context, who channels.UserID)

	// Sent reports whether a message is on disk as one of the account's own: the receipt of a delivery, or a preview that was shown.
	Sent func(ctx context.Context, chat channels.Address, id channels.MessageID) (bool, error)
}

// Table gives the part of the adapters that reading a configuration needs.
func Table(as []Adapter) config.Table {
	var t config.Table
	for _, a := range as {
		t = append(t, a.Adapter)
	}
	return t
}

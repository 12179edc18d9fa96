// Package kinds is the table of the kinds of messages that Telegram has: what each is on the wire, and what becomes of it. The tests of
// the adapter hold every row, and docs/channels.md shows them.
package kinds

import "parley/channels/channeltest"

// Row is one kind with an example of it: fields of a message that comes in, as JSON without the braces; empty = Out alone.
type Row = channeltest.KindRow

// Table gives the rows in the order of the documentation.
func Table() []Row { return messages() }

// Kinds gives the rows as the documentation shows them.
func Kinds() []channeltest.Kind { return channeltest.Kinds(Table()) }

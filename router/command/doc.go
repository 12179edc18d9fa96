// Package command parses and executes chat commands from one table.
//
// It stands between admission and inbound, and imports all of the router's packages to its left but event, filestore, lane, pace, delivery
// and commit: a command cannot commit. A Table has one row for each command, with who may use it and where. Its Result is a text and a
// change; inbound commits both with the message that brought the command.
//
// docs/chats.md lists the commands for people. The texts of answers stand beside the commands; the text after /stop is chain.StopAnswer, with the table of endings. The table never
// changes after New: no locks, no goroutines.
//
// A mistake of the person is a text. Errors are those of the store: the message is taken again.
package command

// Package session keeps sessions, their other keys, the chats that wrote to them, and group talk that waits for their next turn.
//
// It stands right of transcript and left of sqlstore. Rows and ContextLines work in the transactions of others, Store answers by itself. They
// own the tables sessions, aliases, heard and overheard, and their numbers.
//
// The writer's goroutine alone calls what takes a transaction. There are no locks and no goroutines.
//
// Errors wrap ErrNotFound, ErrConflict (a label in use), and ErrUnread for a row that cannot be read back.
package session

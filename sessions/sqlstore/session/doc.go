// Package session keeps sessions, their other keys, the chats that wrote to them, and group talk that waits for their next turn.
//
// It stands between transcript and row. Rows and ContextLines take part in a transaction of the caller, Store opens one of its own. They
// own the tables sessions, aliases, heard and overheard, and their numbers.
//
// The writer's goroutine alone calls what takes a transaction. There are no locks and no goroutines.
//
// Errors wrap ErrNotFound, ErrConflict (a label in use), and ErrCorruptRow for a row that cannot be read back.
package session

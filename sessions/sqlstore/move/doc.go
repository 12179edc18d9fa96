// Package move gives what a chat, an account or a conversation had to the one that takes its place, and keeps what they were before.
//
// It stands right of row and left of sqlstore, whose Store embeds Store. Rows takes part in a transaction of the caller: a chat that moves
// (move.go), a conversation that another session goes on with (handover.go). Store reads, and opens transactions of its own: an account that is the
// same login under another name (login.go). What moves where is a relocation; it does not know why, and starts no run.
//
// Rows owns the tables moves, identities and logins. It also changes addresses, accounts and session keys in the rows of runs, deliveries, people
// and what came in: those are sqlstore's, and nothing else of them changes here.
//
// The writer's goroutine alone calls Rows. There are no locks and no goroutines.
//
// Errors are those of the database and of session, row, job and transcript. What cannot be read back stays where it is.
package move

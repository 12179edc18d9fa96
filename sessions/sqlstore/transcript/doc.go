// Package transcript keeps the messages of sessions, what sums them up, and what deleted ones left behind.
//
// It stands between search and session. Rows takes part in a transaction of the caller: it encodes and appends messages, and hands their
// words to search, their price to ledger and their lines to transcriptfile. Store opens one of its own. Maintenance is the writer's: it
// indexes, and removes the messages of deleted transcripts a little at a time. They own the tables transcripts, messages and summaries,
// their numbers, and whether something must be removed.
//
// The writer's goroutine alone calls Maintenance and what takes a transaction. Locks: places.mu and dropLog.mu guard one map each;
// nothing is done under them, and no other lock is taken. There are no goroutines.
//
// Errors wrap ErrInvalid for a message that cannot be stored, ErrCorruptRow for one that cannot be read back, and ErrNotFound.
package transcript

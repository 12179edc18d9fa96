// Package search finds messages and notes by their words.
//
// It stands between job and transcript, which hands over the words of messages. Index owns the tables of words, and in memory what is not indexed
// yet: SQLite indexes behind the commits, a hundred messages at a time, which costs a tenth of what indexing each in its own commit does. A search
// first brings the index up to date, and so does a start after a crash, from a mark that is moved in the same transaction. Notes owns the notes of
// agents.
//
// Words are cut out of a text here and not by the database: so both engines find the same, no query syntax can leak through, and a language without
// spaces is found character by character.
//
// The writer's goroutine alone calls what takes a transaction. There are no locks: an atomic tells readers whether the index is behind. There are no
// goroutines. The error of a message that cannot be read back wraps ErrCorruptRow.
package search

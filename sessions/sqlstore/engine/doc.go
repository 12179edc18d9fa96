// Package engine runs the store's transactions: it queues writes, commits them in groups, reads beside them, and owns the database.
//
// It knows SQL dialects and no table of the repositories; of its own are only the rows that count commits (meta, owners). It stands at
// the left end of the store's line. Repositories attach a State for what they keep in memory, a Sequence for the numbers of their rows;
// both follow the transaction.
//
// One goroutine writes: DB.Run. It takes all operations that wait, runs them in one transaction and answers them after its commit, so
// that the price of a durable commit is shared. It alone touches Tx, Guard, Maintenance and State; Check, Checkpoint and the like need no
// lock. Readers have a few connections beside it (DB.Read). Locks: DB.closing is held while an operation enters the queue, readers.mu
// while a connection is taken or given back; neither is held while the other is, nor during I/O.
//
// Errors: UserError, ErrNotFound and ErrConflict reach the caller as they are; all others are wrapped with the operation's name.
package engine

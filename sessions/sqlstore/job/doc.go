// Package job keeps scheduled jobs and the history of their times.
//
// It stands between ledger and search. Rows takes part in a transaction of the caller, Store reads; Rows has the tables jobs and occurrences and the
// number of the newest occurrence. Whether the work of a firing begins is decided by sqlstore, in the transaction that moves the job on.
//
// The writer's goroutine alone calls Rows. There are no locks and no goroutines of its own.
//
// Errors are those of the database, wrapped by the engine with the operation's name, and those of Rows.Due, which wrap sessions.ErrNotFound and sessions.ErrConflict.
package job

// Package ledger keeps what calls of models cost, and the budgets that do not count for a while.
//
// It stands between lesson and job. Rows takes part in a transaction of the caller, Store opens one of its own; both have the tables spends and
// lifts, and Rows the number of the newest row.
//
// The writer's goroutine alone calls Rows. There are no locks and no goroutines of its own.
//
// Errors are those of the database, wrapped by the engine with the operation's name.
package ledger

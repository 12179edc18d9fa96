// Package lesson keeps what models' endpoints were seen to refuse.
//
// It stands between column and sqlstore, whose other tables it does not know. Store opens transactions of its own and owns the table lessons.
//
// There are no locks and no goroutines: what is written is written by the engine's.
//
// The error of a lesson whose key is too long names it; the others are kept all the same.
package lesson

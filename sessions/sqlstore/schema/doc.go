// Package schema holds the store's schema: its migrations, one folder for each dialect with the same numbers, and the checks of a
// database's own.
//
// It stands right of engine and sqlitefile and left of sqlstore, and imports neither repositories nor what they keep. A change is one
// file in each folder, with the next number; newest.sql shows the result. It owns the SQL of the folder migrations and nothing at run
// time: there are no locks and no goroutines.
//
// Errors of Check and CheckPlain wrap ErrSchema when a database has anything that no migration made. Such a database is not opened,
// because triggers and views of a schema are code.
package schema

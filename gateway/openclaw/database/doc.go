// Package database reads the SQLite databases of an OpenClaw state folder and never changes them.
//
// A Folder opens a database on demand: it copies the file and its write-ahead log into a private folder and opens the copy. The original is
// read through os.Root, so no name leads outside the state folder. Only real tables are read: no view, no virtual table, no trigger runs.
//
// A Folder is used by one goroutine. Close removes the copies. Errors: fs.ErrNotExist without a database, ErrInUse, and those of SQLite and the
// system; no error has a value of a row. Rows refuses a table that is too large to hold; Each streams.
package database

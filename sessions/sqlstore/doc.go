// Package sqlstore is the store of sessions on SQLite and on PostgreSQL: one code, two dialects, one repository for each group of tables.
//
// It stands right of engine, sqlitefile, sendlog, transcriptfile, schema, column, lesson, ledger, job, search, transcript, session, row, trace and move.
// Store is its repositories, here and in those packages, opened and closed together; apply.go executes what events, requests and turns change across
// all tables, and the order of Store.join is the order of calls: a repository uses only earlier ones. Here are what came in (inbox.go), runs,
// deliveries (begin.go and calls.go are what is written before a send), chats and people.
//
// One goroutine writes (engine.DB.Run). Methods that take a tx run in it; what the repositories keep in memory (engine.State) is its own and rolls
// back with the transaction. Readers have a few connections beside it. There are no locks here.
//
// A user's message goes into the transcript when its run is claimed for the first time: behind the answer of the turn before it, whatever was
// accepted meanwhile; until then it is on the run's row.
//
// Errors wrap those of sessions (ErrNotFound, ErrConflict, ErrInvalid, ErrUncertain, ErrDamaged, ErrInUse).
package sqlstore

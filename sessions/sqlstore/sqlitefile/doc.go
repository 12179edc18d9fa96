// Package sqlitefile cares for the integrity of the store's SQLite file: it counts commits, keeps page checksums, checkpoints, salvages
// and copies.
//
// It stands between engine and sendlog, and knows the format of SQLite's files and no table of the repositories. Guard implements
// engine.Guard and owns what lies beside the database: its commit counter (-commits), its page checksums (-sums), the copies of before an
// upgrade and what was salvaged.
//
// The writer's goroutine calls Guard, and before it runs the code that opens the database. Goroutines of its own read only: one compares the
// pages with their checksums, one runs quick_check; Close waits for them. There are no locks: what two goroutines see is atomic or a
// channel.
//
// Errors wrap sessions.ErrDamaged when the database is not as it was written, and say what a person can do.
package sqlitefile

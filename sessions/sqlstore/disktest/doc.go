// Package disktest puts a layer between SQLite and a folder, on which a test can have a disk fill up, fail, become read-only, or lose its power.
//
// It stands left of the tests of sqlstore and imports nothing of parley. It implements SQLite's own interface to files (vfs.go): all that SQLite writes, syncs, cuts, opens
// and deletes goes through it. Files that the store writes without SQLite are passed to plain.go by hand. power.go says what is left when the power goes.
//
// Each Disk has a mutex, and so has the registry of them (layer); neither is held while the other is taken. No goroutine is started. Errors are those that the test asks for.
package disktest

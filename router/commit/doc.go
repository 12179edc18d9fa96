// Package commit commits changes to the store and then begins what they made: runs, deliveries, news for waiters and watchers.
//
// It stands between delivery and budget. A Committer is the one caller of the store's Accept, Submit, Finish and Fire. Two exceptions: delivery tells
// a session what could not be sent, and the tool remember writes a note. AfterCommit begins what a commit made; Rescue starts runs and deliveries
// that are in the store although this process does not know of them, because the store's answer was lost; after a restart that is router.Start.
//
// It owns Waiters, who wait for the end of a run or for work in a session, and Uncertain: a write failed, but may have been committed. Waiters.mu is
// a leaf. The package starts no goroutine.
//
// Errors are those of the store. After any other error than ErrNotFound and ErrConflict, Rescue is called.
package commit

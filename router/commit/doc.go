// Package commit commits changes to the store and then begins what they made: runs, deliveries, news for waiters and watchers.
//
// It stands between delivery and budget. A Committer is the one caller of the store's Accept, Submit, Finish and Fire. The one exception
// is in delivery, which tells a session what could not be sent. AfterCommit begins what a commit made; Rescue begins what the store holds
// and no worker has.
//
// It owns Waiters, who wait for the end of a run or for work in a session, and Uncertain, the mark that a write failed whose commit may
// have happened. Waiters.mu is a leaf. The package starts no goroutine.
//
// Errors are those of the store. A write that failed for another reason than ErrNotFound or ErrConflict has a Rescue behind it.
package commit

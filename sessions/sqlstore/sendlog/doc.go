// Package sendlog writes a line before the commit that begins a try, before the call to the platform, and behind its answer; no commit waits
// for them. They show what a killed host was sending.
//
// It stands between sqlitefile and transcriptfile, and knows no database. Log owns the file parley.calls in the state folder; where the
// notes are wrong or missing, what was sent counts as unknown, never as sent or not sent.
//
// Any goroutine may note a step; Log.mu is held while a line is written (to the page cache, without fsync), because the order of the lines
// matters. No other lock is taken under it, and the package has no goroutines.
//
// Errors are the system's; the caller says which delivery could not be noted.
package sendlog

// Package inboxtest checks how a sessions.Store takes in what comes: arrivals from channels, and changes that the host submits.
//
// It stands right of fixture; storetest runs it. accept.go has arrivals, duplicates, cursors, and what was skipped or quarantined; change.go the order in which one
// change carries out its operations; event.go and revise.go edits and deletions; overheard.go the lines that wait as context; unfit.go values that are
// hard to store: dates out of range, long ids.
//
// It owns nothing. A message that makes a run is checked here until the run is queued; from the claim on, runtest checks it.
package inboxtest

// Package chain computes the next step of a chain from a finished run.
//
// It stands between lane and pace. Protocol is the whole of it: for each end of a run the rule that decides and what follows: a further run of the
// exchange or the sub-agent, a post, or a deletion. A call that still waits gets its reply in package toolhost (Ask). Advance applies it to Facts and
// is pure. An Advancer reads the facts from the store, and puts the step into the outcome of the run, with ids and times. The caller that finishes
// the run commits all of it at once, so after a crash the step has happened wholly or not at all. report.go writes the report of a sub-agent that
// people read, outcomes.go what they read of a run that ended without its answer, the text after /stop among it, ended.go counts what that ended.
//
// It reads the store and never writes to it. It owns no state: no locks, no goroutines. Reads are tried again until they work; Complete returns false
// only when the host stops.
package chain

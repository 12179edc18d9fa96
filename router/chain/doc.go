// Package chain computes the next step of a chain from a finished run.
//
// It stands between lane and delivery. Protocol is the whole of it: for each end of a run the rule that decides and what follows, the next
// run of an exchange or a sub-agent, what is posted, what is deleted. Advance applies it to Facts and is pure. An Advancer reads the facts
// from the store, and puts the step into the outcome of the run, with ids and times. The caller that finishes the run commits all of it
// at once, so a crash finds the chain before the step or behind it.
//
// It reads the store and never writes to it. It owns no state: no locks, no goroutines. Reads are tried again until they work; Complete
// returns false only when the host stops.
package chain

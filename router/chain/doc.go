// Package chain computes the next step of a chain from a finished run.
//
// It stands between lane and delivery. An Advancer puts what follows on a run into its outcome: the next run of an exchange or a
// sub-agent, the deliveries and messages that tell of it, the status. The caller that finishes the run commits all of it at once, so a
// crash finds the chain before the step or behind it.
//
// It reads the store and never writes to it. It owns no state: no locks, no goroutines. Reads are tried again until they work; Advance
// returns false only when the host stops.
package chain

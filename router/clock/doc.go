// Package clock measures ages on a steady clock that survives clock changes, and computes backoff.
//
// It stands first in the line of the router's packages and imports none of them. A Steady compares the time of day with the time that
// passes, so that a stored time never looks older than it is after a computer's clock was set. Retrier repeats an operation of the store
// until it works.
//
// A Steady is safe for concurrent use; its mutex is a leaf: no other lock is taken under it. The package starts no goroutine.
package clock

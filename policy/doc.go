// Package policy decides: may this leave (send rules), may this person talk to us (admission: admit.go), may this tool be called (rights).
//
// It stands right of channels and left of sessions. It is data and pure functions: no I/O, no clock, no store, no lock, no goroutine. The caller
// brings the facts (Subject, Facts) and carries the verdict out: router/delivery asks before each send, router/admission for each message that comes
// in, router/rights for each turn.
//
// In the send policy the session's own setting decides first; among the rules a deny that matches wins over every allow. Verdict and Rights say which
// rule decided, for people who ask why. What is wrong with a configuration is a list of Problem; an action that is neither allow nor deny denies.
package policy

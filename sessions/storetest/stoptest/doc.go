// Package stoptest checks what a stop ends in a sessions.Store, and what it leaves alone.
//
// It stands right of fixture; storetest runs it. stop.go has the runs of a session, of its sub-agents and of one run; exchange.go the chains between sessions and
// who is told of their stop; delivery.go what is withdrawn, what stays because people may have read it, and how the stopped run ends.
//
// It owns nothing.
package stoptest

// Package rights decides which tools a turn may use, from the people and sessions that it works for and from its chats.
//
// It stands between budget and turn. The rules themselves are elsewhere: tools/rights.go lists what a sub-agent has, policy.Tools allows
// and denies by name. A Resolver finds out who is behind a turn, through the chain of sessions that passed the work on; Rights answer for
// one turn, when it begins and again at each call.
//
// It writes nothing to the store. Rights.mu guards the list of people whom the turn answers, which grows while it runs; it is a leaf. The
// package starts no goroutine.
//
// ErrQuery says that a question about rights names what does not exist.
package rights

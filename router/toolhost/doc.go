// Package toolhost implements tools.Host (ask, spawn, steer, post, wait, cancel) for this host's agents and external ones.
//
// It stands right of cron and left of admission, and imports all of the router's packages to its left but event and lane. A Host puts what a tool asks for
// into one change and commits it; the tool's call is its idempotency key, so a call that is repeated after a restart acts once.
//
// It has no state, no locks and no goroutines. Wait and Idle block without the caller's slot.
//
// A refusal that the model is to read is a result of the tool. Errors wrap ErrBadRequest, ErrNotFound and ErrStopped, or are the store's.
package toolhost

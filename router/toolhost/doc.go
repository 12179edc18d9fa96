// Package toolhost implements tools.Host (ask, spawn, steer, post, wait, cancel) for this host's agents and external ones.
//
// It stands between cron and admission. A Host puts what a tool asks for into one change and commits it; the tool's call is its
// idempotency key, so a call that is repeated after a restart acts once.
//
// It has no state, no locks and no goroutines. Wait and Idle give the caller's slot back while they block.
//
// A refusal that the model is to read is a result of the tool. Errors wrap ErrBadRequest, ErrNotFound and ErrStopped, or are the store's.
package toolhost

// Package sessions holds what parley remembers: session keys, sessions, messages, runs, deliveries and scheduled jobs, and the contract of
// the store that keeps them.
//
// It stands right of channels and policy. route, right of it, says which session a message belongs to; sqlstore implements Store; storetest
// is the suite that any implementation must pass. Here are data and pure functions: session keys, made and parsed (key.go, keyuse.go),
// which sessions an agent sees (visibility.go), when a job is due (schedule.go), when a session starts over (reset.go), accounts as part of
// a key (in groups, and in direct chats with dmScope per-account-channel-peer), and Change, the closed set of operations that one commit
// makes (change.go, apply order in sqlstore).
//
// A reset on request is ResetSession with StopSessions: queued runs end as stopped (router/command, router/manage.go). The automatic one
// (router/inbound/reset.go) does not happen while anything waits or runs. ArchiveAt is set by whoever makes a session that ends by itself:
// router/toolhost (sub-agents), router/cron (jobs), router/inbound (requests).
//
// It owns nothing, takes no lock and starts nothing. Store says of each method what one commit changes; the implementation owns the data.
//
// Errors are sentinels that stores wrap: ErrNotFound, ErrConflict with its kinds ErrStopped and ErrBusy, ErrInvalid, ErrUncertain,
// ErrCorruptRow, ErrDamaged, ErrInUse; ErrBadRequest is of who asked.
package sessions

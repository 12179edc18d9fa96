// Package inbound accepts messages and events from platforms, the API and hooks.
//
// It stands between command and router. A Receiver turns an event into an arrival and commits it: a run, a command with its answer, or the
// reason why nothing happens. Only then does the adapter confirm the event to its platform. Whether a group needs a mention is decided by
// policy.Access; which session a chat has, by package sessions/route. A message that fails again and again is stored apart
// (quarantine.go), and `parley skipped` lists it. queue.go bounds what waits, reset.go starts a stale session over, message_parts.go joins
// messages that a platform cut.
//
// It owns the counts of refused events and the first parts of messages that a platform cut in two. Both mutexes (poisonTracker.mu,
// earlier.mu) are leaves. The package starts no goroutine: adapters, the API and hooks call it in theirs.
//
// Accept fails with ErrNoAccount, or the store's error: the platform sends the event again. ErrQueueFull says that too many messages wait.
package inbound

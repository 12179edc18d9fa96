// Package delivery dispatches deliveries: it applies the send policy, sends in order per chat, and records the outcome.
//
// It stands between chain and commit. The Dispatcher is the gate: the one place where a message meets the policy and then the platform. Its
// parts own the state: accounts (channels, and whether they are there), queues (what waits for each chat), reservations (idle chats that a
// commit is about to use), inFlight (calls under way), previews (answers that grow in the chat), reactions and hints (what shows that the
// host is working). splitter cuts a reply into the parts that its channel can send. sender, recorder and reconciler have no state; what
// they commit before a send is sessions.Store.BeginSend, with a note in sqlstore/sendlog. How long a delivery lives is
// settings.Delivery.TTL, decided where a send begins (sqlstore, BeginSend); how fast an account sends is in pace.
//
// Lock order: queues.mu, then one of accounts.mu, reservations.mu, inFlight.mu, lifetime.mu or a pacer's; reactions.mu, then lifetime.mu.
// All others are leaves (openPreviews.mu, refusals.mu, indicators.mu). No call to a platform or the store is made under a lock.
//
// Each chat that has deliveries has one goroutine, and so has each account that has reactions; a preview that is being retracted has one of
// its own. They end with the context of Start, and Stop waits for them. Errors of a platform are classes of channels.Error; a send that may
// have arrived is reconciled, sent again or held for a person.
package delivery

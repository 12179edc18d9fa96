// Package delivery dispatches deliveries: it applies the send policy, sends in order per chat, and records the outcome.
//
// It stands between pace and commit. The Dispatcher is the gate: the one place where a message meets the policy and then the platform. Its parts own
// the state: accounts (channels, and whether they are there), queues (what waits for each chat), reservations (chats kept idle so that a commit can
// begin the send itself), inFlight (calls under way), previews (messages that are edited while the answer is written), reactions and hints (typing
// and other signs that the host is working). splitter keeps the parts of a delivery: channels.Split cuts the text, files are grouped here. sender,
// recorder and reconciler have no state; transfer (send.go) sends one part, and its onError decides on repeats by the class of an error;
// a message that a chat shows twice is one that may have arrived before: onAmbiguous (reconcile.go) repeats it and sets Delivery.Repeat.
// storeretry.go repeats writes to the store, never sends. A row becomes sending by sessions.Store.BeginSend or, for a chat that is reserved, in the
// commit of Finish; sqlstore/sendlog, which no commit waits for, has a line before that commit, one before the call and one behind its answer. How
// long a delivery lives is the setting delivery.ttl (settings.Delivery.TTL): its maker writes Expires, and BeginSend refuses what is past it. How
// fast an account sends is in pace.
//
// Lock order: queues.mu, then one of accounts.mu, reservations.mu, inFlight.mu, lifetime.mu or a pacer's; reactions.mu, then lifetime.mu. All others
// are leaves (openPreviews.mu, refusals.mu, indicators.mu, hintBackoff.mu, looks.mu). No call to a platform or the store is made under a lock.
//
// Each chat that has deliveries has one goroutine, and so has each account that has reactions; a preview that is being retracted, a running turn that
// is shown and an indicator that is removed have one of their own. They end with the context of Start, and Stop waits for them. Errors of a platform
// are classes of channels.Error; a send that may have arrived is reconciled, sent again or held for a person.
package delivery

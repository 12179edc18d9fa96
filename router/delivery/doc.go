// Package delivery dispatches deliveries: it applies the send policy, sends in order per chat, and records the outcome.
//
// It imports clock, settings and filestore of the router's packages. The Dispatcher is the gate: the one place where a message meets the
// policy and then the platform. Each chat has a queue; the store decides in BeginSend whether its first delivery leaves. A Reservation
// keeps an idle chat, so that the commit that makes a delivery begins to send it. Previews, ack reactions and typing pass the same policy.
//
// Lock order: Dispatcher.mu, then inFlight.mu or pacer.mu; the rest are leaves. Each chat that has deliveries has one goroutine, and each
// account one for its reactions; they end with the context of Start, and Stop waits for them. Errors of a platform are classes of
// channels.Error; a send that may have arrived is reconciled, sent again or held for a person.
package delivery

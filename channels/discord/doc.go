// Package discord connects one Discord bot. It speaks to the gateway with a small client of its own and uses discordgo for the REST
// calls (docs/adr/023-discord-gateway.md says why): reconnecting, resuming, the order of a chat's events, what was missed, waiting as
// long as the platform asks and cancellation are kept in its own hands.
//
// It stands right of channels and imports nothing else of ours. supervise.go keeps a session of the gateway, queue.go offers the events of
// each chat in their order, backfill.go and missed.go read again what was missed, content.go and message.go say what a message is, send.go
// and upload.go write. errors.go gives an answer of the platform its class.
//
// Owns, in memory: what places, roles and people are called, the newest messages, commands that wait for their answer, the count of identifies.
// What must survive is the host's: Deps. Each part has a mutex of its own, a leaf; the platform is asked under none. Goroutines: one for
// each chat with events, one for heartbeats, one for each chat that is read again; all end before Run returns.
//
// Errors are channels.Error.
package discord

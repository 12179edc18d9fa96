// Package telegram connects one Telegram bot. It uses telegram-bot-api for the wire and keeps everything that the library gets
// wrong for a host out of its hands: the update loop (an update is confirmed only after it is durable), cancellation, waiting as
// long as the platform asks, topics, and the bot token in error texts.
//
// It stands right of channels and imports nothing else of ours. poll.go and hook.go take updates, offer.go offers them, each chat's in
// their order; content.go and events.go say what an update is, send.go and upload.go write. api.go makes the calls, and gives each
// answer of the platform its class.
//
// Owns, in memory: forums, topics and people by name, its own newest posts in channels, drafts under way. What must survive is the host's:
// Deps. Each part has a mutex of its own, a leaf; the platform is asked under none. Goroutines: the poll's, one that asks who the bot is,
// and those that offer a batch; all end before Run returns.
//
// Errors are channels.Error.
package telegram

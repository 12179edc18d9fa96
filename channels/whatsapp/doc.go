// Package whatsapp connects one WhatsApp account as a linked device, with whatsmeow for the protocol and its cryptography. What the
// library leaves open for a host is here: a message is acknowledged only after it is durable, one person is one chat however a stanza
// is addressed, connections are made again with care, and every way to lose the account has a state that says what to do.
//
// It stands right of channels and imports nothing else of ours. A Channel is the account, a link one connection of it: run.go keeps it,
// its other files take and send.
//
// Owns: the key file and what stands beside it in the account's folder (timers.go, ahead.go), and in memory the newest messages, groups and
// what arrives in parts. Locks: Channel.busy is held for as long as the key file is open, so that there is one; under it the others, which
// are leaves. WhatsApp is asked under no other. Goroutines belong to a link and end with it, or to the library.
//
// Errors are channels.Error.
package whatsapp

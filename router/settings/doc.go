// Package settings holds the router's configuration as an immutable snapshot that is replaced as a whole.
//
// Of the router's packages it imports only clock. A Snapshot answers each question about the configuration: which session a chat has,
// which model, what the send policy says. MovedChats, which all snapshots share, knows the former ids of chats, people and accounts; it
// is filled from the store at the start.
//
// Snapshots are read without a lock. The mutex of MovedChats is a leaf. The package starts no goroutine.
package settings

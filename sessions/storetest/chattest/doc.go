// Package chattest checks what a sessions.Store knows of chats, people and accounts, and that it follows them when their names change.
//
// It stands right of fixture; storetest runs it. chats.go has positions, writers, titles and the host's own messages; moved.go and moved_beside.go chats and people
// with a new id; renamed.go accounts with a new name in the configuration; pairing.go codes, and who was let in.
//
// It owns nothing.
package chattest

// Package transcripttest checks what a sessions.Store keeps of what was said: transcripts, their summaries, the search in them, and notes.
//
// It stands right of fixture; storetest runs it. tail.go has pages of a transcript; summary.go summaries; search.go and notes.go what is found by words;
// opaque.go signatures and encrypted reasoning, which prompts alone get.
//
// It owns nothing.
package transcripttest

// Package sessiontest checks the sessions of a sessions.Store: listed, patched, reset, archived, deleted and expired.
//
// It stands right of fixture; storetest runs it. session.go has one session; labels.go the names that agents give; lineage.go the sessions above and below a
// sub-agent; managed.go what people do with a session, and the totals.
//
// It owns nothing. The text of a session is checked in transcripttest.
package sessiontest

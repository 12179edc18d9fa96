// Package storetest is the conformance suite that every sessions.Store passes.
//
// It stands right of sessions and knows no implementation: Run opens an empty store for each check and runs the packages by subject. inboxtest has what
// comes in, runtest the runs, stoptest the stops, sendtest the deliveries, chattest the chats and people, sessiontest the sessions, transcripttest the
// transcripts, search and notes, ledgertest what is kept of model calls. fixture, left of them all, has the store under test and the values that they share.
//
// A new method of the Store, or a rule of one, gets its check here first, in the package of its subject and in the table of that package (suite.go). It
// holds for both dialects. The name in the table is the name of the subtest; no name is used twice.
//
// It owns nothing. Checks run side by side, each on a store of its own; there are no locks.
package storetest

// Package storetest is the conformance suite that every sessions.Store passes.
//
// It stands right of sessions and knows no implementation: Run opens an empty store for each test. One file has the tests of one part of the contract; random.go compares
// random operations with a model. A new method of the Store, or a rule of one, gets its test here first, and holds for both dialects.
//
// It owns nothing. Tests run side by side, each on a store of its own; there are no locks.
package storetest

// Package stoptest stops the work of a chat at every moment of it, on every kind of channel and in every way, and looks at what people and models hear afterwards,
// also in the next process.
//
// It stands right of router and routertest, and is tests alone. Each combination is a test on virtual time with a store of its own in a folder of its own. Tests
// run side by side; there are no locks.
package stoptest

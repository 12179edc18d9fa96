// Package killtest kills the router at every commit of scripted scenarios: asks, sub-agents, queues, streams and changes of a chat.
//
// It stands right of router and routertest, and is tests alone. An image is a copy of the state just before or after a commit, as a killed process would leave it; the
// next process continues from it, and an oracle judges what people and models saw in all the processes together. A scenario that is new is a row of a table; each kill
// is a test of its own.
//
// The real program is killed by `go run ./cmd/proof kill` (cmd/proof/kill_points.go). It owns the stores of its images, in folders of the test. Tests run side by side;
// there are no locks.
package killtest

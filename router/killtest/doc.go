// Package killtest kills the router at every commit of scripted scenarios: asks, sub-agents, queues, streams and changes of a chat.
//
// It stands right of router and routertest, and is tests alone. An image is what SIGKILL would leave before or behind a commit; the next process continues from it, and
// an oracle judges what people and models saw in all the processes together. A scenario that is new is a row of a table; each kill is a test of its own.
//
// It owns the stores of its images, in folders of the test. Tests run side by side; there are no locks.
package killtest

// Package killtest kills the router at every commit of scripted scenarios: asks, sub-agents, queues, streams and changes of a chat. An
// image is what SIGKILL would leave before or behind a commit; the next process continues from it, and an oracle judges what people and
// models saw in all the processes together. It is tests alone.
package killtest

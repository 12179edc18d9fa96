// Package mcp mounts the tools of MCP servers: it starts them, keeps them running, and makes each of their tools a tools.Tool. A
// server is foreign code: nothing that it says or does harms the host, and what it sends has bounds.
//
// It stands right of tools; confine, left of it, is the sandbox of a server's process. Servers is all of them, a server one with its
// supervisor, a link one connection with its handshake, process.go and the files of HTTP the ways to it. process.go also decides which files a
// confined server gets; which sessions are sandboxed is agents.defaults.sandbox.mode (gateway/config).
//
// Owns: the processes and connections, the tools that are offered, and what was left out of them with its reason. Locks: Servers.joining, then Servers.mu, then
// server.mu, then link.mu, for moments; no server is asked under any. Goroutines: one supervisor for each server, and those of its link;
// Close waits for all.
//
// A server that is down costs its tools, with the reason in Status. A call that cannot be made is a result that says so.
package mcp

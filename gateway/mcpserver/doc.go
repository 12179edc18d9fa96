// Package mcpserver serves the session tools to external agents, over the Model Context Protocol (streamable HTTP) at /mcp.
//
// It stands right of router/toolhost, which implements the tools, and of api, whose Principal says who calls; server mounts it. What a caller may do the router decides, by
// the rules for the host's own agents. Here is only what the protocol needs: its messages, its sessions, and the end of a call whose client has gone.
//
// It owns the open protocol sessions; mu guards them and is a leaf. A goroutine for each call ends with it; the oldest session is closed in one when there are too many.
//
// Errors of a tool are results that a model reads; those of the protocol are JSON-RPC errors.
package mcpserver

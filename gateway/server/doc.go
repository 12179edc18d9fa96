// Package server has the host's listeners (TCP, TLS, the socket of the command line), the door in front of them, and the mounts behind it:
// health, metrics, the API, the page, webhooks, hooks, the OpenAI endpoints and the MCP server.
//
// Place in the line: access, api, accounts, models, web → server → operations → gateway. The host gives it the finished table of
// operations, since those are right of it.
//
// Owns: the listeners, the owner's token, the certificate and the epoch of the browsers' cookies. Lock: doorLock, while the door's
// settings are read and put in force. Goroutines: those of net/http, and one that serves the socket; Shutdown ends them.
//
// Errors of Listen say what to change in the configuration.
package server

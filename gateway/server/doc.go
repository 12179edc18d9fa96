// Package server has the host's listeners (TCP, TLS, the socket of the command line), the authentication in front of every handler, and the
// handlers behind it: health, metrics, the API, the page, webhooks, hooks, the OpenAI endpoints and the MCP server. The names of metrics
// are in metrics.go of router/delivery, router/turn, router/inbound, gateway/accounts and gateway/models.
//
// Place in the line: access, api, accounts, models, web → server → operations → gateway. The host gives it the finished table of
// operations, since those are right of it.
//
// Owns: the listeners, the owner's token, the certificate and the number that makes browsers' older cookies void. Lock: doorLock, while the
// settings of authentication are read and put in force. Goroutines: those of net/http, and one that serves the socket; Shutdown ends them.
//
// Errors of Listen say what to change in the configuration.
package server

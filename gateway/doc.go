// Package gateway makes a host out of a configuration: Open makes the store, the models, the router, the accounts and the server, Run works until its
// context ends, Reload puts a changed configuration in force: the commands call it at SIGHUP and for `parley reload`, config.Live says which keys
// need a restart.
//
// Place in the line: accounts → server → operations → gateway → cmd. Nothing here answers a request: the host only connects its parts.
//
// Owns: the order of start and stop. Nothing more comes in, what is running ends or is handed over to the store, nothing more goes out; only then is
// the store closed. Goroutines: the MCP servers and the questions to model servers, both with the context of the work, the HTTP server, and one that
// waits for the end of the work. Lock: Host.reloading, for one whole reload. redact.go hides tokens and keys in answers and exports; logs are kept
// clean where an error is made (channels.Hide).
//
// Errors of Open say what to do; a configuration that Reload refuses leaves everything as it is.
package gateway

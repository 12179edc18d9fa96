// Package gateway makes a host out of a configuration: Open makes the store, the models, the router, the accounts and the server, Run
// works until its context ends, Reload puts a changed configuration in force.
//
// Place in the line: accounts → server → operations → gateway → cmd. Nothing here answers a request: the host only connects its parts.
//
// Owns: the order of start and stop. Nothing more comes in, what is running ends or is handed over to the store, nothing more goes out;
// only then is the store closed. Goroutines: the MCP servers and the questions to model servers, both with the context of the work, and
// the HTTP server. No lock of its own.
//
// Errors of Open say what to do; a configuration that Reload refuses leaves everything as it is.
package gateway

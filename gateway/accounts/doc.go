// Package accounts supervises the accounts of the configuration: it starts, restarts and replaces their adapters, links and unlinks them, and hands
// the platforms' webhooks to them.
//
// Place in the line: config, api → accounts → server, operations → gateway. It calls the router (Attach, Accept, Identified) and is called by
// operations, by the server and by the host.
//
// Owns: the list of accounts and what the supervisor knows of each. Goroutines: one for each account that runs, with one beside it that publishes the
// command menu or unlinks; all end with the context of Start, and Wait blocks until they have.
//
// Locks: Supervisor.changing is held while accounts are started, stopped or replaced, also over the bounded wait for an adapter's end; then
// Supervisor.mu or Account.mu, for moments. Adapters are called with changing at most, never with mu.
//
// Errors are api.Refuse errors, which say what a person can do.
package accounts

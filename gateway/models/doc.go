// Package models knows the host's language models: which one answers where no agent names one, what each can (from the configuration, from its
// server, and from the catalogue), what their endpoints were seen to refuse, and which servers run on this machine.
//
// Place in the line: agent → models/catalogue → models → api, config. A Set is what the host works with: it finds models by provider/model and opens
// providers when they are first used. Choose looks for a model as a host does at its start; a FactCache asks servers.
//
// Owns: the providers in force, what servers said, and the lessons in memory (agent/lessons), which Keep ties to the store. Locks: Set.mu, then
// FactCache.mu, for moments; no server is asked under either. Goroutines: Run asks servers in the background, until its context ends; FindLocal asks
// the servers of this machine side by side.
//
// Errors of Find name the providers that there are. A server that does not answer is no error: less is known.
package models

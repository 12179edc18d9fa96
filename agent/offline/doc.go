// Package offline is the model that is always there: no network, no key, no language model. It understands a handful of plain
// phrases, turns them into tool calls, and words the results. The same prompt gives the same answer, the time of day apart, so it serves a
// newcomer's first conversation, demos and end-to-end tests alike.
//
// It is a provider like any other: it stands right of agent and fulfils agent.Model. grammar.go has the phrases, chain.go those of several
// steps, wording.go the answers.
//
// It owns nothing and takes no lock: what it has to remember stands in the prompt. There are no errors but that of a context that ended.
package offline

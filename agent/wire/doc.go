// Package wire is what the model providers share: an HTTP client with deadlines for each part of an answer, bounded bodies, readers of
// events, lists and schemas, and the translation of every failure into an agent.ModelError without secrets in it.
//
// It stands right of agent and left of lessons and the providers. A Client makes the requests of one provider; Events reads a stream, one
// event of at most 8 MiB at a time; Fault is a refusal as the endpoint wrote it, classify.go its class, by codes and plain words; words.go has
// the sentences that need a pattern, by language; schema.go writes the schemas of
// tools in the forms that endpoints want.
//
// Owns: for each provider what could not be read and was logged once (Unread), and which models end their streams without a mark (Endings,
// LoneTags), in memory. Their mutexes are leaves; nothing is read from the network under one.
package wire

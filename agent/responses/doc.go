// Package responses speaks OpenAI's Responses protocol: OpenAI's own service, Azure's v1 address and what is compatible with them. It
// is stateless: nothing is stored at the provider (store: false), each request has the whole conversation, and the reasoning of earlier
// steps goes back encrypted, as it came.
//
// What a call keeps in memory is bounded by maxText, maxThinking and maxArguments of an answer, sessions.MaxOpaque of what is sent back
// later, and the one event that wire.Events holds. How long an answer is on the wire is bounded by wire and by the deadlines.
//
// It stands right of agent, lessons and wire and fulfils agent.Model; nothing right of it knows it but the program's table. request.go and
// history.go write, stream.go and events.go read, output.go the items of an answer.
//
// Owns, in memory and for each model: what could not be read and was logged once, and how its streams end, behind leaf mutexes of wire. A call
// runs in its caller's goroutine. Failures are agent.ModelErrors.
package responses

// Package openai speaks the chat completions protocol: OpenAI's own service and everything that is compatible with it.
//
// Reading is tolerant: any field of an answer may have another type, be missing or doubled. What cannot be read is left out and logged
// once for each model. Writing is strict, and changes what an endpoint refuses (package lessons).
//
// Memory of a call is bounded by what is kept of its answer: text, reasoning and arguments of maxText, maxThinking and maxArguments, one
// event of wire.Events, markup of markup.Reader, and sessions.MaxOpaque of what goes back. Framing is bounded by deadlines only.
//
// It stands right of agent, lessons and wire and fulfils agent.Model; nothing right of it knows it but the program's table. request.go and
// plan.go write, stream.go and chunk.go read, tolerant.go what came in another type, opaque.go what goes back.
//
// Owns, in memory and for each model: what could not be read and was logged once, and how its streams end, behind leaf mutexes of wire. A call
// runs in its caller's goroutine. Failures are agent.ModelErrors.
package openai

// Package anthropic speaks Anthropic's Messages API, with Anthropic and with every server that is compatible with it.
//
// Requests are strict: what an endpoint refuses is learned by package lessons and left out, and everything else obeys the strictest
// reading of the API. Answers are read tolerantly: a field may have another type, be missing or doubled, and what cannot be read is
// left out and logged once per model.
//
// Memory: of one answer at most 4 MiB of text, 4 MiB of thinking, 4 MiB of arguments and sessions.MaxOpaque of signatures and the like
// are kept, and one event of at most 8 MiB at a time, or a whole answer of at most 32 MiB. The framing of a stream is bounded by the
// deadlines alone.
//
// It stands right of agent, lessons and wire and fulfils agent.Model; nothing right of it knows it but the program's table. request.go,
// params.go and content.go write, stream.go and parts.go read.
//
// Owns, in memory and for each model: what could not be read and was logged once, and how its streams end, behind leaf mutexes of wire. A call
// runs in its caller's goroutine. Failures are agent.ModelErrors.
package anthropic

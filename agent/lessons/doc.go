// Package lessons learns what a model's endpoint refuses: parameters and their values, pictures, tools, the system role, streaming, a
// tool's schema, reasoning in the history, the order of roles, the form of ids. A provider asks a Call what to send, and tells it how
// the request went; when a refusal names something that was sent, the Call changes that, and the request is made again.
//
// A lesson is remembered when the changed request worked, or when the endpoint refused something else after the change, per provider,
// address and model, with the provider's words. It ends after MaxAge, or when the configuration changes, and is then tried again inside an
// ordinary call: that costs one refused request at most.
//
// It stands right of agent and wire and left of the providers; gateway/models ties a Book to the store. read*.go say what a refusal means,
// change*.go what is done about it.
//
// Owns: what is known, in the Book. Its mutex guards its map only; saving happens outside of it. A Call belongs to one goroutine.
package lessons

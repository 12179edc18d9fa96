// Package agent turns a history into an answer: the loop that calls a model and tools until there is nothing left to call, and the contract
// that a model provider fulfils (model.go). It knows no store, no channel kind and no wire.
//
// Place in the line: tools → agent → lessons, the providers (anthropic, openai, responses, offline) → router. control and wire/markup stand
// left of it and read texts alone. The host is asked by the functions in Turn; a step is handed to it before the next one is made.
//
// Parts: loop.go is a turn, call.go one call of a tool, ask.go and retry.go one question to a model with its repeats, candidates.go who is
// asked next, compact.go and history.go what of the history is sent, disarm.go what foreign text may not imitate, config.go the sections
// agents and models of the configuration.
//
// Owns: nothing between turns but the circuits of Breaker and the files read by Workspaces, in memory. Their mutexes and that of the
// resolved schemas are leaves. A turn runs in its caller's goroutine.
//
// Errors: ModelError, whose Class says what is done about it, and BudgetError. A refused argument is a result for the model, no error.
package agent

// Package openai serves an API that clients of OpenAI's API understand, so that any such program chats with an agent: chat completions, responses, models.
//
// It stands right of router/inbound, to which it submits messages, and of api, whose Principal says who calls; server mounts it at /v1. The sessions and runs are the host's
// own; the model's name is an agent's. body.go reads requests, chat.go and responses.go write the two formats, turn.go waits for the run.
//
// It owns nothing but the current requests. A goroutine for each request follows its run and ends with it. There are no locks.
//
// Errors have the form and the codes of OpenAI's (errors.go).
package openai

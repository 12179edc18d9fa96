package endpoints

import (
	"fmt"
	"strings"
)

// oneCall refuses messages with more than one call.
func oneCall(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			if len(m.Calls) > 1 {
				return no
			}
		}
		return nil
	}
}

// shortCallIDs refuses ids of calls that are longer than 40.
func shortCallIDs(c *Call) *Refusal {
	for i, m := range c.Messages {
		for k, call := range m.Calls {
			if n := len(call.ID); n > 40 {
				return openAI(400, "invalid_request_error", nil, "string_above_max_length", "Invalid 'messages[%d].tool_calls[%d].id': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", i, k, n)
			}
		}
	}
	return nil
}

// namedParts are endpoints whose refusals name one part of a request, or that only seem to.
var namedParts = []Row{
	{ID: "serde-role-system", Vendor: "a Rust server", Source: "aattaran/deepclaude#29", Does: "lists the roles that it knows, without that of the system", Checks: []Check{systemless(raw(422, "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `system`, expected one of `user`, `assistant`, `tool` at line 1 column 30"))}, Want: Expectation{Refused: 1}},
	{ID: "pydantic-role-system", Vendor: "a FastAPI server", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#literal_error", Does: "lists the roles that it takes, and names the place only in loc", Checks: []Check{systemless(fastAPI("literal_error", list{"body", "messages", 0, "role"}, "Input should be 'user' or 'assistant'", "system"))}, Want: Expectation{Refused: 1}},
	{ID: "jsonschema-role-system", Vendor: "a validating proxy", Source: "https://python-jsonschema.readthedocs.io/en/stable/errors/", Does: "says which list the role of the system is not in", Checks: []Check{systemless(detail(400, "'system' is not one of ['user', 'assistant', 'tool'] - 'messages.0.role'"))}, Want: Expectation{Refused: 1}},
	{ID: "llama31-one-call-in-a-message", Vendor: "llama.cpp", Source: "https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct", Model: "llama-3.1-8b", Does: "fails in the chat template when a message has two calls", Mind: both2, Checks: []Check{oneCall(llama(500, "server_error", "Jinja Exception: This model only supports single tool-calls at once!"))}, Want: Expectation{Refused: 1}},
	{ID: "copilot-ids-of-40", Vendor: "GitHub Copilot", Source: "camel-ai/camel#2215", Does: "takes ids of calls with at most 40 characters, also its own", Wire: ided(func(made int) string { return fmt.Sprintf("call_%056d", made) }), Checks: []Check{shortCallIDs}, Want: Expectation{Refused: 1}},
	{ID: "openrouter-no-endpoint-for-parameters", Vendor: "OpenRouter", Source: "block/buzz#3018", Thinking: "low", Does: "answers 404 when no endpoint of the model takes all parameters", Checks: []Check{refuseParam("reasoning_effort", openAI(404, "", nil, 404, "No endpoints found that can handle the requested parameters."))}, Want: Expectation{Refused: 3}},
	{ID: "responses-reasoning-unknown", API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/reasoning", Model: "gpt-4.1", Thinking: "low", Does: "does not know the field reasoning", Checks: []Check{refuseParam("reasoning", invalid("reasoning", "unknown_parameter", "Unknown parameter: 'reasoning'."))}, Want: Expectation{Refused: 1}},
	{ID: "responses-strict-unknown", API: Responses, Vendor: "a Responses proxy", Source: "OpenRouterTeam/openrouter-examples#71", Does: "does not know the field strict of a tool, and names it by its place", Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(encode(c.Body["tools"]), `"strict"`) {
			return invalid("tools[0].strict", "unknown_parameter", "Unknown parameter: 'tools[0].strict'")
		}
		return nil
	}}, Want: Expectation{Refused: 1}},
	{ID: "system-not-available-once", Vendor: "a gateway", Source: "https://www.rfc-editor.org/rfc/rfc9110#section-15.5", Does: "refuses the first request in words that speak of its state", Fails: []Failure{failOnce(nil, openAI(400, "", nil, nil, "The system is not available right now"))}, Want: Expectation{Refused: 1, Sends: []string{`"role":"system"`}}},
	{ID: "vllm-bad-sample-once", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm", Does: "cannot read the first call of the model", Fails: []Failure{failOnce(asked("tool"), message(422, "model generated an invalid tool call"))}, Want: Expectation{Refused: 1}},
	{ID: "thinking-before-tool-use-in-short", API: Messages, Vendor: "a gateway", Source: "Kilo-Org/kilocode#5219", Does: "refuses once a call of the history that no thinking came before, in few words", Fails: []Failure{failOnce(afterTool, claude(400, "invalid_request_error", "Expected `thinking`, but found `tool_use`."))}, Want: Expectation{Refused: 2}},
}

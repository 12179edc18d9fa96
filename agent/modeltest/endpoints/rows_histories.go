package endpoints

import "strconv"

// callsOf refuses requests that have calls of tools or results of them in their history.
func callsOf(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			if len(m.Calls) > 0 || m.Role == "tool" {
				return no
			}
		}
		return nil
	}
}

// shortDescriptions refuses descriptions of tools that are longer than 256.
func shortDescriptions(c *Call) *Refusal {
	for i, t := range objects(c.Body["tools"]) {
		if n := len(str(function(t)["description"])); n > 256 {
			return openAI(400, "invalid_request_error", "tools["+strconv.Itoa(i)+"].function.description", "string_above_max_length", "Invalid 'tools[%d].function.description': string too long. Expected a string with maximum length 256, but got a string with length %d instead.", i, n)
		}
	}
	return nil
}

// refusedHistories are endpoints that refuse parts of the history, or of the list of tools, without refusing tools.
var refusedHistories = []Row{
	{ID: "responses-call-without-its-reasoning", API: Responses, Vendor: "OpenAI", Source: "cline/cline#12242", Model: "gpt-5.5", Does: "refuses calls of the history whose reasoning item is not there", Checks: []Check{callsOf(openAI(400, "invalid_request_error", "input", nil, "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."))}, Want: Expectation{Refused: 4, Again: 1, Sends: []string{`I called the tool`}}},
	{ID: "gemini-order-of-turns", Vendor: "Google", Source: "google-gemini/gemini-cli#11814", Path: "/v1beta/openai", Model: "gemini-3.1-pro", Does: "refuses calls of the history because of what stands before them", Checks: []Check{callsOf(google(400, "INVALID_ARGUMENT", "Please ensure that function call turn comes immediately after a user turn or after a function response turn."))}, Want: Expectation{Refused: 2, Again: 1, Sends: []string{`I called the tool`}}},
	{ID: "anthropic-call-without-result", API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use", Does: "refuses calls of the history because of what stands behind them", Checks: []Check{callsOf(claude(400, "invalid_request_error", "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."))}, Want: Expectation{Refused: 2, Again: 1, Sends: []string{`I called the tool`}}},
	{ID: "long-description-of-a-tool", Vendor: "OpenAI", Source: "getsentry/sentry-mcp#106", Model: "gpt-4o", Does: "refuses a description of a tool that is too long, and says how long it may be", Checks: []Check{shortDescriptions}, Want: Expectation{Refused: 1}},
	{ID: "bedrock-no-tools-in-streams", Vendor: "Bedrock", Source: "vercel-labs/fx#900", Model: "llama-4-maverick", Does: "takes tools only in requests that do not ask for a stream", Checks: []Check{func(c *Call) *Refusal {
		if len(c.Tools) == 0 || c.Body["stream"] != true {
			return nil
		}
		return invalid(nil, nil, "undefined: This model doesn't support tool use in streaming mode.")
	}}, Want: Expectation{Refused: 1}},
}

package endpoints

import "fmt"

// refusesField refuses a field of input items that are of a type and have it in a form.
func refusesField(kind, field string, has func(v any) bool, no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, item := range objects(c.Body["input"]) {
			role := str(item["role"])
			if v, there := item[field]; there && str(item["type"]) == kind && role != "user" && has(v) {
				return no(i)
			}
		}
		return nil
	}
}

func anything(any) bool { return true }

func isFilled(v any) bool { l, _ := v.(list); return len(l) > 0 }

func isAList(v any) bool { _, ok := v.(list); return ok }

// oneThing are endpoints that refuse one field, one call or one picture, in words that speak of more.
var oneThing = []Row{
	{ID: "responses-id-of-reasoning-unknown", API: Responses, Vendor: "a gateway", Source: "digitallyinduced/haskell-agent#689", Model: "gpt-5.6", Does: "does not know the id of reasoning items, and wants them back", Wire: reasons,
		Checks: []Check{refusesField("reasoning", "id", anything, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].id", i), "unknown_parameter", "Unknown parameter: 'input[%d].id'.", i)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "responses-summary-refused", API: Responses, Vendor: "a gateway", Source: "earendil-works/pi#7263", Model: "gpt-5.6", Does: "takes reasoning items with an empty summary only", Wire: reasons,
		Checks: []Check{refusesField("reasoning", "summary", isFilled, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].summary", i), "array_above_max_length", "Invalid 'input[%d].summary': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.", i)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "responses-content-as-text-only", API: Responses, Vendor: "a gateway", Source: "earendil-works/pi#7263", Model: "gpt-5.6", Does: "takes texts of the model as a text, not as a list", Wire: reasons,
		Checks: []Check{refusesField("message", "content", isAList, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].content", i), "invalid_type", "Invalid type for 'input[%d].content': expected a string, but got an array instead.", i)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "template-fails-with-calls", Vendor: "LocalAI", Source: "mudler/LocalAI#10256", Does: "answers 500 to every request with calls in its history", Lax: true,
		Checks: []Check{callsOf(llama(500, "server_error", "TypeError: Can only get item pairs from a mapping."))}, Want: Expectation{Refused: 8, Again: 3}},
	{ID: "harmony-header-once", Vendor: "vLLM", Source: "vllm-project/vllm#22519", Model: "gpt-oss-120b", Does: "answers 400 once to a call that the model wrote wrongly", Fails: []Failure{failOnce(hello, vllm(400, `unexpected tokens remaining in message header: Some("to=functions.x")`))}},
	{ID: "messages-one-call-only", API: Messages, Vendor: "a gateway", Source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use", Does: "refuses tools unless parallel calls are off",
		Checks: []Check{func(c *Call) *Refusal {
			choice, _ := c.Body["tool_choice"].(obj)
			if len(c.Tools) > 0 && choice["disable_parallel_tool_use"] != true {
				return claude(400, "invalid_request_error", "Parallel tool calls are not supported by this model.")
			}
			return nil
		}}, Want: Expectation{Refused: 1}},
}

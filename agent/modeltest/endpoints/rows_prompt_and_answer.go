package endpoints

import "fmt"

// sumWindow is how many tokens the servers of promptAndAnswer take in all.
const sumWindow = 32768

// promptAndAnswer is a row whose server counts the prompt and the longest answer together: no says so, with both lengths.
func promptAndAnswer(id, vendor, source string, no func(prompt, answer int) *Refusal) Row {
	return Row{ID: id, Vendor: vendor, Source: source, Does: "counts the prompt and the longest answer together, in words of its own", Config: "maxTokens: 30000, contextWindow: 200000", Checks: []Check{func(c *Call) *Refusal {
		prompt, answer := len(c.Raw)/3, longest(c)
		if prompt+answer <= sumWindow {
			return nil
		}
		return no(prompt, answer)
	}}, Want: Expectation{Refused: 2, Again: 1, Log: `lesson|window`}}
}

// sums are endpoints that count the prompt and the longest answer together.
var sums = []Row{
	promptAndAnswer("sglang-prompt-and-answer", "SGLang", "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/tokenizer_manager.py", func(prompt, answer int) *Refusal {
		return raw(400, encode(obj{"object": "error", "message": fmt.Sprintf("Requested token count exceeds the model's maximum context length of %d tokens. You requested a total of %d tokens: %d tokens from the input messages and %d tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.", sumWindow, prompt+answer, prompt, answer), "type": "BadRequestError", "code": 400}))
	}),
	promptAndAnswer("mistral-draft-tokens", "Mistral", "https://docs.mistral.ai/resources/error-glossary", func(prompt, answer int) *Refusal {
		return raw(400, encode(obj{"object": "error", "message": fmt.Sprintf("Prompt contains %d tokens and %d draft tokens, too large for model with %d maximum context length", prompt, answer, sumWindow), "type": "invalid_request_prompt", "code": "3051"}))
	}),
	promptAndAnswer("tgi-inputs-and-new-tokens", "Text Generation Inference", "https://github.com/huggingface/text-generation-inference/blob/main/router/src/validation.rs", func(prompt, answer int) *Refusal {
		return raw(422, encode(obj{"error": fmt.Sprintf("Input validation error: `inputs` tokens + `max_new_tokens` must be <= %d. Given: %d `inputs` tokens and %d `max_new_tokens`", sumWindow, prompt, answer), "error_type": "validation"}))
	}),
	{ID: "responses-status-in-a-union", API: Responses, Vendor: "OpenRouter", Source: "openai/codex#12114", Does: "wants the status of messages of the model back, and lists what is wrong with each type that an item might have", Wire: reasons,
		Checks: []Check{ofItems(func(item obj) bool { return str(item["role"]) == "assistant" && hasNoStatus(item) }, func(i int) *Refusal {
			no := encode(list{obj{"code": "invalid_union", "errors": list{list{obj{"code": "invalid_value", "values": list{"function_call"}, "path": list{i, "type"}, "message": "Invalid input: expected \"function_call\""}},
				list{obj{"code": "invalid_value", "values": list{"completed", "incomplete", "in_progress"}, "path": list{i, "status"}, "message": "Invalid option: expected one of \"completed\"|\"incomplete\"|\"in_progress\""}}}, "path": list{"input"}, "message": "Invalid input"}})
			return raw(400, encode(obj{"error": obj{"code": "invalid_prompt", "message": no}}))
		})}, Want: Expectation{Refused: 1, Sends: []string{`"status":"completed"`}}},
}

package lessons

import "testing"

// TestRoomOf: errors about prompt and answer together say, in many words, how long the answer may be.
func TestRoomOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		// source: docker/docker-agent#569, continuedev/continue#6080
		"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again": 21041,
		"input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again":  241,
		// source: github.com/vllm-project/vllm (serving_engine), ogx-ai/ogx#4534, tontinton/maki#301
		"'max_tokens' or 'max_completion_tokens' is too large: 128000. this model's maximum context length is 32768 tokens and your request has 27 input tokens (128000 > 32768 - 27).":                    32741,
		"this model's maximum context length is 65536 tokens. however, you requested 32000 output tokens and your prompt contains at least 40000 input tokens, for a total of at least 72000 tokens.":      25536,
		"you passed 30001 input tokens and requested 4000 output tokens. however, the model's context length is only 32768 tokens, resulting in a maximum input length of 28768 tokens.":                   2767,
		"this model's maximum context length is 16384 tokens. however, you requested 32568 tokens (568 in the messages, 32000 in the completion). please reduce the length of the messages or completion.": 15816,
		"this endpoint's maximum context length is 32768 tokens. however, you requested about 40000 tokens (8000 of text input, 32000 in the output). please reduce the length of either one.":             24768, // source: openrouter.ai/docs
		"input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. given: 2000 `inputs` tokens and 4096 `max_new_tokens`":                                                                2097,  // source: huggingface/text-generation-inference
		"this model's maximum context length is 8192 tokens. however, your messages resulted in 9500 tokens.":                                                                                              -1308, // no answer fits
		"maximum context length is 8192 tokens": 0,
		"too many requests: 3 + 1 of 3":         0,
	} {
		if got, _ := roomOf(text); got != want {
			t.Errorf("%s: %d, not %d", text, got, want)
		}
	}
}

// TestRoomBeside: the numbers of an error tell how long the answer may be, whatever its words, since the length that was asked for is known.
// source: sgl-project/sglang (tokenizer_manager.py), NVIDIA/TensorRT-LLM, docs.mistral.ai (3051), deepinfra.com/docs
func TestRoomBeside(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{
		"requested token count exceeds the model's maximum context length of 8192 tokens. you requested a total of 13375 tokens: 5183 tokens from the input messages and 8192 tokens for the completion.": {3009, 5183},
		"prompt length (5183) plus max_tokens (8192) exceeds max_seq_len (8192)":                                       {3009, 5183},
		"prompt contains 5183 tokens and 8192 draft tokens, too large for model with 32768 maximum context length":     {0, 0},
		"prompt contains 30183 tokens and 8192 draft tokens, too large for model with 32768 maximum context length":    {2585, 30183},
		"max_tokens + prompt_tokens (13375) exceeds maximum context length 8192":                                       {3009, 5183},
		"max_tokens: 8192, input tokens: 5183, exceed the model's max context 8192":                                    {3009, 5183},
		"max_tokens is too large: 8192. this model supports at most 4096 completion tokens, whereas you provided 8192": {0, 0},
		"prompt is too long: 213375 tokens, the context has 200000":                                                    {0, 0},
		"the input of 9000 tokens exceeds the context of 8192 (max_tokens 512)":                                        {0, 0},
		"max_tokens must be at most 4096 for this model (context 8192)":                                                {0, 0},
	} {
		if room, prompt := roomBeside(text, 8192); [2]int{room, prompt} != want {
			t.Errorf("%s: %d %d, not %v", text, room, prompt, want)
		}
	}
}

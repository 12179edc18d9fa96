package endpoints

import "strings"

// longest is the longest answer that a request asks for, in tokens; 0 = it does not say.
func longest(c *Call) int {
	v, _ := c.value("max_tokens") // nil where there is none
	n, _ := v.(float64)
	return int(n)
}

// rooms are endpoints that say how much there is room for, or in which other way they are to be asked.
var rooms = []Row{
	{ID: "anthropic-prompt-and-answer", API: Messages, Vendor: "Anthropic", Source: "docker/docker-agent#569", Does: "counts prompt and longest answer together", Checks: []Check{func(c *Call) *Refusal {
		if n := longest(c); n > 6000 {
			return claude(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 194000 + %d > 200000, decrease input length or `max_tokens` and try again", n)
		}
		return nil
	}}, Want: Expectation{Refused: 7, Again: 2, Sends: []string{`"max_tokens":6000`}}},
	{ID: "openrouter-affords-less", Vendor: "OpenRouter", Source: "can1357/oh-my-pi#9569", Does: "answers 402 unless the longest answer is one that the credit is enough for", Checks: []Check{func(c *Call) *Refusal {
		if n := longest(c); n == 0 || n > 3919 {
			return openAI(402, "", nil, 402, "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3919. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account")
		}
		return nil
	}}, Want: Expectation{Refused: 1, Again: 1, Sends: []string{`"max_tokens":3919`}}},
	{ID: "advised-effort-refused", Vendor: "a gateway", Source: "https://platform.openai.com/docs/guides/latest-model", Thinking: "low", Does: "advises an effort of none, and refuses it", Checks: []Check{refuseParam("reasoning_effort",
		invalid(nil, nil, "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."))}, Want: Expectation{Refused: 2}},
	{ID: "system-role-in-german", Vendor: "a gateway", Source: "https://huggingface.co/google/gemma-3-27b-it", Does: "refuses the system role in German", Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(string(c.Raw), `"role":"system"`) {
			return invalid(nil, nil, "Die Systemrolle wird von diesem Modell nicht unterstützt.")
		}
		return nil
	}}, Want: Expectation{Refused: 1}},
	{ID: "no-credit-in-chinese", Vendor: "a gateway", Source: "https://docs.bigmodel.cn/cn/api/api-code", Does: "answers 400 in Chinese without balance", Checks: never(invalid(nil, nil, "额度已用尽")), Want: dies(creditWords)},
}

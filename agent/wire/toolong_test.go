package wire

import (
	"testing"

	"parley/agent"
)

// TestPromptTooLong: what says that a prompt is too long is read whatever its words are, with the window that it names; what is about the length
// of something else is not.
func TestPromptTooLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		window int // -1 = the prompt is not too long
	}{
		// source: sgl-project/sglang, python/sglang/srt/managers/utils.py
		{400, `{"object":"error","message":"Input length (9000 tokens) exceeds the maximum allowed length (8186 tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError","param":null,"code":400}`, 8186},
		{0, `{"error":{"object":"error","message":"Input length (9000 tokens) exceeds the maximum allowed length (8186 tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError","param":null,"code":400}}`, 8186},
		// source: huggingface/text-generation-inference, router/src/validation.rs
		{422, "{\"error\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000\",\"error_type\":\"validation\"}", 4096},
		// source: developers.cloudflare.com/workers-ai/platform/errors
		{413, `{"errors":[{"message":"AiError: AiError: The estimated number of input and maximum output tokens (8500) exceeded this model context window limit (7968).","code":5021}],"success":false,"result":{},"messages":[]}`, 7968},
		{400, `{"errors":[{"message":"AiError: AiError: The estimated number of input and maximum output tokens (8500) exceeded this model context window limit (7968).","code":5021}],"success":false,"result":{},"messages":[]}`, 7968},
		// source: platform.openai.com/docs/guides/error-codes
		{400, `{"error":{"message":"Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2049 instead.","type":"invalid_request_error","param":"messages","code":"array_above_max_length"}}`, 0},
		// source: cline/cline#995
		{413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`, 8000},
		{400, `{"error":{"message":"Request body too large for gpt-4o model. Max size: 8,000 tokens."}}`, 8000},
		// source: continuedev/continue#11540
		{402, `{"error":{"message":"Prompt tokens limit exceeded: 36163 > 29652. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`, 0},
		// source: cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh
		{0, `{"error_code":336103,"error_msg":"Prompt tokens too long"}`, 0},
		// source: console.groq.com/docs/rate-limits
		{429, `{"error":{"message":"Too large for model m on tokens per minute (TPM): Limit 6000, Requested 9000, reduce your message size","type":"tokens","code":"rate_limit_exceeded"}}`, 0},
		{400, `{"error":"the prompt has 70000 tokens, the model takes 65536 at most"}`, 65536},
		{500, `{"error":"sequence of 9,000 tokens is longer than the 8,192 that were trained"}`, 8192},
		{400, `{"error":"this conversation does not fit into the context window"}`, 0},
		{400, `{"error":"context overflow"}`, 0},
		{400, `{"error":"La requête dépasse la limite de 32 768 jetons (40 000 reçus)"}`, 32768},
		{400, `{"error":"La solicitud supera el máximo de 8192 tokens (9000)"}`, 8192},
		{400, `{"error":"Die Anfrage ist zu lang: 9000 Token, erlaubt sind 8192"}`, 8192},
		{400, `{"error":"A mensagem ultrapassa o limite do modelo"}`, 0},
		{400, `{"error":"Il messaggio supera la lunghezza massima"}`, 0},
		{400, `{"error":"Запрос слишком длинный: 9000 токенов, максимум 8192"}`, 8192},
		{400, `{"error":"請求過長：9000 tokens 超過上限 8192"}`, 8192},
		{400, `{"error":"入力が長すぎます（9000トークン、最大8192）"}`, 8192},
		{400, `{"error":"요청이 최대 길이를 초과했습니다"}`, 0},

		{400, `{"error":{"message":"max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet"}}`, -1},
		{400, `{"error":{"message":"The maximum tokens you requested (8192) exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096."}}`, -1},
		{400, `{"error":{"message":"This model supports at most 16384 completion tokens, whereas you provided 65536."}}`, -1},
		{400, `{"error":{"message":"thinking.budget_tokens 50000 must be less than 32000"}}`, -1},
		{400, `{"error":{"message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5900000 bytes > 5242880 bytes"}}`, -1},
		{400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 512, but got an array with length 600 instead.","param":"tools"}}`, -1},
		{400, `{"error":{"message":"Invalid 'messages[3].tool_calls': array too long. Expected an array with maximum length 128, but got an array with length 130 instead."}}`, -1},
		{402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3919."}}`, -1},
		{402, `{"error":{"message":"You have used 105000 of your limit of 100000 tokens"}}`, -1},
		{429, `{"error":{"message":"Rate limit reached on tokens per min (TPM): Limit 6000, Used 5000, Requested 3000. Please try again in 20s."}}`, -1},
		{400, `{"error":{"message":"You exceeded the limit of 100000 tokens per minute with 105000"}}`, -1},
		{401, `{"error":{"message":"prompt is too long"}}`, -1},
	} {
		f := ReadFault([]byte(c.body))
		f.Status = c.status
		class := classify(f)
		if long := class == agent.TooLong; long != (c.window >= 0) {
			t.Errorf("%d %s: %s", c.status, c.body, class)
		} else if got := f.window(); long && got != c.window {
			t.Errorf("%d %s: a window of %d, not %d", c.status, c.body, got, c.window)
		}
	}
}

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
		// source: platform.minimax.io/docs/api-reference/errorcode: the number is that of the error
		{400, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, context window exceeds limit (2013)","http_code":"400"},"request_id":"x"}`, 0},
		// source: anomalyco/opencode (patterns of overflow), NVIDIA/TensorRT-LLM (executor), theroyallab/tabbyAPI
		{400, `{"error":{"message":"Context length 10357 is greater than max_seq_len 10000"}}`, 10000},
		{400, `{"error":{"message":"Requested input length 18432 exceeds maximum input length 16384"}}`, 16384},
		{400, `{"error":{"message":"Input token count + max_tokens parameter must be less than the context length of the model being queried."}}`, 0},
		{400, `{"error":{"message":"Prompt length (9012) exceeds maximum input length (8192). Set log level to info and check TRTLLM logs for more details"}}`, 8192},
		{400, `{"error":{"message":"The sum of prompt length (9000.0), query length (0) max_tokens (512) should not exceed max_num_tokens (8192)"}}`, 8192},
		{400, `{"error":{"message":"input_length: 9000 exceeds max_input_len: 8192"}}`, 8192},
		{400, `{"error":{"message":"prompt has 40,000 tokens, but the configured context size is 32,768 tokens"}}`, 32768},
		{400, `{"error":{"message":"max context length is 32768, but you request 40000 tokens"}}`, 32768},
		{400, `{"error":{"message":"Prompt exceeds max context length: 9012 > 8192"}}`, 8192},
		{400, `{"error":{"message":"超出了模型最大token限制。"}}`, 0},
		{400, `{"error_code":336007,"error_msg":"the max input characters is 24000"}`, 0},
		{400, `{"error":{"message":"Total tokens 9012 > 8192 model limit"}}`, 8192},
		{400, `{"code":400,"reason":"INVALID_REQUEST_BODY","message":"Token limit exceeded, please try again later.","metadata":{}}`, 0},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 204521 tokens > 200000 maximum"}}`, 200000},
		{400, `{"error":{"message":"Range of input length should be [1, 30720]"}}`, 30720},
		{400, `{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}`, 1048576},
		{400, `{"error":{"message":"too many tokens: total number of tokens in the prompt cannot exceed 8192 - received 9000"}}`, 8192},
		{400, `{"error":{"message":"the prompt is larger than the 32k tokens of this model"}}`, 32000},
		{400, `{"error":{"message":"输入长度超过模型最大长度限制 32768"}}`, 32768},
		{400, `{"error":{"message":"the prompt exceeds max_seq_len 8192"}}`, 8192},
		{400, `{"error":{"message":"the prompt is longer than the maximum model length 8192"}}`, 8192},
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

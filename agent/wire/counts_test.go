package wire

import (
	"slices"
	"testing"

	"parley/agent"
)

// TestTooManyMessages: errors about the number of messages are about a conversation that is too long, and no window is read out of them.
// source: openai-php/client#269, LAION-AI/Open-Assistant#2774, docs.pydantic.dev/latest/errors/validation_errors (too_long), zod.dev/error-formatting
func TestTooManyMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		most int // -1 = it is about something else
	}{
		{`{"error":"This endpoint takes at most 20 messages"}`, 20},
		{`{"error":{"message":"maximum number of messages is 6","type":"invalid_request_error"}}`, 6},
		{`{"error":{"message":"messages array too long: expected at most 20 messages, got 23"}}`, 20},
		{`{"error":{"message":"Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2049 instead.","param":"messages","code":"array_above_max_length"}}`, 2048},
		{`{"error":{"message":"Invalid 'input': array too long. Expected an array with maximum length 100, but got an array with length 120 instead.","param":"input"}}`, 100},
		{`{"detail":[{"loc":["body","messages"],"msg":"ensure this value has at most 32 items","type":"value_error.list.max_items","ctx":{"limit_value":32}}]}`, 32},
		{`{"detail":[{"type":"too_long","loc":["body","messages"],"msg":"List should have at most 20 items after validation, not 25","ctx":{"max_length":20}}]}`, 20},
		{`{"error":{"message":"'messages' : maximum number of items is 50"}}`, 50},
		{`{"error":{"message":"messages: Too big: expected array to have <=20 items"}}`, 20},
		{`{"message":"Number of messages (25) exceeds the limit of 20"}`, 20},
		{`{"error":"too many messages"}`, 0},
		{`{"error":"too many messages, try again with fewer of them"}`, 0},
		{`{"error":{"message":"This endpoint takes at most 20 messages in 1 request"}}`, 20},
		{`{"error":{"message":"Error 4001: up to 30 messages per request, got 41 in request 7"}}`, 30},
		{`{"error":{"message":"Your plan allows at most 50 messages in a conversation"}}`, 50},
		{`{"error":{"message":"demasiados mensajes"}}`, 0},
		{`{"error":"conversation has too many turns"}`, 0},
		{`{"error":{"message":"You may send up to 10 chat messages in a request"}}`, 10},
		{`{"error":{"message":"消息条数超过上限 20"}}`, 20},

		{`{"error":{"message":"This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens. Please reduce the length of the messages."}}`, -1},
		{`{"error":{"message":"Invalid 'messages[3].tool_calls': array too long. Expected an array with maximum length 128, but got an array with length 130 instead.","param":"messages[3].tool_calls"}}`, -1},
		{`{"error":{"message":"Invalid 'input[1].content': array too long. Expected an array with maximum length 0.","param":"input[1].content"}}`, -1},
		{`{"error":{"message":"Input is too long for requested model."}}`, -1},
		{`{"error":{"message":"messages.0.content: text is too long"}}`, -1},
		{`{"error":{"message":"'tools' : maximum number of items is 128"}}`, -1},
		{`{"error":{"message":"messages: roles must alternate"}}`, -1},
		{`{"error":{"message":"The number of tool messages must match the number of tool calls"}}`, -1},
		{`{"error":{"message":"The number of messages exceeds the number of pending tool_calls"}}`, -1},
		{`{"error":{"message":"Reached the limit of 20 messages per hour"}}`, -1},
	} {
		f := ReadFault([]byte(c.body))
		f.Status = 400
		most, isCount := f.TooManyMessages()
		if isCount != (c.most >= 0) || isCount && most != c.most {
			t.Errorf("%s: %d, %v", c.body, most, isCount)
		}
		if class := classify(f); isCount && (class != agent.TooLong || f.window() != 0) {
			t.Errorf("%s: %s, a window of %d", c.body, class, f.window())
		}
	}
}

// TestMessageQuota: how many messages an account may send in a time, or how many wait for a server, says nothing of the conversation.
// source: support.claude.com/en/articles/9797557 (usage limits), help.poe.com (message limits), docs.mistral.ai/deployment/ai-studio/tier
func TestMessageQuota(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Daily message limit reached",
		"You have reached your limit of 20 messages, try again after 5pm",
		"You have reached the limit of 500 messages (501 sent). It resets at midnight.",
		"Number of messages exceeds the limit of 20 of the free plan. Upgrade to send more.",
		"too many messages in the queue",
		"Too many messages. Please slow down.",
		"maximum of 40 messages every 3 hours",
		"message_limit_reached: wait for 10 minutes",
		"You have sent too many messages recently",
		"今日消息数量超过上限 20",
	} {
		for _, status := range []int{0, 400, 403, 429, 500, 503} {
			f := ReadFault([]byte(`{"error":{"message":"` + said + `"}}`))
			f.Status = status
			if class := classify(f); class != agent.RateLimited && (status < 500 || class != agent.Overloaded) {
				t.Errorf("%d %s: %s", status, said, class)
			}
			if most, isCount := f.TooManyMessages(); isCount {
				t.Errorf("%d %s: a bound of %d", status, said, most)
			}
		}
	}
	f := ReadFault([]byte(`{"error":{"message":"messages array too long: at most 20 messages","type":"invalid_request_error"}}`))
	f.Status = 500
	if most, isCount := f.TooManyMessages(); !isCount || most != 20 { // of a router: what is behind it refused the request
		t.Errorf("%d, %v", most, isCount)
	}
}

// TestToolsTooLarge: errors about the size of all tools are about the form of a request, not about a conversation that is too long.
// source: dwgx/WindsurfAPI#70
func TestToolsTooLarge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		sizes  []int // nil = it is about something else
	}{
		{413, `{"error":"tools definition size 14510 exceeds the limit of 8000 bytes"}`, []int{14510, 8000}},
		{400, `{"error":{"message":"total size of tools exceeds 8192 bytes"}}`, []int{8192}},
		{400, `{"error":{"message":"Tool definitions are too large (97KB > 47KB). Reduce the number of tools or shorten parameter schemas."}}`, []int{97 << 10, 47 << 10}},
		{400, `{"error":{"message":"tools: combined size must not exceed 10,000 characters"}}`, []int{10000}},
		{422, `{"error":{"message":"The tool schemas use 9000 tokens, over the budget of 4000"}}`, []int{9000, 4000}},
		{400, `{"error":{"message":"Request exceeds the maximum tools size of 16 KB","code":"tools_too_large"}}`, []int{16 << 10}},
		{400, `{"error":{"message":"function declarations too large"}}`, []int{}},
		{400, `{"error":{"message":"total size of 12 tools exceeds 8192 bytes"}}`, []int{8192}},
		{400, `{"error":{"message":"total size of 12 MCP tools is 14510, over the limit of 8192"}}`, []int{14510, 8192}},
		{400, `{"error":{"message":"Error code: 400 - 12 tools have a total size of 9,000 bytes, the limit is 8 kB"}}`, []int{9000, 8 << 10}},
		{400, `{"error":{"message":"qwen3 4: tool schemas are too large: 16000 > 8000"}}`, []int{16000, 8000}},
		{400, `{"error":{"message":"the definition of tool 'tool_03' is too large"}}`, []int{}},
		{400, `{"error":{"message":"size of the tools exceeds the limit of 99999999999999999999999999999999 bytes"}}`, []int{}},
		{400, `{"error":{"message":"工具定义过大：14510 字节，超过 8000"}}`, []int{14510, 8000}},

		{400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 237 instead."}}`, nil},
		{400, `{"error":{"message":"tools length must be at most 128"}}`, nil},
		{400, `{"error":{"message":"too many tools: limit 64"}}`, nil},
		{400, `{"error":{"message":"Invalid 'tools[24].function.description': string too long. Expected a string with maximum length 1024."}}`, nil},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9500 tokens (1500 in the messages, 8000 in the functions). Please reduce the length of the messages or functions."}}`, nil},
		{400, `{"error":{"message":"The tool result is too large: 2 MB, the limit is 1 MB"}}`, nil},
		{413, `{"error":{"message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`, nil},
	} {
		f := ReadFault([]byte(c.body))
		f.Status = c.status
		if f.ToolsTooLarge() != (c.sizes != nil) {
			t.Errorf("%s: %v", c.body, f.ToolsTooLarge())
			continue
		}
		if c.sizes == nil {
			continue
		}
		if got := f.Sizes(); !slices.Equal(got, c.sizes) {
			t.Errorf("%s: %v", c.body, got)
		}
		if class := classify(f); class != agent.BadRequest {
			t.Errorf("%s: %s", c.body, class)
		}
	}
}

package wire

import (
	"testing"

	"parley/agent"
)

// TestPassingClasses: an answer that the model spoiled and a server that is busy are tried again as they are; a request that a router has no
// server for is changed.
func TestPassingClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
	}{
		// source: console.groq.com/docs/tool-use, github.com/vllm-project/vllm, ggml-org/llama.cpp#27025
		{422, `{"message":"model generated an invalid tool call"}`, agent.Overloaded},
		{400, `{"error":{"message":"Model output could not be parsed as a tool call: not supported format"}}`, agent.Overloaded},
		{400, `{"error":{"message":"The model returned an invalid function call; unsupported tool name"}}`, agent.Overloaded},
		{400, `{"error":{"message":"Error in extracting tool call from response."}}`, agent.Overloaded},
		{400, `{"error":{"message":"The model called m does not support tools"}}`, agent.BadRequest},
		{400, `{"error":{"message":"This model does not return tool calls"}}`, agent.BadRequest},
		// source: github.com/openai/openai-python (_should_retry), rfc-editor.org/rfc/rfc8470
		{409, `{"error":{"message":"conflict"}}`, agent.Overloaded}, {425, "too early", agent.Overloaded}, {449, "retry with", agent.Overloaded},
		{503, `{"error":{"message":"down","type":"invalid_request_error"}}`, agent.Overloaded},
		{503, `{"error":{"message":"no such field","type":"invalid_request_error","param":"top_k"}}`, agent.BadRequest},
		{404, `{"error":{"message":"No endpoints found that can handle the requested parameters.","code":404}}`, agent.BadRequest}, // source: block/buzz#3018
		// source: camel-ai/camel#2215
		{400, `{"error":{"message":"Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead.","code":"string_above_max_length"}}`, agent.BadRequest},
		{400, `{"error":{"message":"Invalid 'messages[2].content': string too long. Expected a string with maximum length 1048576.","code":"string_above_max_length"}}`, agent.TooLong},
	} {
		f := ReadFault([]byte(c.body))
		f.Status = c.status
		if got := classify(f); got != c.want {
			t.Errorf("%d %s: %v, not %v", c.status, c.body, got, c.want)
		}
	}
}

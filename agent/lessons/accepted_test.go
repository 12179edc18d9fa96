package lessons

import (
	"fmt"
	"strings"
	"testing"
)

// TestAccepted: what an error lists as accepted is no evidence against it, and of two parts that do not go together the refused one is left out.
func TestAccepted(t *testing.T) {
	t.Parallel()
	chat := []Param{
		{Name: "max_tokens", Value: "8192", Fixed: true}, {Name: "temperature", Value: "1.5", Fixed: true}, {Name: "top_k", Value: "5", Fixed: true},
		{Name: "reasoning_effort", Value: "high", Effort: true}, {Name: "thinking", Value: "adaptive", Words: []string{"thinking mode"}, Next: []string{"enabled", "disabled"}, Effort: true},
		{Name: "stream_options", Value: "include_usage", Words: []string{"include_usage"}},
	}
	items := append([]Param{{Name: contentForm + "assistant", Value: AsList, Fixed: true}, {Name: ItemField + "id", Value: Taken, Fixed: true}, {Name: ItemStatus, Value: Unset, Next: []string{Completed}, Fixed: true}}, responsesParams...)
	for _, c := range []struct {
		params []Param
		status int
		text   string
		want   string // kind, name, value, use
	}{
		// The length of the answer. source: charmbracelet/crush#946 (Bedrock)
		{chat, 400, `{"message":"The maximum tokens you requested exceeds the model limit of 4096"}`, "parameter max_tokens 8192 4096"},
		{chat, 400, "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.", "parameter max_tokens 8192 4096"},
		{chat, 400, "The requested output length is larger than allowed for this model.", "parameter max_tokens 8192"},
		{chat, 400, "Malformed input request: #/temperature: 1.5 is not less or equal to 1.0, please reformat your input and try again.", "parameter temperature 1.5 1"},
		{chat, 400, `{"error":{"code":"1210","message":"temperature 参数取值范围为 [0.0, 1.0]"}}`, "parameter temperature 1.5 1"}, // source: docs.bigmodel.cn/cn/faq/api-code
		// Types of items and blocks. source: docs.pydantic.dev/latest/errors/validation_errors (union_tag_invalid), ogx-ai/ogx#4206
		{items, 422, `{"detail":[{"type":"union_tag_invalid","loc":["body","input",1],"msg":"Input tag 'reasoning' found using 'type' does not match any of the expected tags: 'message', 'function_call'"}]}`, "reasoning omit"},
		{items, 400, "Input tag 'reasoning' found using 'type' does not match any of the expected tags: 'message', 'function_call', 'function_call_output'", "reasoning omit"},
		{items, 400, `{"error":{"message":"Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', and 'input_file'.","param":"input[2].content[0].type","code":"invalid_value"}}`, "parameter content of assistant a list of parts a text"},
		{items, 422, `{"detail":[{"type":"union_tag_invalid","loc":["body","input",2,"content",0],"msg":"Input tag 'output_text' found using 'type' does not match any of the expected tags: 'input_text', 'input_image'"}]}`, "parameter content of assistant a list of parts a text"},
		// The status of items. source: vercel/ai#20828, Oaklight/llm-rosetta#650, vllm-project/vllm#41355
		{items, 400, "Missing required parameter: 'input[1].status'.", "parameter input.status (unset) completed"},
		{items, 400, `{"error":{"code":"MissingParameter","message":"The request failed because it is missing input.status parameter","param":"input.status","type":"BadRequest"}}`, "parameter input.status (unset) completed"},
		{items, 422, `{"detail":[{"type":"missing","loc":["body","input","list[union]",1,"ResponseOutputMessage","status"],"msg":"Field required"}]}`, "parameter input.status (unset) completed"},
		// The role of results. source: docs.pydantic.dev/latest/errors/validation_errors (union_tag_invalid), python-jsonschema.readthedocs.io
		{chat, 422, `{"detail":[{"type":"union_tag_invalid","loc":["body","messages",3],"msg":"Input tag 'tool' found using 'role' does not match any of the expected tags: 'system', 'user', 'assistant'"}]}`, "history *"},
		{chat, 400, "'tool' is not one of ['system', 'assistant', 'user', 'function'] - 'messages.3.role'", "history *"},
		// Fields. source: docs.pydantic.dev/1.10/usage/models, python-jsonschema.readthedocs.io (additionalProperties)
		{chat[:5], 400, "Only the following are supported: messages, model, stream, tools, max_tokens, temperature, top_k, thinking", "parameter reasoning_effort high"},
		{chat[5:], 400, "Only the following are supported: messages, model, stream, tools", "parameter stream_options include_usage"},
		{chat[5:], 422, `{"detail":[{"loc":["body"],"msg":"value is not a valid dict; allowed: ['model','messages','stream','tools']","type":"type_error"}]}`, "parameter stream_options include_usage"},
		{chat, 400, "'reasoning_content' does not match any of the regexes; schema: role, content, tool_calls, tools", "reasoning omit"},
		{chat, 400, "思考模式下 assistant 消息必须包含 reasoning_content 字段", "reasoning send"},                      // source: api-docs.deepseek.com/guides/thinking_mode
		{chat, 400, "the message at position 2 with role 'assistant' must not be empty", "content empty"}, // source: platform.moonshot.ai/docs/api/chat
		// Parts that do not go together. source: quarkiverse/quarkus-langchain4j#1812, langchain-ai/langchainjs#7750
		{chat, 400, "`top_k` must be unset when thinking is enabled. Please consult our documentation.", "parameter top_k 5"},
		{chat, 400, "Unsupported parameter: 'temperature' is not supported with reasoning_effort", "parameter temperature 1.5"},
		{responsesParams, 400, "reasoning is not supported when using tools", "parameter reasoning"},
		// What is refused is refused, also in a list.
		{chat[:1], 400, "The following are not supported: tools, functions", "tools"},
		{chat[:1], 400, "Streaming is not supported. Supported values: json, text", "stream"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			call := NewBook(Config{}).Call(at, "")
			sent := Sent{Params: c.params, Tools: []string{"look", "list"}, System: true, Stream: true, Steps: true, Reasoning: true, Messages: several}
			if !call.Refused(t.Context(), refusal(c.status, c.text), sent) || len(call.changed.pending) != 1 {
				t.Fatalf("learned %+v, supposed %+v", call.changed.pending, call.changed.blind.changes)
			}
			l := call.changed.pending[0]
			got, want := strings.Join(strings.Fields(fmt.Sprint(l.Kind, " ", l.Name, " ", l.Value, " ", l.Use)), " "), c.want
			if kind, any := strings.CutSuffix(want, "*"); any && strings.HasPrefix(got, kind) {
				return // with a time
			}
			if got != want {
				t.Errorf("learned %q, not %q", got, want)
			}
		})
	}
}

// TestAcceptedTeachesNothing: a list of what is accepted teaches nothing where the error says no more.
// source: docs.pydantic.dev/latest/errors/validation_errors (union_tag_invalid, literal_error)
func TestAcceptedTeachesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Only these fields are supported: messages, tools, stream",
		"This endpoint can only read one of the allowed keys: tools, stream, system",
		`{"detail":[{"type":"union_tag_invalid","loc":["body","extra"],"msg":"Input tag 'other' found using 'kind' does not match any of the expected tags: 'text', 'tools', 'stream'"}]}`,
	} {
		call := NewBook(Config{}).Call(at, "")
		sent := Sent{Params: []Param{{Name: "stream_options", Value: "include_usage"}}, Tools: []string{"look", "list"}, System: true, Stream: true}
		if !call.Refused(t.Context(), refusal(400, text), sent) || len(call.changed.pending) != 0 {
			t.Errorf("%s: learned %+v", text, call.changed.pending)
		}
	}
}

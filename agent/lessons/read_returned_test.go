package lessons

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/tools"
)

// chatSent, messagesSent and responsesSent are what requests of the three APIs have whose history has reasoning.
func chatSent(field string) Sent {
	return Sent{
		Params: []Param{
			{Name: "reasoning_effort", Words: []string{"reasoning.effort", "effort", "thinking", "think", "reasoning"}, Value: "high", Next: []string{"medium", "low"}, Effort: true},
			{Name: "stream_options", Words: []string{"include_usage"}, Value: "include_usage"}, {Name: "max_tokens", Value: "32000"},
		},
		Tools: []string{"look", "list"}, System: true, Stream: true, Reasoning: true, Steps: true, Loose: true,
		Roles: []string{"system", "user", "assistant", "tool"}, Thoughts: []string{field},
	}
}

func messagesSent() Sent {
	return Sent{
		Params: []Param{
			{Name: "thinking", Value: "adaptive", Next: []string{"enabled"}}, {Name: "thinking.display", Value: "summarized"}, {Name: "output_config.effort", Words: []string{"effort"}, Value: "high", Effort: true},
			{Name: CacheMarks, Value: "ephemeral"}, {Name: CacheMarks + ".messages", Value: "ephemeral"}, {Name: CacheMarks + ".tools", Value: "ephemeral"}, {Name: SystemForm, Value: "blocks"}, {Name: EmptySignature, Value: "empty"},
		},
		Tools: []string{"look", "list"}, System: true, Stream: true, Reasoning: true, Steps: true, Loose: true, Roles: []string{"user", Blocks, "user"},
	}
}

func responsesSent() Sent {
	return Sent{
		Params: []Param{
			{Name: "reasoning.effort", Words: []string{"effort", "reasoning_effort"}, Value: "high", Next: []string{"medium"}, Effort: true}, {Name: "reasoning.summary", Value: "auto"},
			{Name: "include", Value: "reasoning.encrypted_content"}, {Name: "store", Value: "false"},
		},
		Tools: []string{"look", "list"}, System: true, Stream: true, Reasoning: true, Steps: true, Loose: true, Roles: []string{"user", "assistant", "tool"},
		Items: []Item{{ID: "rs_1", Sealed: "sealed"}},
	}
}

// learnedFrom gives what a call learns from a refusal, as kind, name, value and use.
func learnedFrom(t *testing.T, body string, sent Sent) string {
	t.Helper()
	return learnedWith(t, body, sent, nil)
}

// learnedWith is learnedFrom of a call that offers tools.
func learnedWith(t *testing.T, body string, sent Sent, offered []tools.Spec) string {
	t.Helper()
	call := NewBook(Config{}).Call(at, "")
	call.Offer(offered)
	if !call.Refused(t.Context(), refusal(400, body), sent) || len(call.changed.pending) != 1 {
		return fmt.Sprintf("%+v", call.changed.applied)
	}
	l := call.changed.pending[0]
	if l.Name == OldReasoning || l.Kind == History {
		l.Use = "" // a time
	}
	return strings.Join(strings.Fields(fmt.Sprint(l.Kind, " ", l.Name, " ", l.Value, " ", l.Use)), " ")
}

// said makes an error of a sentence; one that is JSON stays.
func said(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	raw, err := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error"}})
	if err != nil {
		return text
	}
	return string(raw)
}

// TestReturnedReasoning: whatever the words are, an error that names the reasoning of the history has that left out, and nothing else.
func TestReturnedReasoning(t *testing.T) {
	t.Parallel()
	const omit, older, placeholders = "reasoning omit", "reasoning older", "reasoning placeholders"
	for _, c := range []struct {
		sent Sent
		text string
		want string
	}{
		// Groq. source: console.groq.com/docs/errors
		{chatSent("reasoning"), `'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported, did you mean 'role'?)]`, omit},
		{chatSent("thinking"), `'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'thinking' is unsupported)]`, omit},
		{chatSent("extra_content"), `'messages.2.tool_calls.0' : property 'extra_content' is unsupported`, omit},
		// Google. source: ai.google.dev/gemini-api/docs/openai
		{chatSent("reasoning"), `Invalid JSON payload received. Unknown name "reasoning" at 'messages[2]': Cannot find field.`, omit},
		{chatSent("extra_content"), `Invalid JSON payload received. Unknown name "extra_content" at 'messages[2].tool_calls[0]': Cannot find field.`, omit},
		// Fireworks. source: docs.fireworks.ai
		{chatSent("reasoning"), `Extra inputs are not permitted, field: 'messages[2].reasoning'`, omit},
		// source: serde.rs
		{chatSent("reasoning"), "messages[2]: unknown field `reasoning`, expected one of `role`, `content`, `tool_calls`, `name` at line 1 column 90", omit},
		// source: docs.pydantic.dev/latest/errors/validation_errors (extra_forbidden)
		{chatSent("reasoning"), `{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning"],"msg":"Extra inputs are not permitted","input":"hm"}]}`, omit},
		{chatSent("reasoning"), `{"error":{"message":"Unknown parameter: 'messages[2].reasoning'.","type":"invalid_request_error","param":"messages[2].reasoning","code":"unknown_parameter"}}`, omit},
		// source: python-jsonschema.readthedocs.io, ajv.js.org, zod.dev
		{chatSent("reasoning"), `Additional properties are not allowed ('reasoning' was unexpected) - 'messages.2'`, omit},
		{chatSent("reasoning"), `Unrecognized key(s) in object: 'reasoning'`, omit},
		{chatSent("reasoning"), `{"error":{"name":"ZodError","issues":[{"code":"unrecognized_keys","keys":["reasoning"],"path":["messages",2],"message":"Unrecognized key(s) in object: 'reasoning'"}]}}`, omit},
		// Cerebras. source: inference-docs.cerebras.ai
		{chatSent("reasoning"), `{"message":"messages.2.assistant.reasoning: property 'messages.2.assistant.reasoning' is unsupported","type":"invalid_request_error","param":"validation_error","code":"wrong_api_format"}`, omit},
		{chatSent("reasoning_content"), `messages[2] 包含不支持的字段 reasoning_content`, omit},
		{chatSent("reasoning_text"), `invalid request: unknown field "reasoning_text" in message`, omit},
		{chatSent("reasoning"), `json: unknown field "reasoning"`, omit},                                                                                                                                          // source: pkg.go.dev/encoding/json (DisallowUnknownFields)
		{chatSent("reasoning"), `{"errors":[{"instancePath":"/messages/2","keyword":"additionalProperties","params":{"additionalProperty":"reasoning"},"message":"must NOT have additional properties"}]}`, omit}, // source: ajv.js.org
		{chatSent("reasoning"), "messages[2].reasoning: invalid type: string \"hm\", expected struct ReasoningContent", omit},
		{chatSent("reasoning"), `Invalid field 'reasoning' in messages[2]`, omit},
		{chatSent("reasoning"), `messages.2.reasoning: must be omitted, this field is forbidden`, omit},
		{chatSent("reasoning_content"), `reasoning_content is not a valid field for role assistant`, omit},
		{chatSent("reasoning_content"), `This model does not accept reasoning_content.`, omit},
		{chatSent("reasoning_content"), `Messages should not have reasoning_content`, omit},
		{chatSent("reasoning_details"), `Please remove reasoning_details from the messages.`, omit},
		{chatSent("reasoning_content"), `参数错误：未知字段 reasoning_content`, omit},
		{chatSent("cot_id"), `Unrecognized request argument supplied: cot_id`, omit},
		{chatSent("thinking_blocks"), `messages.1.content.0.thinking.signature: Field required`, omit},
		{chatSent("extra_content"), `{"error":{"message":"Corrupted thought signature.","type":"api_error","upstreamStatus":400,"upstreamResponse":{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}}}`, placeholders}, // source: anomalyco/opencode#4832
		// source: openclaw/openclaw#13826
		{messagesSent(), `messages.1.content.0.thinking.signature: Field required`, omit},
		{messagesSent(), `The model returned the following errors: messages.1.content.0.thinking.signature: Field required`, omit},
		{messagesSent(), `{"detail":[{"type":"missing","loc":["body","messages",1,"content",0,"thinking","signature"],"msg":"Field required"}]}`, omit},
		{messagesSent(), `messages.1.content.0.thinking.signature: String should have at least 1 character`, omit},
		{messagesSent(), "When `thinking` is disabled, assistant messages cannot contain `thinking` blocks.", omit},
		{messagesSent(), "messages.1.content.0: Invalid `signature` in `thinking` block", older},
		{messagesSent(), `thinking block signature has expired`, older},
		{messagesSent(), `不支持的内容类型: thinking`, omit},
		{messagesSent(), `messages.1.content.0.thinking: Extra inputs are not permitted`, omit},
		{messagesSent(), "messages.1.content.0: unknown variant `thinking`, expected one of `text`, `image`, `tool_use`, `tool_result`", omit},
		// source: earendil-works/pi#7263
		{responsesSent(), `json: cannot unmarshal array into Go struct field reasoning.summary of type string`, omit},
		{responsesSent(), `Unsupported input item type: reasoning`, omit},
		{responsesSent(), `Reasoning items from a different model cannot be used with this model.`, omit},
		{responsesSent(), `Unknown input item type 'reasoning' in input[2]`, omit},
		{responsesSent(), `{"error":{"message":"Invalid value: 'reasoning'. Supported values are: 'message', 'function_call', and 'function_call_output'.","param":"input[2].type","code":"invalid_value"}}`, omit},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := learnedFrom(t, said(c.text), c.sent); got != c.want {
				t.Errorf("learned %q, not %q", got, c.want)
			}
		})
	}
}

// TestNotReturned: errors of endpoints that want reasoning back, and those about how much to think or about another part of a message, leave the
// history as it is.
func TestNotReturned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent Sent
		text string
	}{
		{chatSent("reasoning_content"), "The `reasoning_content` in the thinking mode must be passed back to the API."},
		{chatSent("reasoning_content"), "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"},
		{chatSent("reasoning_content"), `{"detail":[{"type":"missing","loc":["body","messages",2,"reasoning_content"],"msg":"Field required"}]}`},
		{chatSent("extra_content"), "Function call is missing a thought_signature in functionCall parts."},
		{chatSent("reasoning_content"), `Unknown parameter: 'reasoning'`},
		{chatSent("reasoning_content"), `Unrecognized request argument supplied: reasoning_effort`},
		{chatSent("reasoning_content"), `Unrecognized key(s) in object: 'reasoning'`},
		{chatSent("reasoning"), `Unsupported parameter: 'reasoning' is not supported with this model.`},
		{chatSent("thinking"), `"m" does not support thinking`},
		{chatSent("reasoning_content"), "messages[2]: unknown field `tool_calls`, expected one of `role`, `content`, `reasoning_content`"},
		{chatSent("reasoning_content"), `'messages.2' : property 'name' is unsupported`},
		{chatSent("reasoning_content"), `reasoning_content 必须回传，请不要删除，否则不支持工具调用`},
		{chatSent("reasoning_content"), `thinking mode is not supported by this model`},
		{chatSent("reasoning_content"), `Model m does not support parameter reasoningEffort.`},
		{chatSent("reasoning_content"), `invalid reasoning_effort: must be one of low, high`},
		{chatSent("reasoning_content"), `Unknown field: reasoning`},
		{messagesSent(), "`thinking` is not supported by this model"},
		{messagesSent(), `thinking: Extra inputs are not permitted`},
		{messagesSent(), `thinking.type: adaptive is not supported by this model`},
		{messagesSent(), `messages.1.content.0.thinking.cache_control: Extra inputs are not permitted`},
		{messagesSent(), `system.0.cache_control: Extra inputs are not permitted`},
		{messagesSent(), "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."},
		{messagesSent(), "thinking.budget_tokens: Extra inputs are not permitted"},
		{responsesSent(), `{"error":{"message":"Unknown parameter: 'reasoning'.","param":"reasoning","code":"unknown_parameter"}}`},
		{responsesSent(), `{"error":{"message":"Unsupported value: 'high' is not supported.","param":"reasoning.effort","code":"unsupported_value"}}`},
		{responsesSent(), `{"error":{"message":"Unsupported parameter: 'reasoning.summary' is not supported with this model.","param":"reasoning.summary"}}`},
		{responsesSent(), "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."},
		{responsesSent(), `{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}`},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := learnedFrom(t, said(c.text), c.sent); slices.Contains([]string{"reasoning omit", "reasoning older", "reasoning placeholders"}, got) {
				t.Errorf("learned %q", got)
			}
		})
	}
}

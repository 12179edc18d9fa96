package lessons

import (
	"fmt"
	"strings"
	"testing"
)

// TestReaders: the same refusal comes in many words.
func TestReaders(t *testing.T) {
	t.Parallel()
	everything := Sent{
		Params: []Param{
			{Name: "reasoning_effort", Words: []string{"reasoningeffort", "thinking", "think"}, Value: "high", Next: []string{"medium", "low"}, Effort: true},
			{Name: "stream_options", Value: "include_usage"}, {Name: "max_tokens", Value: "32000"}, {Name: "temperature", Value: "0.5", Fixed: true},
		},
		Tools: []string{"look", "list", "send"}, Pictures: []string{"aGk="}, System: true, Stream: true, Reasoning: true, Steps: true, Loose: true,
	}
	for _, c := range []struct {
		status int
		text   string
		want   string // kind, name, use
	}{
		{400, "This model does not support image inputs", "images"},
		{400, "image_url is only supported by certain models.", "images"},
		// source: BerriAI/litellm#13959
		{400, "temperature: unknown field `temperature`, expected one of `messages`, `stream`, `stream_options`, `tools`, `reasoning_effort` at line 1 column 445", "parameter temperature 0.5"},
		{400, "At most 0 image(s) may be provided in one request.", "images"},                                          // source: vLLM
		{422, `{"detail":[{"loc":["body","messages",1,"content"],"msg":"Input should be a valid string"}]}`, "images"}, // source: pydantic servers
		{400, "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string", "images"},
		{400, "The model is not multimodal.", "images"},
		{415, "Unsupported content type: image/png", "images"},
		{400, "Could not process image", "images " + Hash("aGk=")},
		{400, "messages.3.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels", "images " + Hash("aGk=")},
		{400, "Tool calling is not supported for this model", "tools"},
		{400, "m does not support function calling", "tools"},
		{501, "tool use not implemented", "tools"},
		{400, "Unrecognized request argument supplied: tools", "tools"},
		{404, "No endpoints found that support tool use.", "tools"},
		{400, "'tools' : maximum number of items is 2", "max-tools 2"}, // source: Groq
		{400, "[] is too long: at most 2 function_declarations are allowed", "max-tools 2"},
		{400, "Invalid schema for function 'list': array schema missing items", "schema"},                                                // source: OpenAI
		{400, `Invalid JSON payload received. Unknown name "propertyNames" at 'tools[0].function_declarations[1].parameters'`, "schema"}, // source: Gemini
		{400, "System role not supported", "system"},
		{400, "Only user and assistant roles are supported!", "system"},
		{400, "role 'system' is not allowed", "system"},
		{400, "unknown role: system", "system"},
		{400, "Invalid value: 'system'. Supported values are: 'user' and 'assistant'.", "system"},
		{400, "stream=true is not supported", "stream"},
		{400, `{"error":{"message":"unsupported","param":"stream"}}`, "stream"},
		{400, "Unknown parameter: 'stream_options'.", "parameter stream_options include_usage"},
		{422, `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, "parameter stream_options include_usage"},
		{400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "rename max_tokens max_completion_tokens"},
		{400, "max_tokens is deprecated in favour of max_completion_tokens", "rename max_tokens max_completion_tokens"},
		{400, "`temperature` is not supported by this model", "parameter temperature 0.5"},
		{400, "\"m\" does not support thinking", "parameter reasoning_effort high"},
		{400, "think value \"high\" is not supported for this model", "parameter reasoning_effort high medium"},
		{400, "Model m does not support parameter reasoningEffort.", "parameter reasoning_effort high"},
		{400, "reasoning_effort must be one of none, low", "parameter reasoning_effort high low"},
		// source: laravel.com/docs/validation, guides.rubyonrails.org
		{422, `{"errors":{"stream_options":["is not allowed"]}}`, "parameter stream_options include_usage"},
		{400, `{"stream_options":["This field is not known."]}`, "parameter stream_options include_usage"},
		{400, "Please set reasoning_effort to 'none' to use tools", "parameter reasoning_effort high none"},
		{400, "The reasoning_content in the thinking mode must be passed back to the API.", "reasoning send"},
		{400, "reasoning_content is missing in assistant tool call message at index 2", "reasoning send"},
		{400, "Function call is missing a thought_signature in functionCall parts.", "reasoning signatures"},
		{400, "property 'reasoning_content' is unsupported", "reasoning omit"},
		{400, "messages.1: Extra inputs are not permitted, field: 'reasoning_details'", "reasoning omit"},
		{400, "messages.1.content.0: Invalid `signature` in `thinking` block", "reasoning older"},
		{400, "Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9.", "call-ids"},
		{400, "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.", "call-ids"},
		{400, "Unexpected role 'user' after role 'tool'", "roles after-tool"},
		{500, "Conversation roles must alternate user/assistant/user/assistant/...", "roles alternate"},
		{422, `{"detail":[{"loc":["body","messages",2,"content"],"msg":"none is not an allowed value"}]}`, "content empty"},
		// source: XiaomiMiMo/MiMo-V2-Flash#8, github/copilot-cli#4884
		{400, "{\"error\":{\"code\":\"400\",\"message\":\"Param Incorrect\",\"param\":\"`text` is not set\",\"type\":\"\"}}", "content empty"},
		{400, "Assistant message must have either content or tool_calls, but not both.", "content calls-only"},
		// source: AQBot-Desktop/AQBot#93, dataelement/Clawith#571
		{400, `{"error":{"message":"Param Incorrect","param":"max_tokens is too large: 32000. This model supports at most 8192 completion tokens, whereas you provided 32000.","code":"400"}}`, "parameter max_tokens 32000 8192"},
		{400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "parameter max_tokens 32000 8192"},
		{400, "Unable to submit request because Thought signature is not valid..", "reasoning placeholders"},                   // source: NoeFabris/opencode-antigravity-auth#368
		{413, `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, "images " + Hash("aGk=")}, // source: earendil-works/pi#401
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			sent := everything
			switch c.want {
			case "content empty":
				sent.Pictures = nil
			case "images":
				sent.Reasoning = false // a list of parts may be the reasoning's
			}
			call := NewBook(Config{}).Call(at, "")
			if !call.Refused(t.Context(), refusal(c.status, c.text), sent) || len(call.changed.pending) != 1 {
				t.Fatalf("learned %+v", call.changed.pending)
			}
			l := call.changed.pending[0]
			if l.Name == OldReasoning || l.Kind == History {
				l.Use = "" // a time
			}
			got := strings.Join(strings.Fields(fmt.Sprint(l.Kind, " ", l.Name, " ", l.Value, " ", l.Use)), " ")
			if got != c.want {
				t.Errorf("learned %q, not %q", got, c.want)
			}
		})
	}
}

// TestUnquotedTool: a tool is named without quotes.
// source: platform.moonshot.ai/docs/guide/use-kimi-api-to-complete-tool-calls
func TestUnquotedTool(t *testing.T) {
	t.Parallel()
	call := NewBook(Config{}).Call(at, "")
	text := "tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.one'> in function list"
	if !call.Refused(t.Context(), refusal(400, text), Sent{Tools: []string{"look", "list"}}) || !call.Off(Tool, "list") || call.Off(Tools, "") {
		t.Errorf("learned %+v", call.changed.pending)
	}
}

// TestNothingToLearn: errors that speak of nothing that was sent change nothing for good.
func TestNothingToLearn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"tools are not supported", "image input is not supported", "reasoning_effort is not supported", "system role not supported", "streaming is not supported", "Tool call id must be a-z with a length of 9"} {
		call := NewBook(Config{}).Call(at, "")
		if call.Refused(t.Context(), refusal(400, text), Sent{Params: []Param{{Name: "reasoning_effort", Value: Unset, Effort: true}}}) || len(call.changed.pending) > 0 {
			t.Errorf("%q taught %+v", text, call.changed.pending)
		}
	}
}

// TestToolMessages: an error about a call or a result of the history does not take the tools away, for this call or for good.
func TestToolMessages(t *testing.T) {
	t.Parallel()
	sent := Sent{Tools: []string{"look"}, System: true, Steps: true}
	for _, text := range []string{
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",                       // source: OpenAI
		"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", // source: Gemini
		"messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",                                    // source: Anthropic
		"Tool result content is too large", "Image input is not supported in tool messages", "Invalid tool output", "messages[3]: unsupported content of role 'tool'",
	} {
		call := NewBook(Config{}).Call(at, "")
		for n := 0; call.Refused(t.Context(), refusal(400, text), sent); n++ {
			if call.Off(Tools, "") || n > maxChanges {
				t.Errorf("%q takes the tools away, or never ends", text)
				break
			}
		}
		if call.ToldUntil().IsZero() || !call.Bare() || len(call.changed.pending) > 0 {
			t.Errorf("%q: told as text until %v, bare %v, kept %+v", text, call.ToldUntil(), call.Bare(), call.changed.pending)
		}
	}
	for _, text := range []string{"m does not support tools: tool messages are refused", "Tool use is not supported, so is role 'tool'", "tools are unsupported (tool_call_id)"} {
		call := NewBook(Config{}).Call(at, "")
		if !call.Refused(t.Context(), refusal(400, text), sent) || !call.Off(Tools, "") {
			t.Errorf("%q does not take the tools away", text)
		}
	}
}

// TestMissing: a parameter that an endpoint wants is sent, and nothing is taken away.
func TestMissing(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"detail":[{"type":"missing","loc":["body","max_tokens"],"msg":"Field required","input":{"model":"m"}}]}`:                                                  "max_tokens", // source: docs.pydantic.dev/latest/errors/validation_errors
		`{"error":{"message":"Missing required parameter: 'max_tokens'.","type":"invalid_request_error","param":"max_tokens","code":"missing_required_parameter"}}`: "max_tokens", // source: platform.openai.com/docs/guides/error-codes
		`{"error":{"message":"tool_choice is required when tools are given"}}`:                                                                                      "tool_choice",
	} {
		c := NewBook(Config{}).Call(at, "")
		sent := Sent{Tools: []string{"look"}, Stream: true, Params: []Param{{Name: "max_tokens", Value: Unset, Next: []string{"8192"}}, {Name: "tool_choice", Value: Unset, Next: []string{"auto"}}}}
		if !c.Refused(t.Context(), refusal(422, body), sent) || len(c.changed.pending) != 1 || c.changed.pending[0].Name != want || c.changed.pending[0].Use == "" {
			t.Errorf("%s: learned %+v", body, c.changed.pending)
		}
		if use, send := c.Param(want, Unset); !send || use == Unset {
			t.Errorf("%s: not sent: %q", body, use)
		}
	}
}

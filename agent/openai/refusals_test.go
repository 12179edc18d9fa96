package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// picky is an endpoint that refuses requests for what they hold.
type picky struct {
	refuse func(raw string) (status int, body string) // status 0 = the request is taken
	answer string                                     // a stream; empty = one that says ok

	mu  sync.Mutex
	raw []string
}

func (e *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	e.mu.Lock()
	e.raw = append(e.raw, string(raw))
	e.mu.Unlock()
	if e.refuse != nil {
		if status, body := e.refuse(string(raw)); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body)) // the client says what is missing
			return
		}
	}
	answer := e.answer
	if answer == "" {
		answer = events(`{"choices":[{"index":0,"delta":{"content":"ok"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	}
	if !strings.Contains(string(raw), `"stream":`) {
		answer = `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`
	}
	_, _ = w.Write([]byte(answer)) // the client says what is missing
}

func (e *picky) last() string { return e.raw[len(e.raw)-1] }

// when refuses requests that have a text.
func when(has string, status int, body string) func(string) (int, string) {
	return func(raw string) (int, string) {
		if strings.Contains(raw, has) {
			return status, body
		}
		return 0, ""
	}
}

// unless refuses requests that do not have a text.
func unless(has string, status int, body string) func(string) (int, string) {
	return func(raw string) (int, string) {
		if strings.Contains(raw, has) {
			return 0, ""
		}
		return status, body
	}
}

func said(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return ""
	}
	return `{"error":{"message":` + string(raw) + `,"type":"invalid_request_error"}}`
}

var (
	png   = sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}
	specs = []tools.Spec{
		{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string","format":"uri"}},"additionalProperties":false}`)},
		{Name: "list_x", Schema: json.RawMessage(`{"type":"object"}`)},
	}
)

func user(blocks ...sessions.Block) sessions.Message {
	return sessions.Message{Role: sessions.User, Content: blocks}
}

func textBlock(s string) sessions.Block { return sessions.Block{Type: sessions.TextBlock, Text: s} }

// withTool is a history with a step that a model made.
func withTool(model string, blocks ...sessions.Block) []sessions.Message {
	blocks = append(blocks, sessions.Block{Type: sessions.ToolCallBlock, ID: "functions.look:0", Name: "look", Arguments: json.RawMessage(`{"q":"a"}`)})
	return []sessions.Message{
		user(textBlock("go")),
		{Role: sessions.Assistant, Model: model, Content: blocks},
		{Role: sessions.ToolResult, ToolCallID: "functions.look:0", Content: sessions.TextContent("found")},
		user(textBlock("and?")),
	}
}

// TestRefusals: whatever an endpoint refuses is left out or changed, and nothing else; the next call knows.
func TestRefusals(t *testing.T) {
	t.Parallel()
	withPicture := agent.Prompt{Messages: []sessions.Message{user(textBlock("what is this?"), png)}}
	withTools := agent.Prompt{Tools: specs}
	thinking := func(level string) agent.Prompt { return agent.Prompt{Thinking: level, Tools: specs} }
	foreign := agent.Prompt{Tools: specs, Messages: withTool("other/model")}
	own := agent.Prompt{Tools: specs, Messages: withTool("mock/m", sessions.Block{Type: sessions.ThinkingBlock, Text: "hm"})}
	for _, c := range []struct {
		name     string
		p        agent.Prompt
		c        Config
		s        agent.ModelSettings
		refuse   func(string) (int, string)
		has, not string // of the last request; parts behind | are all needed
		requests int    // of the first call
		unclear  bool   // the second call has to confirm what cured the first one
	}{
		// source: github/copilot-cli#4884
		{name: "a text or calls", p: agent.Prompt{Tools: specs, Messages: withTool("mock/m", textBlock("Let me look."))}, refuse: when(`"content":"Let me look.","tool_calls"`, 400, `{"object":"error","message":"Assistant message must have either content or tool_calls, but not both.","type":"invalid_request_error"}`), has: `"content":null,"tool_calls"`, requests: 2},
		// source: openclaw/openclaw#61206
		{name: "a schema, without a word", p: withTools, refuse: when(`"format":"uri"`, 400, "Bad Request"), has: `"name":"look"`, not: "additionalProperties", requests: 3, unclear: true},
		// source: openclaude#1071
		{name: "image, deepseek", p: withPicture, refuse: when(`image_url`, 400, said("Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 5")), has: "what is this?", not: "image_url", requests: 2},
		{name: "image, groq", p: withPicture, refuse: when(`image_url`, 400, said("'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)] content must be a string")), not: "image_url", requests: 2},
		// source: hermes-webui#2297
		{name: "image, openrouter", p: withPicture, refuse: when(`image_url`, 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`), not: "image_url", requests: 2},
		{name: "image, llama.cpp", p: withPicture, refuse: when(`image_url`, 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`), not: "image_url", requests: 2},
		{name: "image, text body", p: withPicture, refuse: when(`image_url`, 422, "This model does not support images."), not: "image_url", requests: 2},
		{name: "image, nested raw", p: withPicture, refuse: when(`image_url`, 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"multimodal content is not supported by this model\"}}","provider_name":"X"}}}`), not: "image_url", requests: 2},
		// source: picobot#6
		{name: "tools, ollama", p: withTools, refuse: when(`"tools"`, 400, said("registry.ollama.ai/library/gemma3:4b does not support tools")), not: `"tools"`, requests: 2},
		// source: zmNinjaNg#309
		{name: "tools, vllm", p: withTools, refuse: when(`"tools"`, 400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`), not: `"tools"`, requests: 2},
		{name: "tools, openrouter", p: withTools, refuse: when(`"tools"`, 404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`), not: `"tools"`, requests: 2},
		{name: "tools, history too", p: own, refuse: when(`"tool`, 400, said("`tools` is not supported with this model")), has: "found", not: `"tools"|"tool_calls"|"role":"tool"`, requests: 2},
		// source: ollama#12561
		{name: "effort, ollama", p: thinking("low"), refuse: when(`reasoning_effort`, 400, said(`"llama3.1:8b" does not support thinking`)), not: `reasoning_effort`, has: `"tools"`, requests: 2},
		{name: "effort, ollama's value", p: thinking("low"), refuse: when(`reasoning_effort`, 400, said(`think value "low" is not supported for this model`)), not: `"low"`, has: `"tools"`},
		// source: litellm#16265
		{name: "effort, grok", p: thinking("high"), refuse: when(`reasoning_effort`, 400, `{"code":"Client specified an invalid argument","error":"Model grok-4-latest does not support parameter reasoningEffort."}`), not: `reasoning_effort`, has: `"tools"`, requests: 2},
		{name: "effort, unclear", p: thinking("high"), refuse: when(`reasoning_effort`, 400, `{"error":"invalid request"}`), not: `reasoning_effort`, has: `"tools"|"stream":true`, requests: 2, unclear: true},
		{name: "effort, listed", p: thinking("minimal"), refuse: when(`"minimal"`, 400, said("Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', and 'high'.")), has: `"reasoning_effort":"low"`, requests: 2},
		{name: "effort, off refused", p: thinking("off"), refuse: when(`"none"`, 400, said("Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.")), has: `"reasoning_effort":"minimal"`, requests: 2},
		{name: "effort, tools want none", p: withTools, refuse: unless(`"reasoning_effort":"none"`, 400, said("Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. Please use /v1/responses or set reasoning_effort to 'none'.")), has: `"tools"`, requests: 2},
		{name: "effort, tools want none, low was sent", p: thinking("low"), refuse: unless(`"reasoning_effort":"none"`, 400, said("Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. Please use /v1/responses instead.")), has: `"tools"`, requests: 3},
		{name: "stream_options", p: withTools, refuse: when(`stream_options`, 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`), not: `stream_options`, has: `"tools"|"stream":true`, requests: 2},
		{name: "max_tokens", p: agent.Prompt{MaxTokens: 100}, refuse: when(`"max_tokens"`, 400, said("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")), has: `"max_completion_tokens":100`, requests: 2},
		{name: "max_tokens, value", p: agent.Prompt{MaxTokens: 200000}, refuse: when(`200000`, 400, said("max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.")), has: `"max_tokens":16384`, requests: 2},
		{name: "max_tokens, window", p: agent.Prompt{MaxTokens: 128000}, refuse: when(`128000`, 400, `{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 128000. This model's maximum context length is 32768 tokens and your request has 27 input tokens (128000 > 32768 - 27).","type":"BadRequestError","code":400}`), has: `"max_tokens":32`, requests: 2},
		// source: console.groq.com/docs/models (the longest answer is shorter than the window)
		{name: "max_tokens, by its other name", p: agent.Prompt{MaxTokens: 32000}, refuse: when(`32000`, 400, said("`max_completion_tokens` must be less than or equal to `8192`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model")), has: `"max_tokens":8192`, requests: 2},
		// source: platform.openai.com/docs/guides/latest-model (reasoning_effort none), BerriAI/litellm#16265
		{name: "effort, the advised value is refused too", p: thinking("low"), refuse: when("reasoning_effort", 400, said("Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.")), not: "reasoning_effort", has: `"tools"`, requests: 3},
		// source: docs.pydantic.dev/latest/errors/validation_errors (literal_error)
		{name: "effort, the only value is refused too", p: thinking("low"), refuse: when("reasoning_effort", 422, `{"detail":[{"type":"literal_error","loc":["body","reasoning_effort"],"msg":"Input should be 'none'"}]}`), not: "reasoning_effort", requests: 3},
		// source: docs.pydantic.dev/latest/errors/validation_errors (extra_forbidden), with Python's form of it
		{name: "effort, its value is repeated", p: thinking("low"), refuse: when("reasoning_effort", 400, said("[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': 'Extra inputs are not permitted', 'input': 'low'}]")), not: "reasoning_effort", requests: 2},
		// source: www.volcengine.com/docs/82379/1299023
		{name: "effort, of certain models only", p: thinking("low"), refuse: when("reasoning_effort", 400, `{"error":{"code":"InvalidParameter","message":"The parameter `+"`reasoning_effort`"+` specified in the request are not valid: invalid reasoning_effort: low, only support for certain models","param":"reasoning_effort","type":"BadRequest"}}`), not: "reasoning_effort", requests: 2},
		// source: platform.openai.com/docs/guides/error-codes
		{name: "two fields at once", p: thinking("low"), refuse: func(raw string) (int, string) {
			if strings.Contains(raw, "reasoning_effort") || strings.Contains(raw, "stream_options") {
				return 400, said("Unrecognized request arguments supplied: reasoning_effort, stream_options")
			}
			return 0, ""
		}, not: "reasoning_effort|stream_options", has: `"tools"`, requests: 2},
		// source: docs.x.ai/docs/guides/image-understanding, with a code that speaks of one picture
		{name: "image, code of one", p: withPicture, refuse: when(`image_url`, 400, `{"error":{"message":"Image input is not supported for this model. Please use a vision model","code":"invalid_image"}}`), not: "image_url", requests: 2},
		// source: rfc-editor.org/rfc/rfc9110#name-415-unsupported-media-type
		{name: "image, 415", p: withPicture, refuse: when(`image_url`, 415, "Unsupported Media Type"), not: "image_url", requests: 2},
		// source: cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
		{name: "many tools, vertex", p: agent.Prompt{Tools: manySpecs(40)}, refuse: when(`"t20"`, 400, said("At most 20 function declarations are supported.")), has: `"t19"`, not: `"t20"`, requests: 2},
		{name: "a tool's name", p: agent.Prompt{Tools: manySpecs(40)}, refuse: when(`"t7"`, 400, said("Invalid function name: t7")), has: `"t39"`, not: `"t7"`, requests: 2},
		// source: platform.openai.com/docs/guides/error-codes (context_length_exceeded)
		{name: "tools are too long", p: agent.Prompt{Tools: manySpecs(40)}, refuse: when(`"t30"`, 400, said("This model's maximum context length is 8192 tokens. However, your messages resulted in 9500 tokens (1500 in the messages, 8000 in the functions). Please reduce the length of the messages or functions.")), has: `"t20"`, not: `"t30"`, requests: 2},
		// source: openrouter.ai/docs/guides/routing/provider-selection
		{name: "tools, openrouter names one", p: withTools, refuse: when(`"tools"`, 404, `{"error":{"message":"No endpoints found that support tool use. Try disabling \"look\". To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection","code":404}}`), not: `"tools"`, requests: 2},
		{name: "temperature", s: agent.ModelSettings{Temperature: new(0.3)}, refuse: when(`temperature`, 400, said("Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.")), not: `temperature`, requests: 2},
		{name: "temperature, range", s: agent.ModelSettings{Temperature: new(1.5)}, refuse: when(`1.5`, 400, said("temperature must be between 0 and 1")), has: `"temperature":1,`, requests: 2},
		// source: continue#7129
		{name: "stream", p: withTools, refuse: when(`"stream":true`, 400, `{"error":{"message":"Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general","type":"invalid_request_error","param":"stream","code":"unsupported_value"}}`), has: `"tools"`, not: `"stream|"stream_options`, requests: 2},
		// source: google-deepmind/gemma chat template, vllm#3323
		{name: "system", p: agent.Prompt{System: "be kind"}, refuse: when(`"system"`, 400, `{"object":"error","message":"System role not supported","code":400}`), has: `{"role":"user","content":"be kind\n\nhi"}`, requests: 2},
		// source: ai.google.dev/api/caching#Content
		{name: "system, gemini", p: agent.Prompt{System: "be kind", Tools: specs}, refuse: when(`"role":"system"`, 400, `[{"error":{"code":400,"message":"Please use a valid role: user, model.","status":"INVALID_ARGUMENT"}}]`), has: `"content":"be kind\n\nhi"|"tools"`, requests: 2},
		{name: "system, o1", p: agent.Prompt{System: "be kind"}, refuse: when(`"system"`, 400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`), has: `{"role":"user","content":"be kind\n\nhi"}`, requests: 2},
		{name: "parallel calls", p: withTools, refuse: unless(`"parallel_tool_calls":false`, 400, said("parallel tool calls are not supported by this model; set parallel_tool_calls to false")), has: `"look"`, requests: 2},
		// source: spacectl#402
		{name: "schema, openai", p: withTools, refuse: when(`"format"`, 400, `{"error":{"message":"Invalid schema for function 'look': In context=('properties', 'q'), 'uri' is not a valid format.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`), has: `"look"|"list_x"`, not: "additionalProperties|format", requests: 2},
		{name: "schema, gemini", p: withTools, refuse: when(`additionalProperties`, 400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.","status":"INVALID_ARGUMENT"}}]`), has: `"look"`, not: "additionalProperties", requests: 2},
		// source: mcp-digitalocean#265
		{name: "one tool", p: withTools, refuse: when(`"name":"look"`, 400, said("Invalid schema for function 'look': schema must have type 'object' and not have 'oneOf' at the top level")), has: `"list_x"`, not: `"look"`, requests: 3},
		{name: "many tools", p: agent.Prompt{Tools: manySpecs(140)}, refuse: when(`"t130"`, 400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.","type":"invalid_request_error","param":"tools","code":"array_above_max_length"}}`), has: `"t127"`, not: `"t128"`, requests: 2},
		// source: goose#5998
		{name: "roles, mistral", p: foreign, refuse: when(`"content":"found"},{"role":"user"`, 400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`), has: `"content":"found"},{"role":"assistant"`, requests: 2},
		{name: "roles, template", p: foreign, refuse: when(`"role":"tool"`, 500, `{"error":{"code":500,"message":"Conversation roles must alternate user/assistant/user/assistant/... at row 1","type":"server_error"}}`), has: "found", not: `"tool_calls"`},
		// source: zed#37021
		{name: "ids, mistral", p: own, refuse: when(`functions.look:0`, 400, `{"object":"error","message":"Tool call id was functions.look:0 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","code":"3280"}`), has: `"tool_calls"`, not: "functions.look", requests: 2},
		// source: openclaw#71455
		{name: "reasoning, deepseek", p: foreign, refuse: unless(`"reasoning_content":" "`, 400, said("The `reasoning_content` in the thinking mode must be passed back to the API.")), requests: 2},
		// source: crush#2696
		{name: "reasoning, kimi", p: foreign, refuse: unless(`"reasoning_content":" "`, 400, said("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2")), requests: 2},
		{name: "reasoning, older session", p: own, has: `"reasoning_content":"hm"`, requests: 1},
		// source: api-docs.deepseek.com/guides/reasoning_model
		{name: "reasoning, refused", p: own, refuse: when(`reasoning_content`, 400, said("Unknown parameter: 'messages[2].reasoning_content' is not permitted in the input messages")), not: "reasoning_content", has: `"tool_calls"`, requests: 2},
		// source: ai.google.dev/gemini-api/docs/thought-signatures, continue#8865
		{name: "signature, gemini", p: foreign, refuse: unless(`skip_thought_signature_validator`, 400, "[{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly\",\n    \"status\": \"INVALID_ARGUMENT\"\n  }\n}\n]"), has: `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`, not: "reasoning_content", requests: 2},
		{name: "content null", p: foreign, refuse: when(`"content":null`, 422, `{"detail":[{"loc":["body","messages",2,"content"],"msg":"none is not an allowed value: content must be a string","type":"type_error.none.not_allowed"}]}`), has: `"content":""`, requests: 2},
		{name: "nothing said", p: agent.Prompt{System: "s", Thinking: "low", Messages: own.Messages}, refuse: when(`"tool_calls"`, 400, ""), has: "found", not: `"tool_calls"`},
		{name: "setting in the way", s: agent.ModelSettings{Body: map[string]any{"top_k": 5, "seed": 1}}, refuse: when(`top_k`, 400, said("Unrecognized request argument supplied: top_k")), has: `"seed":1`, not: "top_k", requests: 2},
		{name: "refused inside of a stream", p: thinking("low"), refuse: when(`reasoning_effort`, 200, events(`{"error":{"message":"reasoning_effort is not supported by this model","code":400}}`)), not: "reasoning_effort", requests: 2},
		{name: "settings win", p: agent.Prompt{System: "be kind", Tools: specs, Messages: withPicture.Messages}, s: agent.ModelSettings{Tools: "off", Images: "off", Stream: "off", System: "off"}, not: `"tools"|image_url|"stream":true|"role":"system"`, has: "be kind", requests: 1},
		{name: "reasoning off by setting", p: own, s: agent.ModelSettings{Reasoning: agent.Reasoning{SendBack: "off"}}, not: "reasoning_content", requests: 1},
		{name: "reasoning on by setting", p: foreign, s: agent.ModelSettings{Reasoning: agent.Reasoning{SendBack: "on"}}, has: `"reasoning_content":" "`, requests: 1},
		{name: "levels by setting", p: thinking("high"), s: agent.ModelSettings{Reasoning: agent.Reasoning{Levels: []string{"none", "low"}}}, has: `"reasoning_effort":"low"`, requests: 1},
		{name: "levels of a catalogue", p: agent.Prompt{Thinking: "minimal", Levels: []string{"low", "high"}}, has: `"reasoning_effort":"low"`, requests: 1},
		// source: docs.x.ai/docs/guides/reasoning (levels without none), console.groq.com/docs/reasoning
		{name: "off is no level", p: agent.Prompt{Thinking: "off"}, s: agent.ModelSettings{Reasoning: agent.Reasoning{Levels: []string{"high", "max"}}}, not: "reasoning_effort", requests: 1},
		{name: "off refused, much is offered", p: agent.Prompt{Thinking: "off", Levels: []string{"high", "max"}}, refuse: when(`"none"`, 400, said("Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'high' and 'max'.")), not: "reasoning_effort", requests: 2},
		{name: "off refused, nothing is offered", p: agent.Prompt{Thinking: "off", Levels: []string{"medium", "high"}}, refuse: when(`"none"`, 400, said("Unsupported value: 'reasoning_effort' does not support 'none' with this model.")), not: "reasoning_effort", requests: 2},
		{name: "off is said", p: agent.Prompt{Thinking: "off", Levels: []string{"low", "high"}}, has: `"reasoning_effort":"none"`, requests: 1},
		{name: "it cannot be told", p: agent.Prompt{Thinking: "high", Levels: []string{}}, not: `reasoning_effort`, requests: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &picky{refuse: c.refuse}
			c.c.Settings = func(string) agent.ModelSettings { return c.s }
			m := against(t, e.ServeHTTP, c.c)
			c.p.Model = "m"
			for turn := range 2 {
				before := len(e.raw)
				a, err := answer(t, m, c.p)
				if err != nil || (sessions.Message{Content: a.Content}).Text() != "ok" {
					t.Fatalf("turn %d: %+v, %v\nsent %s", turn, a, err, strings.Join(e.raw, "\n"))
				}
				n := len(e.raw) - before
				if turn == 0 && c.requests > 0 && n != c.requests || turn == 0 && n > 9 {
					t.Errorf("%d requests, not %d:\n%s", n, c.requests, strings.Join(e.raw, "\n"))
				}
				again := 1
				if c.unclear {
					again = 2
				}
				if turn == 1 && c.requests > 0 && n != again {
					t.Errorf("it had to learn again: %s", strings.Join(e.raw[before:], "\n"))
				}
			}
			for _, part := range strings.Split(c.has, "|") {
				if !strings.Contains(e.last(), part) {
					t.Errorf("no %s in %s", part, e.last())
				}
			}
			for _, part := range strings.Split(c.not, "|") {
				if part != "" && strings.Contains(e.last(), part) {
					t.Errorf("%s in %s", part, e.last())
				}
			}
			if !json.Valid([]byte(e.last())) {
				t.Errorf("no JSON: %s", e.last())
			}
		})
	}
}

// TestPlaceholderSignatures: an endpoint that does not take its own signatures back gets Google's placeholder, in the first call of each
// step. source: NoeFabris/opencode-antigravity-auth#368
func TestPlaceholderSignatures(t *testing.T) {
	t.Parallel()
	call := func(id string, o opaque) sessions.Block {
		return sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: "look", Arguments: json.RawMessage(`{}`), Opaque: o.block("here")}
	}
	p := agent.Prompt{Messages: []sessions.Message{
		user(textBlock("go")),
		{Role: sessions.Assistant, Content: []sessions.Block{call("a1", opaque{ofCall: ofCall{CallExtra: json.RawMessage(`{"google":{"thought_signature":"CpQB"}}`)}}), call("b2", opaque{})}},
		{Role: sessions.ToolResult, ToolCallID: "a1", Content: sessions.TextContent("found")},
		{Role: sessions.ToolResult, ToolCallID: "b2", Content: sessions.TextContent("found")},
	}}
	target := agent.Target{From: "here", Thinking: true}
	for use, want := range map[string]string{"": "CpQB", lessons.SendSignatures: "CpQB", lessons.PlaceholderSignatures: "skip_thought_signature_validator", lessons.OmitReasoning: ""} {
		target.Thinking = use != lessons.OmitReasoning
		body := string(encodeMessages(p, plan{reasoning: use, target: target}, 0).body)
		if n := strings.Count(body, "thought_signature\":"); want == "" && n != 0 || want != "" && n != 1 || !strings.Contains(body, want) {
			t.Errorf("%q: %d signatures, not %s: %s", use, n, want, body)
		}
	}
}

func manySpecs(n int) (out []tools.Spec) {
	for i := range n {
		out = append(out, tools.Spec{Name: "t" + decimal(float64(i))})
	}
	return out
}

// TestFinalRefusals: what no change helps against is an error of its class, and nothing is learned.
func TestFinalRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		class  agent.ErrorClass
	}{
		{"responses only", 404, `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error","param":"model","code":null}}`, agent.BadForm},
		{"tools through responses only", 400, said("Function tools are not supported for gpt-6 in /v1/chat/completions. Please use /v1/responses instead."), agent.BadForm},
		{"content filter", 400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter","status":400}}`, agent.Refused},
		{"no credit", 400, said("Your credit balance is too low to access the API. Please go to Plans & Billing"), agent.NoCredit},
		{"no such model", 404, said("The model `m` does not exist or you do not have access to it."), agent.NoSuchModel},
		{"bad key", 401, said("Incorrect API key provided"), agent.BadKey},
		{"too long", 400, said("This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens."), agent.TooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &picky{refuse: func(string) (int, string) { return c.status, c.body }}
			book := lessons.NewBook(lessons.Config{})
			m := against(t, e.ServeHTTP, Config{Lessons: book})
			_, err := answer(t, m, agent.Prompt{Model: "m", Tools: specs, MaxTokens: 100})
			got, ok := errors.AsType[*agent.ModelError](err)
			learned := slices.DeleteFunc(book.Known(), func(l sessions.Lesson) bool { return c.class == agent.TooLong && l.Kind == lessons.Window })
			if !ok || got.Class != c.class || len(e.raw) != 1 || len(learned) > 0 || got.Said == "" {
				t.Errorf("%v after %d requests, learned %v", err, len(e.raw), book.Known())
			}
		})
	}
}

// TestOffWins: thinking that is switched off is said also where "leave it out" was learned for other efforts.
func TestOffWins(t *testing.T) {
	t.Parallel()
	e := &picky{refuse: when(`"reasoning_effort":"high"`, 400, said("reasoning_effort is not supported"))}
	m := against(t, e.ServeHTTP, Config{})
	for level, want := range map[string]bool{"high": false, "off": true} {
		if _, err := answer(t, m, agent.Prompt{Model: "m", Thinking: level}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(e.last(), `"reasoning_effort":"none"`); got != want {
			t.Errorf("%s: %s", level, e.last())
		}
	}
}

// TestSettings: headers, query and body of the configuration are sent; Azure has its own header.
func TestSettings(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		raw, err := io.ReadAll(r.Body)
		got, body = r, string(raw)
		if err != nil {
			return nil, err
		}
		return canned(events(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`)).RoundTrip(r)
	})
	settings := agent.ModelSettings{
		Headers: map[string]channels.Secret{"X-Title": channels.NewSecret("parley"), "Authorization": channels.NewSecret("Basic abcdefgh")},
		Query:   map[string]string{"api-version": "2025-04-01"},
		Body:    map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}, "model": "no", "max_tokens": 7, "stream": false, "tool_choice": "auto"},
		TopP:    new(0.5),
	}
	for base, want := range map[string]string{
		"https://me.openai.azure.com/openai/deployments/gpt-4o?api-version=2024-10-21&x=1": "https://me.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2025-04-01&x=1",
		"http://127.0.0.1:1234/v1/":                 "http://127.0.0.1:1234/v1/chat/completions?api-version=2025-04-01",
		"http://127.0.0.1:1234/v1/chat/completions": "http://127.0.0.1:1234/v1/chat/completions?api-version=2025-04-01",
	} {
		m := New(Config{Name: "mock", BaseURL: base, APIKey: channels.NewSecret("secret-key"), HTTPClient: &http.Client{Transport: transport}, Settings: func(string) agent.ModelSettings { return settings }})
		if _, err := answer(t, m, agent.Prompt{Model: "m", MaxTokens: 100}); err != nil {
			t.Fatal(err)
		}
		if got.URL.String() != want || got.Header.Get("X-Title") != "parley" || got.Header.Get("Authorization") != "Basic abcdefgh" ||
			strings.Contains(base, "azure") != (got.Header.Get("Api-Key") == "secret-key") {
			t.Errorf("%s: %s %v", base, got.URL, got.Header)
		}
		for _, part := range []string{`"model":"m"`, `"chat_template_kwargs":{"enable_thinking":false}`, `"max_tokens":7`, `"top_p":0.5`, `"stream":true`} {
			if !strings.Contains(body, part) {
				t.Errorf("no %s in %s", part, body)
			}
		}
		if strings.Contains(body, `"max_tokens":100`) || strings.Contains(body, "tool_choice") || strings.Count(body, `"model"`) != 1 {
			t.Errorf("sent %s", body)
		}
	}
}

// TestOffByField: some services switch thinking off by a field of its own.
// source: api-docs.deepseek.com/guides/thinking_mode
func TestOffByField(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"https://api.deepseek.com": `"thinking":{"type":"disabled"}`, "https://model.test/v1": `"reasoning_effort":"none"`} {
		var sent []byte
		var levels []string
		m := New(Config{Name: "mock", BaseURL: base, HTTPClient: &http.Client{Transport: sees{canned(events("[DONE]")), &sent}},
			Settings: func(string) agent.ModelSettings {
				return agent.ModelSettings{Reasoning: agent.Reasoning{Levels: levels}}
			}})
		if _, err := answer(t, m, agent.Prompt{Model: "m", Thinking: "off"}); err != nil {
			t.Fatal(err)
		}
		if levels = []string{"high", "max"}; strings.Contains(base, "deepseek") { // its own off is no level
			if _, err := answer(t, m, agent.Prompt{Model: "m", Thinking: "off"}); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(sent); !strings.Contains(got, want) || strings.Contains(got, "thinking") == strings.Contains(got, "reasoning_effort") {
			t.Errorf("%s: %s", base, got)
		}
	}
}

// TestRoleThenError: an error behind a chunk that says nothing is a refusal as well.
func TestRoleThenError(t *testing.T) {
	t.Parallel()
	e := &picky{refuse: when("reasoning_effort", 200, events(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, `{"error":{"message":"reasoning_effort is not supported","code":400}}`))}
	if _, err := answer(t, against(t, e.ServeHTTP, Config{}), agent.Prompt{Model: "m", Thinking: "low"}); err != nil || len(e.raw) != 2 {
		t.Errorf("%d requests, %v", len(e.raw), err)
	}
}

// TestSecretsAreHidden: what an endpoint repeats of headers, query and key is in no error.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	m := against(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(r.URL.String() + r.Header.Get("X-Secret") + r.Header.Get("Authorization"))) // the client says what is missing
	}, Config{APIKey: channels.NewSecret("sk-0123456789abcdef"), Settings: func(string) agent.ModelSettings {
		return agent.ModelSettings{Headers: map[string]channels.Secret{"X-Secret": channels.NewSecret("hd-0123456789abcdef")}, Query: map[string]string{"key": "qu-0123456789abcdef"}}
	}})
	_, err := answer(t, m, agent.Prompt{Model: "m"})
	if err == nil || strings.Contains(err.Error(), "0123456789") {
		t.Errorf("%v", err)
	}
	_, err = answer(t, New(Config{Name: "mock", BaseURL: "http://me:pw-0123456789@[bad"}), agent.Prompt{Model: "m"})
	if e, ok := errors.AsType[*agent.ModelError](err); !ok || e.Class != agent.BadRequest || strings.Contains(err.Error(), "0123456789") {
		t.Errorf("%v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

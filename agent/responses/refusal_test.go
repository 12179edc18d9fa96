package responses

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
	"parley/tools"
)

func refusal(message, param, code string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":%q,"code":%q}}`, message, param, code)
}

func at(body map[string]any, path string) any {
	var v any = body
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// TestRefusals: what an endpoint refuses is changed, the request is made again, and the next process knows.
func TestRefusals(t *testing.T) {
	t.Parallel()
	history := func() []sessions.Message {
		from := sessions.Opaque{From: "FROM", Data: json.RawMessage(`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAA"}`)}
		thought, call := thoughtBlock("hm"), callBlock("call_1", "weather", `{}`)
		thought.Opaque = &from
		call.Opaque = &sessions.Opaque{From: "FROM", Data: json.RawMessage(`{"id":"fc_1","type":"function_call"}`)}
		a := assistant(thought, call)
		a.Time = time.Now().Add(-time.Hour)
		return []sessions.Message{user("go"), a, result("call_1", "rain"), user("and?")}
	}
	picture := sessions.Message{Role: sessions.User, Content: []sessions.Block{{Type: sessions.TextBlock, Text: "look"}, {Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}}}
	odd := json.RawMessage(`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":"array"}},"additionalProperties":false}`)
	half := 0.5
	gone := func(path string) func(map[string]any) bool {
		return func(b map[string]any) bool { return at(b, path) == nil }
	}
	is := func(path string, want any) func(map[string]any) bool {
		return func(b map[string]any) bool { return at(b, path) == want }
	}
	without := func(kind string) func(map[string]any) bool {
		return func(b map[string]any) bool { return !slices.Contains(kinds(b), kind) }
	}
	for _, c := range []struct {
		name   string
		prompt agent.Prompt
		set    agent.ModelSettings
		reply  reply
		want   func(body map[string]any) bool // of the second request
		before func(body map[string]any) bool // of the first one; nil = the opposite
	}{
		// source: continuedev/continue#12031, BerriAI/litellm#16032
		{"summaries", agent.Prompt{Thinking: "low"}, agent.ModelSettings{}, reply{400, refusal("Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.", "reasoning.summary", "unsupported_value"), nil},
			gone("reasoning.summary"), nil},
		{"summaries, in general words", agent.Prompt{}, agent.ModelSettings{}, reply{400, `{"error":{"message":"Reasoning is not supported with this model."}}`, nil}, gone("reasoning"), nil},
		{"an effort", agent.Prompt{Thinking: "minimal"}, agent.ModelSettings{}, reply{400, refusal("Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.", "reasoning.effort", "unsupported_value"), nil},
			is("reasoning.effort", "low"), is("reasoning.effort", "minimal")},
		{"none", agent.Prompt{Thinking: "off"}, agent.ModelSettings{}, reply{400, refusal("Unsupported value: 'none' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.", "reasoning.effort", "unsupported_value"), nil},
			is("reasoning.effort", "minimal"), is("reasoning.effort", "none")},
		{"none, where much is offered", agent.Prompt{Thinking: "off"}, agent.ModelSettings{}, reply{400, refusal("Unsupported value: 'none' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.", "reasoning.effort", "unsupported_value"), nil},
			gone("reasoning.effort"), is("reasoning.effort", "none")},
		{"none, where nothing is offered", agent.Prompt{Thinking: "off", Levels: []string{"medium", "high"}}, agent.ModelSettings{}, reply{400, refusal("Unsupported value: 'none' is not supported with this model.", "reasoning.effort", "unsupported_value"), nil},
			gone("reasoning.effort"), is("reasoning.effort", "none")},
		{"thinking at all", agent.Prompt{Thinking: "high"}, agent.ModelSettings{}, reply{400, refusal("Unsupported parameter: 'reasoning.effort' is not supported with this model.", "reasoning.effort", "unsupported_parameter"), nil},
			gone("reasoning.effort"), is("reasoning.effort", "high")},
		// source: BerriAI/litellm#16265, ollama/ollama#12561, zed-industries/zed#64424 (the cause inside of a text)
		{"thinking, xAI's words", agent.Prompt{Thinking: "high"}, agent.ModelSettings{}, reply{400, `{"code":"Client specified an invalid argument","error":"Model grok-4-latest does not support parameter reasoningEffort."}`, nil}, gone("reasoning.effort"), nil},
		{"thinking, Ollama's words", agent.Prompt{Thinking: "low"}, agent.ModelSettings{}, reply{400, `{"error":"think value \"low\" is not supported for this model"}`, nil}, gone("reasoning.effort"), nil},
		{"thinking, in a text", agent.Prompt{Thinking: "low"}, agent.ModelSettings{}, reply{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Unknown parameter: 'reasoning.effort'.\"}}"}}}`, nil}, gone("reasoning.effort"), nil},
		// source: ollama/ollama openai/responses.go
		{"an effort, Ollama's words", agent.Prompt{Thinking: "minimal"}, agent.ModelSettings{}, reply{400, `{"error":{"message":"invalid reasoning value: \"minimal\" (must be \"high\", \"medium\", \"low\", \"max\", or \"none\")"}}`, nil},
			is("reasoning.effort", "low"), is("reasoning.effort", "minimal")},
		// source: OpenHands/OpenHands#11406
		{"encrypted reasoning", agent.Prompt{}, agent.ModelSettings{}, reply{400, refusal("Encrypted content is not supported with this model.", "include", ""), nil}, gone("include"), nil},
		{"encrypted reasoning, with a history", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, refusal("Encrypted content is not supported with this model.", "include", ""), nil}, gone("include"), nil},
		{"include", agent.Prompt{}, agent.ModelSettings{}, reply{422, `{"detail":[{"type":"extra_forbidden","loc":["body","include"],"msg":"Extra inputs are not permitted"}]}`, nil}, gone("include"), nil},
		{"store", agent.Prompt{}, agent.ModelSettings{}, reply{400, `{"error":"Unknown parameter: 'store'"}`, nil}, gone("store"), nil},
		// source: continuedev/continue#7129
		{"streaming", agent.Prompt{}, agent.ModelSettings{}, reply{400, refusal("Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.", "stream", "unsupported_value"), nil},
			gone("stream"), is("stream", true)},
		{"temperature", agent.Prompt{}, agent.ModelSettings{Temperature: &half}, reply{400, refusal("Unsupported parameter: 'temperature' is not supported with this model.", "temperature", ""), nil}, gone("temperature"), nil},
		{"a limit", agent.Prompt{MaxTokens: 99999}, agent.ModelSettings{}, reply{400, refusal("max_output_tokens is too large: 99999. This model supports at most 4096 completion tokens.", "max_output_tokens", "invalid_value"), nil},
			is("max_output_tokens", 4096.0), is("max_output_tokens", 99999.0)},
		{"tools", turn(user("hi")), agent.ModelSettings{}, reply{400, `{"error":{"message":"registry.ollama.ai/library/gemma3:4b does not support tools"}}`, nil}, gone("tools"), nil},
		// source: spacectl#402
		{"a schema", agent.Prompt{Tools: []tools.Spec{{Name: "odd", Schema: odd}}}, agent.ModelSettings{}, reply{400, refusal("Invalid schema for function 'odd': In context=('properties', 'b'), array schema missing items.", "tools[0].parameters", "invalid_function_parameters"), nil},
			func(b map[string]any) bool {
				return strings.Contains(fmt.Sprint(b["tools"]), "items") && !strings.Contains(fmt.Sprint(b["tools"]), "anyOf")
			}, nil},
		// source: openaki/openclaude#1071
		{"pictures", agent.Prompt{Messages: []sessions.Message{picture}}, agent.ModelSettings{}, reply{400, refusal("Invalid value: 'input_image'. This model does not support image inputs.", "input[0].content[1]", ""), nil},
			func(b map[string]any) bool { return !strings.Contains(fmt.Sprint(b["input"]), "input_image") }, nil},
		{"a picture, inside the answer", agent.Prompt{Messages: []sessions.Message{picture}}, agent.ModelSettings{}, reply{200, events(`{"type":"response.created","response":{}}`, `{"type":"response.failed","response":{"status":"failed","error":{"code":"invalid_image","message":"The image data you provided does not represent a valid image."}}}`), nil},
			func(b map[string]any) bool { return !strings.Contains(fmt.Sprint(b["input"]), "input_image") }, nil},
		// source: llama.cpp tools/server (an output has texts only)
		{"pictures of tools", agent.Prompt{Messages: []sessions.Message{user("go"), assistant(callBlock("call_1", "weather", `{}`)), {Role: sessions.ToolResult, ToolCallID: "call_1", Content: picture.Content}}}, agent.ModelSettings{},
			reply{400, refusal("Invalid value: 'input_image'. Supported values are: 'input_text'.", "input[2].output[1]", "invalid_value"), nil},
			func(b map[string]any) bool {
				out, text := itemAt(b, 2)["output"].(string)
				return text && out != "" && strings.Contains(fmt.Sprint(itemAt(b, 3)), "input_image")
			}, nil},
		// source: openai/codex#8119, openclaw/openclaw#90093
		{"encrypted content", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, refusal("The encrypted content gAAA...c90= could not be verified.", "", "invalid_encrypted_content"), nil}, without("reasoning"), nil},
		{"encrypted content, inside the answer", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{200, events(`{"type":"error","error":{"type":"invalid_request_error","code":"invalid_encrypted_content","message":"The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted or parsed."},"status":400}`), nil}, without("reasoning"), nil},
		// source: openai/openai-agents-python#919
		{"an item that is not there", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{404, refusal("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", "input", ""), nil}, without("reasoning"), nil},
		// source: openclaw/openclaw#58967
		{"no following item", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, refusal("Item 'rs_1' of type 'reasoning' was provided without its required following item.", "input", ""), nil}, without("reasoning"), nil},
		{"no reasoning item", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, refusal("Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_0'.", "input", ""), nil},
			func(b map[string]any) bool { return !strings.Contains(fmt.Sprint(b["input"]), "fc_1") }, nil},
		// source: BigPizzaV3/CodexPlusPlus#1796
		{"the form of an id", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, refusal("Invalid 'input[2].id': 'fc_1'. Expected an ID that begins with 'ctc'.", "input[2].id", "invalid_value"), nil},
			func(b map[string]any) bool { return !strings.Contains(fmt.Sprint(b["input"]), "fc_1") }, nil},
		// source: ggml-org/llama.cpp#28737
		{"reasoning in another form", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, `{"error":{"code":400,"message":"item['content'] is not an array","type":"invalid_request_error"}}`, nil}, without("reasoning"), nil},
		{"reasoning is no item", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, `{"error":"input[1]: unknown input item type: \"reasoning\""}`, nil}, without("reasoning"), nil},
		{"reasoning is no item, a list of others", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, refusal("Invalid value: 'reasoning'. Supported values are: 'message', 'function_call', and 'function_call_output'.", "input[1].type", "invalid_value"), nil}, without("reasoning"), nil},
		// source: ggml-org/llama.cpp#26394
		{"an item of no known form", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, `{"error":{"code":400,"message":"Cannot determine type of 'item'"}}`, nil}, without("reasoning"), nil},
		{"a field of an item", agent.Prompt{Messages: history()}, agent.ModelSettings{}, reply{400, refusal("Unknown parameter: 'input[1].encrypted_content'.", "input[1].encrypted_content", "unknown_parameter"), nil}, without("reasoning"), nil},
		// source: platform.openai.com/docs/api-reference/responses (top_logprobs: 0 to 20)
		{"a value of the configuration", agent.Prompt{}, agent.ModelSettings{Body: map[string]any{"top_logprobs": 50}}, reply{400, refusal("Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got 50 instead.", "top_logprobs", "integer_above_max_value"), nil}, is("top_logprobs", 20.0), is("top_logprobs", 50.0)},
		{"the system text", agent.Prompt{System: "be kind"}, agent.ModelSettings{}, reply{400, `{"error":"Unknown parameter: 'instructions'"}`, nil},
			func(b map[string]any) bool {
				return b["instructions"] == nil && strings.Contains(fmt.Sprint(b["input"]), "be kind")
			}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var saved []sessions.Lesson
			book := lessons.NewBook(lessons.Config{Save: func(_ context.Context, l ...sessions.Lesson) { saved = append(saved, l...) }})
			conf := Config{Lessons: book, Settings: func(string) agent.ModelSettings { return c.set }}
			whole := `{"object":"response","status":"completed","output":[` + hello + `]}`
			m, s := against(t, conf, c.reply, reply{body: whole})
			m.host = openAI // which is asked for summaries
			p := c.prompt
			p.Messages = slices.Clone(p.Messages)
			for i, msg := range p.Messages {
				p.Messages[i].Content = slices.Clone(msg.Content)
				for k, b := range p.Messages[i].Content {
					if b.Opaque != nil {
						p.Messages[i].Content[k].Opaque = &sessions.Opaque{From: lessons.Endpoint{Provider: "mock", Address: m.address, Model: "m"}.String(), Data: b.Opaque.Data}
					}
				}
			}
			g := ask(t, m, p)
			if g.err != nil {
				t.Fatalf("%v\nof %s", g.err, s.raw[len(s.raw)-1])
			}
			if g.text != "hello" || len(s.bodies) != 2 {
				t.Fatalf("%q after %d requests", g.text, len(s.bodies))
			}
			first := c.before
			if first == nil {
				first = func(b map[string]any) bool { return !c.want(b) }
			}
			if !first(s.bodies[0]) || !c.want(s.bodies[1]) {
				t.Errorf("first\n%s\nthen\n%s", s.raw[0], s.raw[1])
			}
			if len(saved) != 1 || saved[0].Evidence == "" {
				t.Fatalf("learned %+v", saved)
			}
			next := lessons.NewBook(lessons.Config{})
			next.Load(saved)
			m.book = next
			if ask(t, m, p); len(s.bodies) != 3 || !c.want(s.bodies[2]) {
				t.Errorf("%d requests, the last\n%s", len(s.bodies), s.raw[len(s.raw)-1])
			}
		})
	}
}

// TestNothingKnown: a refusal without a reason costs a bounded number of requests and teaches nothing.
func TestNothingKnown(t *testing.T) {
	t.Parallel()
	book := lessons.NewBook(lessons.Config{})
	m, s := against(t, Config{Lessons: book}, reply{status: 400, body: `{"error":{"message":"Bad Request"}}`})
	g := ask(t, m, agent.Prompt{Thinking: "low", Messages: []sessions.Message{user("go"), assistant(callBlock("call_1", "weather", "{}")), result("call_1", "rain")}})
	if class(g.err) != agent.BadRequest || len(s.bodies) > 9 || len(book.Known()) > 0 {
		t.Errorf("%v after %d requests, learned %+v", g.err, len(s.bodies), book.Known())
	}
	for _, raw := range s.raw {
		if !strings.Contains(raw, `"store":false`) {
			t.Error("the answer would be stored")
		}
	}
}

// TestPlainAnswers: a refusal that comes with status 200 and in no shape of the API is read. source: developers.cloudflare.com/api, docs.aws.amazon.com/apigateway
func TestPlainAnswers(t *testing.T) {
	t.Parallel()
	whole := `{"object":"response","status":"completed","output":[` + hello + `]}`
	for _, body := range []string{
		`{"success":false,"errors":[{"code":7003,"message":"this model does not support tools"}]}`, `{"fault":{"faultstring":"this model does not support tools"}}`,
		`{"detail":"this model does not support tools"}`, `this model does not support tools`,
	} {
		book := lessons.NewBook(lessons.Config{})
		m, s := against(t, Config{Lessons: book}, reply{body: body}, reply{body: whole})
		g := ask(t, m, agent.Prompt{Messages: []sessions.Message{user("go")}, Tools: []tools.Spec{{Name: "look"}}})
		if g.err != nil || len(s.bodies) != 2 || len(book.Known()) != 1 {
			t.Errorf("%s: %v after %d requests, learned %v", body, g.err, len(s.bodies), book.Known())
		}
	}
}

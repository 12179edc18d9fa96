package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// told is what an answer became.
type told struct{ text, thinking, calls, stop string }

func toldOf(a *agent.Answer) (out told) {
	for _, b := range a.Content {
		switch b.Type {
		case sessions.TextBlock:
			out.text += b.Text
		case sessions.ThinkingBlock:
			out.thinking += b.Text
		case sessions.ToolCallBlock:
			id := b.ID
			if strings.HasPrefix(id, "call_") {
				id = "*" // one of parley's own
			}
			out.calls += fmt.Sprintf("%s %s %s;", id, b.Name, b.Arguments)
		}
	}
	out.stop = a.Stop
	return out
}

// stopped is an event that ends a stream.
func stopped(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// TestAnswers reads what servers really send. What people see while it comes is what is stored in the end.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	delta := func(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }
	call := func(fields string) string { return delta(`"tool_calls":[{` + fields + `}]`) }
	for _, c := range []struct {
		name, body string
		want       told
		class      agent.ErrorClass
	}{
		// source: docs.mistral.ai/capabilities/reasoning
		{name: "mistral parts", body: events(delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"I should "}]}]`), delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"look."}],"closed":true},{"type":"text","text":"Yes"}]`), delta(`"content":"."`), stop),
			want: told{text: "Yes.", thinking: "I should look."}},
		{name: "parts, whole", body: `{"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Yes"}]},"finish_reason":null}]}`, want: told{text: "Yes", thinking: "hm"}},
		// source: platform.openai.com/docs/api-reference/chat/streaming, delta.refusal
		{name: "content and a refusal", body: events(delta(`"content":"I'm sorry."`), delta(`"refusal":"I can't "`), delta(`"refusal":"help."`), stop), want: told{text: "I'm sorry.\n\nI can't help."}},
		// source: docs.python.org/3/library/json.html#infinite-and-nan-number-values
		{name: "no numbers", body: events(`{"choices":[{"index":0,"delta":{"content":"hello"},"logprobs":{"content":[{"logprob":-Infinity}]}}]}`, stop), want: told{text: "hello"}},
		{name: "no numbers, whole", body: `{"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"logprobs":{"content":[{"logprob":NaN}]},"finish_reason":"stop"}]}`, want: told{text: "hello"}},
		{name: "wrong escapes", body: events("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\tb\\q\"}}]}", stop), want: told{text: "a\tb\\q"}},
		// source: docs.cohere.com/v1/reference/chat, finish_reason
		{name: "toxic", body: events(stopped("ERROR_TOXIC")), want: told{stop: "filter"}},
		{name: "another spelling", body: events(stopped("content-filter")), want: told{stop: "filter"}},
		{name: "blocked", body: events(stopped("blocked")), want: told{stop: "filter"}},
		// source: openclaw#68418
		{name: "arguments as an object", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":{"limit":2}}`), stopped("tool_calls")), want: told{calls: `a look {"limit":2};`, stop: "toolUse"}},
		{name: "arguments as a list", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":[]}`), stopped("tool_calls")), want: told{calls: `a look {};`, stop: "toolUse"}},
		// source: developers.cloudflare.com/workers-ai/features/function-calling
		{name: "a flat call", body: events(delta(`"tool_calls":[{"index":0,"id":"a","type":"function","name":"look","arguments":"{\"q\":"}]`), delta(`"tool_calls":[{"index":0,"arguments":"5}"}]`), stop), want: told{calls: `a look {"q":5};`, stop: "toolUse"}},
		{name: "flat calls with objects", body: events(delta(`"tool_calls":[{"name":"look","arguments":{"q":5}},{"type":"tool_use","name":"list","input":{"n":1}}]`), stop), want: told{calls: `* look {"q":5};* list {"n":1};`, stop: "toolUse"}},
		{name: "parameters of a function", body: events(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"look","parameters":{"q":5}}}]`), stop), want: told{calls: `a look {"q":5};`, stop: "toolUse"}},
		// source: elizaOS/eliza#16973
		{name: "arguments whole once more", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}`), call(`"index":0,"function":{"arguments":"\"x\"}"}`), call(`"index":0,"function":{"arguments":"{\"q\":\"x\"}"}`), stopped("tool_calls")), want: told{calls: `a look {"q":"x"};`, stop: "toolUse"}},
		// source: NousResearch/hermes-agent#26053
		{name: "arguments of two calls", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"}{\"} {\"q\":\"y\"}"}`), stopped("tool_calls")), want: told{calls: `a look {"q":"}{"};* look {"q":"y"};`, stop: "toolUse"}},
		{name: "an object and half of one", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"x\"}{\"q"}`), stopped("tool_calls")), want: told{calls: `a look {"q":"x"}{"q;`, stop: "toolUse"}},
		// source: SakanaAI/AI-Scientist-v2#89
		{name: "calls in a second choice", body: `{"choices":[{"index":0,"message":{"content":"Let me look."},"finish_reason":"tool_calls"},{"index":1,"message":{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}},{"id":"b","function":{"name":"look","arguments":"{\"q\":\"x\"}"}}]},"finish_reason":"tool_calls"}]}`, want: told{text: "Let me look.", calls: `a look {};b look {"q":"x"};`, stop: "toolUse"}},
		{name: "calls in both choices", body: `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"},{"index":1,"message":{"tool_calls":[{"id":"b","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, want: told{calls: `a look {};`, stop: "toolUse"}},
		// source: llama.cpp#20198
		{name: "arguments as an object, whole", body: `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":{"limit":2}}}]},"finish_reason":"tool_calls"}]}`, want: told{calls: `a look {"limit":2};`, stop: "toolUse"}},
		{name: "index as text, id as number", body: events(call(`"index":"0","id":7,"function":{"name":"look","arguments":"{\"a\":"}`), call(`"index":"0","function":{"arguments":"1}"}`), stopped("tool_calls")), want: told{calls: `7 look {"a":1};`, stop: "toolUse"}},
		{name: "indexes as texts", body: events(call(`"index":"0","id":"a","function":{"name":"look","arguments":"{}"}`), call(`"index":"1","id":"b","function":{"name":"look","arguments":"{\"b\":1}"}`), stopped("tool_calls")), want: told{calls: `a look {};b look {"b":1};`, stop: "toolUse"}},
		{name: "reasoning as an object", body: events(delta(`"reasoning":{"text":"hm"}`), delta(`"content":"Yes"`), stop), want: told{text: "Yes", thinking: "hm"}},
		{name: "reasoning as a list", body: events(delta(`"reasoning_content":[{"type":"text","text":"hm"}]`), delta(`"content":"Yes"`), stop), want: told{text: "Yes", thinking: "hm"}},
		{name: "error, empty", body: events(`{"error":"","choices":[{"index":0,"delta":{"content":"Yes"}}]}`, `{"error":{},"choices":[]}`, `{"error":{"message":null,"code":0},"choices":[]}`, stop), want: told{text: "Yes"}},
		{name: "usage of odd types", body: events(delta(`"content":"Yes"`), `{"choices":[],"usage":{"prompt_tokens":"5","completion_tokens":2.0,"prompt_tokens_details":[]}}`, stop), want: told{text: "Yes"}},
		{name: "content as a number", body: events(delta(`"content":42`), stop), want: told{text: "42"}},
		{name: "choices as an object", body: events(`{"choices":{"index":0,"delta":{"content":"Yes"}}}`, stop), want: told{text: "Yes"}},
		{name: "delta as a text", body: events(`{"choices":[{"delta":"Yes"}]}`, stop), want: told{text: "Yes"}},
		{name: "delta null", body: events(`{"choices":[{"delta":null}]}`, delta(`"content":"Yes"`), stop), want: told{text: "Yes"}},
		{name: "model, id, created and others of odd types", body: events(`{"id":5,"model":{"name":"x"},"created":"now","object":null,"choices":[{"index":null,"logprobs":"none","delta":{"role":7,"content":"Yes"}}]}`, stop), want: told{text: "Yes"}},
		{name: "finish_reason as an object", body: events(delta(`"content":"Yes"`), `{"choices":[{"delta":{},"finish_reason":{"type":"length"}}]}`), want: told{text: "Yes", stop: "length"}},
		{name: "an event that is no JSON", body: events(delta(`"content":"Ye"`), "keep-alive", delta(`"content":"s"`), "{broken", stop), want: told{text: "Yes"}},
		{name: "two events without an empty line", body: "data: " + delta(`"content":"Ye"`) + "\ndata: " + delta(`"content":"s"`) + "\n\n" + events(stop), want: told{text: "Yes"}},
		{name: "function_call", body: events(delta(`"function_call":{"name":"look","arguments":"{\"a\""}`), delta(`"function_call":{"arguments":":1}"}`), stopped("function_call")), want: told{calls: `* look {"a":1};`, stop: "toolUse"}},
		// source: platform.openai.com/docs/api-reference/chat/object, message.function_call (replaced by tool_calls)
		{name: "function_call and tool_calls", body: events(delta(`"function_call":{"name":"look","arguments":"{\"a\":1}"},"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"a\": 1}"}}]`), stopped("tool_calls")), want: told{calls: `a look {"a": 1};`, stop: "toolUse"}},
		{name: "function_call, then tool_calls", body: events(delta(`"function_call":{"name":"look","arguments":""}`), delta(`"function_call":{"arguments":"{}"}`), call(`"index":0,"id":"a","function":{"name":"look","arguments":"{}"}`), stopped("function_call")), want: told{calls: `a look {};`, stop: "toolUse"}},
		{name: "function_call and tool_calls, in pieces", body: events(delta(`"function_call":{"name":"look","arguments":""},"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":""}}]`), delta(`"function_call":{"arguments":"{\"a\":"},"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]`), delta(`"function_call":{"arguments":"1}"},"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]`), stopped("tool_calls")), want: told{calls: `a look {"a":1};`, stop: "toolUse"}},
		{name: "function_call and tool_calls, whole", body: `{"choices":[{"index":0,"message":{"content":null,"function_call":{"name":"look","arguments":"{}"},"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, want: told{calls: `a look {};`, stop: "toolUse"}},
		{name: "function_call and another call", body: events(delta(`"function_call":{"name":"look","arguments":"{\"a\":1}"},"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"a\":2}"}}]`), stopped("tool_calls")), want: told{calls: `* look {"a":1};a look {"a":2};`, stop: "toolUse"}},
		{name: "calls as one object", body: events(delta(`"tool_calls":{"id":"a","function":{"name":"look","arguments":"{}"}}`), stop), want: told{calls: `a look {};`, stop: "toolUse"}},
		{name: "name beside the id", body: events(delta(`"tool_calls":[{"id":"a","name":"look","arguments":{"a":1},"function":"look"}]`), stop), want: told{calls: `a look {"a":1};`, stop: "toolUse"}},
		{name: "interleaved at one index", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\":"}`), call(`"index":0,"id":"b","function":{"name":"look","arguments":"{\"m\":"}`),
			call(`"index":0,"id":"a","function":{"arguments":"1}"}`), call(`"index":0,"id":"b","function":{"arguments":"2}"}`), stop), want: told{calls: `a look {"n":1};b look {"m":2};`, stop: "toolUse"}},
		{name: "one id for two calls", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\":1}"}`), call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\":2}"}`), stop), want: told{calls: `a look {"n":1};a look {"n":2};`, stop: "toolUse"}},
		{name: "a call said twice", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\":1}"}`), `{"choices":[{"delta":{},"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{\"n\":1}"}}]},"finish_reason":"tool_calls"}]}`), want: told{calls: `a look {"n":1};`, stop: "toolUse"}},
		{name: "parallel without index", body: events(delta(`"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{}"}},{"id":"b","function":{"name":"list_x","arguments":"{}"}}]`), stop), want: told{calls: `a look {};b list_x {};`, stop: "toolUse"}},
		{name: "a name in pieces", body: events(call(`"index":0,"id":"a","function":{"name":"lo"}`), call(`"index":0,"function":{"name":"ok"}`), call(`"index":0,"function":{"arguments":"{}"}`), stop), want: told{calls: `a look {};`, stop: "toolUse"}},
		{name: "arguments that grow", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{\"a\""}`), call(`"index":0,"function":{"arguments":"{\"a\":1"}`), call(`"index":0,"function":{"arguments":"{\"a\":1}"}`), stop), want: told{calls: `a look {"a":1};`, stop: "toolUse"}},
		{name: "empty arguments first", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{}"}`), call(`"index":0,"function":{"arguments":"{\"a\":1}"}`), stop), want: told{calls: `a look {"a":1};`, stop: "toolUse"}},
		{name: "an empty call", body: events(delta(`"tool_calls":[{}]`), delta(`"content":"Yes"`), stop), want: told{text: "Yes"}},
		{name: "text that grows", body: events(delta(`"content":"The"`), delta(`"content":"The sky"`), delta(`"content":"The sky is blue"`), stop), want: told{text: "The sky is blue"}},
		{name: "text that grows, two pieces", body: events(delta(`"content":"The sky"`), delta(`"content":"The sky is blue"`), stop), want: told{text: "The sky is blue"}},
		{name: "reasoning that grows", body: events(delta(`"reasoning":"I"`), delta(`"reasoning":"I see"`), delta(`"reasoning":"I see it"`), delta(`"content":"Yes"`), stop), want: told{text: "Yes", thinking: "I see it"}},
		{name: "text that does not grow", body: events(delta(`"content":"ha"`), delta(`"content":"haha"`), delta(`"content":"ha!"`), stop), want: told{text: "hahahaha!"}},
		{name: "all again at the end", body: events(delta(`"content":"The sky is "`), delta(`"content":"blue, mostly."`), `{"choices":[{"delta":{"content":"The sky is blue, mostly."},"finish_reason":"stop"}]}`), want: told{text: "The sky is blue, mostly."}},
		{name: "all again as a message", body: events(delta(`"content":"The sky is "`), delta(`"content":"blue, mostly."`), `{"choices":[{"message":{"content":"The sky is blue, mostly."},"finish_reason":"stop"}]}`), want: told{text: "The sky is blue, mostly."}},
		{name: "messages as chunks", body: events(`{"choices":[{"message":{"content":"Ye"}}]}`, `{"choices":[{"message":{"content":"s"},"finish_reason":"stop"}]}`), want: told{text: "Yes"}},
		// source: docs.perplexity.ai/api-reference/chat-completions-post
		{name: "the whole so far beside the pieces", body: events(`{"choices":[{"delta":{"role":"assistant","content":""},"message":{"content":""}}]}`, `{"choices":[{"delta":{"content":"Yes"},"message":{"content":"Yes"}}]}`, `{"choices":[{"delta":{},"message":{"content":"Yes, or so"},"finish_reason":"stop"}]}`), want: told{text: "Yes"}},
		{name: "NDJSON", body: delta(`"content":"Ye"`) + "\n" + delta(`"content":"s"`) + "\n" + stop + "\n", want: told{text: "Yes"}},
		{name: "a list of chunks", body: "[" + delta(`"content":"Ye"`) + ",\n" + delta(`"content":"s"`) + "," + stop + "]", want: told{text: "Yes"}},
		{name: "whole, no reason", body: `{"choices":[{"message":{"content":"Yes"},"finish_reason":null}]}`, want: told{text: "Yes"}},
		{name: "legacy text", body: `{"choices":[{"text":"Yes","finish_reason":"stop"}]}`, want: told{text: "Yes"}},
		{name: "twice the reasoning", body: events(delta(`"reasoning":"hm","reasoning_content":"hm"`), delta(`"content":"Yes"`), stop), want: told{text: "Yes", thinking: "hm"}},
		{name: "reasoning_text", body: events(delta(`"reasoning_text":"hm"`), delta(`"content":"Yes"`), stop), want: told{text: "Yes", thinking: "hm"}},
		{name: "reasoning and tags", body: events(delta(`"content":"<thi"`), delta(`"content":"nk>hm</think>\n\nYes"`), stop), want: told{text: "Yes", thinking: "hm"}},
		{name: "lone closing tag", body: events(delta(`"content":"I should look"`), delta(`"content":"\n</think>\n\n"`), delta(`"content":"Yes"`), stop), want: told{text: "Yes", thinking: "I should look"}},
		// source: openclaw/openclaw#89473
		{name: "tags behind words", body: events(delta(`"content":"Hello\n<thi"`), delta(`"content":"nk>secret</think"`), delta(`"content":">\nthere"`), stop), want: told{text: "Hello\nthere", thinking: "secret"}},
		{name: "tags behind words, unclosed", body: events(delta(`"content":"Hello.<think>"`), delta(`"content":"secret"`), stop), want: told{text: "Hello.", thinking: "secret"}},
		{name: "tags in code", body: events(delta(`"content":"Write `+"`<think>a</think>`"+`."`), stop), want: told{text: "Write `<think>a</think>`."}},
		{name: "refusal", body: events(delta(`"refusal":"I will not."`), stop), want: told{text: "I will not."}},
		// source: QwenLM/Qwen3-Coder#475
		{name: "a call as text", body: events(delta(`"content":"I look.\n<tool_"`), delta(`"content":"call>\n<function=look>\n<parameter=q>\n5\n</parameter>\n</function>\n</tool_call>"`), stop), want: told{text: "I look.", calls: `* look {"q":"5"};`, stop: "toolUse"}},
		{name: "a call of another tool as text", body: events(delta(`"content":"<tool_call>{\"name\":\"other\",\"arguments\":{}}</tool_call>"`), stop), class: agent.Broken},
		{name: "a question about calls", body: events(delta(`"content":"Write `+"`<tool_call>{}</tool_call>`"+`."`), stop), want: told{text: "Write `<tool_call>{}</tool_call>`."}},

		{name: "finish: tool_use", body: events(call(`"index":0,"id":"a","function":{"name":"look","arguments":"{}"}`), stopped("tool_use")), want: told{calls: `a look {};`, stop: "toolUse"}},
		{name: "finish: end_turn", body: events(delta(`"content":"Yes"`), stopped("end_turn")), want: told{text: "Yes"}},
		{name: "finish: eos", body: events(delta(`"content":"Yes"`), stopped("eos")), want: told{text: "Yes"}},
		{name: "finish: max_tokens", body: events(delta(`"content":"Yes"`), stopped("max_tokens")), want: told{text: "Yes", stop: "length"}},
		{name: "finish: MAX_TOKENS", body: events(delta(`"content":"Yes"`), stopped("MAX_TOKENS")), want: told{text: "Yes", stop: "length"}},
		{name: "finish: model_length", body: events(delta(`"content":"Yes"`), stopped("model_length")), want: told{text: "Yes", stop: "length"}},
		{name: "finish: SAFETY", body: events(stopped("SAFETY")), want: told{stop: "filter"}},
		{name: "finish: content_filter: PROHIBITED_CONTENT", body: events(stopped("content_filter: PROHIBITED_CONTENT")), want: told{stop: "filter"}},
		{name: "finish: sensitive", body: events(stopped("sensitive")), want: told{stop: "filter"}},
		{name: "finish: MALFORMED_FUNCTION_CALL", body: events(stopped("function_call_filter: MALFORMED_FUNCTION_CALL")), class: agent.Overloaded},
		{name: "finish: insufficient_system_resource", body: events(delta(`"content":"Ye"`), stopped("insufficient_system_resource")), class: agent.Overloaded},
		{name: "finish: error", body: events(delta(`"content":"Ye"`), stopped("error")), class: agent.Broken},
		{name: "finish: stop, native malformed", body: events(`{"choices":[{"delta":{},"finish_reason":"stop","native_finish_reason":"MALFORMED_FUNCTION_CALL"}]}`), class: agent.Overloaded},

		{name: "error inside of a choice", body: events(delta(`"content":"Ye"`), `{"choices":[{"delta":{"content":""},"error":{"code":502,"message":"Upstream idle"},"finish_reason":"error"}]}`), class: agent.Overloaded},
		{name: "error event", body: "event: error\ndata: {\"message\":\"the model runner has unexpectedly stopped\"}\n\n", class: agent.Broken},
		{name: "error as a text event", body: "event: error\ndata: Overloaded\n\n", class: agent.Broken},
		{name: "error without its name", body: events(`{"object":"error","message":"slow down","code":429}`), class: agent.RateLimited},
		{name: "detail", body: `{"detail":"Internal Server Error"}`, class: agent.Broken},
		{name: "an error line among events", body: events(delta(`"content":"Ye"`)) + `{"error":{"message":"overloaded","code":503}}` + "\n", class: agent.Overloaded},
		{name: "groq's error", body: events(`{"choices":[],"x_groq":{"error":"over capacity"}}`), class: agent.Broken},
		{name: "a web page", body: "<!DOCTYPE html><html><body>Sign in</body></html>", class: agent.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []string{"text/event-stream", "application/json", "text/plain; charset=utf-8", ""} {
				m := against(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Content-Type"] = []string{kind}
					_, _ = w.Write([]byte(c.body)) // the client says what is missing
				}, Config{})
				var got told
				var shown, thoughts string
				var failed *agent.ModelError
				p := agent.Prompt{Model: "m", Tools: specs, Tries: 1, Messages: []sessions.Message{user(textBlock("hi"))}}
				for d, err := range m.Stream(t.Context(), p) {
					if err != nil {
						failed, _ = errors.AsType[*agent.ModelError](err)
						break
					}
					if d.Restart {
						shown, thoughts = "", ""
					}
					shown, thoughts = shown+d.Text, thoughts+d.Thinking
					if d.Final != nil {
						got = toldOf(d.Final)
					}
				}
				if c.class != "" {
					if failed == nil || failed.Class != c.class {
						t.Fatalf("%q: %+v, %v", kind, got, failed)
					}
					continue
				}
				if c.want.stop == "" {
					c.want.stop = agent.StopEnd
				}
				if failed != nil || got != c.want {
					t.Fatalf("%q: %+v, %v\nwant %+v", kind, got, failed, c.want)
				}
				if strings.TrimSpace(shown) != got.text || thoughts != got.thinking {
					t.Errorf("shown %q and %q, stored %+v", shown, thoughts, got)
				}
			}
		})
	}
}

// TestGoesBack: what a provider wants back with a step goes back as it came, to where it came from, and to nobody else.
func TestGoesBack(t *testing.T) {
	t.Parallel()
	delta := func(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }
	const called = `"tool_calls":[{"index":0,"id":"functions.look:0","type":"function","function":{"name":"look","arguments":"{}"}}]`
	big := strings.Repeat("x", sessions.MaxOpaque/2)
	for _, c := range []struct {
		name, body, has, not string
	}{
		// source: api-docs.deepseek.com/guides/thinking_mode, openclaw#71455
		{"reasoning_content", events(delta(`"reasoning_content":"I should look…"`), delta(called), stopped("tool_calls")), `"content":null,"reasoning_content":"I should look…","tool_calls":[{"type":"function","id":"functions.look:0"`, ""},
		{"reasoning", events(delta(`"reasoning":"hm"`), delta(called), stopped("tool_calls")), `"reasoning":"hm"`, "reasoning_content"},
		{"reasoning_text", events(delta(`"reasoning_text":"hm"`), delta(called), stopped("tool_calls")), `"reasoning_text":"hm"`, "reasoning_content"},
		{"no tools, no reasoning", events(delta(`"reasoning_content":"hm"`), delta(`"content":"Yes"`), stopped("stop")), `"content":"Yes"`, "hm"},
		// source: anomalyco/opencode#8900
		{"reasoning_opaque", events(delta(`"reasoning_text":"hm"`), delta(`"reasoning_opaque":"abc=="`), delta(called), stopped("tool_calls")), `"reasoning_text":"hm","reasoning_opaque":"abc==","tool_calls"`, "reasoning_content"},
		{"reasoning_opaque alone", events(delta(`"reasoning_opaque":"abc=="`), delta(called), stopped("tool_calls")), `"content":null,"reasoning_opaque":"abc==","tool_calls"`, "reasoning_text"},
		// source: openrouter.ai/docs/use-cases/reasoning-tokens
		{"reasoning_details", events(
			delta(`"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","format":"anthropic-claude-v1","index":0}]`),
			delta(`"reasoning":"see","reasoning_details":[{"type":"reasoning.text","text":"see","format":"anthropic-claude-v1","index":0}]`),
			delta(`"reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"anthropic-claude-v1","index":0,"text":""}]`),
			delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"abc","id":"tool_0","index":1},{"type":"reasoning.encrypted","data":"def","id":"tool_1","index":1}]`),
			delta(called), stopped("tool_calls")),
			`"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"sig","text":"I see","type":"reasoning.text"},{"type":"reasoning.encrypted","data":"abc","id":"tool_0","index":1},{"type":"reasoning.encrypted","data":"def","id":"tool_1","index":1}]`, `"reasoning":`},
		// source: agno-agi/agno#5802, OpenRouterTeam/ai-sdk-provider#423
		{"a signature in a piece without a text", events(
			delta(`"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","format":"anthropic-claude-v1","index":0}]`),
			delta(`"reasoning":"see","reasoning_details":[{"type":"reasoning.text","text":"see","format":"anthropic-claude-v1","index":0}]`),
			delta(`"reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"anthropic-claude-v1","index":0}]`),
			delta(`"reasoning_details":[{"type":"reasoning.text","text":"Next","format":"anthropic-claude-v1","index":1}]`),
			delta(`"reasoning_details":[{"type":"reasoning.text","signature":"other","format":"anthropic-claude-v1","index":1}]`),
			delta(called), stopped("tool_calls")),
			`"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"sig","text":"I see","type":"reasoning.text"},{"format":"anthropic-claude-v1","index":1,"signature":"other","text":"Next","type":"reasoning.text"}]`, `"reasoning":`},
		{"encrypted only", events(delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"abc"}]`), delta(called), stopped("tool_calls")), `"reasoning_details":[{"type":"reasoning.encrypted","data":"abc"}]`, ""},
		// source: ai.google.dev/gemini-api/docs/thought-signatures
		{"gemini's call", events(`{"choices":[{"delta":{"tool_calls":[{"id":"functions.look:0","type":"function","function":{"name":"look","arguments":"{}"},"extra_content":{"google":{"thought_signature":"CpQB"}}}]}}]}`, stopped("stop")), `"id":"functions.look:0","extra_content":{"google":{"thought_signature":"CpQB"}},"function"`, "skip_thought"},
		{"gemini's text", events(delta(`"content":"Yes","extra_content":{"google":{"thought_signature":"CpQB"}}`), stopped("stop")), `"content":"Yes","extra_content":{"google":{"thought_signature":"CpQB"}}`, ""},
		{"gemini's whole answer", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"functions.look:0","function":{"name":"look","arguments":"{}"},"extra_content":{"google":{"thought_signature":"CpQB"}}}]},"finish_reason":"tool_calls"}]}`, `"extra_content":{"google":{"thought_signature":"CpQB"}}`, ""},
		// source: MiniMaxAI/MiniMax-M2 model card: the history keeps its tags
		{"tags", events(delta(`"content":"<think>\nhm\n</think>\n\nI look."`), delta(called), stopped("tool_calls")), `"content":"<think>\nhm\n</think>\n\nI look.","tool_calls"`, "reasoning_content"},
		{"tags, nothing else", events(delta(`"content":"<think>hm</think>"`), delta(called), stopped("tool_calls")), `"content":"<think>hm</think>","tool_calls"`, "reasoning_content"},
		{"tags behind words", events(delta(`"content":"I look.\n<think>hm</think>\nNow."`), delta(called), stopped("tool_calls")), `"content":"<think>hm</think>I look.\nNow.","tool_calls"`, "reasoning_content"},
		{"tags behind words, unclosed", events(delta(`"content":"I look.\n<think>hm"`), delta(called), stopped("tool_calls")), `"content":"<think>hm</think>I look.\n","tool_calls"`, "reasoning_content"},
		// source: docs.mistral.ai/capabilities/reasoning
		{"parts", events(delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`), delta(`"content":"Yes"`), stopped("stop")), `"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Yes"}]`, "reasoning_content"},
		{"too much is dropped whole", events(delta(`"reasoning_content":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"`+big+`"}]`), delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"y`+big+`"}]`), delta(called), stopped("tool_calls")), `"reasoning_content":"hm"`, "reasoning_details"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &picky{answer: c.body}
			m := against(t, e.ServeHTTP, Config{})
			p := agent.Prompt{Model: "m", Tools: specs, Messages: []sessions.Message{user(textBlock("hi"))}}
			a, err := answer(t, m, p)
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for i, b := range a.Content {
				if b.Opaque == nil {
					continue
				}
				size += len(b.Opaque.Data)
				raw, err := json.Marshal(b.Opaque) // as a store gives it back
				if err != nil {
					t.Fatal(err)
				}
				a.Content[i].Opaque = new(sessions.Opaque)
				if err := json.Unmarshal(raw, a.Content[i].Opaque); err != nil {
					t.Fatal(err)
				}
			}
			if size > sessions.MaxOpaque {
				t.Errorf("%d bytes of opaque data", size)
			}
			p.Messages = append(p.Messages, sessions.Message{Role: sessions.Assistant, Model: "mock/m", Content: a.Content})
			for _, call := range (sessions.Message{Content: a.Content}).ToolCalls() {
				p.Messages = append(p.Messages, sessions.Message{Role: sessions.ToolResult, ToolCallID: call.ID, Content: sessions.TextContent("found")})
			}
			p.Messages = append(p.Messages, user(textBlock("and?")))
			if _, err := answer(t, m, p); err != nil {
				t.Fatal(err)
			}
			if sent := e.last(); !strings.Contains(sent, c.has) || c.not != "" && strings.Contains(sent, c.not) || !json.Valid([]byte(sent)) {
				t.Errorf("sent %.3000s\nwant %s, not %s", sent, c.has, c.not)
			}
			p.Model = "another"
			if _, err := answer(t, m, p); err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"hm", "CpQB", "abc", "functions.look:0", "reasoning", "extra_content"} {
				if strings.Contains(e.last(), part) {
					t.Errorf("another model was sent %s: %.3000s", part, e.last())
				}
			}
		})
	}
}

// TestLongReasoning: 64k tokens of reasoning pass, whatever their framing weighs; what is kept is bounded.
// source: api-docs.deepseek.com/guides/reasoning_model
func TestLongReasoning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		thought string
		chunks  int
		cut     bool
	}{"64k tokens": {"thought ", 20_000, false}, "more than is kept": {strings.Repeat("thought ", 1000), 600, true}} {
		piece := `{"id":"` + strings.Repeat("i", 300) + `","choices":[{"index":0,"delta":{"reasoning_content":"` + c.thought + `"}}]}`
		e := &picky{answer: strings.Repeat("data: "+piece+"\n\n", c.chunks) + events(`{"choices":[{"delta":{"content":"Yes"}}]}`, stopped("stop"))}
		a, err := answer(t, against(t, e.ServeHTTP, Config{}), agent.Prompt{Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		got := toldOf(a)
		if got.text != "Yes" || !c.cut && len(got.thinking) != len(c.thought)*c.chunks || strings.HasSuffix(got.thinking, thinkingCut) != c.cut ||
			len(got.thinking) > maxThinking+len(thinkingCut) || len(e.answer) < 4<<20 {
			t.Errorf("%s: %q, %d bytes of reasoning, %d on the wire", name, got.text, len(got.thinking), len(e.answer))
		}
	}
}

// TestPassingFailures: a call that a model wrote badly is no reason to offer no tools any more.
// source: agno-agi/agno#4090, ollama/ollama#17638
func TestPassingFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
	}{
		{200, events(`{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed"}}`)},
		{500, `{"error":{"message":"error parsing tool call: raw='{\"limit\":5' , err=unexpected end of JSON input"}}`},
	} {
		failed := false
		e := &picky{refuse: func(string) (int, string) {
			if failed {
				return 0, ""
			}
			failed = true
			return c.status, c.body
		}}
		if _, err := answer(t, against(t, e.ServeHTTP, Config{}), agent.Prompt{Model: "m", Tools: specs}); err != nil || len(e.raw) != 2 || !strings.Contains(e.last(), `"tools"`) {
			t.Errorf("%v, sent %s", err, e.raw)
		}
	}
}

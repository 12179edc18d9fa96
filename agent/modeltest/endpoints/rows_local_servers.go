package endpoints

import (
	"net/http"
	"strings"
)

// localServers are behaviours of 2026 that the trackers of servers tell of.
var localServers = []Row{
	{ID: "minimax-m3-tool-call-markup", Vendor: "MiniMax by a gateway", Source: "MiniMax-AI/MiniMax-M3#31", Model: "minimax-m3", Does: "writes a call in tags with its name in brackets in front, each parameter as a tag of its own", Wire: plainWire, Mind: markup(func(k ToolCall) string {
		const mark = "]<]minimax[>["
		return mark + "<tool_call>\n" + mark + "<invoke name=\"" + k.Name + "\">" + mark + "<limit>5" + mark + "</limit>" + mark + "</invoke>\n" + mark + "</tool_call>"
	})},
	{ID: "minimax-m3-markup-behind-words", Vendor: "MiniMax by a gateway", Source: "MiniMax-AI/MiniMax-M3#31", Model: "minimax-m3", Does: "writes its call right behind a sentence, on the same line", Wire: plainWire, Mind: func(c *Call) Say {
		s := wordThenCall(c)
		if len(s.Calls) > 0 {
			const mark = "]<]minimax[>["
			s.Text, s.Calls = s.Text+mark+"<tool_call>\n"+mark+"<invoke name=\""+s.Calls[0].Name+"\">"+mark+"<limit>5"+mark+"</limit>"+mark+"</invoke>\n"+mark+"</tool_call>", nil
		}
		return s
	}},
	{ID: "gemma-4-tool-call-markup", Vendor: "oMLX", Source: "jundot/omlx#581", Model: "gemma-4-26b-a4b", Does: "writes a call with the word call, a name and pairs in braces", Wire: plainWire, Mind: markup(func(k ToolCall) string {
		return "<|tool_call>call:" + k.Name + "{limit:5}<tool_call|>"
	})},
	{ID: "gemma-4-quoted-markup", Vendor: "vLLM", Source: "vllm-project/vllm#44522", Model: "google/gemma-4-31B-it", Does: "writes a call whose texts stand between marks instead of quotes", Wire: plainWire, Mind: markup(func(k ToolCall) string {
		return "<|tool_call>call:" + k.Name + "{search:<|\"|><|\"|>,limit:5}<tool_call|>"
	})},
	{ID: "lfm2-tool-call-markup", Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#23838", Model: "LFM2.5-8B-A1B", Does: "writes a call as a list of Python calls between marks", Wire: plainWire, Mind: markup(func(k ToolCall) string {
		return "<|tool_call_start|>[" + k.Name + "(limit=5)]<|tool_call_end|>"
	})},
	{ID: "muse-glimmer-function-calls", Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#29240", Model: "Muse-Glimmer-30B", Does: "writes a call in tags of a name space behind the header of a channel", Wire: plainWire, Mind: markup(func(k ToolCall) string {
		return " to=" + k.Name + "<|message|><atem:function_calls>\n<atem:invoke name=\"" + k.Name + "\">\n<atem:parameter name=\"limit\">5</atem:parameter>\n</atem:invoke>\n</atem:function_calls>"
	})},
	{ID: "glm-arg-key-tags", Vendor: "SGLang", Source: "sgl-project/sglang#30925", Model: "zai-org/GLM-5.2", Does: "writes a call as a name with keys and values in tags", Wire: plainWire, Mind: markup(func(k ToolCall) string {
		return "<tool_call>" + k.Name + "\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>"
	})},
	{ID: "llamacpp-not-peg-native", Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#27025", Model: "Muse-Glimmer-30B", Does: "answers 500 when its model wrote a call in a form that it does not expect; the same request usually works", Fails: []Failure{failOnce(useTool, llama(500, "server_error", "The model produced output that does not match the expected peg-native format"))}},
	{ID: "llamacpp-tool-call-in-a-parse-error", Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#24644", Model: "qwen3.6-27b", Does: "quotes the whole call in the error about its form, after the first words", Fails: []Failure{failOnce(useTool, stream(someText, `{"error":{"code":500,"message":"Failed to parse input at pos 1360: <tool_call>\n<function=sessions_list>\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>","type":"server_error"}}`))}},
	{ID: "ollama-xml-syntax-error", Vendor: "Ollama", Source: "ollama/ollama#16810", Model: "qwen3.5:27b", Does: "answers 500 to tags of a call that its model nested wrongly", Fails: []Failure{failOnce(useTool, ollama(500, "XML syntax error on line 8: element <function> closed by </parameter>"))}},
	{ID: "ollama-xml-error-in-the-stream", Vendor: "Ollama", Source: "ollama/ollama#17276", Model: "qwen3-coder:30b", Does: "sends the error about nested tags as an event", Fails: []Failure{failOnce(useTool, stream(someText, `{"error":{"message":"XML syntax error on line 12: element <parameter> closed by </function>","type":"api_error","param":null,"code":null}}`))}},
	{ID: "ollama-unexpected-end-of-json", Vendor: "Ollama", Source: "ollama/ollama#14492", Model: "qwen3.5:35b", Does: "answers 500 to a call whose JSON its model did not end", Fails: []Failure{failOnce(useTool, ollama(500, "failed to parse JSON: unexpected end of JSON input"))}},
	{ID: "ollama-expected-element-type", Vendor: "Ollama", Source: "continuedev/continue#10896", Model: "qwen3.6:27b", Does: "answers 500 that an element has another type", Fails: []Failure{failOnce(useTool, ollama(500, "expected element type <function> but have <parameter>"))}},
	{ID: "vllm-engine-dead-in-the-stream", Vendor: "vLLM", Source: "vllm-project/vllm#42363", Model: "moonshotai/Kimi-K2.6", Does: "sends the death of its engine as an event after the first words", Fails: []Failure{failOnce(hello, stream(someText, `{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","param":null,"code":500}}`, "[DONE]"))}},
	{ID: "vllm-tool-calls-without-calls", Vendor: "vLLM", Source: "vllm-project/vllm#53363", Model: "RedHatAI/gemma-4-26B-A4B-it-FP8-dynamic", Does: "ends with the reason tool_calls a text without calls", Mind: func(c *Call) Say {
		s := Usual(c)
		s.Finish = "tool_calls"
		return s
	}},
	{ID: "vllm-tool-calls-without-calls-whole", Vendor: "vLLM", Source: "vllm-project/vllm#53363", Model: "RedHatAI/gemma-4-26B-A4B-it-FP8-dynamic", Does: "has an empty list of calls and the reason tool_calls in an answer that is no stream", Wire: ChatWire{Whole: true, Answer: emptyCalls}.Wire()},
	{ID: "sglang-abort", Vendor: "SGLang", Source: "sgl-project/sglang#19357", Model: "zai-org/GLM-5.2", Does: "ends a stream with the reason abort after the first words", Fails: []Failure{failOnce(hello, stream(someText, `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":""},"finish_reason":"abort","matched_stop":null}]}`, "[DONE]"))}},
	{ID: "sglang-abort-in-a-whole-answer", Vendor: "SGLang", Source: "sgl-project/sglang#6693", Model: "zai-org/GLM-5.2", Does: "has the reason abort and half a text in an answer that is no stream", Fails: []Failure{failOnce(hello, raw(200, `{"id":"x","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"A draft that"},"finish_reason":"abort"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`))}},
	{ID: "vertex-thought-signature", Vendor: "Vertex", Source: "earendil-works/pi#7745", Path: "/v1/projects/p/locations/global/endpoints/openapi", Model: "google/gemini-3.5-flash", Does: "has the signature of a call under vertex, and wants it back there", Wire: ChatWire{Edit: sealedFor("vertex")}.Wire(), Mind: plainly, Checks: []Check{signedBack("vertex")}},
	{ID: "bedrock-gpt-oss-unknown-field", Vendor: "Bedrock", Source: "BerriAI/litellm#13959", Model: "openai.gpt-oss-120b-1:0", Config: "temperature: 0.5", Does: "names the field that it does not know, and then all those that it knows", Checks: []Check{refuseParam("temperature", message(400, "The model returned the following errors: Failed to deserialize the JSON body into the target type: temperature: unknown field `temperature`, expected one of `messages`, `model`, `store`, `reasoning_effort`, `metadata`, `max_tokens`, `max_completion_tokens`, `n`, `response_format`, `seed`, `service_tier`, `stop`, `stream`, `stream_options`, `top_p`, `tools`, `tool_choice`, `parallel_tool_calls`, `user`, `function_call`, `functions` at line 1 column 445"))}, Want: Expectation{Refused: 1, Sends: []string{`"stream_options"`, `"tools"`}}},
	{ID: "minimax-arguments-must-be-json", Vendor: "MiniMax", Source: "ResearAI/DeepScientist#48", Model: "MiniMax-M2.7", Does: "refuses a history with arguments that are no JSON, although its model wrote them", Mind: brokenFirst, Checks: []Check{jsonArguments}},
	{ID: "minimax-no-system-role", Vendor: "MiniMax", Source: "BigPizzaV3/CodexPlusPlus#267", Model: "MiniMax-M2.7", Does: "takes no message with the role system", Checks: []Check{func(c *Call) *Refusal {
		for _, m := range objects(c.Body["messages"]) {
			if str(m["role"]) == "system" || str(m["role"]) == "developer" {
				return raw(400, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, chat content has invalid message role: system (2013)","http_code":"400"},"request_id":"0660b098aa1e9dd5a6773a48c479fc89"}`)
			}
		}
		return nil
	}}, Want: learns},
}

// emptyCalls gives each text an empty list of calls and the reason tool_calls.
func emptyCalls(_ *Call, whole obj) {
	choice := objects(whole["choices"])[0]
	m := choice["message"].(obj)
	if _, there := m["tool_calls"]; !there {
		m["tool_calls"] = list{}
	}
	choice["finish_reason"] = "tool_calls"
}

// sealedFor signs the first call of an answer under a name.
func sealedFor(name string) func(*Call, *Piece) {
	return func(c *Call, p *Piece) {
		for _, k := range p.calls() {
			if id := str(k["id"]); id != "" {
				k["extra_content"] = obj{name: obj{"thought_signature": c.memory.opaque(id)}}
			}
		}
	}
}

// signedBack wants the signatures of sealedFor back where they stood.
func signedBack(name string) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			for _, k := range m.Calls {
				extra, _ := k.Raw["extra_content"].(obj)
				own, _ := extra[name].(obj)
				if of, ok := c.memory.owner(str(own["thought_signature"])); c.memory.ours(k.ID) && (!ok || of != k.ID) {
					return google(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call `default_api:%s`.", k.Name)
				}
			}
		}
		return nil
	}
}

// brokenFirst writes arguments that are no JSON in its first call, and whole ones when it is told so.
func brokenFirst(c *Call) Say {
	s := untilItWorks(c)
	if len(s.Calls) > 0 && c.memory.times("broken arguments") == 0 {
		s.Calls[0].Args = `{"limit": 5, "kinds": [`
	}
	return s
}

// untilItWorks makes the call once more when its result names no session.
func untilItWorks(c *Call) Say {
	s := plainly(c)
	if c.Last().Role == "tool" && !strings.Contains(c.Last().Text, sessionMark) && c.Made() < 2 {
		s.Text, s.Calls = "", calls(c, "use the tool")
	}
	return s
}

// jsonArguments refuses arguments that are no JSON object.
func jsonArguments(c *Call) *Refusal {
	for _, m := range c.Messages {
		for _, k := range m.Calls {
			if !isObject(k.Args) {
				return raw(http.StatusBadRequest, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, invalid function arguments json string, tool_call_id: `+k.ID+` (2013)","http_code":"400"},"request_id":"062a66d39255cef5e797c7af9cd059fe"}`)
			}
		}
	}
	return nil
}

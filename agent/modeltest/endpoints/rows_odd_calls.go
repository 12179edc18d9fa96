package endpoints

import "strings"

// askedWithNulls is a call of optionalTool's tool odd with null for all that only strict mode requires.
const askedWithNulls = `{"mode":null,"deep":{"n":null}}`

// withNulls calls that tool as strict mode has it written, and says what arrived.
func withNulls(c *Call) Say {
	return callingWith("odd_odd", askedWithNulls, func(m Message) string {
		if strings.Contains(m.Text, `{"deep":{}}`) {
			return "The tool names a session."
		}
		return "It arrived otherwise: " + m.Text
	})(c)
}

// callsAs writes the list of calls in another form.
func callsAs(form func(calls []obj) any) Wire {
	return ChatWire{AtOnce: true, Edit: func(_ *Call, p *Piece) {
		if calls := p.calls(); len(calls) > 0 {
			p.delta()["tool_calls"] = form(calls)
		}
	}}.Wire()
}

// bundled puts the calls of the usual model into one of multi_tool_use.parallel.
func bundled(c *Call) Say {
	s := Usual(c)
	if len(s.Calls) == 0 {
		return s
	}
	var uses list
	for _, k := range s.Calls {
		uses = append(uses, obj{"recipient_name": "functions." + k.Name, "parameters": rawJSON(k.Args)})
	}
	s.Calls = []ToolCall{{Name: "multi_tool_use.parallel", Args: encode(obj{"tool_uses": uses})}}
	return s
}

// otherItems changes each item of a Responses answer that is a call.
func otherItems(change func(item obj)) Wire {
	return ResponsesWire{Whole: true, Status: func(_ *Call, response obj) {
		items, _ := response["output"].([]obj)
		for _, item := range items {
			if item["type"] == "function_call" {
				change(item)
			}
		}
	}}.Wire()
}

// oddCalls are endpoints whose calls have other forms than the API's own, and models that write them so.
var oddCalls = []Row{
	{ID: "calls-as-json-texts", Vendor: "a proxy of GLM", Source: "mistralai/mistral-vibe#271", Does: "gives each call as JSON in a text", Wire: callsAs(func(calls []obj) any {
		var out list
		for _, k := range calls {
			out = append(out, encode(k))
		}
		return out
	})},
	{ID: "function-as-a-json-text", Vendor: "a proxy of GLM", Source: "mistralai/mistral-vibe#271", Does: "gives the function of each call as JSON in a text", Wire: reshaped(func(k, f obj) obj {
		return obj{"index": k["index"], "id": k["id"], "type": "function", "function": encode(f)}
	})},
	{ID: "custom-calls", Vendor: "OpenAI", Source: "openai/openai-node#2023", Does: "gives a call as one of a custom tool", Wire: reshaped(func(k, f obj) obj {
		return obj{"index": k["index"], "id": k["id"], "type": "custom", "custom": obj{"name": f["name"], "input": f["arguments"]}}
	})},
	{ID: "bedrock-calls-in-content", Vendor: "a gateway of Bedrock", Source: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html", Does: "gives calls as blocks of the content, as Bedrock has them", Wire: ChatWire{AtOnce: true, Edit: func(_ *Call, p *Piece) {
		var blocks list
		for _, k := range p.calls() {
			blocks = append(blocks, obj{"toolUse": obj{"toolUseId": k["id"], "name": function(k)["name"], "input": rawJSON(str(function(k)["arguments"]))}})
		}
		if blocks != nil {
			p.delta()["content"] = blocks
			delete(p.delta(), "tool_calls")
		}
	}}.Wire()},
	{ID: "multi-tool-use-parallel", Vendor: "OpenAI", Source: "https://community.openai.com/t/model-tries-to-call-unknown-function-multi-tool-use-parallel/490653", Does: "writes its calls as one of a tool that it was not offered", Mind: bundled, Wire: ChatWire{AtOnce: true}.Wire()},
	{ID: "responses-multi-tool-use-parallel", API: Responses, Vendor: "OpenAI", Source: "Azure/azure-rest-api-specs#32329", Does: "writes its calls as one of a tool that it was not offered", Mind: bundled},
	{ID: "name-with-mcp-in-front", Vendor: "any", Source: "code-yeongyu/oh-my-openagent#3035", Does: "writes mcp_ in front of the name of a tool", Mind: renamed(func(n string) string { return "mcp_" + n })},
	{ID: "name-of-parley-as-a-server", Vendor: "Claude", Source: "anomalyco/opencode#33533", Does: "names tools as those of a server are named elsewhere", Mind: renamed(func(n string) string { return "mcp__parley__" + n })},
	{ID: "name-with-two-numbers", Vendor: "Kimi", Source: "monotykamary/pi-tool-repair#4", Model: "kimi-k2", Does: "writes two numbers behind the name of a tool", Mind: renamed(func(n string) string { return n + "_1_234456789" })},
	{ID: "server-left-out-of-a-name", Vendor: "GLM", Source: "NousResearch/hermes-agent#61336", Model: "glm-5", Does: "leaves the server out of the name of its tool", Tools: []ToolSpec{{"recall_all", `{"type":"object"}`}}, Mind: calling("recall_all", func(m Message) string {
		if m.Text == "nothing" {
			return "The tool names a session."
		}
		return "It said: " + m.Text
	})},
	{ID: "line-ends-between-arguments", Vendor: "Qwen", Source: "OpenHands/software-agent-sdk#2488", Model: "qwen3.5-flash", Does: "writes line ends between arguments as a backslash and a letter", Wire: ChatWire{AtOnce: true}.Wire(), Mind: rewritten(func(string) string { return `{"limit": \n5\n\n}` })},
	{ID: "comments-in-arguments", Vendor: "a local model", Source: "https://github.com/josdejong/jsonrepair", Does: "writes comments into arguments", Wire: ChatWire{AtOnce: true}.Wire(), Mind: rewritten(func(string) string { return "// all of them\n{\"limit\": 5, /* at most */}" })},
	{ID: "sentences-around-arguments", Vendor: "a local model", Source: "https://js.langchain.com/docs/how_to/output_parser_json/", Does: "writes sentences around arguments", Wire: ChatWire{AtOnce: true}.Wire(), Mind: rewritten(func(a string) string { return "Here are the arguments:\n" + a + "\nThat is all." })},
	{ID: "responses-custom-calls", API: Responses, Vendor: "a gateway", Source: "BerriAI/litellm#20041", Does: "gives calls as those of custom tools", Wire: otherItems(func(item obj) {
		item["type"], item["input"] = "custom_tool_call", item["arguments"]
		delete(item, "arguments")
	})},
	{ID: "responses-calls-of-chat", API: Responses, Vendor: "a gateway", Source: "acon96/home-llm#349", Does: "gives calls as chat completions have them", Wire: otherItems(func(item obj) {
		item["function"] = obj{"name": item["name"], "arguments": item["arguments"]}
		delete(item, "name")
		delete(item, "arguments")
	})},
	{ID: "nulls-of-strict-mode", Vendor: "OpenAI", Source: "coder/xum#4206", Does: "takes strict schemas only, and writes null for what is optional", Tools: optionalTool, Results: map[string]string{"odd": `{"content":[{"type":"text","text":"{arguments}"}]}`}, Mind: withNulls, Checks: []Check{eachSchema(alwaysStrict, firstBad)}, Want: nullable},
}

// strictNulls are the same with the other APIs.
var strictNulls = []Row{
	{ID: "nulls-of-strict-mode-at-responses", API: Responses, Vendor: "OpenAI", Source: "Gitlawb/openclaude#1266", Does: "takes strict schemas only, and writes null for what is optional", Tools: optionalTool, Results: map[string]string{"odd": `{"content":[{"type":"text","text":"{arguments}"}]}`}, Mind: withNulls, Checks: []Check{eachSchema(alwaysStrict, firstBad)}, Want: Expectation{Refused: 1, Sends: nullable.Sends}},
	{ID: "nulls-of-strict-mode-at-messages", API: Messages, Vendor: "a gateway", Source: "coder/xum#4206", Does: "takes strict schemas only, and writes null for what is optional", Tools: optionalTool, Results: map[string]string{"odd": `{"content":[{"type":"text","text":"{arguments}"}]}`}, Mind: withNulls, Checks: []Check{eachSchema(alwaysStrict, func(place int, _, what string) *Refusal {
		return claude(400, "invalid_request_error", "tools.%d.custom.input_schema: %s", place, what)
	})}, Want: Expectation{Refused: 1, Sends: nullable.Sends}},
}

package endpoints

// pydanticUnions is where the role of a message is a part of its place in an error.
const pydanticUnions = "https://docs.pydantic.dev/latest/concepts/unions/#discriminated-unions"

// results refuses each result of a tool that objects gives a refusal for, with its place in the list.
func results(refuses func(i int, m obj) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			if str(m["role"]) == "tool" {
				if no := refuses(i, m); no != nil {
					return no
				}
			}
		}
		return nil
	}
}

// unnamed is results of those without the name of their tool.
func unnamed(no func(i int) *Refusal) Check {
	return results(func(i int, m obj) *Refusal {
		if str(m["name"]) != "" {
			return nil
		}
		return no(i)
	})
}

// withTools refuses requests without tools too: an endpoint that has them keeps them.
func withTools(check Check) []Check {
	return []Check{check, wants("tools", invalid(nil, nil, "a turn without tools"))}
}

// withStatus wants the status of calls.
func withStatus(c *Call) *Refusal {
	for i, item := range objects(c.Body["input"]) {
		if str(item["type"]) == "function_call" && item["status"] == nil {
			return fastAPI("missing", list{"body", "input", i, "function_call", "status"}, "Field required", obj{})
		}
	}
	return nil
}

// toolAt refuses a tool by its place in the list.
func toolAt(tool string, no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, name := range c.Tools {
			if name == tool {
				return no(i)
			}
		}
		return nil
	}
}

// odd refuses the last tool of oddTools in words that do not name it. Its turns cost at most so many refused requests.
func odd(id string, api API, vendor, source, does string, refused int, no *Refusal) Row {
	return Row{ID: id, API: api, Vendor: vendor, Source: source, Does: does, Tools: oddTools, Checks: withTools(refuseToolName("odd", no)), Want: Expectation{Refused: refused}}
}

// misread are endpoints whose refusals have a word for a part of a request that they are not about.
var misread = []Row{
	{ID: "name-of-a-result-under-its-role", Vendor: "a FastAPI server", Source: pydanticUnions, Does: "wants the name of a result's tool, and has the role of the message in the place of the error",
		Checks: withTools(unnamed(func(i int) *Refusal {
			return fastAPI("missing", list{"body", "messages", i, "tool", "name"}, "Field required", obj{})
		})), Want: Expectation{Refused: 1, Sends: []string{`"role":"tool"[^}]*"name":|"name":[^}]*"role":"tool"`}}},
	{ID: "name-of-a-result-behind-arrows", Vendor: "a FastAPI server", Source: pydanticUnions, Does: "wants the name of a result's tool, and has arrows in the place of the error",
		Checks: withTools(unnamed(func(i int) *Refusal {
			return detail(422, "body -> messages -> %d -> tool -> name: Field required", i)
		})), Want: Expectation{Refused: 1}},
	{ID: "result-that-is-no-string", Vendor: "a FastAPI server", Source: pydanticUnions, Does: "reads no result of a tool, and has its role in the place of the error",
		Checks: withTools(results(func(i int, _ obj) *Refusal {
			return fastAPI("string_type", list{"body", "messages", i, "tool", "content", "str"}, "Input should be a valid string", "x")
		})), Want: Expectation{Refused: 2}},
	{ID: "result-of-200-characters", Vendor: "a FastAPI server", Source: pydanticUnions, Does: "takes short results of tools only, and has their role in the place of the error",
		Checks: withTools(results(func(i int, m obj) *Refusal {
			if len(str(m["content"])) <= 20 {
				return nil
			}
			return fastAPI("string_too_long", list{"body", "messages", i, "tool", "content"}, "String should have at most 20 characters", "x")
		})), Want: Expectation{Refused: 2}},
	{ID: "status-of-a-call-under-its-type", API: Responses, Vendor: "a FastAPI server", Source: pydanticUnions, Does: "wants the status of calls, and has the type of the item in the place of the error",
		Checks: withTools(withStatus), Want: Expectation{Refused: 1, Sends: []string{`"status":"completed"`}}},

	odd("invalid-tool-definition", Chat, "Mesh LLM", "Mesh-LLM/mesh-llm#1761", "refuses a definition of a tool that it does not name", 4, invalid("tools", nil, "Invalid tool definition")),
	odd("invalid-request-of-tools", Chat, "Mesh LLM", "Mesh-LLM/mesh-llm#1761", "names the list of tools, and nothing else", 4, invalid("tools", nil, "Invalid request")),
	odd("tools-that-go-cannot-read", Chat, "Ollama", "ollama/ollama#10328", "cannot read the type of one tool's property", 4, ollama(400, "json: cannot unmarshal array into Go struct field ToolFunction.tools.function.parameters.properties.type of type string")),
	odd("tool-names-unique", Messages, "Anthropic", "microsoft/vscode#316983", "says that the names of tools must be unique", 4, claude(400, "invalid_request_error", "tools: Tool names must be unique.")),
	odd("tool-definition-in-chinese", Chat, "Zhipu", "https://docs.bigmodel.cn/cn/faq/api-code", "refuses a definition of a tool in Chinese", 4, raw(400, `{"error":{"code":"1214","message":"工具参数定义不合法"}}`)),
	{ID: "invalid-argument-of-one-tool", Vendor: "Google", Source: "tanaikech/ToolsForMCPServer#13", Does: "refuses one tool without a word about tools", Checks: withTools(refuseToolName("cron", google(400, "INVALID_ARGUMENT", "Request contains an invalid argument."))), Want: Expectation{Refused: Any, Again: Any}},
	{ID: "name-of-a-tool-by-its-place", API: Messages, Vendor: "Anthropic", Source: "anthropics/claude-code#1423", Does: "refuses the name of one tool, by its place", Tools: oddTools,
		Checks: withTools(toolAt("odd_odd", func(i int) *Refusal {
			return claude(400, "invalid_request_error", "tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", i)
		})), Want: Expectation{Refused: 1, Log: `odd_odd`, Sends: []string{`"cache_control"`}}},

	{ID: "engine-unavailable", Vendor: "a gateway", Source: "https://platform.openai.com/docs/guides/error-codes", Thinking: "high", Does: "answers 400 once while what thinks is not there",
		Checks: []Check{wants("reasoning_effort", invalid(nil, nil, "a turn without thinking"))}, Fails: []Failure{failOnce(nil, invalid(nil, nil, "reasoning engine unavailable, try again"))}},
	{ID: "tool-server-not-reachable", Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "answers 400 once while its tool server is not there",
		Checks: withTools(nothing), Fails: []Failure{failOnce(nil, vllm(400, "tool server not reachable, tools not available"))}},
	{ID: "stream-that-a-gateway-cannot-read", Vendor: "a gateway", Source: "agentscope-ai/QwenPaw#3560", Does: "answers 400 once when the stream behind it broke off",
		Checks: []Check{wants("stream", invalid(nil, nil, "a turn without a stream"))}, Fails: []Failure{failOnce(nil, invalid(nil, nil, "Failed to parse stream: unexpected end of JSON in upstream stream"))}},
}

// nothing refuses nothing.
func nothing(*Call) *Refusal { return nil }

package endpoints

// renamed is Usual with calls under another name.
func renamed(name func(string) string) Mind {
	return func(c *Call) Say {
		s := Usual(c)
		for i := range s.Calls {
			s.Calls[i].Name = name(s.Calls[i].Name)
		}
		return s
	}
}

// rewritten is Usual with arguments that are written otherwise.
func rewritten(args func(string) string) Mind {
	return func(c *Call) Say {
		s := Usual(c)
		for i := range s.Calls {
			s.Calls[i].Args = args(s.Calls[i].Args)
		}
		return s
	}
}

// reshaped writes each call in another shape.
func reshaped(shape func(call, function obj) obj) Wire {
	return ChatWire{AtOnce: true, Edit: func(_ *Call, p *Piece) {
		calls := p.calls()
		var out list
		for _, k := range calls {
			out = append(out, shape(k, function(k)))
		}
		if out != nil {
			p.delta()["tool_calls"] = out
		}
	}}.Wire()
}

// leaks are endpoints whose calls have names with other things in them, arguments that are nearly JSON, or fields of other APIs.
var leaks = []Row{
	{ID: "call-without-function-object", Vendor: "Cloudflare", Source: "https://developers.cloudflare.com/workers-ai/features/function-calling/traditional/", Does: "puts name and arguments beside the id of a call", Wire: reshaped(func(k, f obj) obj {
		return obj{"index": k["index"], "id": k["id"], "type": "function", "name": f["name"], "arguments": f["arguments"]}
	})},
	{ID: "call-of-name-and-object", Vendor: "Cloudflare", Source: "https://developers.cloudflare.com/workers-ai/features/function-calling/traditional/", Does: "gives a call a name and an object, and nothing else", Wire: reshaped(func(_, f obj) obj { return obj{"name": f["name"], "arguments": rawJSON(str(f["arguments"]))} })},
	{ID: "tool-use-in-tool-calls", Vendor: "a gateway of Anthropic", Source: "api7/aisix#170", Does: "puts calls as Anthropic has them into the list of calls", Wire: reshaped(func(k, f obj) obj {
		return obj{"type": "tool_use", "id": k["id"], "name": f["name"], "input": rawJSON(str(f["arguments"]))}
	})},
	{ID: "function-call-of-gemini", Vendor: "a gateway of Gemini", Source: "https://ai.google.dev/api/caching#FunctionCall", Does: "puts calls as Gemini has them into the list of calls", Wire: reshaped(func(k, f obj) obj {
		return obj{"index": k["index"], "id": k["id"], "functionCall": obj{"name": f["name"], "args": rawJSON(str(f["arguments"]))}}
	})},
	{ID: "parameters-for-arguments", Vendor: "a gateway", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html", Does: "calls the arguments parameters", Wire: reshaped(func(k, f obj) obj {
		return obj{"index": k["index"], "id": k["id"], "type": "function", "function": obj{"name": f["name"], "parameters": rawJSON(str(f["arguments"]))}}
	})},
	{ID: "empty-arguments-as-a-list", Vendor: "a gateway in PHP", Source: "https://www.php.net/manual/en/function.json-encode.php", Does: "encodes empty arguments as a list", Wire: ChatWire{AtOnce: true}.Wire(), Mind: rewritten(func(string) string { return "[]" })},
	{ID: "kimi-index-in-the-name", Vendor: "a server of Kimi", Source: "https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md", Model: "kimi-k2", Does: "puts the id of Kimi's calls into the name", Mind: renamed(func(n string) string { return "functions." + n + ":0" })},
	{ID: "glm-think-in-the-name", Vendor: "SGLang", Source: "sgl-project/sglang#9146", Model: "glm-4.5", Does: "leaves a closing tag behind the name", Mind: renamed(func(n string) string { return n + "</think>" })},
	{ID: "glm-arguments-in-the-name", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/glm4_moe_tool_parser.py", Model: "glm-4.5", Does: "leaves the arguments in the name", Wire: ChatWire{AtOnce: true}.Wire(),
		Mind: func(c *Call) Say {
			s := Usual(c)
			for i := range s.Calls {
				s.Calls[i].Name, s.Calls[i].Args = s.Calls[i].Name+"\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>", "{}"
			}
			return s
		}},
	{ID: "harmony-recipient-in-the-name", Vendor: "vLLM", Source: "vllm-project/vllm#32587", Model: "gpt-oss-120b", Does: "leaves the header of a message in the name", Mind: renamed(func(n string) string { return "assistant<|channel|>commentary to=functions." + n })},
	{ID: "name-in-quotes", Vendor: "a gateway", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html", Does: "puts the name into quotes", Mind: renamed(func(n string) string { return `"` + n + `"` })},
	{ID: "name-with-hyphens", Vendor: "a gateway", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html", Does: "writes the name with hyphens and a capital letter", Mind: renamed(func(string) string { return "Sessions-List" })},
	{ID: "a-bracket-too-many", Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html", Does: "ends the arguments with a bracket too many", Mind: rewritten(func(a string) string { return a + "}" })},
	{ID: "a-tag-behind-arguments", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hermes_tool_parser.py", Does: "leaves a closing tag behind the arguments", Mind: rewritten(func(a string) string { return a + "</tool_call>" })},
	{ID: "arguments-in-a-fence", Vendor: "Ollama", Source: "https://github.com/josdejong/jsonrepair", Does: "puts the arguments into a block of code", Mind: rewritten(func(a string) string { return "```json\n" + a + "\n```" })},
	{ID: "arguments-of-python", Vendor: "Ollama", Source: "https://github.com/josdejong/jsonrepair", Does: "writes the arguments as Python, with a comma too many", Mind: rewritten(func(string) string { return `{'limit': 5,}` })},
	{ID: "a-bracket-too-few", Vendor: "Ollama", Source: "https://js.langchain.com/docs/concepts/output_parsers/", Does: "ends the arguments without their bracket", Wire: ChatWire{AtOnce: true}.Wire(), Mind: rewritten(func(string) string { return `{"kinds":[]` })},
	{ID: "arguments-inside-of-a-call", Vendor: "a gateway", Source: "NousResearch/hermes-agent#26053", Does: "repeats the whole call as its arguments", Mind: rewritten(func(a string) string { return `{"name":"sessions_list","arguments":` + a + `}` })},
	{ID: "arguments-in-a-list", Vendor: "a gateway", Source: "NousResearch/hermes-agent#26053", Does: "puts the arguments into a list", Mind: rewritten(func(a string) string { return "[" + a + "]" })},
}

package endpoints

// emptyThinking writes thinking without a word of it: the signature alone.
func emptyThinking(_ *Call, p *Piece) {
	if d, ok := p.Data["delta"].(obj); ok && str(d["type"]) == "thinking_delta" {
		d["thinking"] = ""
	}
}

// emptyRefused is a row of Anthropic's messages whose server thinks without words, and refuses such blocks when they come back.
func emptyRefused(id, vendor, source, does string, no func(message, block int) *Refusal) Row {
	row := blockRefused(id, vendor, source, does, false, no)
	row.Lax, row.Wire = true, MessagesWire{Edit: emptyThinking}.Wire()
	return row
}

// thoughtPlaces are endpoints whose refusal names the place of reasoning in the history, whatever else it says.
var thoughtPlaces = []Row{
	emptyRefused("bedrock-each-thinking-block-must-contain", "LiteLLM before Bedrock", "BerriAI/litellm#38809", "thinks with a signature and no word, and refuses such a block", func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.thinking: each thinking block must contain thinking", i, n)
	}),
	emptyRefused("gateway-thinking-field-required", "a gateway of Claude", "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", "thinks with a signature and no word, and takes the empty text for none", func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.thinking: Field required", i, n)
	}),
	blockRefused("relay-signature-field-required", "a relay of Claude", "earendil-works/pi#2063", "thinks without a signature, and names the field in the block, not its type", true, func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.signature: Field required", i, n)
	}),
	blockRefused("relay-thinking-is-missing-its-signature", "a relay of Claude", "can1357/oh-my-pi#333", "thinks without a signature, and says that one is missing", true, func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d: thinking block is missing `signature`", i, n)
	}),
}

// fieldRenamed is a row whose server takes reasoning back in another field than the one that it sends.
func fieldRenamed(id, vendor, source string, wire ChatWire, does string, no func(i int) *Refusal) Row {
	return Row{ID: id, Vendor: vendor, Source: source, Model: "moonshotai/kimi-k2.6", Does: does, Wire: wire.Wire(), Checks: []Check{wantsReasoning("reasoning_content", no)},
		Want: Expectation{Refused: 1, Sends: []string{`"reasoning_content":"` + Musing}}}
}

// kimiMissing is Moonshot's refusal of calls without reasoning, and behindRouter the same from a router.
func kimiMissing(i int) *Refusal {
	return position("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", kimi)(i)
}

func behindRouter(i int) *Refusal { return router(400, "Moonshot AI", kimiMissing(i).Body) }

// detailed adds OpenRouter's list of reasoning to each piece of it.
func detailed(_ *Call, p *Piece) {
	if d := p.delta(); p.Kind == "reasoning" && d != nil {
		d["reasoning_details"] = list{obj{"type": "reasoning.text", "text": d["reasoning"], "format": "unknown", "index": 0}}
	}
}

// everyThought wants thinking in each message of the model, also where it came without.
func everyThought(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range objects(c.Body["messages"]) {
			if blocks := objects(m["content"]); str(m["role"]) == "assistant" && (len(blocks) == 0 || str(blocks[0]["type"]) != "thinking") {
				return no
			}
		}
		return nil
	}
}

// thoughtNames are endpoints that want reasoning back in another field, or in each message.
var thoughtNames = []Row{
	fieldRenamed("opencode-renames-reasoning", "OpenCode Go", "earendil-works/pi#4251", ChatWire{Reasoning: "reasoning"}, "sends reasoning, and wants it back as reasoning_content", kimiMissing),
	fieldRenamed("openrouter-kimi-wants-reasoning-content", "OpenRouter", "earendil-works/pi#987", ChatWire{Reasoning: "reasoning", Edit: detailed}, "sends reasoning and a list of its details, and wants it back as reasoning_content", behindRouter),
	fieldRenamed("copilot-kimi-wants-reasoning-content", "a gateway", "charmbracelet/fantasy#195", ChatWire{Reasoning: "reasoning_text"}, "sends reasoning_text, and wants it back as reasoning_content", kimiMissing),
	fieldRenamed("kimi-in-tags-wants-reasoning-content", "a gateway", "anomalyco/opencode#25758", ChatWire{Reasoning: "tags"}, "sends reasoning in tags in the text, and wants it back as reasoning_content", kimiMissing),
	fieldRenamed("whole-answers-rename-reasoning", "a gateway", "NousResearch/hermes-agent#23407", ChatWire{Reasoning: "reasoning", Whole: true}, "sends reasoning in whole answers, and wants it back as reasoning_content", kimiMissing),
	{ID: "kimi-responses-wants-reasoning-items", API: Responses, Vendor: "Moonshot", Source: "maximhq/bifrost#3802", Does: "wants an item of reasoning in front of calls although it sent none", Lax: true, Checks: []Check{func(c *Call) *Refusal {
		before := ""
		for _, item := range objects(c.Body["input"]) {
			kind := str(item["type"])
			if kind == "function_call" && before != "reasoning" && before != "function_call" {
				return kimiMissing(5)
			}
			before = kind
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"function_call_output"`}}},
	{ID: "deepseek-messages-wants-thinking-in-each", API: Messages, Vendor: "DeepSeek", Source: "leookun/cursor-byok#276", Model: "deepseek-v4-flash", Does: "wants thinking in every message of the model, also where it sent none", Lax: true, Mind: plainly,
		Checks: []Check{everyThought(deepSeek("The `content[].thinking` in the thinking mode must be passed back to the API."))}, Want: Expectation{Refused: 1, Sends: []string{`"tool_result"`}}},
	{ID: "deepseek-wants-reasoning-in-each", Vendor: "DeepSeek", Source: "leookun/cursor-byok#276", Model: "deepseek-v4-flash", Does: "wants reasoning in every message of the model, also where it sent none", Lax: true, Mind: plainly,
		Checks: []Check{func(c *Call) *Refusal {
			return assistants(c, func(_ int, m obj) *Refusal {
				if str(m["reasoning_content"]) == "" {
					return deepSeek("The `reasoning_content` in the thinking mode must be passed back to the API.")
				}
				return nil
			})
		}}, Want: Expectation{Refused: 1, Sends: []string{`"role":"tool"`}}},
	fieldRefused("reasoning-content-of-messages-in-chinese", "a gateway in China", "https://www.volcengine.com/docs/82379/1299023", "reasoning_content", func(int) *Refusal {
		return invalid(nil, nil, "模型不支持参数 messages.reasoning_content")
	}),
}

// ending writes thoughts in front of an answer, and a closing tag of its own between them.
func ending(between string) Mind {
	return instead(func(usual string) string { return "Let me see. It is " + Musing + between + usual })
}

// loneEnds are endpoints whose thoughts end inside of a line.
var loneEnds = []Row{
	{ID: "lone-close-tag-touches-the-answer", Vendor: "Ollama", Source: "ollama/ollama#18082", Model: "glm-5.2", Does: "has the closing tag alone, with the answer right behind it", Mind: ending(" </think>"), InDrafts: true},
	{ID: "lone-close-tag-between-sentences", Vendor: "Perplexity", Source: "perplexityai/api-discussion#177", Does: "has the closing tag alone between two sentences", Mind: ending(". </think> The answer: "), InDrafts: true,
		Want: Expectation{Plain: `^The answer: echo: hello$`, Tool: `^The answer: The tool names a session\.$`, Follow: `^The answer: echo: and now\?$`, Restart: `^The answer: echo: are you there\?$`, Back: `^The answer: echo: and here\?$`, Image: None}},
	{ID: "lone-close-tag-of-kimi-vl", Vendor: "vLLM", Source: "https://huggingface.co/moonshotai/Kimi-VL-A3B-Thinking-2506", Model: "kimi-vl-a3b-thinking", Does: "has the closing tag alone in the form of Kimi-VL", Mind: ending(" ◁/think▷"), InDrafts: true},
}

// rareCalls are models whose calls no parser of their server reads, in all APIs.
var rareCalls = []Row{
	{ID: "hunyuan-3-calls", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hy_v3_tool_parser.py", Model: "hy3-preview", Does: "writes a call of Hunyuan 3 in the text", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return "<tool_calls>\n<tool_call>" + k.Name + "<tool_sep>\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>\n</tool_calls>"
		})},
	{ID: "functionary-recipients", Vendor: "vLLM", Source: "https://huggingface.co/meetkai/functionary-medium-v3.2", Model: "functionary-medium-v3.2", Does: "writes whom each message is for in the text", Wire: plainWire,
		Mind: markup(func(k ToolCall) string { return "<|from|>assistant\n<|recipient|>" + k.Name + "\n<|content|>" + k.Args })},
	{ID: "hyperclova-x-calls", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hyperclovax_tool_parser.py", Model: "hyperclovax-seed-think-14b", Does: "writes the role of a call in the text", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return " -> tool/function_call\n[{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}]"
		})},
	{ID: "responses-hunyuan-3-calls", API: Responses, Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hy_v3_tool_parser.py", Model: "hy3-preview", Does: "writes a call of Hunyuan 3 in the text", Lax: true,
		Mind: markup(func(k ToolCall) string {
			return "<tool_calls><tool_call>" + k.Name + "<tool_sep></tool_call></tool_calls>"
		})},
	{ID: "messages-function-call-of-the-older-api", API: Messages, Vendor: "a relay", Source: "https://platform.openai.com/docs/api-reference/chat", Does: "gives a function call of the older chat completions as the text", Lax: true,
		Mind: markup(func(k ToolCall) string {
			return encode(obj{"function_call": obj{"name": k.Name, "arguments": k.Args}})
		})},
}

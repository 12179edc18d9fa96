package endpoints

import "strings"

// inContent moves calls into a list of content, as Anthropic has them.
func inContent(c *Call, whole obj) {
	for _, ch := range objects(whole["choices"]) {
		m, _ := ch["message"].(obj)
		var content list
		for _, k := range objects(m["tool_calls"]) {
			content = append(content, obj{"type": "tool_use", "id": k["id"], "name": function(k)["name"], "input": rawJSON(str(function(k)["arguments"]))})
		}
		if content != nil {
			m["content"] = append(list{obj{"type": "text", "text": ""}}, content...)
			delete(m, "tool_calls")
		}
	}
}

// textCalls are endpoints without a parser for what their models write.
var textCalls = []Row{
	{ID: "medgemma-thought", Vendor: "Ollama", Source: "https://huggingface.co/google/medgemma-1.5-4b-it", Model: "medgemma", Does: "shows the thoughts of MedGemma between unused tokens", Wire: plainWire, Mind: thinking("<unused94>thought\n", "<unused95>")},
	{ID: "solar-think-marks", Vendor: "vLLM", Source: "https://huggingface.co/upstage/Solar-Open-100B", Model: "solar-open-100b", Does: "shows the marks of Solar Open", Wire: plainWire, Mind: thinking("<|think|>", "<|end|><|begin|>assistant<|content|>")},
	{ID: "inner-thoughts-tags", Vendor: "any", Source: "https://github.com/cpacker/MemGPT", Does: "writes what it thinks as inner thoughts", Wire: plainWire, Mind: thinking("<inner_thoughts>", "</inner_thoughts>\n")},
	{ID: "apertus-inner-marks", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/reasoning/apertus_reasoning_parser.py", Model: "apertus-70b", Does: "shows the inner marks of Apertus", Wire: plainWire, Mind: thinking("<|inner_prefix|>", "<|inner_suffix|>")},
	{ID: "json-call-in-a-fence", Vendor: "Ollama", Source: "https://docs.vllm.ai/en/stable/features/tool_calling.html", Model: "xlam-2", Does: "writes a call as JSON in a block of code", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return "```json\n{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}\n```"
		})},
	{ID: "tool-code-of-gemma", Vendor: "LM Studio", Source: "https://ai.google.dev/gemma/docs/capabilities/function-calling", Model: "gemma-3-27b", Does: "writes a call as Python in a block of tool code", Wire: plainWire,
		Mind: markup(func(k ToolCall) string { return "```tool_code\nprint(" + k.Name + "(limit=5))\n```" })},
	{ID: "pythonic-calls", Vendor: "vLLM", Source: "https://docs.vllm.ai/en/stable/features/tool_calling.html", Model: "llama-3.2-3b", Does: "writes a list of calls in Python", Wire: plainWire,
		Mind: markup(func(k ToolCall) string { return "[" + k.Name + "(limit=5)]" })},
	{ID: "functools-of-phi", Vendor: "Ollama", Source: "https://docs.vllm.ai/en/stable/features/tool_calling.html", Model: "phi-4-mini", Does: "writes a call behind the word functools", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return `functools[{"name": "` + k.Name + `", "arguments": ` + k.Args + `}]`
		})},
	{ID: "tools-tags-of-qwen-coder", Vendor: "Ollama", Source: "ollama/ollama#13519", Model: "qwen2.5-coder", Does: "writes a call as JSON in tools tags", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return "<tools>\n{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}\n</tools>"
		})},
	{ID: "tool-request-of-lm-studio", Vendor: "LM Studio", Source: "https://lmstudio.ai/docs/developer/openai-compat/tools", Does: "writes a call in LM Studio's own form", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return "[TOOL_REQUEST]{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}[END_TOOL_REQUEST]"
		})},
	{ID: "tool-use-in-content", Vendor: "a gateway of Anthropic", Source: "api7/aisix#170", Does: "leaves calls in a list of content, as Anthropic has them", Wire: ChatWire{Whole: true, Answer: inContent}.Wire()},
	{ID: "schema-that-refers-to-itself", Vendor: "Google", Source: "google-gemini/gemini-cli#14945", Does: "refuses references in schemas", Tools: []ToolSpec{{"tree", `{"type":"object","properties":{"node":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`}},
		Checks: []Check{func(c *Call) *Refusal {
			if strings.Contains(string(c.Raw), `"$ref"`) {
				return google(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
			}
			return nil
		}}, Want: Expectation{Sends: []string{`"children"`}}},
}

package endpoints

// musing moves what a model says into its reasoning where that is all it says: a call in markup.
func musing(form func(k ToolCall) string) Mind {
	return func(c *Call) Say {
		s := Usual(c)
		for _, k := range s.Calls {
			s.Reasoning += " I look it up. " + form(k)
		}
		s.Calls = nil
		return s
	}
}

// reasonedCalls are endpoints whose parser gives a call as a part of the reasoning.
var reasonedCalls = []Row{
	{ID: "kimi-call-in-reasoning", Vendor: "Chutes", Source: "vybestack/llxprt-code#749", Model: "kimi-k2-thinking", Does: "leaves a call in its tool calls section in the reasoning", Wire: ChatWire{Reasoning: "reasoning_content"}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "<|tool_calls_section_begin|><|tool_call_begin|>functions." + k.Name + ":0<|tool_call_argument_begin|>" + k.Args + "<|tool_call_end|><|tool_calls_section_end|>"
		})},
	{ID: "qwen-call-in-reasoning", Vendor: "vLLM", Source: "vllm-project/vllm#39056", Model: "qwen3.5-35b-a3b", Does: "leaves a call as function and parameter tags in the reasoning", Wire: ChatWire{Reasoning: "reasoning"}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "\n<tool_call>\n<function=" + k.Name + ">\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>\n"
		})},
	{ID: "deepseek-call-in-reasoning", Vendor: "llama.cpp", Source: "leehack/llamadart#402", Model: "deepseek-v4", Does: "leaves a call in its DSML markup in the reasoning", Wire: ChatWire{Reasoning: "reasoning_content", Whole: true}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"" + k.Name + "\">\n<｜DSML｜parameter name=\"limit\" string=\"false\">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
		})},
	{ID: "messages-call-in-thinking", API: Messages, Lax: true, Vendor: "vLLM", Source: "vllm-project/vllm#39056", Model: "qwen3.5-35b-a3b", Does: "leaves a call as JSON in tags in a thinking block", Wire: MessagesWire{Unsigned: true, Thinks: func(*Call) bool { return true }}.Wire(),
		Mind: musing(func(k ToolCall) string {
			return "<tool_call>\n{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}\n</tool_call>"
		})},
}

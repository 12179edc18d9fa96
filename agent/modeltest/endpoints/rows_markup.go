package endpoints

import "strings"

// markup gives the calls of an answer as text, as a model writes them when its server has no parser.
func markup(form func(k ToolCall) string) Mind {
	return func(c *Call) Say {
		s := plainly(c)
		for _, k := range s.Calls {
			s.Text += form(k)
		}
		s.Calls = nil
		return s
	}
}

// notRaw is what people see of a call in markup: it is made, or it is hidden; the markup is never shown.
var notRaw = Expectation{Tool: `^(The tool names a session|The language model)`}

var markups = []Row{
	{ID: "think-tags", Faults: []string{"H4"}, Vendor: "LM Studio", Source: "openclaw/openclaw#69843", Model: "qwen3-8b", Kind: KindMarkup, Does: "puts reasoning in think tags at the front of the content", Wire: ChatWire{Reasoning: "tags"}.Wire()},
	{ID: "lone-close-tag", Faults: []string{"H4"}, Vendor: "vLLM", Source: "openclaw/openclaw#93767", Model: "deepseek-r1", Does: "opens the tag in the prompt, so that the content has the closing tag alone", Wire: ChatWire{Reasoning: "lone"}.Wire()},
	{ID: "lone-close-tag-of-an-unknown-model", Vendor: "vLLM", Source: "openclaw/openclaw#67092", Does: "has the closing tag alone, which its name does not tell: the first preview is replaced", Wire: ChatWire{Reasoning: "lone"}.Wire(), InDrafts: true},
	{ID: "think-tags-behind-words", Vendor: "LiteLLM", Source: "openclaw/openclaw#89473", Model: "minimax-m3", Does: "thinks in tags in the middle of its answer", Wire: plainWire, Mind: instead(func(s string) string {
		first, rest, _ := strings.Cut(s, " ")
		return first + " <think >\n" + Musing + "\n</think >" + rest
	})},
	{ID: "think-tag-behind-words-without-an-end", Vendor: "SGLang", Source: "openclaw/openclaw#37696", Model: "qwen3.5-35b", Does: "opens a tag behind its answer and never closes it", Wire: plainWire, Mind: instead(func(s string) string { return s + "\n<think>\n" + Musing })},
	{ID: "thinking-tags", Faults: []string{"H4"}, Vendor: "SGLang", Source: "openclaw/openclaw#87712", Does: "writes thinking tags", Wire: ChatWire{Reasoning: "tags", Tag: "thinking"}.Wire()},
	{ID: "reasoning-tags", Faults: []string{"H4"}, Vendor: "Ollama", Source: "https://ollama.com/library/phi4-reasoning", Does: "writes reasoning tags", Wire: ChatWire{Reasoning: "tags", Tag: "reasoning"}.Wire()},
	{ID: "magistral-think-markers", Faults: []string{"H4"}, Vendor: "llama.cpp", Source: "https://huggingface.co/mistralai/Magistral-Small-2509", Model: "magistral-small", Does: "writes reasoning between THINK markers in brackets",
		Wire: plainWire, Mind: thinking("[THINK]", "[/THINK]")},
	{ID: "seed-think-tags", Faults: []string{"H4"}, Vendor: "vLLM", Source: "https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct", Model: "seed-oss-36b", Does: "writes reasoning in tags with a prefix", Wire: ChatWire{Reasoning: "tags", Tag: "seed:think"}.Wire()},
	{ID: "harmony-channels", Faults: []string{"H4"}, Vendor: "llama.cpp", Source: "https://cookbook.openai.com/articles/openai-harmony", Model: "gpt-oss-20b", Does: "shows the channels of the harmony format as text", Wire: plainWire,
		Mind: func(c *Call) Say {
			s := Usual(c)
			if s.Text != "" {
				s.Text = "<|channel|>analysis<|message|>" + s.Reasoning + "<|end|><|start|>assistant<|channel|>final<|message|>" + s.Text
			}
			return s
		}},
	{ID: "gemma-thought-channel", Faults: []string{"H4"}, Vendor: "Ollama", Source: "https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4", Model: "gemma-4", Does: "writes its thoughts in a channel of its own markup", Wire: plainWire, Mind: thinking("<|channel>thought\n", "<channel|>")},
	{ID: "whole-answer-with-think-tags", Faults: []string{"H4"}, Vendor: "KoboldCpp", Source: "https://github.com/LostRuins/koboldcpp/wiki", Does: "writes think tags in an answer that is no stream", Wire: ChatWire{Reasoning: "tags", Whole: true}.Wire()},
	{ID: "think-tags-one-character-at-a-time", Faults: []string{"H4"}, Vendor: "llama.cpp", Source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md", Does: "streams the tags in single characters", Wire: ChatWire{Reasoning: "tags", Last: singly}.Wire()},
	{ID: "think-tag-mentioned-in-an-answer", Vendor: "any", Source: "openclaw/openclaw#69843", Does: "talks about the tags in the middle of an answer, where they belong to it", Wire: plainWire, Unhidden: true,
		Mind: instead(func(s string) string { return s + " The tag <think> opens reasoning." }),
		Want: Expectation{Plain: `^echo: hello The tag <think> opens reasoning\.$`, Tool: `The tag <think> opens reasoning\.$`, Follow: `The tag <think> opens`, Restart: `The tag <think> opens`, Fallback: SpareText, Back: `The tag <think> opens`}},
	{ID: "empty-think-tags", Faults: []string{"H4"}, Vendor: "SGLang", Source: "https://qwen.readthedocs.io/en/latest/deployment/sglang.html", Model: "qwen3-8b", Does: "writes an empty pair of tags when it does not think", Wire: plainWire, Mind: instead(func(s string) string { return "<think>\n\n</think>\n\n" + s })},
	{ID: "think-tags-with-a-call", Faults: []string{"H4"}, Vendor: "MiniMax by a gateway", Source: "openclaw/openclaw#87712", Model: "MiniMax-M2", Does: "writes only think tags as the content of a call", Wire: ChatWire{Reasoning: "tags", AtOnce: true}.Wire()},
	{ID: "hermes-tool-call-tags", Faults: []string{"L2"}, Vendor: "llama.cpp", Source: "openclaw/openclaw#45000", Model: "hermes-3", Does: "writes a call as JSON in tool_call tags", Wire: plainWire, Want: notRaw,
		Mind: markup(func(k ToolCall) string {
			return "<tool_call>\n{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}\n</tool_call>"
		})},
	{ID: "mistral-tool-calls-marker", Faults: []string{"L2"}, Vendor: "LM Studio", Source: "openclaw/openclaw#62820", Model: "mistral-nemo", Does: "writes a call behind the marker TOOL_CALLS", Wire: plainWire, Want: notRaw,
		Mind: markup(func(k ToolCall) string {
			return `[TOOL_CALLS][{"name": "` + k.Name + `", "arguments": ` + k.Args + `}]`
		})},
	{ID: "deepseek-dsml-markup", Faults: []string{"L2"}, Vendor: "DeepSeek by a gateway", Source: "openclaw/openclaw#139144", Model: "deepseek-v3.2", Does: "writes a call in its DSML markup", Wire: plainWire, Want: notRaw,
		Mind: markup(func(k ToolCall) string {
			return "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"" + k.Name + "\">\n<｜DSML｜parameter name=\"limit\" string=\"false\">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
		})},
	{ID: "qwen-coder-function-tags", Faults: []string{"L2"}, Vendor: "vLLM", Source: "QwenLM/Qwen3-Coder#475", Model: "qwen3-coder", Does: "writes a call as function and parameter tags", Wire: plainWire, Want: notRaw,
		Mind: markup(func(k ToolCall) string {
			return "<tool_call>\n<function=" + k.Name + ">\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>"
		})},
	{ID: "minimax-tool-call-markup", Faults: []string{"L2"}, Vendor: "SGLang", Source: "https://huggingface.co/MiniMaxAI/MiniMax-M2/blob/main/docs/tool_calling_guide.md", Model: "MiniMax-M2", Does: "writes a call in tags with its own prefix", Wire: plainWire, Want: notRaw,
		Mind: markup(func(k ToolCall) string {
			return "<minimax:tool_call>\n<invoke name=\"" + k.Name + "\">\n<parameter name=\"limit\">5</parameter>\n</invoke>\n</minimax:tool_call>"
		})},
	{ID: "llama-python-tag", Faults: []string{"L2"}, Vendor: "vLLM", Source: "https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/", Model: "llama-3.1-8b", Does: "writes a call behind the python tag", Wire: plainWire, Want: notRaw,
		Mind: markup(func(k ToolCall) string {
			return `<|python_tag|>{"name": "` + k.Name + `", "parameters": ` + k.Args + `}`
		})},
	{ID: "kimi-tool-calls-section", Faults: []string{"L2"}, Vendor: "vLLM", Source: "vllm-project/vllm#32768", Model: "kimi-k2", Does: "writes a call in its tool calls section", Wire: plainWire, Want: notRaw,
		Mind: markup(func(k ToolCall) string {
			return "<|tool_calls_section_begin|><|tool_call_begin|>functions." + k.Name + ":0<|tool_call_argument_begin|>" + k.Args + "<|tool_call_end|><|tool_calls_section_end|>"
		})},
}

var plainWire = ChatWire{}.Wire()

// thinking is Usual with the reasoning in front of a text, between two marks.
func thinking(open, shut string) Mind {
	return func(c *Call) Say {
		s := Usual(c)
		if s.Text != "" {
			s.Text = open + s.Reasoning + shut + s.Text
		}
		return s
	}
}

// singly cuts the texts of a stream into single characters.
func singly(_ *Call, pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		if p.Kind != "text" {
			out = append(out, p)
			continue
		}
		for _, r := range str(p.delta()["content"]) {
			out = append(out, Piece{Kind: "text", Data: obj{"id": p.Data["id"], "object": p.Data["object"], "model": p.Data["model"],
				"choices": list{obj{"index": 0, "delta": obj{"content": string(r)}, "finish_reason": nil}}}})
		}
	}
	return out
}

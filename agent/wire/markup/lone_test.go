package markup

import "testing"

// TestLoneTags has closing tags alone inside of a line, used and spoken of.
func TestLoneTags(t *testing.T) {
	t.Parallel()
	readsAs(t, []sample{
		// source: ollama/ollama#18082 (GLM), perplexityai/api-discussion#177
		{"a lone tag that touches the word behind it", "Let me see. It is hidden </think>Hello.", reading{"Hello.", "Let me see. It is hidden", ""}},
		{"a lone tag between sentences", "It is hidden. </think> Hello.", reading{"Hello.", "It is hidden.", ""}},
		{"a lone tag behind a quotation", "I say \"hi\"</think>Hi.", reading{"Hi.", "I say \"hi\"", ""}},
		{"a lone tag of Kimi-VL", "hm \u25c1/think\u25b7Hello.", reading{"Hello.", "hm", ""}},
		{"a lone tag of Mistral", "hm [/THINK]Hello.", reading{"Hello.", "hm", ""}},
		{"a lone tag of Seed-OSS", "hm </seed:think>Hello.", reading{"Hello.", "hm", ""}},
		{"a lone tag, thought", "hm\n</thought>\nHello.", reading{"Hello.", "hm", ""}},
		{"a lone tag, reasoning", "hm</reasoning>\nHello.", reading{"Hello.", "hm", ""}},
		{"a lone tag, analysis", "hm </analysis>\nHello.", reading{"Hello.", "hm", ""}},
		{"a lone tag, end of thought", "hm <|end_of_thought|>Hello.", reading{"Hello.", "hm", ""}},
		{"about a lone tag", "The tag </think> closes reasoning.", reading{text: "The tag </think> closes reasoning."}},
		{"about a lone tag, between sentences", "There are two. </think> closes reasoning.", reading{text: "There are two. </think> closes reasoning."}},
		{"about a lone tag, in a list", "Tags:\n1. </think> The end of thoughts.", reading{text: "Tags:\n1. </think> The end of thoughts."}},
		{"about a lone tag, in Chinese", "\u4f7f\u7528 </think>\u6807\u7b7e\u3002", reading{text: "\u4f7f\u7528 </think>\u6807\u7b7e\u3002"}},
		{"about a lone tag, quoted", "It ends with \"</think>\" and then answers.", reading{text: "It ends with \"</think>\" and then answers."}},
		{"about a lone tag, in code", "It ends. `</think>` Then it answers.", reading{text: "It ends. `</think>` Then it answers."}},
		{"about a lone tag, with a comma", "Behind </think>, it answers; see </analysis>.", reading{text: "Behind </think>, it answers; see </analysis>."}},
	})
}

// TestRareCalls has calls of parsers that few servers have.
func TestRareCalls(t *testing.T) {
	t.Parallel()
	readsAs(t, []sample{
		// source: github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hy_v3_tool_parser.py (Hy3, Hy4)
		{"hunyuan 3", "<tool_calls>\n<tool_call>look<tool_sep>\n<arg_key>q</arg_key>\n<arg_value>a</arg_value>\n</tool_call>\n<tool_call>list_x<tool_sep>\n</tool_call>\n</tool_calls>", reading{calls: calledQ + " list_x {};"}},
		{"hunyuan 3, in one line", "<tool_calls><tool_call>list_x<tool_sep></tool_call></tool_calls>", reading{calls: " list_x {};"}},
		{"hunyuan 4", "<tool_calls:opensource><tool_call:opensource>look<arg_key:opensource>q</arg_key:opensource><arg_value:opensource>a</arg_value:opensource></tool_call:opensource></tool_calls:opensource>", reading{calls: calledQ}},
		{"tags of other models in JSON", "<tool_call>{\"name\":\"look\",\"arguments\":{'q':'<tool_sep> <x:opensource> <longcat_arg_key>'}}</tool_call>", reading{calls: ` look {"q":"\u003ctool_sep\u003e \u003cx:opensource\u003e \u003clongcat_arg_key\u003e"};`}},
		{"tags of other models in a parameter", "<tool_call>\n<function=look>\n<parameter=q>\n<tool_sep><x:opensource>\n</parameter>\n</function>\n</tool_call>", reading{calls: ` look {"q":"\u003ctool_sep\u003e\u003cx:opensource\u003e"};`}},
		{"tags of other models in a value", "<tool_call>look\n<arg_key>q</arg_key>\n<arg_value><tool_sep><x:opensource></arg_value>\n</tool_call>", reading{calls: ` look {"q":"\u003ctool_sep\u003e\u003cx:opensource\u003e"};`}},
		// source: huggingface.co/meetkai/functionary-medium-v3.2, github.com/MeetKai/functionary (prompt template v2)
		{"functionary with recipients", "<|from|>assistant\n<|recipient|>look\n<|content|>{\"q\":\"a\"}\n<|from|>assistant\n<|recipient|>list_x\n<|content|>{}", reading{calls: calledQ + " list_x {};"}},
		{"functionary to people", "<|from|>assistant\n<|recipient|>all\n<|content|>Hello.", reading{text: "Hello."}},
		{"functionary to another tool", "<|recipient|>unheard_of\n<|content|>{}", reading{text: "<|recipient|>unheard_of\n<|content|>{}"}},
		// source: github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/hyperclovax_tool_parser.py
		{"hyperclova x", " -> tool/function_call\n[{\"name\": \"look\", \"arguments\": {\"q\":\"a\"}}]<|im_end|>", reading{calls: calledQ}},
		{"a list with dashes", "-> a\n-> b", reading{text: "-> a\n-> b"}},
		// source: platform.openai.com/docs/api-reference/chat (function_call)
		{"a function call of the older API", `{"function_call":{"name":"look","arguments":"{\"q\":\"a\"}"}}`, reading{calls: calledQ}},
		{"a message with a function call", `{"role":"assistant","content":null,"function_call":{"name":"look","arguments":"{\"q\":\"a\"}"}}`, reading{calls: calledQ}},
	})
}

// sample is a text, and what a reader must make of it.
type sample struct {
	name, in string
	want     reading
}

// readsAs reads samples in pieces of several lengths.
func readsAs(t *testing.T, samples []sample) {
	t.Helper()
	for _, c := range samples {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1, 2, 3, 7, 1 << 20} {
				if got, _ := read(t, c.in, n, offered); got != c.want {
					t.Errorf("in pieces of %d: %q\nwant %q", n, got, c.want)
				}
			}
		})
	}
}

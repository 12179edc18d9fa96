package markup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

var offered = map[string]json.RawMessage{
	"look":   json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"},"deep":{"type":"boolean"},"list":{"type":"array"}}}`),
	"list_x": json.RawMessage(`{"type":"object"}`),
}

// reading is what a reader made of a text.
type reading struct{ text, thinking, calls string }

// read reads a text in pieces of n bytes.
func read(t *testing.T, s string, n int, tools map[string]json.RawMessage) (got reading, r *Reader) {
	t.Helper()
	r = &Reader{Tools: func(name string) (json.RawMessage, bool) { s, ok := tools[name]; return s, ok }}
	take := func(p Piece) {
		if p.Restart {
			got.text = ""
		}
		got.thinking += p.Thinking
		got.text += p.Text
	}
	for ; s != ""; s = s[min(n, len(s)):] {
		take(r.Add(s[:min(n, len(s))]))
	}
	take(r.End())
	if got.text != r.Text() {
		t.Errorf("shown %q, whole %q", got.text, r.Text())
	}
	for _, c := range r.Calls() {
		got.calls += fmt.Sprintf("%s %s %s;", c.ID, c.Name, c.Arguments)
	}
	return got, r
}

const calledQ = ` look {"q":"a"};`

// TestMarkup has what models really write.
func TestMarkup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     reading
	}{
		{"plain", "Hello, world. 1 < 2 and a[3]", reading{text: "Hello, world. 1 < 2 and a[3]"}},
		{"leading space stays", "\n\n hi", reading{text: "\n\n hi"}},
		// source: openclaw/openclaw#69843
		{"think", "<think>\nI should look at it…\n</think>\n\nack", reading{"ack", "I should look at it…", ""}},
		{"thinking", " <thinking>hm</thinking>ack", reading{"ack", "hm", ""}},
		{"twice", "<think>a</think>\n<think>b</think>\nack", reading{"ack", "a\n\nb", ""}},
		{"upper case", "<THINK>a</think> ack", reading{"ack", "a", ""}},
		{"both in upper case", "<THINKING>a < b</THINKING>\nack", reading{"ack", "a < b", ""}},
		{"mixed case", "<Think>a</THINK>ack", reading{"ack", "a", ""}},
		{"empty", "<think>\n\n</think>\n\nack", reading{"ack", "", ""}},
		{"unclosed", "<think>a < b </thi", reading{"", "a < b </thi", ""}},
		// source: QwenLM/Qwen3#1150: the template opens the tag
		{"lone", "I should look at it…\n</think>\n\nack", reading{"ack", "I should look at it…", ""}},
		{"lone in a line", "I should</think>\n\nack", reading{"ack", "I should", ""}},
		{"lone without lines", "I should.</think>ack", reading{"ack", "I should.", ""}},
		{"lone at the end", "I should\n</think>", reading{"", "I should", ""}},
		{"lone at the beginning", "</think>\n\nack", reading{"ack", "", ""}},
		// source: mistralai/Magistral-Small-2506 model card
		{"mistral", "[THINK]hm[/THINK]ack", reading{"ack", "hm", ""}},
		{"seed", "<seed:think>hm</seed:think>ack", reading{"ack", "hm", ""}},
		{"kimi", "\u25c1think\u25b7hm\u25c1/think\u25b7ack", reading{"ack", "hm", ""}},
		// source: vllm-project/vllm#46042
		{"minimax m3", "<mm:think>hm</mm:think>ack", reading{"ack", "hm", ""}},
		{"minimax m3, lone", "hm\n</mm:think>\n\nack", reading{"ack", "hm", ""}},
		// source: vllm-project/vllm#58127
		{"hunyuan", "<think>\nhm\n</think>\n<answer>\nack\n</answer>", reading{"ack\n", "hm", ""}},
		{"hunyuan, only the end", "ack\n</answer>", reading{text: "ack\n"}},
		{"about answer tags", "Write <answer>42</answer>", reading{text: "Write <answer>42</answer>"}},
		{"an answer tag without reasoning", "<answer>42</answer> is the form.", reading{text: "<answer>42</answer> is the form."}},
		// source: openai/harmony docs/format.md
		{"harmony", "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>ack<|return|>", reading{"ack", "hm", ""}},
		{"harmony, begun", "<|start|>assistant<|channel|>analysis<|message|>hm<|start|>assistant<|channel|>final<|message|>ack", reading{"ack", "hm", ""}},
		{"about the tag", "The tag `<think>` opens, `</think>` closes.", reading{text: "The tag `<think>` opens, `</think>` closes."}},
		{"about the tag, unquoted", "The tag </think> closes reasoning.", reading{text: "The tag </think> closes reasoning."}},
		{"tag in a fence", "```\n<think>\na\n</think>\n```\ndone", reading{text: "```\n<think>\na\n</think>\n```\ndone"}},
		{"tag in the middle", "So <think>what</think> now", reading{"So now", "what", ""}},
		// source: openclaw/openclaw#89473
		{"behind words, in lines", "Hello\n<think>secret plans</think>\nthere", reading{"Hello\nthere", "secret plans", ""}},
		{"behind words, in paragraphs", "Hello\n\n<think>\nsecret\n</think>\n\nthere", reading{"Hello\n\nthere", "secret", ""}},
		{"behind words, a paragraph behind it", "Hello.\n<think>secret</think>\n\nthere", reading{"Hello.\n\nthere", "secret", ""}},
		{"in front of the answer and in it", "<think>a</think>Hi<think>b secret</think> end", reading{"Hi end", "a\n\nb secret", ""}},
		{"several in the answer", "One\n<think>a</think>\nTwo\n<reasoning>b</reasoning>\nThree", reading{"One\nTwo\nThree", "a\n\nb", ""}},
		{"two in a row in the answer", "One\n<think>a</think>\n<think>b</think>\nTwo", reading{"One\nTwo", "a\n\nb", ""}},
		{"behind words, unclosed", "Hello\n<think>secret", reading{"Hello\n", "secret", ""}},
		{"behind a sentence, unclosed", "Hello! <think>The user wants", reading{"Hello! ", "The user wants", ""}},
		{"behind a sentence, unclosed, with a space", "Hello. <think> The user wants", reading{"Hello. ", "The user wants", ""}},
		{"in a word, unclosed", "Hello<think>secret", reading{"Hello", "secret", ""}},
		{"behind a word, on the next line", "Hello <think>\nsecret", reading{"Hello ", "secret", ""}},
		{"in a sentence, closed", "Hello <think> a secret </think> there", reading{"Hello there", "a secret", ""}},
		{"spaces in the tags", "<think >x</think >ack", reading{"ack", "x", ""}},
		{"spaces in the tags, behind words", "Hi\n< think >x</ think >\nack", reading{"Hi\nack", "x", ""}},
		// source: openclaw/openclaw#48593
		{"attributes", "<think type=\"plan\" n='1'>x</think>ack", reading{"ack", "x", ""}},
		{"a lone tag with a space", "I should\n</think >\nack", reading{"ack", "I should", ""}},
		{"kimi, behind words", "Hi\n\u25c1think\u25b7hm\u25c1/think\u25b7\nack", reading{"Hi\nack", "hm", ""}},
		{"mistral, behind words", "Hi\n[THINK]hm[/THINK]ack", reading{"Hi\nack", "hm", ""}},
		{"harmony, behind words", "Hi\n<|start|>assistant<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>ack", reading{"Hi\nack", "hm", ""}},
		{"behind a fence", "```\nx\n```\n<think>secret</think>\nack", reading{"```\nx\n```\nack", "secret", ""}},
		{"behind a lone backtick", "It is 5` long. <think>secret</think>ack", reading{"It is 5` long. ack", "secret", ""}},
		{"behind a lone backtick, in lines", "It is 5` long\n<think>secret</think>\n\nack", reading{"It is 5` long\n\nack", "secret", ""}},
		{"behind a run of another length", "A `` run <think>secret` </think>ack", reading{"A `` run ack", "secret`", ""}},
		{"a lone tag behind a lone backtick", "It is 5` long.\n</think>\nack", reading{"ack", "It is 5` long.", ""}},
		{"in code of two backticks", "A ``x ` <think>a</think>`` run", reading{text: "A ``x ` <think>a</think>`` run"}},
		{"an empty pair in lines", "Hi\n<think>\n\n</think>\n\nack", reading{"Hi\n\nack", "", ""}},
		{"a call behind thoughts in the answer", "Hi\n<think>hm</think>\n<tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</tool_call>", reading{"Hi\n", "hm", calledQ}},
		{"thoughts behind a call", "<tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</tool_call>\n<think>hm</think>", reading{"\n", "hm", calledQ}},
		{"thoughts in thoughts", "<think>a <think>b</think> c</think>ack", reading{"ack", "a <think>b\n\nc", ""}},
		{"a closing tag behind the answer", "<think>a</think>The answer.\n</think>\n", reading{"The answer.\n\n", "a", ""}},
		{"a closing tag in arguments of a bare call", `{"name": "look", "arguments": {"q":"<think>b</think>"}}`, reading{calls: ` look {"q":"<think>b</think>"};`}},
		// source: larksuite/openclaw-lark#488
		{"about the tags, in code", "Use `<think>` tags:\n```\n<think>\nplan\n</think>\n```\nand `</think>`.", reading{text: "Use `<think>` tags:\n```\n<think>\nplan\n</think>\n```\nand `</think>`."}},
		{"about the tags, in lines of code", "~~~xml\n<think>a</think>\n~~~\n- `<think>a</think>`", reading{text: "~~~xml\n<think>a</think>\n~~~\n- `<think>a</think>`"}},
		{"about the opening tag", "The tag <think> opens reasoning.", reading{text: "The tag <think> opens reasoning."}},
		{"about both tags", "Between <think> and </think> it plans.", reading{text: "Between <think> and </think> it plans."}},
		{"about both tags, quoted", "The tags \"<think>\" and \"</think>\" are its.", reading{text: "The tags \"<think>\" and \"</think>\" are its."}},
		{"about both tags, with dots", "It writes <think>...</think> first.", reading{text: "It writes <think>...</think> first."}},
		{"about the tag, in Chinese", "\u4f7f\u7528<think>\u6807\u7b7e\u3002", reading{text: "\u4f7f\u7528<think>\u6807\u7b7e\u3002"}},
		{"another word with the same beginning", "a <thinker> and\n<think about it>\n<thinks>", reading{text: "a <thinker> and\n<think about it>\n<thinks>"}},
		{"end marks", "ack<|im_end|>\n", reading{text: "ack"}},
		{"strike", "a <s>b</s> c", reading{text: "a <s>b</s> c"}},

		// source: NousResearch/Hermes-Function-Calling README
		{"a message's field", `{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"q\":\"a\"}"}}]}`, reading{calls: "call_1" + calledQ}}, // source: ggml-org/llama.cpp#14697
		{"a message's field, in a message", `{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"look","arguments":{"q":"a"}}}]}`, reading{calls: calledQ}},
		{"a message's field, of another tool", `{"tool_calls":[{"function":{"name":"unheard_of","arguments":{"q":"a"}}}]}`, reading{text: `{"tool_calls":[{"function":{"name":"unheard_of","arguments":{"q":"a"}}}]}`}},
		{"a message's field with more", `{"tool_calls":[{"function":{"name":"look","arguments":{"q":"a"}}}],"note":"an example"}`, reading{text: `{"tool_calls":[{"function":{"name":"look","arguments":{"q":"a"}}}],"note":"an example"}`}},
		{"a message's field in prose", `A call is {"tool_calls":[{"function":{"name":"look","arguments":{"q":"a"}}}]}`, reading{text: `A call is {"tool_calls":[{"function":{"name":"look","arguments":{"q":"a"}}}]}`}},
		{"hermes", "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"q\":\"a\"}}\n</tool_call>", reading{calls: calledQ}},
		{"hermes, two", "Wait.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"q\":\"a\"}}\n</tool_call>\n<tool_call>{\"name\":\"list_x\"}</tool_call><|im_end|>", reading{"Wait.\n", "", calledQ + " list_x {};"}},
		{"hermes in a line", "I will look. <tool_call>{\"name\":\"look\",\"arguments\":\"{\\\"q\\\":\\\"a\\\"}\"}</tool_call>", reading{"I will look. ", "", calledQ}},
		{"hermes, closing tag in a text", `<tool_call>{"name":"look","arguments":{"q":"</tool_call>"}}</tool_call>`, reading{calls: ` look {"q":"</tool_call>"};`}},
		{"after thinking", "<think>hm</think>\n<tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</tool_call>", reading{"", "hm", calledQ}},
		{"function tag around", `<function_call>{"name":"look","arguments":{"q":"a"}}</function_call>`, reading{calls: calledQ}},
		// source: QwenLM/Qwen3-Coder qwen3coder_tool_parser.py
		{"qwen coder", "<tool_call>\n<function=look>\n<parameter=q>\n5\n</parameter>\n<parameter=n>\n5\n</parameter>\n<parameter=deep>\ntrue\n</parameter>\n<parameter=list>\n[1, 2]\n</parameter>\n</function>\n</tool_call>",
			reading{calls: ` look {"q":"5","n":5,"deep":true,"list":[1, 2]};`}},
		{"qwen coder without the outer tag", "<function=look>\n<parameter=q>\na\nb\n</parameter>\n</function>", reading{calls: ` look {"q":"a\nb"};`}},
		{"llama", `<function=look>{"q":"a"}</function>`, reading{calls: calledQ}},
		// source: zai-org/GLM-4.5 chat template
		{"glm", "<tool_call>look\n<arg_key>q</arg_key>\n<arg_value>a</arg_value>\n<arg_key>n</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", reading{calls: ` look {"q":"a","n":3};`}},
		// source: vllm-project/vllm mistral_tool_parser.py
		{"mistral calls", `[TOOL_CALLS][{"name":"look","arguments":{"q":"a"},"id":"abcdefghi"},{"name":"list_x","arguments":{}}]`, reading{calls: `abcdefghi look {"q":"a"}; list_x {};`}},
		{"mistral v11", `[TOOL_CALLS]look{"q":"a"}[TOOL_CALLS]list_x{}`, reading{calls: calledQ + " list_x {};"}},
		{"mistral v13", `[TOOL_CALLS]look[CALL_ID]abcdefghi[ARGS]{"q":"a"}</s>`, reading{calls: `abcdefghi look {"q":"a"};`}},
		// source: moonshotai/Kimi-K2-Instruct docs/tool_call_guidance.md
		{"kimi calls", `Ok.<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"q":"a"}<|tool_call_end|><|tool_call_begin|>functions.list_x:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`,
			reading{"Ok.", "", `functions.look:0 look {"q":"a"};functions.list_x:1 list_x {};`}},
		// source: deepseek-ai/DeepSeek-V3-0324 and V3.1 chat templates
		{"deepseek v3", "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>look\n```json\n{\"q\":\"a\"}\n```<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>", reading{calls: calledQ}},
		{"deepseek v3.1", "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>look<\uff5ctool\u2581sep\uff5c>{\"q\":\"a\"}<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c><\uff5cend\u2581of\u2581sentence\uff5c>", reading{calls: calledQ}},
		// source: deepseek-ai/DeepSeek-V3.2 encoding_dsv32.py; openclaw/openclaw#139144
		{"dsml", "<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name=\"look\">\n<\uff5cDSML\uff5cparameter name=\"q\" string=\"true\">7</\uff5cDSML\uff5cparameter>\n<\uff5cDSML\uff5cparameter name=\"n\" string=\"false\">7</\uff5cDSML\uff5cparameter>\n</\uff5cDSML\uff5cinvoke>\n</\uff5cDSML\uff5cfunction_calls>",
			reading{calls: ` look {"q":"7","n":7};`}},
		// source: MiniMaxAI/MiniMax-M2 docs/tool_calling_guide.md
		{"minimax", "<think>hm</think>\n\n<minimax:tool_call>\n<invoke name=\"look\">\n<parameter name=\"q\">a</parameter>\n</invoke>\n<invoke name=\"list_x\">\n</invoke>\n</minimax:tool_call>", reading{"", "hm", calledQ + " list_x {};"}},
		// source: openclaw/openclaw#62820
		{"harmony call", "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{\"q\":\"a\"}<|call|>", reading{"", "hm", calledQ}},
		{"harmony call, other order", "<|start|>assistant to=functions.look<|channel|>commentary json<|message|>{\"q\":\"a\"}<|call|>", reading{calls: calledQ}},
		// source: raullenchai/Rapid-MLX#455
		{"harmony without marks", "analysisWe look.assistantcommentary to=functions.look json{\"q\":\"a\"}", reading{"", "We look.", calledQ}},
		{"harmony without marks, twice the channel", "commentary to=functions.look commentary json {\"q\":\"a\"}", reading{calls: calledQ}},
		{"harmony without marks, an answer", "analysisUser says hello.assistantfinalHello.", reading{"Hello.", "User says hello.", ""}},
		{"a word of the channel", "analysis of the question", reading{text: "analysis of the question"}},
		{"a word of the channel without an end", "analysisWe are cut off", reading{"analysisWe are cut off", "We are cut off", ""}},
		{"end tokens", "Hello.<eos>", reading{text: "Hello."}},
		{"end token of Kimi", "Hello.[EOS]", reading{text: "Hello."}},
		{"a word for the end token", "The token [EOS] ends a text.", reading{text: "The token [EOS] ends a text."}},
		{"tags in Chinese", "<思考>hm</思考>\nHello.", reading{"Hello.", "hm", ""}},
		{"escaped tags", "&lt;think&gt;hm&lt;/think&gt;\nHello.", reading{"Hello.", "hm", ""}},
		{"a closing tag alone, escaped", "hm&lt;/think&gt;\n\nHello.", reading{"Hello.", "hm", ""}},
		// source: meta-llama/llama-models llama3_1/prompt_format.md
		{"python tag", `<|python_tag|>{"name": "look", "parameters": {"q":"a"}}; {"name":"list_x","parameters":{}}<|eom_id|>`, reading{calls: calledQ + " list_x {};"}},
		// source: microsoft/Phi-4-mini-instruct model card
		{"phi", `<|tool_call|>[{"name":"look","arguments":{"q":"a"}}]<|/tool_call|>`, reading{calls: calledQ}},
		// source: CohereForAI/c4ai-command-r7b-12-2024 model card
		{"cohere", `<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>[{"tool_call_id":"0","tool_name":"look","parameters":{"q":"a"}}]<|END_ACTION|>`, reading{"", "hm", calledQ}},

		// source: MiniMax-AI/MiniMax-M3#31
		{"minimax m3 call", "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"look\">]<]minimax[>[<q>a]<]minimax[>[</q>]<]minimax[>[<n>3]<]minimax[>[</n>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>", reading{calls: ` look {"q":"a","n":3};`}},
		{"minimax m3, text that looks like a number", "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"look\">]<]minimax[>[<q>7]<]minimax[>[</q>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>", reading{calls: ` look {"q":"7"};`}},
		{"minimax m3, nested, behind words", "I look.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"look\">]<]minimax[>[<list>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[<item>b]<]minimax[>[</item>]<]minimax[>[</list>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>", reading{"I look.", "", ` look {"list":[1,"b"]};`}},
		{"brackets", "a[0] and b[1]] <] more", reading{text: "a[0] and b[1]] <] more"}},
		// source: jundot/omlx#581, vllm-project/vllm#44522
		{"gemma 4", `<|tool_call>call:look{q:"a",n:3,deep:true}<tool_call|>`, reading{calls: ` look {"q":"a","n":3,"deep":true};`}},
		{"gemma 4, marks", `Ok.<|tool_call>call:look{q:<|"|>a, {b}<|"|>,list:[<|"|>x<|"|>,2]}<tool_call|><|tool_call>call:list_x{}<tool_call|>`, reading{"Ok.", "", ` look {"q":"a, {b}","list":["x",2]}; list_x {};`}},
		{"gemma 4, bare words", `<|tool_call>call:look{q:hello you}<tool_call|>`, reading{calls: ` look {"q":"hello you"};`}},
		{"gemma 4, half", `<|tool_call>call:look{q:`, reading{text: `<|tool_call>call:look{q:`}},
		// source: ggml-org/llama.cpp#23838
		{"lfm2", `<|tool_call_start|>[look(q='it\'s', n=5, deep=True, list=[1, None])]<|tool_call_end|>`, reading{calls: ` look {"q":"it's","n":5,"deep":true,"list":[1,null]};`}},
		{"lfm2, two", `<|tool_call_start|>[look(q="a"), list_x()]<|tool_call_end|>Done.`, reading{"Done.", "", calledQ + " list_x {};"}},
		{"lfm2, JSON", `<|tool_call_start|>[{"name":"look","arguments":{"q":"a"}}]<|tool_call_end|>`, reading{calls: calledQ}},
		// source: ggml-org/llama.cpp#29240
		{"muse", " to=look<|message|><atem:function_calls>\n<atem:invoke name=\"look\">\n<atem:parameter name=\"q\">a</atem:parameter>\n</atem:invoke>\n</atem:function_calls>", reading{calls: calledQ}},
		{"about an addressee", "to=look is a header.", reading{text: "to=look is a header."}},

		// source: NousResearch/hermes-agent#107125
		{"bare JSON", `{"name": "look", "arguments": {"q":"a"}}`, reading{calls: calledQ}},
		{"bare JSON, arguments first", `{"arguments": {"q":"a"}, "name": "look"}`, reading{calls: calledQ}}, // source: mudler/LocalAI#10052
		{"JSON of arguments", `{"arguments": {"q":"a"}, "about": 1}`, reading{text: `{"arguments": {"q":"a"}, "about": 1}`}},
		{"bare JSON, several", `[{"name": "look", "parameters": {"q":"a"}}, {"name":"list_x","parameters":{}}]`, reading{calls: calledQ + " list_x {};"}},
		{"bare JSON of no tool", `{"name": "deploy", "arguments": {"q":"a"}}`, reading{text: `{"name": "deploy", "arguments": {"q":"a"}}`}},
		{"bare JSON behind thinking", "<think>hm</think>\n\n{\"name\": \"look\", \"arguments\": {\"q\":\"a\"}}", reading{"", "hm", calledQ}},
		{"JSON behind thinking", "<think>hm</think>\n\n{\"name\": \"Ada\"}", reading{`{"name": "Ada"}`, "hm", ""}},
		{"JSON of another kind", `{"name": "Ada", "age": 36}`, reading{text: `{"name": "Ada", "age": 36}`}},
		{"a list", "[1, 2]\n[TODO] more", reading{text: "[1, 2]\n[TODO] more"}},
		{"bare JSON and words", `{"name": "look", "arguments": {"q":"a"}} is the form.`, reading{text: `{"name": "look", "arguments": {"q":"a"}} is the form.`}},
		// source: docs.vllm.ai/en/stable/features/tool_calling (xlam)
		{"JSON in a fence", "```json\n{\"name\": \"look\", \"arguments\": {\"q\":\"a\"}}\n```", reading{calls: calledQ}},
		{"JSON in a fence, of no tool", "```json\n{\"name\": \"deploy\", \"arguments\": {\"q\":\"a\"}}\n```", reading{text: "```json\n{\"name\": \"deploy\", \"arguments\": {\"q\":\"a\"}}\n```"}},
		{"JSON in a fence, and words", "```json\n{\"name\": \"look\", \"arguments\": {}}\n```\nis the form.", reading{text: "```json\n{\"name\": \"look\", \"arguments\": {}}\n```\nis the form."}},
		{"words and JSON in a fence", "So:\n```json\n{\"name\": \"look\", \"arguments\": {}}\n```", reading{text: "So:\n```json\n{\"name\": \"look\", \"arguments\": {}}\n```"}},
		{"code in a fence", "```go\nfunc main() {}\n```", reading{text: "```go\nfunc main() {}\n```"}},
		{"code in a fence without a language", "```\nlook at this\n```", reading{text: "```\nlook at this\n```"}},
		// source: ai.google.dev/gemma/docs/capabilities/function-calling
		{"tool code", "```tool_code\nprint(default_api.look(q=\"a\"))\n```", reading{calls: calledQ}},
		{"tool code, two lines", "```tool_code\nlook(q='a')\nlist_x()\n```", reading{calls: calledQ + " list_x {};"}},
		{"tool code that is code", "```tool_code\nimport os\nlook(q='a')\n```", reading{text: "```tool_code\nimport os\nlook(q='a')\n```"}},
		{"pythonic", `[look(q="a", n=2), list_x()]`, reading{calls: ` look {"q":"a","n":2}; list_x {};`}},
		{"pythonic, of no tool", `[deploy(q="a")]`, reading{text: `[deploy(q="a")]`}},
		{"pythonic, alone", `list_x()`, reading{calls: " list_x {};"}},
		{"pythonic, and words", `list_x() lists all.`, reading{text: `list_x() lists all.`}},
		{"a link", "[look](https://example.org)", reading{text: "[look](https://example.org)"}},
		// source: docs.vllm.ai/en/stable/features/tool_calling (phi4_mini_json)
		{"functools", `functools[{"name": "look", "arguments": {"q":"a"}}]`, reading{calls: calledQ}},
		{"about functools", "functools is a module of Python.", reading{text: "functools is a module of Python."}},
		{"functionary", ">>>look\n{\"q\":\"a\"}", reading{calls: calledQ}},
		{"a prompt of Python", ">>> look\n1", reading{text: ">>> look\n1"}},
		{"llama.cpp's form", `{"tool_call": {"name": "look", "arguments": {"q":"a"}}}`, reading{calls: calledQ}},
		// source: github.com/vllm-project/vllm/tree/main/vllm/tool_parsers
		{"qwen 2.5 coder", "<tools>\n{\"name\": \"look\", \"arguments\": {\"q\":\"a\"}}\n</tools>", reading{calls: calledQ}},
		{"seed", "<seed:tool_call>\n<function=look>\n<parameter=q>a</parameter>\n</function>\n</seed:tool_call>", reading{calls: calledQ}},
		{"longcat", "<longcat_tool_call>look\n<longcat_arg_key>q</longcat_arg_key>\n<longcat_arg_value>a</longcat_arg_value>\n</longcat_tool_call>", reading{calls: calledQ}},
		{"longcat, JSON", "<longcat_think>hm</longcat_think><longcat_tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</longcat_tool_call>", reading{"", "hm", calledQ}},
		{"functiongemma", "<start_function_call>call:look{q:<escape>a<escape>}<end_function_call>", reading{calls: calledQ}},
		{"olmo 3", "<function_calls>\nlook(q=\"a\")\nlist_x()\n</function_calls>", reading{calls: calledQ + " list_x {};"}},
		{"phi 4 mini", `<|tool_calls|>[{"name":"look","arguments":{"q":"a"}}]<|/tool_calls|>`, reading{calls: calledQ}},
		{"solar", `<|think|>hm<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>ab12<|tool_call:name|>look<|tool_call:args|>{"q":"a"}<|tool_call:end|><|calls|>`, reading{"", "hm", `ab12 look {"q":"a"};`}},
		{"solar, an answer", "<|think|>hm<|end|><|begin|>assistant<|content|>ack<|end|>", reading{"ack", "hm", ""}},
		{"solar 2", "hm<|think:end|><|tool_call:start|>look\n<|tool_arg:start|>q<|tool_arg:value|>a<|tool_arg:end|>\n<|tool_arg:start|>n<|tool_arg:value|>3<|tool_arg:end|>\n<|tool_call:end|>", reading{"", "hm", ` look {"q":"a","n":3};`}},
		{"apertus", `<|inner_prefix|>hm<|inner_suffix|><|tools_prefix|>[{"look": {"q":"a"}}]<|tools_suffix|>`, reading{"", "hm", calledQ}},
		{"internlm", "I look.\n<|action_start|><|plugin|>\n{\"name\": \"look\", \"parameters\": {\"q\":\"a\"}}<|action_end|>", reading{"I look.\n", "", calledQ}},
		{"llama 4", `<|python_start|>[look(q="a")]<|python_end|>`, reading{calls: calledQ}},
		{"gigachat", "function call<|role_sep|>\n{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}", reading{calls: calledQ}},
		{"gigachat 3.1", `<|function_call|>{"name":"look","arguments":{"q":"a"}}`, reading{calls: calledQ}},
		// source: lmstudio.ai/docs/developer/openai-compat/tools
		{"lm studio", "[TOOL_REQUEST]\n{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}\n[END_TOOL_REQUEST]", reading{calls: calledQ}},
		// source: huggingface.co/google/medgemma-1.5-4b-it
		{"medgemma", "<unused94>thought\nhm<unused95>ack", reading{"ack", "hm", ""}},
		{"inner thoughts", "<inner_thoughts>hm</inner_thoughts>\n\nack", reading{"ack", "hm", ""}},
		{"about inner thoughts", "Put it into `<inner_thoughts>`.", reading{text: "Put it into `<inner_thoughts>`."}},
		// source: github.com/vllm-project/vllm/blob/main/vllm/reasoning/ernie45_reasoning_parser.py
		{"ernie", "hm\n</think>\n\n<response>\nack\n</response>\n", reading{"ack\n", "hm", ""}},
		{"hunyuan 3", "<think:opensource>hm</think:opensource>ack", reading{"ack", "hm", ""}},
		{"an object that has a tool's name", `{"name": "look"}`, reading{text: `{"name": "look"}`}},
		{"not offered", "Wait.\n<tool_call>{\"name\":\"other\",\"arguments\":{}}</tool_call>", reading{text: "Wait.\n"}},
		{"half", "<tool_call>{\"name\":\"look\",\"arguments\":{", reading{text: "<tool_call>{\"name\":\"look\",\"arguments\":{"}},
		{"unclosed call", `<tool_call>{"name":"look","arguments":{}}`, reading{"", "", ` look {};`}},
		{"cut off call", `<tool_call>{"name":"look","arguments":{"q":"a`, reading{`<tool_call>{"name":"look","arguments":{"q":"a`, "", ""}},
		// source: docs.vllm.ai/en/latest/features/tool_calling.html (granite), vllm/tool_parsers/hermes_tool_parser.py
		{"granite", `<|tool_call|>[{"name": "look", "arguments": {"q": "a"}}]`, reading{"", "", ` look {"q": "a"};`}},
		{"granite, other mark", `<tool_call>[{"arguments": {"q": "a"}, "name": "look"}]<|end_of_text|>`, reading{"", "", ` look {"q": "a"};`}},
		{"hermes without an end, behind words", "I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"q\": \"a\"}}", reading{"I look.\n", "", ` look {"q": "a"};`}},
		{"two without an end", "<tool_call>\n{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}\n<tool_call>\n{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}\n</tool_call>", reading{"", "", ` look {"q":"a"}; look {"q":"a"};`}},
		{"a wrong end", `<tool_call>{"name":"look","arguments":{"q":"a"}}}</tool_calls>`, reading{"", "", ` look {"q":"a"};`}},
		{"words behind an unclosed call", `<tool_call>{"name":"look","arguments":{}} is how it is written`, reading{`<tool_call>{"name":"look","arguments":{}} is how it is written`, "", ""}},
		{"no JSON in tags", `<tool_call>{'name': 'look', 'arguments': {'q': 'a'}}</tool_call>`, reading{"", "", ` look {"q":"a"};`}},
		{"glm without an end", "<tool_call>look\n<arg_key>q</arg_key>\n<arg_value>a</arg_value>", reading{"", "", calledQ}},
		{"qwen without ends", "<tool_call>\n<function=look>\n<parameter=q>\na\n</parameter>\n</tool_call>", reading{"", "", calledQ}},
		{"qwen without the end of a value", "<function=look>\n<parameter=q>\na\n</function>", reading{"", "", calledQ}},
		{"invokes without an end", `<function_calls><invoke name="look"><parameter name="q">a</parameter></invoke>`, reading{"", "", calledQ}},
		// source: vllm/tool_parsers/step3_tool_parser.py
		{"step", `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="look"><steptml:parameter name="q">a</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>`, reading{"", "", calledQ}},
		// source: vllm/tool_parsers/gigachat3_tool_parser.py
		{"gigachat 3", "function call<|role_sep|>\n{\"name\": \"look\", \"arguments\": {\"q\": \"a\"}}<|message_sep|>", reading{"", "", ` look {"q": "a"};`}},
		{"gigachat 3 behind words", "I look.<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"look\", \"arguments\": {\"q\": \"a\"}}<|message_sep|>", reading{"I look.", "", ` look {"q": "a"};`}},
		{"gigachat 3, words alone", "ack<|message_sep|>", reading{"ack", "", ""}},
		// source: github.com/meta-llama/llama-models (prompt format of 3.1)
		{"llama with its end", `{"type": "function", "name": "look", "parameters": {"q": "a"}}<|eom_id|>`, reading{"", "", ` look {"q": "a"};`}},
		// source: anthropics/claude-code#1281
		{"a name space", `<ns:function_calls><ns:invoke name="look"><ns:parameter name="q">a</ns:parameter></ns:invoke></ns:function_calls>`, reading{"", "", calledQ}},
		{"a name space around an invoke", `<ns:invoke name="look"><ns:parameter name="q">a</ns:parameter></ns:invoke>`, reading{"", "", calledQ}},
		{"a name space around JSON", `<any:tool_call>{"name":"look","arguments":{"q":"a"}}</any:tool_call>`, reading{"", "", calledQ}},
		{"another tag", `<svg:rect width="1">`, reading{`<svg:rect width="1">`, "", ""}},
		{"doubao", `<|FunctionCallBegin|>[{"name":"look","parameters":{"q":"a"}}]<|FunctionCallEnd|>`, reading{"", "", calledQ}},
		// source: github.com/zai-org/GLM-V
		{"box", "<|begin_of_box|>ack<|end_of_box|>", reading{"ack", "", ""}},
		{"box behind words", "It is <|begin_of_box|>42<|end_of_box|>.", reading{"It is 42.", "", ""}},
		{"box behind thoughts", "<think>hm</think>\n<|begin_of_box|>ack<|end_of_box|>", reading{"ack", "hm", ""}},
		{"box in code", "`<|begin_of_box|>`", reading{"`<|begin_of_box|>`", "", ""}},
		// source: vllm/reasoning/granite_reasoning_parser.py
		{"granite thoughts", "Here is my thought process:\nhm\n\nHere is my response:\nack", reading{"ack", "hm", ""}},
		{"granite thoughts, shortened", "Here's my thought process:\nhm\n\nHere's my response: ack", reading{"ack", "hm", ""}},
		{"thoughts as an answer", "Here is my thought process: first a, then b.", reading{"Here is my thought process: first a, then b.", "first a, then b.", ""}},
		// source: docs.cohere.com/docs/prompting-command-r
		{"command r", "Action: ```json\n[{\"tool_name\":\"look\",\"parameters\":{\"q\":\"a\"}}]```", reading{"", "", calledQ}},
		{"react", "Action: look\nAction Input: {\"q\":\"a\"}", reading{"", "", calledQ}},
		{"an action for people", "Action: none is needed.", reading{"Action: none is needed.", "", ""}},
		{"tags in a fence", "```xml\n<tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</tool_call>\n```", reading{"", "", calledQ}},
		{"about calls", "Hermes writes <tool_call> around it.", reading{text: "Hermes writes <tool_call> around it."}},
		{"about calls, an example", "Write <tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call> and wait.", reading{text: "Write <tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call> and wait."}},
		{"in a fence", "Like this:\n```xml\n<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>\n```", reading{text: "Like this:\n```xml\n<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>\n```"}},
		{"in inline code", "`<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>`", reading{text: "`<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>`"}},
		{"in a quote", "> <tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>\nSee?", reading{text: "> <tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>\nSee?"}},
		{"spoken of first, then made", "A <tool_call> comes.\n<tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</tool_call>", reading{"A <tool_call> comes.\n", "", calledQ}},
		{"text behind", "<tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</tool_call>\nI wait.", reading{"\nI wait.", "", calledQ}},
		{"an example in lines, not offered", "So:\n<tool_call>{\"name\":\"x\",\"arguments\":{}}</tool_call>\nis how.", reading{text: "So:\n<tool_call>{\"name\":\"x\",\"arguments\":{}}</tool_call>\nis how."}},
		{"a lone backtick", "5` long\n\n<tool_call>{\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}</tool_call>", reading{"5` long\n\n", "", calledQ}},
	} {
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

// TestTagsAreKept: reasoning goes back to its model in the form that it had.
func TestTagsAreKept(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"<think>\nhm\n</think>\n\nack", "<think>hm</think>ack", "hm\n</think>\n\nack", "\n<thinking> hm </thinking> ack"} {
		for _, n := range []int{1, 5, 100} {
			got, r := read(t, in, n, nil)
			opened, closed, ok := r.Tags()
			if back := opened + got.thinking + closed + got.text; !ok || back != strings.TrimLeft(in, "\n") {
				t.Errorf("%q in pieces of %d goes back as %q", in, n, back)
			}
		}
	}
}

// TestNothingOffered: without tools a call is no text for people either.
func TestNothingOffered(t *testing.T) {
	t.Parallel()
	got, r := read(t, "<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>", 4, nil)
	if got != (reading{}) || !r.Removed() {
		t.Errorf("%q, removed %v", got, r.Removed())
	}
}

// TestHeldIsBounded: what may be a call is shown when it gets too long.
func TestHeldIsBounded(t *testing.T) {
	t.Parallel()
	in := "<tool_call>{\"name\":\"" + strings.Repeat("x", maxHeld)
	r := &Reader{}
	var shown strings.Builder
	for s := in; s != ""; s = s[min(1<<16, len(s)):] {
		shown.WriteString(r.Add(s[:min(1<<16, len(s))]).Text)
	}
	if shown.Len() < maxHeld || !strings.HasPrefix(in, shown.String()) {
		t.Errorf("%d bytes shown", shown.Len())
	}
}

// TestThinkingIsNeverText: reasoning is in no piece of the text, wherever a stream is cut.
// source: openclaw/openclaw#89473
func TestThinkingIsNeverText(t *testing.T) {
	t.Parallel()
	for _, tag := range reasonTags {
		if tag.isProse() {
			continue
		}
		for _, c := range []struct{ before, space string }{{"", ""}, {"Hello\n", "\n"}, {"Hello! ", " "}, {"Hello", " "}, {"```\nx\n```\n\n", "\n\n"}} {
			in, want := c.before+tag.open+"SECRET"+tag.closing[0]+c.space+"there", c.before+c.space+"there"
			if strings.HasSuffix(c.before, c.space) {
				want = c.before + "there"
			}
			for cut := range in {
				var r Reader
				first := r.Add(in[:cut])
				second, last := r.Add(in[cut:]), r.End()
				if got := first.Text + second.Text + last.Text; got != want || second.Restart || last.Restart || first.Thinking+second.Thinking+last.Thinking != "SECRET" {
					t.Errorf("%q cut at %d shows %q", in, cut, got)
				}
			}
		}
	}
}

// TestOnlyTheClosingTag: the text of a model that sends only the closing tag is shown from there on, wherever its stream is cut.
// source: deepseek-ai/DeepSeek-R1#352, vllm-project/vllm#49728
func TestOnlyTheClosingTag(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]reading{
		"SECRET plan</think>Hello":            {"Hello", "SECRET plan", ""},
		"SECRET plan\n</think>\n\nHello":      {"Hello", "SECRET plan", ""},
		"<think>SECRET plan</think>Hello":     {"Hello", "SECRET plan", ""},
		"Hello there":                         {"Hello there", "", ""},
		"The tag `</think>` ends it":          {"The tag `</think>` ends it", "", ""},
		"SECRET\n</think>\nHi\n<think>SECRET": {"Hi\n", "SECRET\n\nSECRET", ""},
	} {
		for _, n := range []int{1, 2, 3, 7, 1 << 20} {
			var got reading
			r, restarts := Reader{Closes: true}, 0
			take := func(p Piece) {
				if p.Restart {
					restarts++
				}
				got.text, got.thinking = got.text+p.Text, got.thinking+p.Thinking
			}
			for s := in; s != ""; s = s[min(n, len(s)):] {
				take(r.Add(s[:min(n, len(s))]))
			}
			if take(r.End()); got != want || restarts > 0 {
				t.Errorf("%q in pieces of %d: %q, %d restarts", in, n, got, restarts)
			}
		}
	}
}

// TestWithoutReasoning: a text that an adapter has read stays as it is, and one that it has not read loses its reasoning.
func TestWithoutReasoning(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Found it.\n<think>SECRET</think>\nIt is 42.":         "Found it.\nIt is 42.",
		"Found it.\n<think>SECRET":                            "Found it.\n",
		"<think>a</think>Hi<think>b</think> end":              "Hi end",
		"The tag <think> opens, and `<think>x</think>` works": "The tag <think> opens, and `<think>x</think>` works",
		"<tool_call> is a tag, a<|im_end|>, [x], \u2022":      "<tool_call> is a tag, a<|im_end|>, [x], \u2022",
		"```\n{}\n```\n<think>SECRET</think>":                 "```\n{}\n```\n",
	} {
		if got := WithoutReasoning(in); got != want || WithoutReasoning(got) != want {
			t.Errorf("%q became %q", in, got)
		}
		for i := range in {
			if words, _ := DraftWithoutReasoning(in[:i]); !strings.HasPrefix(want, words) {
				t.Errorf("%q shows %q", in[:i], words)
			}
		}
	}
}

func FuzzMarkup(f *testing.F) {
	for _, s := range []string{"<think>a</think>b", "a</think>b", "<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>", "```\n<tool_call>\n```", "[TOOL_CALLS]look{}", "a<|im_end|>",
		"<function=look><parameter=q>a</parameter></function>", "<|channel|>commentary to=functions.look<|message|>{}<|call|>", "<|start|>assistant<|channel|>final<|message|>x",
		"a\n<think>b</think>\nc", "a <think> b </think> c", "`<think>` a <think>b", "a\n< think n=1 >b</think >c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		whole, _ := read(t, s, len(s)+1, offered)
		pieces, r := read(t, s, 1, offered)
		if whole.calls != pieces.calls || strings.TrimSpace(whole.text) != strings.TrimSpace(pieces.text) {
			t.Fatalf("%q: %q at once, %q in pieces", s, whole, pieces)
		}
		if whole.thinking != pieces.thinking && !strings.Contains(s, "nalysis") && !strings.Contains(s, "thought process:") {
			t.Fatalf("%q: thinking %q at once, %q in pieces", s, whole.thinking, pieces.thinking)
		}
		inner := strings.NewReplacer("<", "", ">", "").Replace(s)
		if got, _ := read(t, "Hello\n<think>"+inner+"</think>\nthere", 1, offered); got.text != "Hello\nthere" {
			t.Fatalf("%q shows %q", inner, got.text)
		}
		for _, c := range r.Calls() {
			if _, ok := offered[c.Name]; !ok || !json.Valid(c.Arguments) || c.Arguments[0] != '{' {
				t.Fatalf("%q: %+v", s, c)
			}
		}
	})
}

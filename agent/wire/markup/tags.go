package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// reasonTag is a pair of tags around reasoning. The first of closing is the proper one.
type reasonTag struct {
	open    string
	closing []string
}

// keep reports whether a closing mark is also the beginning of what follows.
func (t *reasonTag) keep(closing string) bool {
	return strings.HasPrefix(closing, "<|start|>") || strings.HasPrefix(closing, "<|channel|>") || strings.HasPrefix(closing, "<|begin|>") || closing == "<|content|>" || closing == gluedHarmonyCall
}

// reasonTags are the tags that models write around their reasoning, by family.
var reasonTags = []*reasonTag{
	{"<think>", []string{"</think>"}},                                                                   // DeepSeek, Qwen, MiniMax
	{"<thinking>", []string{"</thinking>"}},                                                             //
	{"<thought>", []string{"</thought>"}},                                                               // Gemini, EXAONE
	{"<reasoning>", []string{"</reasoning>"}},                                                           //
	{"<analysis>", []string{"</analysis>"}},                                                             //
	{"<reason>", []string{"</reason>"}},                                                                 //
	{"<seed:think>", []string{"</seed:think>"}},                                                         // Seed-OSS
	{"<mm:think>", []string{"</mm:think>"}},                                                             // MiniMax M3
	{"<antthinking>", []string{"</antThinking>"}},                                                       //
	{"<|begin_of_thought|>", []string{"<|end_of_thought|>"}},                                            //
	{"<|start_thinking|>", []string{"<|end_thinking|>"}},                                                // Cohere
	{"[think]", []string{"[/think]"}},                                                                   // Mistral
	{"\u25c1think\u25b7", []string{"\u25c1/think\u25b7"}},                                               // Kimi-VL
	{"<|channel|>analysis<|message|>", []string{"<|end|>", "<|start|>", "<|channel|>final<|message|>"}}, // gpt-oss
	{"<|channel>thought", []string{"<channel|>"}},                                                       // Gemma 4
	{"<unused94>thought", []string{"<unused95>"}},                                                       // MedGemma. source: huggingface.co/google/medgemma-1.5-4b-it
	{"<|think|>", []string{"<|end|>", "<|begin|>assistant", "<|content|>", "<|/think|>"}},               // Solar Open. source: huggingface.co/upstage/Solar-Open-100B
	{"<|think:start|>", []string{"<|think:end|>"}},                                                      // Solar Open 2. source: github.com/vllm-project/vllm/blob/main/vllm/reasoning/solar_open2_reasoning_parser.py
	{"<|thinking|>", []string{"<|/thinking|>"}},
	{"<|inner_prefix|>", []string{"<|inner_suffix|>"}},      // Apertus. source: github.com/vllm-project/vllm/blob/main/vllm/reasoning/apertus_reasoning_parser.py
	{"<longcat_think>", []string{"</longcat_think>"}},       // LongCat. source: github.com/vllm-project/vllm/blob/main/vllm/reasoning/longcat_reasoning_parser.py
	{"<think:opensource>", []string{"</think:opensource>"}}, // Hunyuan. source: github.com/vllm-project/vllm/blob/main/vllm/reasoning/hy_v3_reasoning_parser.py
	{"<inner_thoughts>", []string{"</inner_thoughts>"}},     // models that are told to think like that
	{"<inner_thought>", []string{"</inner_thought>"}},
	{"<思考>", []string{"</思考>"}},
	{"<思考过程>", []string{"</思考过程>"}},
	{"&lt;think&gt;", []string{"&lt;/think&gt;", "</think>"}}, // of gateways that escape HTML
	{"&lt;thinking&gt;", []string{"&lt;/thinking&gt;", "</thinking>"}},
	{"<inner_monologue>", []string{"</inner_monologue>"}},
	{"<internal_monologue>", []string{"</internal_monologue>"}},
	{"<redacted_thinking>", []string{"</redacted_thinking>"}},
	{"<chain_of_thought>", []string{"</chain_of_thought>"}},
	{"<scratchpad>", []string{"</scratchpad>"}},
	{"<reflection>", []string{"</reflection>"}},
	{graniteThought, []string{"Here is my response:", "Here's my response:"}}, // Granite 3.2
	{"Here's my thought process:", []string{"Here is my response:", "Here's my response:"}},
	{gluedHarmonyThought, []string{"assistantfinal", gluedHarmonyCall}}, // gpt-oss, where a server leaves its marks out
}

// graniteThought opens the reasoning of Granite 3.2, which is only such when its closing words follow.
// source: github.com/vllm-project/vllm/blob/main/vllm/reasoning/granite_reasoning_parser.py
const graniteThought = "Here is my thought process:"

// gluedHarmonyThought opens the reasoning of gpt-oss where a server leaves the marks out; gluedHarmonyCall stands in front of a call there.
// source: raullenchai/Rapid-MLX#455
const (
	gluedHarmonyThought = "analysis"
	gluedHarmonyCall    = "assistantcommentary to="
)

// isProse reports whether a tag is made of words that people may write as well: it is only one when its closing words follow.
func (t *reasonTag) isProse() bool { return t.open[0] == 'H' || t.open == gluedHarmonyThought }

// glued reports whether a text begins with gluedHarmonyThought and goes on without a space, as no sentence does.
func glued(s string) (has, partial bool) {
	if !strings.HasPrefix(s, gluedHarmonyThought) {
		return false, strings.HasPrefix(gluedHarmonyThought, s)
	}
	next, _ := utf8.DecodeRuneInString(s[len(gluedHarmonyThought):])
	return unicode.IsLetter(next), s == gluedHarmonyThought
}

// openingTag reports which reasoning a text begins with, and the length of the tag. partial: it may still become one.
func openingTag(s string) (tag *reasonTag, n int, partial bool) {
	for _, t := range reasonTags {
		length, part := prefixTag(s, t.open)
		if t.open == gluedHarmonyThought {
			var has bool
			if has, part = glued(s); !has {
				length = 0
			}
		}
		switch {
		case length > 0:
			return t, length, false
		case part:
			partial = true
		}
	}
	return nil, 0, partial
}

// openingMark is openingTag for a place inside of a text: words of people are no tag there, and a message of gpt-oss may begin.
func openingMark(s string) (tag *reasonTag, n int, partial bool) {
	const start = "<|start|>assistant"
	skip := 0
	switch has, part := prefix(s, start); {
	case has:
		skip = len(start)
	case part:
		partial = true
	}
	tag, n, part := openingTag(s[skip:])
	if tag != nil && tag.isProse() {
		return nil, 0, false
	}
	return tag, n + skip, partial || part && tag == nil
}

// prefix reports whether s begins with a mark, in any case, or may once more of it has come.
func prefix(s, mark string) (has, partial bool) {
	n := min(len(s), len(mark))
	if n > 1 && s[1]|0x20 != mark[1]|0x20 || !strings.EqualFold(s[:n], mark[:n]) {
		return false, false
	}
	return n == len(mark), n < len(mark)
}

// maxAttributes bounds what stands behind the name in a tag, in bytes.
const maxAttributes = 64

// prefixTag gives the length of a tag that s begins with, in any case, also with attributes or spaces in it; 0 = there is none. partial: it may
// still become one. Marks of other forms have to stand there as they are.
func prefixTag(s, mark string) (n int, partial bool) {
	if s == "" || s[0]|0x20 != mark[0]|0x20 {
		return 0, s == ""
	}
	name, isTag := strings.CutSuffix(mark[1:], ">")
	if !isTag || mark[0] != '<' || strings.ContainsAny(name, "<>|") {
		has, part := prefix(s, mark)
		if has {
			n = len(mark)
		}
		return n, part
	}
	name, closes := strings.CutPrefix(name, "/")
	rest := strings.TrimLeft(s[1:], " \t")
	if closes {
		if has, part := prefix(rest, "/"); !has {
			return 0, part && len(s) <= maxAttributes
		}
		rest = strings.TrimLeft(rest[1:], " \t")
	}
	switch has, part := prefix(rest, name); {
	case !has:
		return 0, part && len(s) <= len(mark)+maxAttributes
	case len(rest) == len(name):
		return 0, true
	}
	rest = rest[len(name):]
	end := strings.IndexAny(rest, "<>\n")
	switch {
	case rest[0] == '>':
	case rest[0] != ' ' && rest[0] != '\t', end > maxAttributes:
		return 0, false
	case end < 0:
		return 0, len(rest) <= maxAttributes
	case rest[end] != '>', strings.Trim(rest[:end], " \t") != "" && !strings.Contains(rest[:end], "="):
		return 0, false
	}
	return len(s) - len(rest) + end + 1, false
}

// ends gives the place and the length of the mark that ends reasoning in a text, without a mark that begins what follows; -1 = it does not end.
func (t *reasonTag) ends(s string) (at, n int) {
	for at = range len(s) {
		for _, closing := range t.closing {
			if s[at] != closing[0] {
				continue
			}
			switch n, _ := prefixTag(s[at:], closing); {
			case n > 0 && t.keep(closing):
				return at, 0
			case n > 0:
				return at, n
			}
		}
	}
	return -1, 0
}

// frames are marks of chat templates in front of an answer's text.
var frames = []string{"<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>", "<|start|>assistant<|channel|>commentary<|message|>", "<|channel|>commentary<|message|>",
	"<|start|>assistant<|message|>", "<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>", "<|start_response|>", "<|begin_of_solution|>", "<|begin|>assistant<|content|>", "<|begin|>assistant", "<|content|>", "<|message_sep|>\n\nfunction call<|role_sep|>", "function call<|role_sep|>", "<|assistant|>", "<|begin_of_text|>", "<|startoftext|>", "</think>", "</thinking>",
	"<|from|>assistant\n<|recipient|>all\n<|content|>", "<|recipient|>all\n<|content|>"}

// frameMark gives the length of such a mark that a text begins with. What opens reasoning is none.
func frameMark(s string) (n int, partial bool) {
	const start = "<|start|>assistant"
	if has, part := prefix(s, start); (has || part) && !strings.HasPrefix(s[min(len(s), len(start)):], " to=") {
		for _, t := range reasonTags {
			if has, part := prefix(s, start+t.open); has {
				return len(start), false
			} else if part {
				partial = true
			}
		}
	}
	if n, part := addressee(s); n > 0 {
		return n, false
	} else if part {
		partial = true
	}
	for _, f := range frames {
		switch n, part := prefixTag(s, f); {
		case n > 0:
			return n, false
		case part:
			partial = true
		}
	}
	return 0, partial
}

// addressee gives the length of a header that says which tool a message is for, in front of a call in tags that names it again: the
// beginning of the header stood in the prompt. source: ggml-org/llama.cpp#29240
func addressee(s string) (n int, partial bool) {
	if has, part := prefix(s, "to="); !has {
		return 0, part
	}
	name := s[len("to="):]
	end := strings.IndexByte(name, '<')
	if end < 0 {
		return 0, len(name) <= 128 && (name == "" || validName(name))
	}
	const tail = "<|message|><"
	has, part := prefix(name[end:], tail)
	if !validName(name[:end]) || !has {
		return 0, part && validName(name[:end])
	}
	return len("to=") + end + len(tail) - 1, false
}

// heldBytes gives how many bytes at the end of a text may be the beginning of one of the marks.
func heldBytes(s string, marks []string) (n int) {
	for _, m := range marks {
		for k := min(len(m)+2*maxAttributes, len(s)); k > n; k-- {
			if s[len(s)-k]|0x20 != m[0]|0x20 {
				continue
			}
			if _, partial := prefixTag(s[len(s)-k:], m); partial {
				n = k
			}
		}
	}
	return n
}

// markKind is what a mark in the text of an answer is.
type markKind int

const (
	noMark      markKind = iota
	callMark             // it opens a tool call
	closingMark          // it closes reasoning
	reasonMark           // it opens reasoning
	endMark              // of a chat template, at the end of an answer
	boxMark              // around a part of the answer that is for people
)

// boxMarks stand around the part of an answer that counts. source: github.com/zai-org/GLM-V
var boxMarks = []string{"<|begin_of_box|>", "<|end_of_box|>"}

// callMarks open tool calls.
var callMarks = []string{
	"<tool_call:opensource>", "<tool_calls:opensource>", // Hunyuan 4
	"<tool_call>", "<tool_calls>", "<toolcall>", "<function_call>", "<functioncall>", "<function_calls>", // Hermes, Qwen, GLM, Nemotron
	"<|tool_call|>", "<|start_action|>", // Phi, Cohere
	"<function=",                                          // Qwen3-coder, Llama
	"[tool_calls]",                                        // Mistral
	"<|tool_calls_section_begin|>", "<|tool_call_begin|>", // Kimi
	"<\uff5ctool\u2581calls\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581begin\uff5c>", // DeepSeek
	"<\uff5cdsml\uff5cfunction_calls>", "<\uff5cdsml\uff5cinvoke ", "<\uff5cdsml\uff5ctool_calls>", // DeepSeek V3.2
	"<invoke name=",                                                                                                                                                              // MiniMax
	m3Mark + "<tool_call>",                                                                                                                                                       // MiniMax M3. source: MiniMax-AI/MiniMax-M3#31
	"<|tool_call>",                                                                                                                                                               // Gemma 4. source: jundot/omlx#581
	"<|tool_call_start|>",                                                                                                                                                        // LFM2. source: ggml-org/llama.cpp#23838
	"<|channel|>commentary to=", "<|channel|>analysis to=", "<|start|>assistant to=", "<|start|>assistant<|channel|>commentary to=", "<|start|>assistant<|channel|>analysis to=", // gpt-oss
	"<|python_tag|>", "<|python_start|>", // Llama
	"<tools>",                                    // Qwen2.5-Coder. source: github.com/vllm-project/vllm/blob/main/vllm/tool_parsers/qwen25_coder_tool_parser.py
	"<longcat_tool_call>",                        // LongCat
	"<start_function_call>",                      // FunctionGemma
	"<|tool_calls|>",                             // Phi-4-mini, Solar Open
	"<|tool_call:begin|>", "<|tool_call:start|>", // Solar Open
	"<|tools_prefix|>",                                                // Apertus
	"<|action_start|><|plugin|>",                                      // InternLM
	"<|function_call|>",                                               // GigaChat
	"<\uff5ctool_calls_begin\uff5c>", "<\uff5ctool_call_begin\uff5c>", // Step-3
	"<|functioncallbegin|>", "[tool_call]", // Doubao
	gigaChatCall,
	"[tool_request]", // LM Studio. source: lmstudio.ai/docs/developer/openai-compat/tools
}

// closingMarks close reasoning that the prompt opened.
var closingMarks = []string{"</think>", "</thinking>", "[/think]", "</seed:think>", "</mm:think>", "</longcat_think>", "</think:opensource>", "<|inner_suffix|>", "<|think:end|>", "<unused95>", "\u25c1/think\u25b7", "</思考>", "&lt;/think&gt;", "&lt;/thinking&gt;",
	"</thought>", "</reasoning>", "</analysis>", "</antThinking>", "<|end_of_thought|>", "<|end_thinking|>", "<|/thinking|>"}

// endMarks end an answer in a chat template. source: huggingface.co/moonshotai/Kimi-K2-Instruct (tokenizer_config.json, [EOS])
var endMarks = []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<end_of_turn>", "<|end_response|>", "<|end_of_solution|>",
	"<\uff5cend\u2581of\u2581sentence\uff5c>", "<|end_of_turn|>", "[e~[", "<eos>", "[eos]", "<|eos|>", "<|eot|>", "<turn|>", "<|user|>", "<|observation|>", "<|flush|>", "<|calls|>", "</answer>", "</response>", "<|answer_suffix|>", "<|message_sep|>"}

// answerTags are the tags that models write around their answer, behind their reasoning: Hunyuan, ERNIE, Apertus.
// source: vllm-project/vllm#58127, github.com/vllm-project/vllm/blob/main/vllm/reasoning/ernie45_reasoning_parser.py
var answerTags = []struct{ open, closing string }{{"<answer>", "</answer>"}, {"<response>", "</response>"}, {"<|answer_prefix|>", "<|answer_suffix|>"}}

// answerTag gives the pair of tags that a closing tag belongs to; nil = none.
func answerTag(closing string) *struct{ open, closing string } {
	for i := range answerTags {
		if strings.EqualFold(closing, answerTags[i].closing) {
			return &answerTags[i]
		}
	}
	return nil
}

// markAt reports what a text begins with, and the length of the mark. partial: it may still become one.
func markAt(s string) (kind markKind, n int, partial bool) {
	for _, list := range []struct {
		kind  markKind
		marks []string
	}{{callMark, callMarks}, {closingMark, closingMarks}, {endMark, endMarks}, {boxMark, boxMarks}} {
		for _, m := range list.marks {
			length := len(m)
			has, part := prefix(s, m)
			if list.kind == closingMark {
				length, part = prefixTag(s, m)
				has = length > 0
			}
			switch {
			case has && length > n:
				kind, n = list.kind, length
			case part:
				partial = true
			}
		}
	}
	if n > 0 {
		return kind, n, false
	}
	switch tag, n, part := openingMark(s); {
	case tag != nil:
		return reasonMark, n, false
	case part:
		partial = true
	}
	switch n := spaceMark(s); {
	case n > 0:
		return callMark, n, false
	case n < 0:
		partial = true
	}
	return noMark, 0, partial
}

// spaced are the names of tags around calls that may have a name space in front of them.
//
// source: MiniMax-AI/MiniMax-M2#1 (minimax), huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct (seed), ggml-org/llama.cpp#29240 (atem),
// anthropics/claude-code#1281, vllm-project/vllm step3_tool_parser.py (steptml)
var spaced = []string{"tool_call>", "tool_calls>", "function_calls>", "function_call>", "invoke name="}

// spaceMark gives the length of an opening tag of a call with a name space, as in <seed:tool_call>, that a text begins with; 0 = there is
// none, negative = it may become one.
func spaceMark(s string) int {
	if len(s) < 2 || s[0] != '<' {
		return 0
	}
	space := 1
	for space < len(s) && (s[space] >= 'a' && s[space] <= 'z' || s[space] == '_') {
		space++
	}
	switch {
	case space == 1 || space > 17:
		return 0
	case space == len(s):
		return -1
	case s[space] != ':':
		return 0
	}
	for _, name := range spaced {
		switch has, partial := prefix(s[space+1:], name); {
		case has:
			return space + 1 + len(name)
		case partial:
			return -1
		}
	}
	return 0
}

// viable reports whether a text that begins with a mark may still become a tool call, or end an answer.
func viable(s string) bool {
	kind, n, partial := markAt(s)
	if partial {
		return true
	}
	rest := strings.TrimLeft(s[n:], " \t\r\n")
	switch {
	case kind == noMark:
		return false
	case kind == endMark, rest == "":
		if has, partial := prefix(rest, "function call<|role_sep|>"); has || partial {
			return true
		}
		return kind == callMark || rest == "" || rest[0] == '<' || rest[0] == '['
	}
	mark := strings.ToLower(s[:n])
	if _, local, ok := strings.Cut(mark, ":"); ok && spaceMark(s) == n {
		mark = "<" + local
	}
	switch m := mark; m {
	case "<tool_call>", "<toolcall>": // GLM's has a name first
		return rest[0] == '{' || rest[0] == '[' || rest[0] == '<' || nameStart(rest)
	case m3Mark + "<tool_call>":
		return rest[0] == ']' || rest[0] == '<'
	case "<|tool_call>":
		has, partial := prefix(rest, "call:")
		return has || partial
	case "<|tool_call_start|>":
		return rest[0] == '['
	case "<function_calls>": // Olmo's are in Python. source: docs.vllm.ai/en/v0.19.1/api/vllm/tool_parsers/olmo3_tool_parser
		return rest[0] == '{' || rest[0] == '[' || rest[0] == '<' || nameStart(rest) || pythonName.MatchString(rest)
	case "<tools>", "[tool_request]", "<|action_start|><|plugin|>", "<|tools_prefix|>", "<|function_call|>":
		return rest[0] == '{' || rest[0] == '['
	case "<longcat_tool_call>":
		return rest[0] == '{' || nameStart(rest)
	case "<tool_calls>", "<function_call>", "<functioncall>", "<|tool_call|>", "<|start_action|>", "<|functioncallbegin|>", "[tool_call]", gigaChatCall:
		return rest[0] == '{' || rest[0] == '[' || rest[0] == '<'
	}
	return true
}

// nameStart reports whether a text begins with a tool's name on a line of its own, or may.
func nameStart(s string) bool {
	s = s[:min(len(s), maxTail)]
	line, _, whole := strings.Cut(s, "\n")
	name, _, tag := strings.Cut(line, "<")
	return len(name) <= 128 && validName(strings.TrimSpace(name)) && (whole || tag || len(line) < 128)
}

func validName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

package markup

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// growing are texts that can be made as long as one likes: a beginning, what is repeated, and an end.
var growing = []struct{ name, begin, unit, end string }{
	{"text", "", "some words ", ""},
	{"brackets", "", "a < b ", ""},
	{"brackets alone", "", "<", ""},
	{"square brackets", "", "[x] ", ""},
	{"entities", "", "&amp; ", ""},
	{"white space in front", "", "\n", "Hello"},
	{"white space behind thinking", "<think>a</think>", "\n", "Hello"},
	{"white space in thinking", "<think>", " ", "so</think>Hello"},
	{"thinking", "<think>", "so it is. ", "</think>Hello"},
	{"thinking, brackets", "<think>", "a < b ", "</think>Hello"},
	{"thinking, no end", "<think>", "</thin", ""},
	{"thinking in words of people", graniteThought, " so it is.", ""},
	{"thinking of gpt-oss", "", "<|channel|>analysis<|message|>x<|end|>", "Hello"},
	{"thinking of gpt-oss without marks", gluedHarmonyThought + "We", " have to", ""},
	{"pairs", "", "<think>a</think>", "Hello"},
	{"pairs and text", "Hello\n", "<think>a</think>Hello ", ""},
	{"pairs of several ends", "", "<|think|>a<|end|>", "Hello"},
	{"pairs around boxes", "x" + strings.Repeat(" ", 100_000), "<think>x</think><|begin_of_box|>", ""},
	{"opened, spoken of", "a", " <think> and", ""},
	{"opened, several", "a", " <think> and <thinking> or <thought>", ""},
	{"opened, one end", "a", " <think> and", " </think> so"},
	{"opened and closed, spoken of", "a", " <think> and </think> and", ""},
	{"closed, spoken of", "a", " </think>, so", ""},
	{"closed, several", "a", " </think>, so </thinking>, so </thought>, so", ""},
	{"closed, attributes", "a", " </think a=1>, so </think b=2>, so", ""},
	{"closed", "a", "b\n</think>\n", "c"},
	{"closed behind a text", strings.Repeat("Hello ", 50_000) + "<think>x</think>", "b\n</think>\n", "c"},
	{"closed, one line", "x ", "</think> y ", ""},
	{"closed, digits", "x\n", "1 </think> 2 ", ""},
	{"code", "`", "<think>", "`"},
	{"code, no end", "`", "<think>", ""},
	{"code, one paragraph", "", "`<think> a\n\n", ""},
	{"code, many", "", "`<think>` ", ""},
	{"code, held", "`<think>", " and so on", "`"},
	{"fences", "", "```\n<think>\n```\n", ""},
	{"spaces in tags", "<", " ", "think>"},
	{"long tags", "", "<think a=" + strings.Repeat("b", 100), ""},
	{"a call", "[TOOL_CALLS]look{\"at\":\"", "0123456789", "\"}"},
	{"calls", "", "<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>\n", ""},
	{"calls, no ends", "", "<tool_call>{\"name\":\"look\",\"arguments\":{}}\n", ""},
	{"calls of Mistral", "", "[TOOL_CALLS]look{}", ""},
	{"parameters", "<function=look>\n", "<parameter=a>\n1\n", "</function>"},
	{"parameters of many calls", "", "<function=look>\n<parameter=a>\n1\n</function>\n", ""},
	{"keys", "<tool_call>look", "<arg_key>a</arg_key><arg_value>b</arg_value>", "</tool_call>"},
	{"names of calls", "", "<tool_call>a b ", ""},
	{"call in a call", "<tool_call>", "{\"tool_call\":", ""},
	{"a call in calls", strings.Repeat("{\"tool_call\":", 9_000), " ", strings.Repeat("}", 9_000)},
	{"a call in calls, marked", "[TOOL_CALLS]" + strings.Repeat("{\"tool_call\":", 9_000), " ", strings.Repeat("}", 9_000)},
	{"marks of ends", "", "<|im_end|>", "x"},
	{"marks of ends, text", "", "<|im_end|>x ", ""},
	{"marks of answers", "<think>x</think>", "<answer>", ""},
	{"recipients", "", "<think>x</think>to=aaa", ""},
	{"nearly calls", "", "<tool_call", ""},
	{"JSON", "{\"name\":\"look\",", "\"a\":1,", ""},
	{"lists", "", "[", ""},
	{"Python", "<|tool_call_start|>[", "look(a=1),", "]<|tool_call_end|>"},
	{"MiniMax", m3Mark + "<tool_call>" + m3Mark + `<invoke name="look">`, m3Mark + "<a>b" + m3Mark + "</a>", m3Mark + "</invoke>" + m3Mark + "</tool_call>"},
	{"Kimi", "<|tool_calls_section_begin|>", "<|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}<|tool_call_end|>", "<|tool_calls_section_end|>"},
}

// grown gives such a text of about n bytes.
func grown(i, n int) string {
	g := growing[i]
	return g.begin + strings.Repeat(g.unit, n/len(g.unit)) + g.end
}

// readWhole reads a text in pieces of so many bytes, and gives the bytes of text and thinking that its pieces had.
func readWhole(in string, size int) (total int) {
	r := Reader{Tools: func(name string) (json.RawMessage, bool) { return nil, name == "look" }}
	take := func(p Piece) { total += len(p.Text) + len(p.Thinking) }
	for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
		take(r.Add(rest[:min(size, len(rest))]))
	}
	take(r.End())
	return total
}

// TestLinear: the memory that a text takes grows as its length does, whatever stands in it and however it is split.
func TestLinear(t *testing.T) { // not parallel: it counts what is made
	for i, g := range growing {
		for name, n := range map[string]int{"one piece": 32 << 10, "pieces": 32 << 10, "letters": 8 << 10} {
			in := grown(i, n)
			size := map[string]int{"one piece": len(in), "pieces": 200, "letters": 1}[name]
			t.Run(g.name+", "+name, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				given := readWhole(in, size)
				runtime.ReadMemStats(&after)
				if made := (after.TotalAlloc - before.TotalAlloc) / uint64(len(in)); made > 2500 || given > 200*len(in) {
					t.Errorf("%d bytes made and %d given for each", made, given/len(in))
				}
			})
		}
	}
}

// BenchmarkLinear doubles the length of texts.
func BenchmarkLinear(b *testing.B) {
	for i, g := range growing {
		for n := 1 << 20; n <= 4<<20; n *= 2 {
			in := grown(i, n)
			for name, size := range map[string]int{"whole": len(in), "20000 pieces": len(in)/20_000 + 1, "letters": 1} {
				b.Run(fmt.Sprintf("%s/%s/%d MB", g.name, name, n>>20), func(b *testing.B) {
					b.SetBytes(int64(len(in)))
					for b.Loop() {
						readWhole(in, size)
					}
				})
			}
		}
	}
}

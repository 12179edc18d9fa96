package anthropic

import (
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// TestReading: answers as servers give them, regular and odd.
func TestReading(t *testing.T) {
	t.Parallel()
	const text = `{"type":"text","text":""}`
	const thinking = `{"type":"thinking","thinking":"","signature":""}`
	tool := func(input string) string {
		return `{"type":"tool_use","id":"toolu_1","name":"look","input":` + input + `}`
	}
	args := func(i int, part string) string {
		return piece(i, fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, part))
	}
	for _, c := range []struct {
		name, body, want string
		stop             string // empty = stop
		usage            sessions.Usage
	}{
		{name: "as documented", body: hello, want: "text hello", usage: sessions.Usage{Input: 10, Output: 5}},
		{name: "pings and events of the future", want: "text hello",
			body: sse(msgStart, `{"type": "ping"}`, `{"type":"moon_phase","phase":3}`, start(0, text), textPiece(0, "hel"), piece(0, `{"type":"aura_delta","aura":"blue"}`), textPiece(0, "lo"), msgEnd, msgStop)},
		{name: "sources of a text", want: "text hello", // source: platform.claude.com, citations
			body: sse(msgStart, start(0, text), piece(0, `{"type":"citations_delta","citation":{"type":"char_location","cited_text":"x"}}`), textPiece(0, "hello"), msgEnd, msgStop)},
		{name: "no message_stop", body: sse(msgStart, start(0, text), textPiece(0, "hello"), msgEnd), want: "text hello"},
		{name: "no stop reason", body: sse(msgStart, start(0, text), textPiece(0, "hello"), `{"type":"message_delta","delta":{"stop_reason":null},"usage":null}`, msgStop), want: "text hello"},
		{name: "[DONE]", body: sse(msgStart, start(0, text), textPiece(0, "hello"), msgEnd, "[DONE]"), want: "text hello"},
		{name: "no space behind data:, CRLF, comments, a byte order mark", want: "text hello",
			body: "\ufeff: hi\r\n\r\n" + strings.ReplaceAll(strings.ReplaceAll(hello, "data: ", "data:"), "\n", "\r\n")},
		{name: "no empty lines", body: strings.ReplaceAll(strings.ReplaceAll(hello, "event: x\n", ""), "\n\n", "\n"), want: "text hello"},
		{name: "types in the names of events only", want: "text hello",
			body: "event: content_block_start\ndata: {\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"index\":0,\"delta\":{\"text\":\"hello\"}}\n\nevent: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {}\n\n"},
		{name: "an empty error in each event", want: "text hello", body: strings.ReplaceAll(strings.ReplaceAll(hello, `"index":0,`, `"index":0,"error":"",`), `"type":"message_delta",`, `"type":"message_delta","error":{},`)},
		{name: "one JSON object", want: "thinking hm {\"signature\":\"sig\"} | text hello | call toolu_1 look{\"a\":1}", stop: agent.StopToolUse,
			body:  `{"id":"msg_1","type":"message","role":"assistant","model":"m-2","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"hello"},` + tool(`{"a":1}`) + `],"stop_reason":"tool_use","usage":{"input_tokens":7,"output_tokens":3}}`,
			usage: sessions.Usage{Input: 7, Output: 3}},
		{name: "one JSON object, content as text", body: ` {"type":"message","content":"hello","stop_reason":"end_turn"}`, want: "text hello"},
		{name: "one JSON object, no type and no reason", body: `{"content":[{"text":"hello"}]}`, want: "text hello"},
		{name: "a JSON value for each event", body: strings.Join([]string{msgStart, start(0, text), textPiece(0, "hello"), msgEnd, msgStop}, "\n"), want: "text hello"},
		{name: "no indexes", want: "text hello | call toolu_1 look{\"a\":1}", stop: agent.StopToolUse,
			body: strings.ReplaceAll(strings.ReplaceAll(sse(msgStart, start(0, text), textPiece(0, "hello"), start(1, tool("{}")), args(1, `{"a":`), args(1, `1}`), msgTool, msgStop), `"index":0,`, ""), `"index":1,`, "")},
		{name: "the same index for all", want: "text hello | call toolu_1 look{\"a\":1} | call toolu_1 look{\"b\":1}", stop: agent.StopToolUse,
			body: sse(msgStart, start(0, text), textPiece(0, "hello"), start(0, tool("{}")), args(0, `{"a":1}`), start(0, tool("{}")), args(0, `{"b":1}`), msgTool, msgStop)},
		{name: "blocks that never began", want: "thinking hm {\"unsigned\":true} | text hello", body: sse(msgStart, piece(0, `{"type":"thinking_delta","thinking":"hm"}`), textPiece(1, "hello"), msgEnd, msgStop)},
		{name: "indexes and counts as texts", want: "text hello", usage: sessions.Usage{Input: 12, Output: 4},
			body: sse(msgStart, strings.Replace(start(0, text), `"index":0`, `"index":"0"`, 1), strings.Replace(textPiece(0, "hello"), `"index":0`, `"index":"0"`, 1),
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":"12","output_tokens":4.0,"cache_read_input_tokens":null}}`, msgStop)},
		{name: "text as a list, thinking as an object", want: "thinking hm {\"unsigned\":true} | text hello",
			body: sse(msgStart, start(0, thinking), piece(0, `{"type":"thinking_delta","thinking":{"text":"hm"}}`), start(1, text), piece(1, `{"type":"text_delta","text":[{"type":"text","text":"hel"},{"type":"text","text":"lo"}]}`), msgEnd, msgStop)},
		{name: "an event that is no JSON", body: strings.Replace(hello, "event: x\ndata: {\"type\":\"content_block_stop\",\"index\":0}", "event: x\ndata: {{]", 1), want: "text hello"},
		{name: "counts at the end only", want: "text hello", usage: sessions.Usage{Input: 14 + 3, Output: 2, CacheRead: 3}, // source: zai-org/GLM-5#139
			body: sse(`{"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0}}}`, start(0, text), textPiece(0, "hello"),
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":14,"output_tokens":2,"cache_read_input_tokens":3}}`, msgStop)},
		{name: "a text that is empty in front", want: "thinking 1 {\"unsigned\":true} | text hello", // source: BerriAI/litellm#34701
			body: sse(msgStart, start(0, text), `{"type":"content_block_stop","index":0}`, start(1, thinking), piece(1, `{"type":"thinking_delta","thinking":"1"}`), start(2, text), textPiece(2, "hello"), msgEnd, msgStop)},
		{name: "all of the text at the start of its block", body: sse(msgStart, start(0, `{"type":"text","text":"hello"}`), msgEnd, msgStop), want: "text hello"},
		{name: "thinking of which only a signature comes", want: "thinking  {\"signature\":\"91cfbb94-554b\"} | text hello", // source: earendil-works/pi#4003
			body: sse(msgStart, start(0, `{"type":"thinking","thinking":""}`), piece(0, `{"type":"signature_delta","signature":"91cfbb94-554b"}`), start(1, text), textPiece(1, "hello"), msgEnd, msgStop)},
		{name: "redacted thinking", want: "thinking  {\"redacted_thinking\":\"cipher\"} | text hello",
			body: sse(msgStart, start(0, `{"type":"redacted_thinking","data":"cipher"}`), start(1, text), textPiece(1, "hello"), msgEnd, msgStop)},
		{name: "arguments that are not streamed", want: "call toolu_1 look{\"a\":1}", stop: agent.StopToolUse, body: sse(msgStart, start(0, tool(`{"a":1}`)), msgTool, msgStop)},
		{name: "arguments as a text", want: "call toolu_1 look{\"a\":1}", stop: agent.StopToolUse, body: sse(msgStart, start(0, tool(`"{\"a\":1}"`)), msgTool, msgStop)},
		{name: "pieces of arguments that are objects", want: "call toolu_1 look{\"a\":1}", stop: agent.StopToolUse,
			body: sse(msgStart, start(0, tool(`{}`)), piece(0, `{"type":"input_json_delta","partial_json":{"a":1}}`), msgTool, msgStop)},
		{name: "arguments that come twice", want: "call toolu_1 look{\"a\":1}", stop: agent.StopToolUse, body: sse(msgStart, start(0, tool(`{}`)), args(0, "{}"), args(0, `{"a":1}`), args(0, `{"a":1}`), msgTool, msgStop)},
		{name: "no input", want: "call toolu_1 look", stop: agent.StopToolUse, body: sse(msgStart, start(0, `{"type":"tool_use","id":"toolu_1","name":"look"}`), msgTool, msgStop)},
		{name: "no id, and a reason that says nothing of calls", want: "call (made) look{}", stop: agent.StopToolUse, body: sse(msgStart, start(0, `{"type":"tool_use","id":null,"name":"look","input":{}}`), msgEnd, msgStop)},
		{name: "an id that is a number", want: "call 7 look{}", stop: agent.StopToolUse, body: sse(msgStart, start(0, `{"type":"tool_use","id":7,"name":"look","input":{}}`), msgTool, msgStop)},
		{name: "refused at once", want: "", stop: agent.StopFilter, // source: NousResearch/hermes-agent#43084
			body: sse(msgStart, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber"}},"usage":{"output_tokens":0}}`, msgStop)},
		{name: "refused in the middle of a call", want: "text hello", stop: agent.StopFilter,
			body: sse(msgStart, start(0, text), textPiece(0, "hello"), start(1, tool("{}")), args(1, `{"a":1}`), `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, msgStop)},
		{name: "the window is full", want: "text hello", stop: agent.StopLength, body: strings.Replace(hello, "end_turn", "model_context_window_exceeded", 1)},
		{name: "a reason of the future", body: strings.Replace(hello, "end_turn", "lunch", 1), want: "text hello"},
		{name: "a reason of another API", body: strings.Replace(hello, "end_turn", "length", 1), want: "text hello", stop: agent.StopLength},
		{name: "a tool of the server", want: `thinking  {"block":{"id":"srv_1","input":{"query":"x"},"name":"web_search","type":"server_tool_use"}} | thinking  {"block":{"content":[{"type":"web_search_result","encrypted_content":"c"}],"tool_use_id":"srv_1","type":"web_search_tool_result"}} | text hello`,
			body: sse(msgStart, start(0, `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`), args(0, `{"query":`), args(0, `"x"}`),
				start(1, `{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","encrypted_content":"c"}]}`), start(2, text), textPiece(2, "hello"), msgEnd, msgStop)},
		{name: "a block of the future, in pieces", want: `thinking  {"block":{"content":"summed up","type":"compaction"}} | text hello`, // source: platform.claude.com, compaction
			body: sse(msgStart, start(0, `{"type":"compaction","content":null}`), piece(0, `{"type":"compaction_delta","content":"summed "}`), piece(0, `{"type":"compaction_delta","content":"up"}`), start(1, text), textPiece(1, "hello"), msgEnd, msgStop)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &endpoint{answer: always(reply{body: c.body, kind: "application/octet-stream"})}
			h := listen(t, e.at(elsewhere), agent.Prompt{})
			if h.err != nil {
				t.Fatal(h.err)
			}
			if got := shape(h.answer.Content); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if c.stop == "" {
				c.stop = agent.StopEnd
			}
			if h.answer.Stop != c.stop || c.usage != (sessions.Usage{}) && h.answer.Usage != c.usage {
				t.Errorf("stop %q, usage %+v", h.answer.Stop, h.answer.Usage)
			}
			if whole := (sessions.Message{Content: h.answer.Content}).Text(); whole != h.text {
				t.Errorf("handed on %q, answered %q", h.text, whole)
			}
		})
	}
}

// TestMarkup: thinking that a server leaves in the text is never shown to people. source: openclaw#69843, openclaw#93767, openclaw#87712
func TestMarkup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, thinking, want string
		restarts                   int // when the text comes in pieces of one byte
		call                       string
	}{
		{name: "think", text: "<think>\nI should look…\n</think>\n\nack", thinking: "I should look…", want: "ack"},
		{name: "space in front", text: "\n <thinking>hm</thinking> ack", thinking: "hm", want: "ack"},
		{name: "twice", text: "<think>a</think>\n<think>b</think>ack", thinking: "a\n\nb", want: "ack"},
		{name: "no end", text: "<think>hm", thinking: "hm"},
		{name: "harmony", text: "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>ack", thinking: "hm", want: "ack"},
		{name: "Mistral", text: "[THINK]hm[/THINK]ack", thinking: "hm", want: "ack"},
		{name: "an end alone", text: "I should look…\n</think>\n\nack", thinking: "I should look…", want: "ack", restarts: 1},
		{name: "something else", text: "<thin air> is text", want: "<thin air> is text"},
		{name: "an end that is talked about", text: "Close it with `</think>` always.", want: "Close it with `</think>` always."},
		{name: "both, talked about", text: "Write `<think>x</think>` there.", want: "Write `<think>x</think>` there."},
		{name: "both, talked about in a sentence", text: "Write <think> and </think> there.", want: "Write <think> and </think> there."},
		// source: openclaw/openclaw#89473
		{name: "behind words", text: "Hello\n<think>secret plans</think>\nthere", thinking: "secret plans", want: "Hello\nthere"},
		{name: "in front and behind words", text: "<think>a</think>Hi<think >b secret</think > end", thinking: "a\n\nb secret", want: "Hi end"},
		{name: "behind words, no end", text: "Hello\n<think>secret plans", thinking: "secret plans", want: "Hello\n"},
		{name: "only a beginning of a mark", text: "<thi", want: "<thi"},
		{name: "a call", text: "Looking.\n<tool_call>\n{\"name\":\"look\",\"arguments\":{\"a\":1}}\n</tool_call>", want: "Looking.\n", call: `{"a":1}`}, // source: openclaw#45000
		{name: "a call of no tool", text: "Say `<tool_call>` then.", want: "Say `<tool_call>` then."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, step := range []int{1, 3, len(c.text)} {
				events := []string{msgStart, start(0, `{"type":"text","text":""}`)}
				for rest := []rune(c.text); len(rest) > 0; {
					n := min(step, len(rest))
					events = append(events, textPiece(0, string(rest[:n])))
					rest = rest[n:]
				}
				e := &endpoint{answer: always(reply{body: sse(append(events, msgEnd, msgStop)...)})}
				h := listen(t, e.at(elsewhere), agent.Prompt{Tools: []tools.Spec{{Name: "look"}}})
				if h.err != nil {
					t.Fatal(h.err)
				}
				if calls := (sessions.Message{Content: h.answer.Content}).ToolCalls(); c.call != "" && (len(calls) != 1 || string(calls[0].Arguments) != c.call || calls[0].ID == "" || h.answer.Stop != agent.StopToolUse) {
					t.Errorf("calls %+v, stop %s", calls, h.answer.Stop)
				}
				text := (sessions.Message{Content: h.answer.Content}).Text()
				if h.text != c.want || text != c.want || strings.TrimSpace(h.thinking) != c.thinking {
					t.Errorf("pieces of %d: text %q, in the answer %q, thinking %q", step, h.text, text, h.thinking)
				}
				if step == 1 && h.restarts != c.restarts {
					t.Errorf("%d restarts", h.restarts)
				}
				if c.thinking == "" || c.want == "" {
					continue
				}
				listen(t, e.at(elsewhere), agent.Prompt{Messages: turn(h.answer.Content, "mock/m")})
				if sent := e.last(); strings.Contains(c.text, "\n</think>\n\n") && !strings.Contains(sent, strings.Trim(fmt.Sprintf("%q", c.text), `"`)) || strings.Contains(sent, `"type":"thinking"`) {
					t.Errorf("it was not sent back in the form that it had: %s", sent)
				}
			}
		})
	}
}

// TestBounds: what is kept is bounded, not the framing.
func TestBounds(t *testing.T) {
	t.Parallel()
	ask := func(events ...string) heard {
		e := &endpoint{answer: always(reply{body: sse(append(append([]string{msgStart}, events...), msgEnd, msgStop)...)})}
		return listen(t, e.at(elsewhere), agent.Prompt{})
	}
	var long []string // 64k tokens, a token an event: about 8 MiB on the wire. source: DeepSeek's page on its reasoning model
	for range 64_000 {
		long = append(long, piece(0, `{"type":"thinking_delta","thinking":" tok"}`))
	}
	if h := ask(append(append([]string{start(0, `{"type":"thinking","thinking":""}`)}, long...), textPiece(1, "hello"))...); h.err != nil || h.text != "hello" || len(h.thinking) != 4*64_000 {
		t.Errorf("64k tokens of thinking: %v, %d bytes", h.err, len(h.thinking))
	}
	mega := strings.Repeat("x", 1<<20)
	more := func(n int, p string) (out []string) {
		for range n {
			out = append(out, p)
		}
		return out
	}
	h := ask(append(more(6, piece(0, `{"thinking":"`+mega+`"}`)), piece(0, `{"type":"signature_delta","signature":"sig"}`), textPiece(1, "hello"))...)
	if h.err != nil || h.text != "hello" || len(h.answer.Content[0].Text) > 5<<20 || string(h.answer.Content[0].Opaque.Data) != `{"cut":true}` {
		t.Errorf("6 MiB of thinking: %v", h.err)
	}
	h = ask(append(more(3, piece(0, `{"type":"signature_delta","signature":"`+mega[:600<<10]+`"}`)), textPiece(1, "hello"))...)
	if h.err != nil || h.text != "hello" || len(h.answer.Content[0].Opaque.Data) > 100 {
		t.Errorf("1.8 MiB of signatures: %v", h.err)
	}
	for name, events := range map[string][]string{
		"text":      more(5, textPiece(0, mega)),
		"arguments": append([]string{start(0, `{"type":"tool_use","id":"a","name":"b","input":{}}`)}, more(5, piece(0, `{"partial_json":"`+mega+`"}`))...),
		"blocks":    more(600, start(0, `{"type":"text","text":"x"}`)),
	} {
		if h := ask(events...); h.err == nil || !strings.Contains(h.err.Error(), "broken") || len(h.text) > 5<<20 {
			t.Errorf("%s: %v", name, h.err)
		}
	}
}

func FuzzReading(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`{"type":"message","content":[{"type":"text","text":"x"}]}`))
	f.Add([]byte(sse(msgStart, start(0, `{"type":"x","a":[1]}`), piece(0, `{"a":"b"}`), textPiece(1, "<think>x</think>y"), msgStop)))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := &endpoint{answer: always(reply{body: string(body)})}
		if h := listen(t, e.at(elsewhere), agent.Prompt{}); h.err == nil && h.answer == nil {
			t.Fatal("neither an answer nor an error")
		}
	})
}

// TestOnlyTheClosingTag: of a model that sends only the closing tag no reasoning is shown once that is known. source: vllm-project/vllm#49728
func TestOnlyTheClosingTag(t *testing.T) {
	t.Parallel()
	e := &endpoint{answer: always(reply{body: sse(msgStart, start(0, `{"type":"text","text":""}`), textPiece(0, "SECRET"), textPiece(0, " plan</think>Hel"), textPiece(0, "lo"), msgEnd, msgStop)})}
	m := e.at(elsewhere)
	for i, restarts := range []int{1, 0, 0} {
		if h := listen(t, m, agent.Prompt{}); h.err != nil || h.text != "Hello" || h.thinking != "SECRET plan" || h.restarts != restarts {
			t.Errorf("answer %d: %+v", i, h)
		}
	}
	first := listen(t, e.at(elsewhere), agent.Prompt{})
	said := []sessions.Message{{Role: sessions.Assistant, Model: "mock/m", Content: first.answer.Content}, {Role: sessions.User, Content: sessions.TextContent("hi")}}
	if h := listen(t, e.at(elsewhere), agent.Prompt{Messages: said}); h.text != "Hello" || h.restarts != 0 {
		t.Errorf("with the transcript: %+v", h)
	}
	if h := listen(t, e.at(elsewhere), agent.Prompt{Model: "deepseek-r1"}); h.text != "Hello" || h.restarts != 0 {
		t.Errorf("by its name: %+v", h)
	}
}

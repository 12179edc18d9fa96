package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
)

// TestReturnedIsCounted: the estimate of the next prompt counts thinking without signature where it goes back, and only there.
// source: api-docs.deepseek.com/guides/anthropic_api, platform.claude.com/docs/en/build-with-claude/extended-thinking
func TestReturnedIsCounted(t *testing.T) {
	t.Parallel()
	thought := strings.Repeat("hm ", 10000)
	answer := sse(`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"`+thought+`"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Yes."}}`,
		`{"type":"content_block_stop","index":1}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
	for name, c := range map[string]struct {
		address, back string
		omit          bool // as the endpoint was learned
		counts        bool
	}{
		"compatible":        {address: elsewhere, counts: true},
		"sendBack: on":      {address: elsewhere, back: "on", counts: true},
		"sendBack: off":     {address: elsewhere, back: "off"},
		"learned to omit":   {address: elsewhere, omit: true},
		"Anthropic's own":   {address: DefaultBaseURL},
		"its own, sendBack": {address: DefaultBaseURL, back: "on"},
	} {
		book := lessons.NewBook(lessons.Config{})
		if c.omit {
			book.Load([]sessions.Lesson{{Provider: "mock", Address: c.address, Model: "m", Kind: lessons.Reasoning, Use: lessons.OmitReasoning, At: time.Now()}})
		}
		e := &endpoint{answer: always(reply{body: answer})}
		h := listen(t, e.at(c.address, func(conf *Config) {
			conf.Lessons = book
			conf.Settings = func(string) agent.ModelSettings {
				return agent.ModelSettings{Reasoning: agent.Reasoning{SendBack: c.back}}
			}
		}), agent.Prompt{})
		if h.err != nil || h.answer == nil {
			t.Fatalf("%s: %v", name, h.err)
		}
		if n := agent.Tokens(sessions.Message{Role: sessions.Assistant, Content: h.answer.Content}); n > 9000 != c.counts {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
}

// TestSignatureWithThinking: a signature that comes with the last piece of thinking goes back with it.
// source: platform.claude.com/docs/en/build-with-claude/streaming (signature_delta), which some relays join with the piece before it
func TestSignatureWithThinking(t *testing.T) {
	t.Parallel()
	answer := sse(`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m","signature":"SIG"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Yes."}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
	h := listen(t, (&endpoint{answer: always(reply{body: answer})}).at(elsewhere), agent.Prompt{})
	if h.err != nil || h.answer == nil {
		t.Fatal(h.err)
	}
	b := h.answer.Content[0]
	if b.Type != sessions.ThinkingBlock || b.Text != "hm" || b.Opaque == nil || !strings.Contains(string(b.Opaque.Data), `"signature":"SIG"`) {
		t.Errorf("kept %+v", b)
	}
}

// TestSentBack: what a provider wants back goes back to where it came from, unchanged, and nowhere else.
func TestSentBack(t *testing.T) {
	t.Parallel()
	opaque := func(from, data string) *sessions.Opaque {
		return &sessions.Opaque{From: from, Data: json.RawMessage(data)}
	}
	call := sessions.Block{Type: sessions.ToolCallBlock, ID: "toolu_1", Name: "look", Arguments: json.RawMessage(`{}`)}
	thinking := func(text string, o *sessions.Opaque) sessions.Block {
		return sessions.Block{Type: sessions.ThinkingBlock, Text: text, Opaque: o}
	}
	const useCall = `{"type":"tool_use","id":"toolu_1","name":"look","input":{}}`
	settings := func(back string) func(*Config) {
		return func(c *Config) {
			c.Settings = func(string) agent.ModelSettings {
				return agent.ModelSettings{Reasoning: agent.Reasoning{SendBack: back}}
			}
		}
	}
	for _, c := range []struct {
		name, address string
		label         string // empty = mock/m
		config        func(*Config)
		blocks        []sessions.Block
		want          string // the content of the assistant message
	}{
		{name: "signed", address: DefaultBaseURL, blocks: []sessions.Block{thinking("hm", opaque(origin(DefaultBaseURL), `{"signature":"sig"}`)), call},
			want: `{"type":"thinking","thinking":"hm","signature":"sig"},` + useCall},
		{name: "signed, no text", address: elsewhere, blocks: []sessions.Block{thinking("", opaque(origin(elsewhere), `{"signature":"91cf"}`)), call}, // source: earendil-works/pi#4003
			want: `{"type":"thinking","thinking":"","signature":"91cf"},` + useCall},
		{name: "redacted", address: DefaultBaseURL, blocks: []sessions.Block{thinking("", opaque(origin(DefaultBaseURL), `{"redacted_thinking":"cipher"}`)), call},
			want: `{"type":"redacted_thinking","data":"cipher"},` + useCall},
		{name: "as older versions kept it", address: DefaultBaseURL,
			blocks: []sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm", Signature: new("sig")}, {Type: sessions.ThinkingBlock, Data: "cipher"}, call},
			want:   `{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"cipher"},` + useCall},
		{name: "unsigned", address: elsewhere, blocks: []sessions.Block{thinking("hm", opaque(origin(elsewhere), "")), call}, // source: anomalyco/opencode#44713
			want: `{"type":"thinking","thinking":"hm","signature":""},` + useCall},
		{name: "unsigned, of an older version", address: elsewhere, blocks: []sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm"}, call},
			want: `{"type":"thinking","thinking":"hm","signature":""},` + useCall},
		{name: "unsigned, at Anthropic", address: DefaultBaseURL, blocks: []sessions.Block{thinking("hm", opaque(origin(DefaultBaseURL), "")), call}, want: useCall},
		{name: "a block of the server", address: DefaultBaseURL,
			blocks: []sessions.Block{thinking("", opaque(origin(DefaultBaseURL), `{"block":{"type":"server_tool_use","id":"s","input":{"q": 1}}}`)), call},
			want:   `{"type":"server_tool_use","id":"s","input":{"q":1}},` + useCall},
		{name: "too long to be kept", address: elsewhere, blocks: []sessions.Block{thinking("hm", opaque(origin(elsewhere), `{"cut":true}`)), call}, want: useCall},
		{name: "tags", address: elsewhere, blocks: []sessions.Block{thinking("hm", opaque(origin(elsewhere), `{"tag":"<think>\n","end":"\n</think>\n\n"}`)), {Type: sessions.TextBlock, Text: "ack"}, call},
			want: `{"type":"text","text":"<think>\nhm\n</think>\n\nack"},` + useCall},
		{name: "tags, no text", address: elsewhere, blocks: []sessions.Block{thinking("hm", opaque(origin(elsewhere), `{"tag":"<think>","end":"</think>"}`)), call},
			want: `{"type":"text","text":"<think>hm</think>"},` + useCall},
		{name: "another address", address: elsewhere, blocks: []sessions.Block{thinking("hm", opaque(origin(DefaultBaseURL), `{"signature":"secret-sig"}`)), call},
			want: `{"type":"tool_use","id":"`},
		{name: "another model", address: elsewhere, label: "other/x", blocks: []sessions.Block{thinking("hm", nil), call}, want: `{"type":"tool_use","id":"`},
		{name: "another model, thinking always sent", address: elsewhere, label: "other/x", config: settings("on"), blocks: []sessions.Block{thinking("hm", nil), call},
			want: `{"type":"thinking","thinking":" ","signature":""},{"type":"tool_use","id":"`},
		{name: "always, at Anthropic", address: DefaultBaseURL, label: "other/x", config: settings("on"), blocks: []sessions.Block{thinking("hm", nil), call}, want: `{"type":"tool_use","id":"`},
		{name: "never", address: elsewhere, config: settings("off"), blocks: []sessions.Block{thinking("hm", opaque(origin(elsewhere), `{"signature":"sig"}`)), call}, want: useCall},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &endpoint{answer: always(reply{body: hello})}
			label := c.label
			if label == "" {
				label = "mock/m"
			}
			var change []func(*Config)
			if c.config != nil {
				change = append(change, c.config)
			}
			m := e.at(c.address, change...)
			p := agent.Prompt{Messages: turn(c.blocks, label)}
			if h := listen(t, m, p); h.err != nil {
				t.Fatal(h.err)
			}
			first := e.last()
			if !strings.Contains(first, `{"role":"assistant","content":[`+c.want) || strings.Contains(first, "secret-sig") || strings.HasPrefix(c.want, `{"type":"tool_use"`) && strings.Contains(first, "hm") {
				t.Errorf("sent %s", first)
			}
			listen(t, m, p)
			if e.last() != first {
				t.Errorf("the next request is another one: %s", e.last())
			}
		})
	}
}

// TestAnswerGoesBack: an answer with everything in it is sent back as it came, over a store that keeps Opaque beside the message.
func TestAnswerGoesBack(t *testing.T) {
	t.Parallel()
	blocks := []string{
		`{"type":"thinking","thinking":"hm","signature":"sig=="}`, `{"type":"redacted_thinking","data":"cipher"}`, `{"type":"text","text":"let me see"}`,
		`{"type":"server_tool_use","id":"srv","name":"web_search","input":{"q":"x"}}`, `{"type":"tool_use","id":"toolu_1","name":"look","input":{"a":1}}`,
	}
	e := &endpoint{answer: always(reply{body: `{"type":"message","content":[` + strings.Join(blocks, ",") + `],"stop_reason":"tool_use"}`})}
	for _, address := range []string{DefaultBaseURL, elsewhere} {
		h := listen(t, e.at(address), agent.Prompt{})
		if h.err != nil {
			t.Fatal(h.err)
		}
		transcript, err := json.Marshal(h.answer.Content)
		if err != nil || strings.Contains(string(transcript), "sig==") || strings.Contains(string(transcript), "cipher") || strings.Contains(string(transcript), "srv") {
			t.Errorf("in the transcript: %s, %v", transcript, err)
		}
		listen(t, e.at(address), agent.Prompt{Messages: turn(h.answer.Content, "mock/m")})
		var sent struct {
			Messages []struct{ Content []map[string]any }
		}
		if err := json.Unmarshal([]byte(e.last()), &sent); err != nil || len(sent.Messages) != 3 || len(sent.Messages[1].Content) != len(blocks) {
			t.Fatalf("%v: %s", err, e.last())
		}
		for i, want := range blocks {
			var block map[string]any
			if err := json.Unmarshal([]byte(want), &block); err != nil {
				t.Fatal(err)
			}
			if got := sent.Messages[1].Content[i]; fmt.Sprint(got) != fmt.Sprint(block) {
				t.Errorf("block %d came as %v and went back as %v", i, block, got)
			}
		}
	}
}

// TestPause: an answer that the provider paused is continued with what came so far. source: platform.claude.com, handling stop reasons
func TestPause(t *testing.T) {
	t.Parallel()
	search := []string{start(0, `{"type":"text","text":""}`), textPiece(0, "Looking. "), start(1, `{"type":"server_tool_use","id":"srv","name":"web_search","input":{}}`), piece(1, `{"type":"input_json_delta","partial_json":"{\"q\":1}"}`)}
	pause := `{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":3}}`
	paused := reply{body: sse(append(append([]string{msgStart}, search...), pause, msgStop)...)}
	end := reply{body: hello}
	for _, c := range []struct {
		name     string
		answer   func(n int, body string) reply
		requests int
		want     string
		usage    sessions.Usage
	}{
		{"once", func(n int, _ string) reply {
			if n == 1 {
				return paused
			}
			return end
		}, 2, "Looking. hello", sessions.Usage{Input: 20, Output: 8}},
		{"without end", always(paused), maxPauses + 1, strings.Repeat("Looking. ", maxPauses+1), sessions.Usage{Input: 90, Output: 27}},
		{"not taken back", func(n int, _ string) reply {
			if n == 1 {
				return paused
			}
			return reply{status: 400, body: invalid("This model does not support assistant message prefill. The conversation must end with a user message.")}
		}, 2, "Looking. ", sessions.Usage{Input: 10, Output: 3}},
		{"nothing came", always(reply{body: sse(msgStart, pause, msgStop)}), 1, "", sessions.Usage{Input: 10, Output: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &endpoint{answer: c.answer}
			h := listen(t, e.at(DefaultBaseURL), agent.Prompt{})
			if h.err != nil {
				t.Fatal(h.err)
			}
			if text := (sessions.Message{Content: h.answer.Content}).Text(); text != c.want || h.text != c.want || e.count() != c.requests || h.answer.Usage != c.usage {
				t.Errorf("%q, handed on %q, %d requests, %+v", text, h.text, e.count(), h.answer.Usage)
			}
			if c.requests > 1 && !strings.HasPrefix(e.bodies[1], strings.SplitAfter(e.bodies[0], `"messages":[`)[0]) ||
				c.requests > 1 && !strings.Contains(e.bodies[1], `{"role":"assistant","content":[{"type":"text","text":"Looking. "},{"id":"srv","input":{"q":1},"name":"web_search","type":"server_tool_use"}]}]`) {
				t.Errorf("continued with %s", e.bodies[1])
			}
		})
	}
	// What the first half cost is told when the second one fails.
	e := &endpoint{answer: func(n int, _ string) reply {
		if n == 1 {
			return paused
		}
		return reply{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
	}}
	var lost sessions.Usage
	h := listen(t, e.at(DefaultBaseURL), agent.Prompt{Spent: func(u sessions.Usage) { lost = lost.Add(u) }})
	if classOf(h.err) != agent.Overloaded || lost != (sessions.Usage{Input: 10, Output: 3}) {
		t.Errorf("%v, lost %+v", h.err, lost)
	}
}

// TestErrorsInside: an error inside of an answer has its class, before and behind the first words.
func TestErrorsInside(t *testing.T) {
	t.Parallel()
	said := []string{msgStart, start(0, `{"type":"text","text":""}`), textPiece(0, "hel")}
	fault := func(kind, text string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
	}
	for _, c := range []struct {
		name, body string
		class      agent.ErrorClass
	}{
		{"overloaded at once", sse(fault("overloaded_error", "Overloaded")), agent.Overloaded},
		{"overloaded behind the first words", sse(append(said, fault("overloaded_error", "Overloaded"))...), agent.Overloaded}, // source: omadia#122
		{"server", sse(append(said, fault("api_error", "Internal server error"))...), agent.Overloaded},
		{"rate", sse(msgStart, fault("rate_limit_error", "slow down")), agent.RateLimited},
		{"no credit", sse(msgStart, fault("invalid_request_error", "Your credit balance is too low")), agent.NoCredit},
		{"refused words", sse(msgStart, fault("invalid_request_error", "Output blocked by content filtering policy")), agent.Refused},
		{"too long", sse(msgStart, fault("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum")), agent.TooLong},
		{"an error that is a text", sse(append(said, `{"error":"upstream went away"}`)...), agent.Broken},
		{"one JSON object", fault("overloaded_error", "Overloaded"), agent.Overloaded},
		{"a list", `[` + fault("overloaded_error", "Overloaded") + `]`, agent.Overloaded},
		{"a web page", "<!DOCTYPE html><html><body>hello</body></html>", agent.BadAddress},
		{"nothing", "", agent.Broken},
		{"an end before the end", sse(said...), agent.Broken},
		{"an end in a call", sse(msgStart, start(0, `{"type":"tool_use","id":"a","name":"b","input":{}}`), piece(0, `{"partial_json":"{"}`)), agent.Broken},
		{"an answer of another API", `{"choices":[{"message":{"content":"hello"}}]}`, agent.BadAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &endpoint{answer: always(reply{body: c.body})}
			h := listen(t, e.at(elsewhere), agent.Prompt{})
			if classOf(h.err) != c.class || h.answer != nil {
				t.Errorf("%v, answer %+v", h.err, h.answer)
			}
		})
	}
}

// TestLessonsEnd: a lesson of another configuration does not hold, and one that is old is tried again inside of a call.
func TestLessonsEnd(t *testing.T) {
	t.Parallel()
	book := lessons.NewBook(lessons.Config{})
	for _, c := range []struct {
		fingerprint string
		requests    int
	}{{"a", 2}, {"a", 1}, {"b", 2}} {
		e := &endpoint{answer: refuses(invalid("adaptive thinking is not supported on this model"), `"adaptive"`)}
		m := e.at(elsewhere, func(conf *Config) { conf.Lessons, conf.Fingerprint = book, func() string { return c.fingerprint } })
		if h := listen(t, m, agent.Prompt{Thinking: "low"}); h.err != nil || e.count() != c.requests {
			t.Errorf("%+v: %v, %d requests", c, h.err, e.count())
		}
	}
}

package lessons

import (
	"testing"
	"time"
)

// aboutHistory are errors about calls and results of the conversation.
var aboutHistory = []string{
	// source: cline/cline#12242
	"Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
	// source: jlcodes99/cockpit-tools#1234
	"No tool output found for function call call_abc.",
	// source: OpenAI, chat completions
	"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
	"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
	// source: google-gemini/gemini-cli#11814
	"Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
	"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
	// source: Anthropic, messages
	"messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
	"messages[2].tool_calls[0].function.arguments: expected a map, got string",
	"Unexpected field 'tool_calls' in message of role assistant: function calls are not supported in history",
	"invalid role: tool. Supported roles: system, user, assistant",
	"Unknown parameter: 'input[2].status'.",
}

// TestCallsOfHistory: an endpoint that refuses the calls of a conversation gets them told as text, keeps its tools, and is not asked
// again with them; calls that are newer are sent as they are until those are refused too.
func TestCallsOfHistory(t *testing.T) {
	t.Parallel()
	for _, text := range aboutHistory {
		now := newClock()
		b := NewBook(Config{Now: now.Now})
		call := func(most int, newest time.Time) *Call {
			c := b.Call(at, "")
			for n := 0; !c.Told() && !c.ToldUntil().After(newest); n++ {
				sent := Sent{Tools: []string{"look", "list"}, System: true, Stream: true, Steps: true}
				if n == most || !c.Refused(t.Context(), refusal(400, text), sent) {
					t.Fatalf("%q: refused %d times, learned %+v", text, n+1, c.changed.pending)
				}
			}
			if c.Off(Tools, "") || c.Off(Tool, "look") || c.Off(System, "") {
				t.Errorf("%q takes more away than the calls", text)
			}
			c.Worked(t.Context())
			return c
		}
		old := now.Now().Add(-time.Minute)
		if c := call(1, old); c.Told() || c.Bare() {
			t.Errorf("%q: more than the calls up to now are told as text", text)
		}
		call(0, old)
		now.pass(time.Hour)
		if c := call(1, now.Now().Add(-time.Minute)); !c.Told() {
			t.Errorf("%q: newer calls are sent again", text)
		}
		now.pass(time.Hour)
		call(0, now.Now())
		if all := b.Known(); len(all) != 1 || all[0].Kind != History {
			t.Errorf("%q: known %+v", text, all)
		}
	}
}

// TestCallsOfOneConversation: calls that are refused once more a day later are those of another conversation: newer ones are sent as they are.
func TestCallsOfOneConversation(t *testing.T) {
	t.Parallel()
	now := newClock()
	b := NewBook(Config{Now: now.Now})
	for range 2 {
		c := b.Call(at, "")
		c.Refused(t.Context(), refusal(400, "No tool output found for function call call_abc."), Sent{Tools: []string{"look"}, Steps: true})
		if c.Worked(t.Context()); c.Told() || !c.ToldUntil().Equal(now.Now()) {
			t.Errorf("told until %v", c.ToldUntil())
		}
		now.pass(2 * toldAgain)
	}
}

// TestUnclearHistory: a refusal without a cause is cured by a history told as text, and that is remembered when it cured a second call.
// Until it is known which of the changes helped, each of them costs one refused request.
func TestUnclearHistory(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	for i, want := range []int{2, 1, 0, 0, 1, 0} {
		c, refused := b.Call(at, ""), 0
		for {
			sent := Sent{Tools: []string{"look"}, Stream: true, Steps: true}
			for _, p := range []Param{{Name: "reasoning_effort", Value: "high", Effort: true}, {Name: "stream_options", Value: "include_usage"}} {
				if _, send := c.Param(p.Name, p.Value); send {
					sent.Params = append(sent.Params, p)
				}
			}
			if c.Told() || !c.ToldUntil().IsZero() {
				break
			}
			if refused++; !c.Refused(t.Context(), refusal(400, `{"error":"Bad Request"}`), sent) {
				t.Fatal("it gives up")
			}
		}
		if c.Worked(t.Context()); refused != want || i == 0 && len(b.Known()) > 0 || i == 5 && (len(b.Known()) != 1 || b.Known()[0].Kind != History) {
			t.Errorf("call %d: %d refused, known %+v", i, refused, b.Known())
		}
	}
}

// TestItemsNotSent: an error about encrypted reasoning, in a request that has none, teaches nothing about what was asked for.
// source: openai/codex#13724
func TestItemsNotSent(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	sent := Sent{Steps: true, Params: []Param{{Name: "include", Words: []string{"encrypted content", "encrypted_content"}, Value: "reasoning.encrypted_content"}}}
	err := refusal(400, `{"error":{"message":"The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted or parsed.","code":"invalid_encrypted_content"}}`)
	for c.ToldUntil().IsZero() {
		if !c.Refused(t.Context(), err, sent) {
			t.Fatal("it gives up")
		}
		if _, send := c.Param("include", "reasoning.encrypted_content"); !send {
			sent.Params = nil
		}
	}
	if len(c.changed.pending) > 0 {
		t.Errorf("learned %+v", c.changed.pending)
	}
}

// TestThinkingSigned: a signature of thinking that cannot be verified takes away what is older than now, and all thinking only where
// newer thinking is refused as well.
// source: lbjlaq/Antigravity-Manager#498
func TestThinkingSigned(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	err := refusal(400, "messages.1.content.0: Invalid `signature` in `thinking` block")
	if c.Refused(t.Context(), err, Sent{Reasoning: true}); c.ReasoningFrom().IsZero() || c.Use(Reasoning) != "" {
		t.Errorf("learned %+v", c.changed.pending)
	}
	if c.Refused(t.Context(), err, Sent{Reasoning: true}); c.Use(Reasoning) != OmitReasoning {
		t.Errorf("learned %+v", c.changed.pending)
	}
}

// TestUnclearParts: a refusal without a cause is cured without streaming or without tools, where the endpoint was not seen to take them.
func TestUnclearParts(t *testing.T) {
	t.Parallel()
	bad := func(r request) error { return refusal(400, `{"error":"Bad Request"}`) }
	for kind, refuses := range map[string]func(request) bool{
		Stream: func(r request) bool { return r.stream },
		Tools:  func(r request) bool { return len(r.tools) > 0 },
	} {
		e := func(r request) error {
			if r.roles == "" && refuses(r) {
				return bad(r)
			}
			return nil
		}
		b := NewBook(Config{})
		if cure(t, b, e); len(b.Known()) > 0 {
			t.Errorf("%s: known after one call %+v", kind, b.Known())
		}
		for range 3 {
			if refused := cure(t, b, e); refused > 1 {
				t.Errorf("%s: refused %d times", kind, refused)
			}
		}
		if all := b.Known(); len(all) != 1 || all[0].Kind != kind {
			t.Errorf("%s: known %+v", kind, all)
		}
		if refused := cure(t, b, e); refused > 0 {
			t.Errorf("%s: refused %d times", kind, refused)
		}
		b = NewBook(Config{})
		cure(t, b, takesAll)
		cure(t, b, e)
		if all := b.Known(); len(all) > 0 {
			t.Errorf("%s was taken, and is left out: %+v", kind, all)
		}
	}
}

// cure makes a first call of a conversation, without calls in its history, and gives how many requests were refused.
func cure(t *testing.T, b *Book, e endpoint) (refused int) {
	t.Helper()
	c := b.Call(at, "")
	for {
		var r request
		if c.Takes(Tools, "") {
			for _, s := range c.Offer(specs("look", "list")) {
				r.tools = append(r.tools, s.Name)
			}
		}
		r.stream = c.Takes(Stream, "")
		err := e(r)
		if err == nil {
			c.Worked(t.Context())
			return refused
		}
		if refused++; !c.Refused(t.Context(), err, Sent{Tools: r.tools, Stream: r.stream}) {
			return refused
		}
	}
}

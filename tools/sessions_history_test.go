package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"parley/sessions"
)

func said(msgs []sessions.Message) string {
	var out []string
	for _, m := range msgs {
		t := m.Text()
		for _, c := range m.ToolCalls() {
			t += "call " + c.ID
		}
		out = append(out, t)
	}
	return strings.Join(out, "|")
}

// proves: H1, H2, H4
func TestSessionsHistoryPages(t *testing.T) {
	t.Parallel()
	talk := []sessions.Message{
		text("user", "u1"), toolCall("a", "b"), toolResult("a", "ra"), toolResult("b", "rb"), text("assistant", "a1"),
		text("user", "u2"), toolCall("c"), toolResult("c", "rc"), text("assistant", "a2"),
		text("user", "u3"), toolCall("pending"),
	}
	for _, c := range []struct {
		args, want string
		more       int // nextOffset
	}{
		{`{"sessionKey":"main"}`, "u1|call acall b|a1|u2|call c|a2|u3|call pending", 0},
		{`{"sessionKey":"current","limit":3}`, "a2|u3|call pending", 3},
		{`{"sessionKey":"main","limit":2,"offset":3}`, "u2|call c", 5},
		{`{"sessionKey":"main","offset":99}`, "", 0},
		{`{"sessionKey":"main","includeTools":true}`, "u1|call acall b|ra|rb|a1|u2|call c|rc|a2|u3", 0},
		// The pair that would go over the limit waits for the next page.
		{`{"sessionKey":"main","includeTools":true,"limit":3}`, "a2|u3", 3},
		{`{"sessionKey":"main","includeTools":true,"limit":3,"offset":3}`, "u2|call c|rc", 6},
		{`{"sessionKey":"main","includeTools":true,"limit":3,"offset":6}`, "a1", 7},
		{`{"sessionKey":"main","includeTools":true,"limit":3,"offset":7}`, "call acall b|ra|rb", 10},
		// A limit that no pair fits into, and an offset inside a pair, show that there was one.
		{`{"sessionKey":"main","includeTools":true,"limit":1,"offset":3}`, "[left out: calls of look and their results; a larger limit can show them]", 5},
		{`{"sessionKey":"main","includeTools":true,"limit":2,"offset":4}`, "u2|[left out: calls of look and their results; a larger limit can show them]", 6},
	} {
		w := newWorld()
		w.messages[id(0)] = talk
		r := call[historyResult](t, w, SessionsHistory(w.deps()), c.args)
		if got := said(r.Messages); got != c.want || r.NextOffset != c.more || r.HasMore != (c.more > 0) {
			t.Errorf("%s: %q next %d (%v), want %q next %d", c.args, got, r.NextOffset, r.HasMore, c.want, c.more)
		}
	}
}

// proves: H1
func TestSessionsHistoryLimits(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.messages[id(0)] = slices.Repeat([]sessions.Message{text("user", "x")}, 2000)
	for args, want := range map[string]int{`{"sessionKey":"main"}`: 200, `{"sessionKey":"main","limit":0}`: 200, `{"sessionKey":"main","limit":5000}`: 1000} {
		if r := call[historyResult](t, w, SessionsHistory(w.deps()), args); r.NextOffset != want && !r.Truncated || len(r.Messages) > want || len(r.Messages) < min(want, 100) {
			t.Errorf("%s: %d messages, next %d, want %d", args, len(r.Messages), r.NextOffset, want)
		}
	}
	d := w.deps()
	read := &tails{Store: w}
	d.Store = read
	call[historyResult](t, w, SessionsHistory(d), `{"sessionKey":"main","limit":5000}`)
	if len(read.asked) != 1 || read.asked[0].Limit != 1001 { // one more than it may give: is there more?
		t.Errorf("the store was asked for %+v", read.asked)
	}
}

// tails notes what is asked of the transcript.
type tails struct {
	Store
	asked []sessions.TailQuery
}

func (s *tails) Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) ([]sessions.Message, error) {
	s.asked = append(s.asked, q)
	return s.Store.Tail(ctx, id, q)
}

// proves: H5
func TestSessionsHistorySaysWhatItDid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text          string
		cut, redacted bool
	}{{"short", false, false}, {strings.Repeat("ä", 4000), false, false}, {strings.Repeat("ä", 4001), true, false}, {"the s3cret", false, true}} {
		w := newWorld()
		w.redact = func(s string) string { return strings.ReplaceAll(s, "s3cret", "[secret]") }
		w.messages[id(0)] = []sessions.Message{text("user", c.text)}
		r := call[historyResult](t, w, SessionsHistory(w.deps()), `{"sessionKey":"main"}`)
		if r.Cut != c.cut || r.Redacted != c.redacted || strings.HasSuffix(r.Messages[0].Text(), cutMark) != c.cut {
			t.Errorf("%.20s…: cut %v, redacted %v: …%.40s", c.text, r.Cut, r.Redacted, r.Messages[0].Text()[max(0, len(r.Messages[0].Text())-40):])
		}
	}
}

// Calls that wait for each other's results are one unit, however the page is cut.
// proves: H4
func TestSessionsHistoryOfInterleavedCalls(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.messages[id(0)] = []sessions.Message{
		text("user", "u1"), toolCall("a"), toolCall("b"), toolResult("a", "ra"), toolCall("c"), toolResult("b", "rb"), toolResult("c", "rc"), text("user", "u2"),
	}
	rapid.Check(t, func(rt *rapid.T) {
		limit, offset := rapid.IntRange(1, 9).Draw(rt, "limit"), rapid.IntRange(0, 8).Draw(rt, "offset")
		r, err := SessionsHistory(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: encode(map[string]any{"sessionKey": "main", "limit": limit, "offset": offset, "includeTools": true})})
		var v historyResult
		if err != nil || json.Unmarshal([]byte(r.Text), &v) != nil {
			rt.Fatalf("%s, %v", r.Text, err)
		}
		checkMessages(rt, v.Messages, true)
	})
}

// proves: H3, H5
func TestSessionsHistoryShowsTheRawFormat(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.redact = func(s string) string { return strings.ReplaceAll(s, "s3cret", "[secret]") }
	m := sessions.Message{ID: "m1", Role: "assistant", Time: noon, Run: "r", Model: "mock/mock-1", Usage: &sessions.Usage{Input: 3, Output: 1}, Stop: "toolUse", Content: []sessions.Block{
		{Type: "thinking", Text: "the key is s3cret", Signature: new("sig")}, {Type: "text", Text: strings.Repeat("ä", 5000)},
		{Type: "image", MIME: "image/png", Data: strings.Repeat("A", 4096)},
		{Type: "toolCall", ID: "c", Name: "look", Arguments: json.RawMessage(`{"q":"<s3cret>","n":1.50,"deep":["s3cret"]}`)},
	}}
	user := sessions.Message{ID: "m0", Role: "user", Time: noon, Content: sessions.TextContent("hi"), Provenance: &sessions.Provenance{Kind: sessions.InterSession, Source: "agent:main:x:y", Name: "s3cret"}}
	result := toolResult("c", "s3cret")
	result.Run = "r"
	w.messages[id(0)] = []sessions.Message{user, m, result}
	raw, err := SessionsHistory(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: json.RawMessage(`{"sessionKey":"main","includeTools":true}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"provenance":{"kind":"inter_session","name":"[secret]","sourceSessionKey":"agent:main:x:y"}`, `{"type":"thinking","text":"the key is [secret]"}`,
		cutMark + `"}`, `{"type":"image","text":"[image left out: 3 KiB]","mimeType":"image/png"}`,
		`"arguments":{"deep":["[secret]"],"n":1.50,"q":"<[secret]>"}`, `"usage":{"input":3,"output":1},"stopReason":"toolUse"`,
		`"toolCallId":"c","toolName":"look"`, `"contentTruncated":true,"contentRedacted":true`,
	} {
		if !strings.Contains(raw.Text, want) {
			t.Errorf("no %s in %s", want, raw.Text)
		}
	}
	if strings.Contains(raw.Text, "s3cret") {
		t.Errorf("a secret is shown: %s", raw.Text)
	}
	if len(w.messages[id(0)][1].Content[3].Arguments) == 0 || w.messages[id(0)][1].Content[2].Data == "" {
		t.Error("the stored message was changed")
	}
}

// proves: H4, H5
func TestSessionsHistoryOfHugeMessages(t *testing.T) {
	t.Parallel()
	var ids []string
	var many []sessions.Message
	for i := range 900 {
		ids = append(ids, fmt.Sprintf("call-%d", i))
		many = append(many, toolResult(ids[i], strings.Repeat("x", 500)))
	}
	many = append([]sessions.Message{text("user", "before"), toolCall(ids...)}, many...)
	blocks := text("assistant", "start ")
	for range 3000 {
		blocks.Content = append(blocks.Content, sessions.Block{Type: "text", Text: strings.Repeat("y", 4000)})
	}
	for name, c := range map[string]struct {
		msgs []sessions.Message
		want string
	}{
		"many calls":  {many, "before|[left out: calls of look"},
		"many blocks": {[]sessions.Message{text("user", "before"), blocks}, "before|start [left out: too large]"},
	} {
		w := newWorld()
		w.messages[id(0)] = c.msgs
		r, err := SessionsHistory(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: json.RawMessage(`{"sessionKey":"main","limit":1000,"includeTools":true}`)})
		var v historyResult
		if err != nil || json.Unmarshal([]byte(r.Text), &v) != nil || len(r.Text) > 80<<10 {
			t.Fatalf("%s: %d bytes, %v", name, len(r.Text), err)
		}
		if got := said(v.Messages); !strings.HasPrefix(got, c.want) || !v.Cut && v.Dropped == 0 {
			t.Errorf("%s: %.200s dropped %d cut %v, want %s…", name, got, v.Dropped, v.Cut, c.want)
		}
	}
}

// transcripts draws a transcript with broken pairs, huge blocks, ids used twice and foreign bytes.
func transcripts(rt *rapid.T) []sessions.Message {
	var out []sessions.Message
	ids := rapid.SampledFrom([]string{"a", "b", "c", "d", ""})
	body := rapid.Custom(func(rt *rapid.T) string {
		unit := rapid.SampledFrom([]string{"x", "é", "\x01", "\xff", "<", "𝄞"}).Draw(rt, "unit")
		return strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, 100, 3999, 4001, 9_000}).Draw(rt, "n"))
	})
	for i := range rapid.IntRange(0, 40).Draw(rt, "messages") {
		m := sessions.Message{ID: fmt.Sprint(i), Time: noon, Run: sessions.RunID(fmt.Sprint(i / 5))}
		switch rapid.IntRange(0, 3).Draw(rt, "kind") {
		case 0:
			m.Role, m.Content = sessions.User, sessions.TextContent(body.Draw(rt, "text"))
		case 1:
			m.Role, m.Content = sessions.Assistant, sessions.TextContent(body.Draw(rt, "text"))
			for _, id := range rapid.SliceOfN(ids, 0, 4).Draw(rt, "calls") {
				m.Content = append(m.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: "look", Arguments: json.RawMessage(rapid.SampledFrom([]string{`{}`, ``, `{"x`, `"text"`, `{"q":"` + strings.Repeat("y", 9000) + `"}`}).Draw(rt, "args"))})
			}
		default:
			m.Role, m.ToolCallID, m.Content = sessions.ToolResult, ids.Draw(rt, "call"), sessions.TextContent(body.Draw(rt, "text"))
		}
		out = append(out, m)
	}
	return out
}

// proves: H1, H2, H4, H5
func TestSessionsHistoryKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld()
		w.messages[id(0)] = transcripts(rt)
		limit, withTools := rapid.IntRange(1, 50).Draw(rt, "limit"), rapid.Bool().Draw(rt, "tools")
		shown := map[string]bool{}
		for offset := 0; ; {
			r, err := SessionsHistory(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: encode(map[string]any{"sessionKey": "main", "limit": limit, "offset": offset, "includeTools": withTools})})
			if err != nil {
				rt.Fatal(err)
			}
			if len(r.Text) > 80<<10 || !utf8.ValidString(r.Text) {
				rt.Fatalf("%d bytes, valid %v", len(r.Text), utf8.ValidString(r.Text))
			}
			var v historyResult
			if err := json.Unmarshal([]byte(r.Text), &v); err != nil {
				rt.Fatal(err)
			}
			if len(v.Messages) > limit {
				rt.Fatalf("%d messages, limit %d", len(v.Messages), limit)
			}
			checkMessages(rt, v.Messages, withTools)
			for _, m := range v.Messages {
				if shown[m.ID] {
					rt.Fatalf("message %s is shown twice", m.ID)
				}
				shown[m.ID] = true
			}
			if !v.HasMore {
				break
			}
			if v.NextOffset <= offset {
				rt.Fatalf("no way on: next %d after %d", v.NextOffset, offset)
			}
			offset = v.NextOffset
		}
		for _, m := range w.messages[id(0)] {
			if m.Role == sessions.User && !shown[m.ID] {
				rt.Fatalf("paging left message %s out", m.ID)
			}
		}
	})
}

func checkMessages(rt *rapid.T, msgs []sessions.Message, withTools bool) {
	open := map[pairID]bool{}
	for _, m := range msgs {
		for _, b := range m.Content {
			if utf8.RuneCountInString(b.Text) > 4000 {
				rt.Fatalf("a block of %d characters", utf8.RuneCountInString(b.Text))
			}
		}
		if !withTools {
			if m.Role == sessions.ToolResult {
				rt.Fatal("a tool result without includeTools")
			}
			continue
		}
		for _, c := range m.ToolCalls() {
			open[pairID{m.Run, c.ID}] = true
		}
		if m.Role == sessions.ToolResult {
			if !open[pairID{m.Run, m.ToolCallID}] {
				rt.Fatalf("result %q without its call", m.ToolCallID)
			}
			delete(open, pairID{m.Run, m.ToolCallID})
		}
	}
	if len(open) > 0 {
		rt.Fatalf("calls without a result: %v", open)
	}
}

// Another session's thinking is not shown; one's own is.
// proves: W4
func TestSessionsHistoryThinking(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"main": true, "agent:main:telegram:direct:42": false} {
		w := newWorld()
		other := w.add("agent:main:telegram:direct:42")
		m := text("assistant", "said")
		m.Content = append([]sessions.Block{{Type: sessions.ThinkingBlock, Text: "secret plan"}}, m.Content...)
		w.messages[id(0)], w.messages[other.ID] = []sessions.Message{m}, []sessions.Message{m}
		r := call[historyResult](t, w, SessionsHistory(w.deps()), `{"sessionKey":"`+key+`"}`)
		if len(r.Messages) != 1 || (len(r.Messages[0].Content) == 2) != want {
			t.Errorf("%s: %+v", key, r.Messages)
		}
	}
}

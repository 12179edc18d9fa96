// Package conform is the suite that every model provider passes. It runs the provider against modeltest.Server inside of a
// testing/synctest bubble: deadlines and waits are exact and take no time, and a goroutine left behind fails the test.
package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/agent"
	"parley/agent/modeltest"
	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// Provider is what is tested.
type Provider struct {
	Signatures bool // thinking is sent back, with its signature
	New        func(Setup) agent.Model
}

// Setup is what a provider is to be made with.
type Setup struct {
	URL       string // without a path
	Client    *http.Client
	Key       channels.Secret
	Deadlines agent.Deadlines
	Settings  func(model string) agent.ModelSettings // nil = none
}

const key = "sk-very/secret+key 0123456789"

var deadlines = agent.Deadlines{Connect: time.Second, FirstByte: 20 * time.Second, Idle: 5 * time.Second, Total: time.Minute}

// Run runs the suite.
func Run(t *testing.T, p Provider) {
	for name, test := range map[string]func(*testing.T, *bench){
		"text":        testText,
		"streaming":   testStreaming,
		"tools":       testTools,
		"thinking":    testThinking,
		"stops":       testStops,
		"prompt":      testPrompt,
		"faults":      testFaults,
		"statuses":    testStatuses,
		"settings":    testSettings,
		"retry after": testRetryAfter,
		"backoff":     testBackoff,
		"drafts":      testDrafts,
		"fewer tries": testFewerTries,
		"spent":       testSpent,
		"prefix":      testPrefix,
		"deadlines":   testDeadlines,
		"linger":      testLinger,
		"cancel":      testCancel,
		"break":       testBreak,
		"many":        testMany,
		"reuse":       testReuse,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ln, client := modeltest.Pipe()
				b := &bench{Server: modeltest.NewOn(ln), Provider: p}
				b.restart = func() {
					b.model = p.New(Setup{URL: b.URL(), Client: client, Key: channels.NewSecret(key), Deadlines: deadlines, Settings: func(string) agent.ModelSettings { return b.settings }})
				}
				b.restart()
				test(t, b)
				client.CloseIdleConnections()
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

type bench struct {
	*modeltest.Server
	Provider
	model    agent.Model
	settings agent.ModelSettings // of every model
	restart  func()              // makes the provider again, as the next process does
}

// got is what a stream gave.
type got struct {
	texts, thoughts []string
	answer          *agent.Answer
	err             error
	took            time.Duration
	requests        int // made by this call
	restarts        int // drafts that were void
}

func (b *bench) ask(ctx context.Context, p agent.Prompt) got {
	var g got
	start, before := time.Now(), b.Count()
	for d, err := range b.model.Stream(ctx, p) {
		if err != nil {
			g.err = err
			break
		}
		if d.Restart {
			g.texts, g.thoughts, g.restarts = nil, nil, g.restarts+1
		}
		if d.Text != "" {
			g.texts = append(g.texts, d.Text)
		}
		if d.Thinking != "" {
			g.thoughts = append(g.thoughts, d.Thinking)
		}
		if d.Final != nil {
			g.answer = d.Final
		}
	}
	g.took, g.requests = time.Since(start), b.Count()-before
	return g
}

func (b *bench) say(t *testing.T, text string) got {
	t.Helper()
	return b.ask(t.Context(), prompt(text))
}

// fails checks that g is an error of this class after so many tries.
func (g got) fails(t *testing.T, class agent.ErrorClass, tries int) agent.ModelError {
	t.Helper()
	e, ok := errors.AsType[*agent.ModelError](g.err)
	if !ok {
		t.Fatalf("want %s, got answer %+v, error %v", class, g.answer, g.err)
	}
	if e.Class != class || e.Tries != tries {
		t.Errorf("want %s after %d tries, got %v", class, tries, e)
	}
	if g.answer != nil {
		t.Errorf("an answer besides the error: %+v", g.answer)
	}
	all := fmt.Sprintf("%v %+v %#v %s", e, e, e, errors.Join(e, e.Err))
	if strings.Contains(all, key) || strings.Contains(all, "0123456789") || len(e.Error()) > 2000 {
		t.Errorf("the error shows the key or is too long: %.3000s", all)
	}
	return *e
}

func (g got) ok(t *testing.T) *agent.Answer {
	t.Helper()
	if g.err != nil || g.answer == nil {
		t.Fatalf("no answer: %v", g.err)
	}
	return g.answer
}

func message(role sessions.Role, text string) sessions.Message {
	return sessions.Message{Role: role, Content: sessions.TextContent(text)}
}

func prompt(text string) agent.Prompt {
	return agent.Prompt{Model: "mock-1", System: "be kind", Messages: []sessions.Message{message(sessions.User, text)}}
}

func texts(a *agent.Answer) string { return sessions.Message{Content: a.Content}.Text() }

func testText(t *testing.T, b *bench) {
	b.Script(func(modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: []string{"Grüße, ", "\"W\u00e4lt\"\n", "\U0001F600 <&> ", "\\u0000?"},
			Usage: modeltest.Usage{Input: 100, Output: 7, CacheRead: 40}}
	})
	g := b.say(t, "hi")
	a := g.ok(t)
	want := "Grüße, \"W\u00e4lt\"\n\U0001F600 <&> \\u0000?"
	if len(g.texts) != 4 || strings.Join(g.texts, "") != want || texts(a) != want {
		t.Errorf("pieces %q, whole %q", g.texts, texts(a))
	}
	if a.Stop != agent.StopEnd || a.Model != "mock-1" {
		t.Errorf("stop %q, model %q", a.Stop, a.Model)
	}
	if diff := cmp.Diff(sessions.Usage{Input: 100, Output: 7, CacheRead: 40}, a.Usage); diff != "" {
		t.Error(diff)
	}
	r := b.Requests()[0]
	if r.Model != "mock-1" || r.System != "be kind" || !r.Stream || r.LastUserText() != "hi" {
		t.Errorf("the server saw %+v", r)
	}
	b.Script(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: []string{"x"}, NoUsage: true} })
	if texts(b.say(t, "again").ok(t)) != "x" {
		t.Error("no answer without usage")
	}
}

// testStreaming sees to it that pieces are passed on when they come.
func testStreaming(t *testing.T, b *bench) {
	b.Script(func(modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: []string{"one", " two", " three"}, Between: time.Second}
	})
	start := time.Now()
	var at []time.Duration
	for d, err := range b.model.Stream(t.Context(), prompt("hi")) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Text != "" {
			at = append(at, time.Since(start))
		}
	}
	if len(at) != 3 || at[1]-at[0] != time.Second || at[2]-at[1] != time.Second {
		t.Errorf("pieces came at %v", at)
	}
}

func testTools(t *testing.T, b *bench) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)
	b.Script(func(r modeltest.Request) modeltest.Reply {
		if len(r.Messages) > 1 {
			return modeltest.Reply{Text: []string{"done"}}
		}
		return modeltest.Reply{Text: []string{"wait"}, ToolCalls: []modeltest.ToolCall{
			{ID: "call_1", Name: "count", Arguments: `{"n":1,"s":"ä\"\n"}`}, {ID: "call_2", Name: "list", Arguments: `{}`},
			{ID: "call_3", Name: "count", Arguments: `{"n":`},
		}}
	})
	p := prompt("go")
	p.Tools = []tools.Spec{{Name: "count", Description: "Counts.", Schema: schema}, {Name: "list"}}
	a := b.ask(t.Context(), p).ok(t)
	if a.Stop != agent.StopToolUse || len(a.Content) != 4 {
		t.Fatalf("answer %+v", a)
	}
	calls := sessions.Message{Content: a.Content}.ToolCalls()
	for i := range calls {
		calls[i].Opaque = nil // the provider's own
	}
	want := []sessions.Block{
		{Type: sessions.ToolCallBlock, ID: "call_1", Name: "count", Arguments: json.RawMessage(`{"n":1,"s":"ä\"\n"}`)},
		{Type: sessions.ToolCallBlock, ID: "call_2", Name: "list", Arguments: json.RawMessage(`{}`)},
		{Type: sessions.ToolCallBlock, ID: "call_3", Name: "count", Arguments: json.RawMessage(`{"n":`)}, // as the model wrote it
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
	r := b.Requests()[0]
	if len(r.Tools) != 2 || r.Tools[0].Name != "count" || r.Tools[0].Description != "Counts." || string(r.Tools[0].Schema) != string(schema) ||
		!strings.Contains(string(r.Tools[1].Schema), "object") {
		t.Errorf("tools %+v", r.Tools)
	}
	p.Messages = append(p.Messages,
		sessions.Message{Role: sessions.Assistant, Model: "mock/mock-1", Content: a.Content},
		sessions.Message{Role: sessions.ToolResult, ToolCallID: "call_1", Content: sessions.TextContent("one")},
		sessions.Message{Role: sessions.ToolResult, ToolCallID: "call_2", Content: sessions.TextContent("two"), IsError: true},
		sessions.Message{Role: sessions.ToolResult, ToolCallID: "call_3", Content: nil})
	if texts(b.ask(t.Context(), p).ok(t)) != "done" {
		t.Error("no answer to the results")
	}
	sent := b.Requests()[1].Messages
	if len(sent) != 5 || sent[1].Text != "wait" || len(sent[1].ToolCalls) != 3 || sent[2].ToolCallID != "call_1" || sent[2].Text != "one" ||
		sent[3].Text != "two" || sent[4].Text == "" {
		t.Fatalf("the server saw %+v", sent)
	}
	if c := sent[1].ToolCalls[0]; c.ID != "call_1" || c.Name != "count" || c.Arguments != `{"n":1,"s":"ä\"\n"}` {
		t.Errorf("call %+v", c)
	}
	if !json.Valid([]byte(sent[1].ToolCalls[2].Arguments)) {
		t.Errorf("arguments that are no JSON were sent back: %q", sent[1].ToolCalls[2].Arguments)
	}
}

func testThinking(t *testing.T, b *bench) {
	b.Script(func(r modeltest.Request) modeltest.Reply {
		if len(r.Messages) > 1 {
			return modeltest.Reply{Text: []string{"done"}}
		}
		return modeltest.Reply{Thinking: "let me see", Signature: "sig", Redacted: "cipher", Text: []string{"calling"},
			ToolCalls: []modeltest.ToolCall{{ID: "c1", Name: "count", Arguments: `{}`}}}
	})
	p := prompt("go")
	p.Thinking = "medium"
	g := b.ask(t.Context(), p)
	a := g.ok(t)
	if strings.Join(g.thoughts, "") != "let me see" || texts(a) != "calling" || a.Content[0].Type != sessions.ThinkingBlock || a.Content[0].Text != "let me see" {
		t.Errorf("thoughts %q, answer %+v", g.thoughts, a)
	}
	p.Messages = append(p.Messages, sessions.Message{Role: sessions.Assistant, Model: "mock/mock-1", Content: a.Content},
		sessions.Message{Role: sessions.ToolResult, ToolCallID: "c1", Content: sessions.TextContent("one")})
	b.ask(t.Context(), p).ok(t)
	m := b.Requests()[1].Messages[1]
	if b.Signatures && (m.Thinking != "let me see" || m.Signature != "sig" || m.Redacted != "cipher") {
		t.Errorf("thinking was not sent back: %+v", m)
	}
	if strings.Contains(m.Text, "let me see") {
		t.Error("thinking was sent back as text")
	}
}

func testStops(t *testing.T, b *bench) {
	for _, c := range []struct {
		reply modeltest.Reply
		want  string
	}{
		{modeltest.Reply{Text: []string{"x"}, Stop: map[bool]string{true: "max_tokens", false: "length"}[b.Signatures]}, agent.StopLength},
		{modeltest.Reply{Text: []string{"x"}, Stop: "something_new"}, agent.StopEnd},
		{modeltest.Reply{Stop: map[bool]string{true: "refusal", false: "content_filter"}[b.Signatures]}, agent.StopFilter},
		{modeltest.Reply{}, agent.StopEnd},
		{modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "a", Name: "b", Arguments: "{}"}}}, agent.StopToolUse},
	} {
		b.Script(func(modeltest.Request) modeltest.Reply { return c.reply })
		if a := b.say(t, "hi").ok(t); a.Stop != c.want || len(a.Content) != len(c.reply.Text)+len(c.reply.ToolCalls) {
			t.Errorf("%+v: %+v", c.reply, a)
		}
	}
}

// testPrompt sends a transcript that is broken in many ways, and looks at what arrives.
func testPrompt(t *testing.T, b *bench) {
	call := func(id, name, args string) sessions.Block {
		return sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	asked := message(sessions.User, "what did you do?")
	asked.Provenance = &sessions.Provenance{Kind: sessions.InterSession, Source: "agent:main:telegram:group:-1", Channel: "telegram"}
	asked.Content = append(asked.Content,
		sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}, sessions.Block{Type: sessions.ImageBlock, MIME: "image/tiff", Data: "aGk="})
	p := agent.Prompt{Model: "mock-1", Messages: []sessions.Message{
		{Role: sessions.ToolResult, ToolCallID: "gone", Content: sessions.TextContent("of a call that was cut away")},
		message(sessions.Assistant, "cut away too"),
		message(sessions.User, "one"), message(sessions.User, "two\xff"),
		{Role: sessions.Assistant, Content: []sessions.Block{call("functions.x:0", "bad name!", `{"a":1}`), call("call_0", "ok", `"no json"`)}},
		{Role: sessions.ToolResult, ToolCallID: "call_0", Content: sessions.TextContent("second")},
		{Role: sessions.Assistant, Content: []sessions.Block{call("call_0", "ok", `{}`)}},
		asked,
	}}
	b.ask(t.Context(), p).ok(t)
	got := b.Requests()[0].Messages
	if len(got) != 7 {
		t.Fatalf("%d messages: %+v", len(got), got)
	}
	if got[0].Role != "user" || !strings.Contains(got[0].Text, "one") || !strings.Contains(got[0].Text, "two\uFFFD") {
		t.Errorf("first %+v", got[0])
	}
	ids := map[string]bool{}
	for i := 1; i < 6; {
		n := len(got[i].ToolCalls)
		if got[i].Role != "assistant" || n == 0 {
			t.Fatalf("message %d is %+v", i, got[i])
		}
		for k, c := range got[i].ToolCalls {
			res := got[i+1+k]
			if res.Role != "tool" || res.ToolCallID != c.ID || res.Text == "" || ids[c.ID] || strings.ContainsAny(c.ID+c.Name, ".: !") ||
				!strings.HasPrefix(c.Arguments, "{") {
				t.Errorf("call %+v has the result %+v", c, res)
			}
			ids[c.ID] = true
		}
		i += n + 1
	}
	if got[3].Text != "second" || got[2].Text == "second" {
		t.Errorf("results were mixed up: %+v", got[2:4])
	}
	last := got[6]
	if last.Role != "user" || last.Images != 1 || !strings.Contains(last.Text, "agent:main:telegram:group:-1") ||
		!strings.Contains(last.Text, "what did you do?") || !strings.Contains(last.Text, "image/tiff") {
		t.Errorf("last %+v", last)
	}
}

// testPrefix: what was sent in one call is the beginning of what is sent in the next one of the same session, byte by byte but for
// the marks that say where a prefix ends: the provider's prompt cache fits. A restart between two calls changes nothing.
func testPrefix(t *testing.T, b *bench) {
	b.Script(func(r modeltest.Request) modeltest.Reply {
		if r.N == 1 {
			return modeltest.Reply{Text: []string{"one moment"}, Thinking: "hm", Signature: "sig",
				ToolCalls: []modeltest.ToolCall{{ID: "functions.x:0", Name: "count", Arguments: `{"n": 1}`}}}
		}
		return modeltest.Reply{Text: []string{"done"}, Thinking: "hm", Signature: "sig"}
	})
	p := prompt("go")
	p.Session, p.Thinking, p.MaxTokens = "agent:main:main", "low", 100
	p.Tools = []tools.Spec{{Name: "count", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "list"}}
	for turn := range 4 {
		a := b.ask(t.Context(), p).ok(t)
		for i, c := range a.Content {
			if raw, err := json.Marshal(c.Arguments); err == nil && c.Arguments != nil {
				a.Content[i].Arguments = raw // as the loop records it
			}
		}
		p.Messages = append(p.Messages, sessions.Message{Role: sessions.Assistant, Model: "mock/mock-1", Content: a.Content})
		for _, c := range (sessions.Message{Content: a.Content}).ToolCalls() {
			p.Messages = append(p.Messages, sessions.Message{Role: sessions.ToolResult, ToolCallID: c.ID, Content: sessions.TextContent("one")})
		}
		if turn == 2 {
			for i, m := range p.Messages {
				p.Messages[i] = stored(t, m)
			}
			b.restart()
		}
		if turn > 0 {
			p.Messages = append(p.Messages, message(sessions.User, fmt.Sprint("and then? ", turn)))
		}
	}
	const mark = `,"cache_control":{"type":"ephemeral"}`
	var before, beforeRest string
	for i, r := range b.Requests() {
		raw := string(r.Raw)
		if n := strings.Count(raw, "cache_control"); n > 4 {
			t.Errorf("request %d has %d marks", i, n)
		}
		raw = strings.ReplaceAll(raw, mark, "")
		end := strings.Index(raw, `],"tools":`)
		if end < 0 {
			t.Fatalf("no tools behind the messages: %s", raw)
		}
		if msgs, rest := raw[:end], raw[end:]; before == "" || strings.HasPrefix(msgs, before) && rest == beforeRest && len(msgs) > len(before) {
			before, beforeRest = msgs, rest
		} else {
			t.Errorf("request %d:\n%s\ndoes not begin with the one before:\n%s", i, raw, before+beforeRest)
		}
	}
}

// stored gives a message as the next process reads it: what the provider wants back is kept beside it.
func stored(t *testing.T, m sessions.Message) (out sessions.Message) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range m.Content {
		if c.Opaque != nil {
			out.Content[i].Opaque = &sessions.Opaque{From: c.Opaque.From, Data: json.RawMessage(string(c.Opaque.Data))}
		}
	}
	return out
}

// testMany uses one provider from many goroutines.
func testMany(t *testing.T, b *bench) {
	done := make(chan string)
	for i := range 32 {
		go func() {
			g := b.ask(t.Context(), prompt(fmt.Sprint("number ", i)))
			if g.err != nil || texts(g.answer) != fmt.Sprint("echo: number ", i) {
				done <- fmt.Sprintf("%d: %v %v", i, g.answer, g.err)
				return
			}
			done <- ""
		}()
	}
	for range 32 {
		if s := <-done; s != "" {
			t.Error(s)
		}
	}
}

// testReuse sees to it that an answer that was read to its end leaves its connection for the next one.
func testReuse(t *testing.T, b *bench) {
	for range 5 {
		b.say(t, "hi").ok(t)
	}
	if n := b.Connections(); n != 1 {
		t.Errorf("%d connections for 5 answers one after the other", n)
	}
}

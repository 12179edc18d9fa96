package anthropic

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// reply is what an endpoint answers: status 0 = 200.
type reply struct {
	status int
	kind   string // content type; empty = text/event-stream
	body   string
}

// endpoint is a server that answers by a function of the request's body, and keeps the requests.
type endpoint struct {
	answer func(n int, body string) reply

	mu       sync.Mutex
	bodies   []string
	requests []*http.Request
}

func (e *endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body) // of bytes in memory
		_ = req.Body.Close()
	}
	e.mu.Lock()
	e.bodies = append(e.bodies, string(body))
	e.requests = append(e.requests, req)
	n := len(e.bodies)
	e.mu.Unlock()
	r := e.answer(n, string(body))
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if r.kind == "" {
		r.kind = "text/event-stream"
	}
	return &http.Response{
		Status: fmt.Sprint(r.status, " ", http.StatusText(r.status)), StatusCode: r.status, Header: http.Header{"Content-Type": {r.kind}},
		Body: io.NopCloser(bytes.NewReader([]byte(r.body))), Request: req,
	}, nil
}

func (e *endpoint) last() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bodies[len(e.bodies)-1]
}

func (e *endpoint) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.bodies)
}

// always answers each request with the same.
func always(r reply) func(int, string) reply { return func(int, string) reply { return r } }

// refuses answers 400 with a text as long as the request has one of some words in it.
func refuses(text string, words ...string) func(int, string) reply {
	return func(_ int, body string) reply {
		for _, w := range words {
			if strings.Contains(body, w) {
				return reply{status: 400, kind: "application/json", body: text}
			}
		}
		return reply{body: hello}
	}
}

// at makes a provider of an endpoint at an address.
func (e *endpoint) at(address string, change ...func(*Config)) *Model {
	c := Config{Name: "mock", BaseURL: address, APIKey: channels.NewSecret("sk-0123456789"), HTTPClient: &http.Client{Transport: e}}
	for _, f := range change {
		f(&c)
	}
	return New(c)
}

const elsewhere = "https://compatible.test/anthropic"

// at writes events as a stream: each is the JSON of one.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("event: x\ndata: " + e + "\n\n")
	}
	return b.String()
}

const (
	msgStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-2","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}`
	msgEnd   = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`
	msgTool  = `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}`
	msgStop  = `{"type":"message_stop"}`
)

func start(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}

func piece(i int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta)
}

func textPiece(i int, text string) string {
	return piece(i, fmt.Sprintf(`{"type":"text_delta","text":%q}`, text))
}

var hello = sse(msgStart, start(0, `{"type":"text","text":""}`), textPiece(0, "hello"), `{"type":"content_block_stop","index":0}`, msgEnd, msgStop)

// heard is what a stream gave.
type heard struct {
	text, thinking string // after the last restart
	restarts       int
	answer         *agent.Answer
	err            error
}

func listen(t *testing.T, m *Model, p agent.Prompt) heard {
	t.Helper()
	if p.Model == "" {
		p.Model = "m"
	}
	if p.Messages == nil {
		p.Messages = []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hi")}}
	}
	if p.Tries == 0 {
		p.Tries = 1
	}
	var h heard
	var text, thinking strings.Builder
	for d, err := range m.Stream(t.Context(), p) {
		if d.Restart {
			text.Reset()
			thinking.Reset()
			h.restarts++
		}
		text.WriteString(d.Text)
		thinking.WriteString(d.Thinking)
		if d.Final != nil {
			h.answer = d.Final
		}
		h.err = err
	}
	h.text, h.thinking = text.String(), thinking.String()
	return h
}

// shape writes the blocks of an answer down.
func shape(blocks []sessions.Block) string {
	var out []string
	for _, b := range blocks {
		switch b.Type {
		case sessions.ToolCallBlock:
			id := b.ID
			if strings.HasPrefix(id, "call_") {
				id = "(made)"
			}
			out = append(out, fmt.Sprintf("call %s %s%s", id, b.Name, b.Arguments))
		case sessions.ThinkingBlock:
			s := "thinking " + b.Text
			if b.Opaque == nil {
				s += " WITHOUT ORIGIN"
			} else if len(b.Opaque.Data) > 0 {
				s += " " + string(b.Opaque.Data)
			}
			if b.Signature != nil || b.Data != "" {
				s += " IN THE TRANSCRIPT"
			}
			out = append(out, s)
		default:
			out = append(out, "text "+b.Text)
		}
	}
	return strings.Join(out, " | ")
}

// turn is a transcript in which the model at an endpoint answered, its call had a result, and a person wrote again.
func turn(blocks []sessions.Block, label string) []sessions.Message {
	msgs := []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hi")}, {Role: sessions.Assistant, Model: label, Content: blocks}}
	for _, c := range msgs[1].ToolCalls() {
		msgs = append(msgs, sessions.Message{Role: sessions.ToolResult, ToolCallID: c.ID, Content: sessions.TextContent("done")})
	}
	if len(msgs) == 2 {
		msgs = append(msgs, sessions.Message{Role: sessions.User, Content: sessions.TextContent("and?")})
	}
	return msgs
}

// toolTurn is a prompt in the middle of a call that the endpoint's model made after thinking without signature.
func toolTurn() agent.Prompt {
	return agent.Prompt{Model: "m", System: "be kind", Tools: []tools.Spec{{Name: "look"}, {Name: "save"}}, Messages: turn([]sessions.Block{
		{Type: sessions.ThinkingBlock, Text: "I should look", Opaque: &sessions.Opaque{From: origin(elsewhere)}},
		{Type: sessions.ToolCallBlock, ID: "toolu_1", Name: "look", Arguments: []byte(`{"a":1}`)},
	}, "mock/m")}
}

// origin is how sessions.Opaque names the endpoint of model m at an address.
func origin(address string) string {
	return lessons.Endpoint{Provider: "mock", Address: address, Model: "m"}.String()
}

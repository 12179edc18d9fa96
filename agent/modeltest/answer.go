package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer sends one reply.
type answer struct {
	w       http.ResponseWriter
	req     Request
	reply   Reply
	ctx     context.Context // ends when the client goes away
	closing context.Context // ends when the server closes
	buf     []byte          // events that are not written yet
	id      string
	blocks  int   // content blocks begun so far; Anthropic only
	saying  Usage // of the events that are not written yet
	told    Usage // of those that are
	count   func(now, was Usage)
}

// send writes the reply and reports whether the client was there until its end.
func (a *answer) send() bool {
	r := a.reply
	if !a.sleep(r.Delay) {
		return false
	}
	switch r.Fault {
	case Refuse:
		a.hangUp()
	case Silent:
		a.wait()
		return false
	}
	for k, v := range r.Header {
		a.w.Header()[k] = v
	}
	if r.Status >= 300 || r.Body != "" {
		a.w.Header().Set("Content-Type", "application/json")
		a.w.WriteHeader(max(r.Status, http.StatusOK))
		_, err := a.w.Write(a.errorBody())
		return err == nil
	}
	a.id = "mock-" + strconv.Itoa(a.req.N)
	if !a.req.Stream {
		a.w.Header().Set("Content-Type", "application/json")
		a.count(a.reply.Usage, Usage{})
		_, err := a.w.Write(a.whole())
		return err == nil
	}
	a.w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range a.events() {
		a.buf = append(a.buf, e...)
		if r.Between > 0 && (!a.flush() || !a.sleep(r.Between)) {
			return false
		}
	}
	return a.end()
}

// events are the reply as events of the protocol, without its end.
func (a *answer) events() [][]byte {
	switch a.req.Protocol {
	case Anthropic:
		return a.anthropicEvents()
	case Responses:
		return a.responsesEvents()
	}
	return a.openAIEvents()
}

// end does the fault, or ends the stream as the protocol wants.
func (a *answer) end() bool {
	switch a.reply.Fault {
	case Cut:
		a.flush()
		a.hangUp()
	case End, HalfCall:
	case Stall:
		a.flush()
		a.wait()
		return false
	case Linger:
		a.buf = append(a.buf, a.lastEvents()...)
		a.flush()
		if a.sleep(10 * time.Millisecond) {
			a.buf = append(a.buf, ": bye\n\n"...)
			a.flush()
			a.wait()
		}
		return false
	case Garbage:
		a.buf = append(a.buf, "event: content_block_delta\ndata: {\"choices\": [{]\n\n"...)
	case InvalidUTF8:
		event := bytes.ReplaceAll(a.textEvent("caf\u00e9"), []byte("\u00e9"), []byte{0xe9})
		a.buf = append(append(a.buf, a.more()...), event...)
		a.buf = append(a.buf, a.lastEvents()...)
	case Huge, HugeLine:
		return a.huge()
	case ErrorEvent:
		a.buf = append(a.buf, "event: error\ndata: "...)
		a.buf = append(append(a.buf, a.overload()...), "\n\n"...)
	default:
		a.buf = append(a.buf, a.lastEvents()...)
	}
	return a.flush()
}

// more begins a further text, where the protocol wants that to be said.
func (a *answer) more() []byte {
	if a.req.Protocol == Anthropic {
		return anthropicStart(a.blocks, `{"type":"text","text":""}`)
	}
	return nil
}

// textEvent is a piece of the text that more began.
func (a *answer) textEvent(text string) []byte {
	if a.req.Protocol == Anthropic {
		return anthropicDelta(a.blocks, "text_delta", "text", text)
	}
	if a.req.Protocol == Responses {
		return a.responsesText(text)
	}
	return a.chunk(append(quote([]byte(`{"content":`), text), '}'), "", "")
}

func (a *answer) lastEvents() []byte {
	if a.req.Protocol == Anthropic {
		return a.anthropicEnd()
	}
	if a.req.Protocol == Responses {
		return a.responsesEnd()
	}
	return a.openAIEnd()
}

// huge sends 256 MiB, or as much as the client takes.
func (a *answer) huge() bool {
	a.buf = append(a.buf, a.more()...)
	piece := a.textEvent(strings.Repeat("0123456789abcdef", 4096))
	if a.reply.Fault == HugeLine {
		a.buf = append(a.buf, "data: {\"x\":\""...)
		piece = bytes.Repeat([]byte("0123456789abcdef"), 4096)
	}
	for range 4096 {
		a.buf = append(a.buf, piece...)
		if !a.flush() {
			return false
		}
	}
	return true
}

func (a *answer) overload() string {
	if a.req.Protocol == Anthropic {
		return `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	}
	if a.req.Protocol == Responses {
		return responsesOverload
	}
	return `{"error":{"code":503,"type":"server_error","message":"Overloaded"}}`
}

func (a *answer) errorBody() []byte {
	if a.reply.Body != "" {
		return []byte(a.reply.Body)
	}
	text := "scripted error " + strconv.Itoa(a.reply.Status)
	if a.req.Protocol == Anthropic {
		return []byte(`{"type":"error","error":{"type":"scripted_error","message":"` + text + `"}}`)
	}
	return []byte(`{"error":{"message":"` + text + `","type":"scripted_error","param":null,"code":null}}`)
}

func (a *answer) flush() bool {
	a.count(a.saying, a.told) // before the client can know
	a.told = a.saying
	_, err := a.w.Write(a.buf)
	a.buf = a.buf[:0]
	if f, ok := a.w.(http.Flusher); ok {
		f.Flush()
	}
	return err == nil && a.ctx.Err() == nil
}

func (a *answer) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-a.ctx.Done():
	case <-a.closing.Done():
	}
	return false
}

// wait does nothing until the client goes away or the server closes.
func (a *answer) wait() {
	select {
	case <-a.ctx.Done():
	case <-a.closing.Done():
	}
}

// hangUp breaks the connection. It does not return.
func (a *answer) hangUp() { panic(http.ErrAbortHandler) }

// quote appends s as a JSON string.
func quote(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return append(b, `""`...)
	}
	return append(b, q...)
}

// halves splits the arguments of a call in two, as a stream would.
func halves(args string) (string, string) { return args[:len(args)/2], args[len(args)/2:] }

package endpoints

import (
	"net/http"
	"strings"
)

// Wire writes an answer.
type Wire func(http.ResponseWriter, *Call, Say)

// Piece is one event of a stream.
type Piece struct {
	Kind  string // role, reasoning, text, call, arguments, finish, usage, end; Responses and Anthropic: the event's type
	Event string // the SSE event's name; empty = none
	Data  obj
	Raw   string // instead of Data
}

// Frame is how pieces become bytes. The zero value is what a careful server sends.
type Frame struct {
	ContentType string // empty = text/event-stream
	Prefix      string // empty = "data: "
	Newline     string // empty = "\n"
	Head        string // before the first event
	NoDone      bool   // chat completions: without [DONE]
	Cut         int    // the connection breaks after so many pieces; 0 = it does not
	Flush       int    // bytes that are written at once; 0 = all
	Header      map[string]string
}

// write sends pieces as server-sent events.
func (f Frame) write(w http.ResponseWriter, pieces []Piece, done string) {
	or := func(s, usual string) string {
		if s == "" {
			return usual
		}
		return s
	}
	nl, prefix := or(f.Newline, "\n"), or(f.Prefix, "data: ")
	var b strings.Builder
	b.WriteString(f.Head)
	for i, p := range pieces {
		if f.Cut > 0 && i >= f.Cut {
			break
		}
		if p.Event != "" {
			b.WriteString("event: " + p.Event + nl)
		}
		data := p.Raw
		if data == "" {
			data = encode(p.Data)
		}
		b.WriteString(prefix + data + nl + nl)
	}
	if f.Cut == 0 && !f.NoDone && done != "" {
		b.WriteString(prefix + done + nl + nl)
	}
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	send(w, or(f.ContentType, "text/event-stream; charset=utf-8"), b.String(), f.Flush)
	if f.Cut > 0 {
		panic(http.ErrAbortHandler)
	}
}

// send writes a body, in pieces of so many bytes; 0 = at once.
func send(w http.ResponseWriter, contentType, body string, piece int) {
	if contentType == noType {
		w.Header()["Content-Type"] = nil
	} else {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(http.StatusOK)
	flusher, _ := w.(http.Flusher)
	for len(body) > 0 {
		n := len(body)
		if piece > 0 {
			n = min(n, piece)
		}
		if _, err := w.Write([]byte(body[:n])); err != nil {
			return // the client went away
		}
		flusher.Flush()
		body = body[n:]
	}
}

// noType is the ContentType of an answer that names none.
const noType = "-"

// halves cuts a text in two, at a rune.
func halves(s string) (a, b string) {
	r := []rune(s)
	return string(r[:len(r)/2]), string(r[len(r)/2:])
}

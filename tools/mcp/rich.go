package mcp

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// mostMarks is how many of [, { and , a message may have outside its strings: each may cost hundreds of bytes of memory when it is read,
// many times what it takes on the wire.
const mostMarks = 100_000

// tooRich is what is said of a message with more.
const tooRich = "its message has too many parts to be read"

// marks counts the marks of JSON that comes in pieces.
type marks struct {
	n               int
	inside, escaped bool // in a string
}

// add counts on, and reports whether there are still few enough.
func (m *marks) add(text []byte) bool {
	for _, c := range text {
		switch {
		case m.escaped:
			m.escaped = false
		case m.inside:
			m.escaped, m.inside = c == '\\', c != '"'
		case c == '"':
			m.inside = true
		case c == ',' || c == '[' || c == '{':
			m.n++
		}
	}
	return m.n <= mostMarks
}

// refusal gives what is read in place of a message that is too rich: an error where it answers a call, nothing otherwise.
func refusal(text []byte) jsonrpc.Message {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
	}
	if json.Unmarshal(text, &m) != nil || m.Method != nil || len(m.ID) == 0 || len(m.ID) > 100 {
		return nil
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: tooRich}})
	if err != nil {
		return nil
	}
	answer, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil
	}
	return answer
}

// lean is a body that ends with an error where a message is too rich: the whole body, or one event of a stream.
type lean struct {
	io.ReadCloser
	stream bool
	marks  marks
	head   []byte // of the line of a stream that is read: as much as tells whether it is data
	ended  bool   // by a message that is too rich
}

var dataField = []byte("data:")

// Read implements io.Reader.
func (l *lean) Read(p []byte) (int, error) {
	if l.ended {
		return 0, &misbehaved{tooRich}
	}
	n, err := l.ReadCloser.Read(p)
	if !l.few(p[:n]) {
		l.ended = true
		return 0, &misbehaved{tooRich}
	}
	return n, err
}

// few counts the marks of what was read. Of a stream only data counts, as quotation marks elsewhere would hide it; an empty line ends
// an event.
func (l *lean) few(text []byte) bool {
	if !l.stream {
		return l.marks.add(text)
	}
	for len(text) > 0 {
		if missing := len(dataField) - len(l.head); missing > 0 && text[0] != '\n' {
			l.head = append(l.head, text[0])
			text = text[1:]
			continue
		}
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if bytes.Equal(l.head, dataField) && !l.marks.add(line) {
			return false
		}
		if whole {
			if len(bytes.Trim(l.head, "\r")) == 0 && len(bytes.Trim(line, "\r")) == 0 {
				l.marks = marks{}
			}
			l.head = l.head[:0]
		}
		text = rest
	}
	return true
}

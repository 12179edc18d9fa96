package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"parley/tools"
)

// The bounds of one message, whatever it came over.
const (
	maxMessage = 32 << 20  // bytes that are read: a file of 20 MiB in base64 fits
	maxSkipped = 256 << 20 // bytes of a message, or of noise, that are passed over; a server that sends more is replaced
	// maxMarks is how many of [, { and , a message may have outside its strings: each may cost hundreds of bytes of memory when it is read,
	// many times what it takes on the wire.
	maxMarks = 100_000
)

// tooRich is what is said of a message with more than maxMarks.
const tooRich = "its message has too many parts to be read"

// codeDropped marks the error that stands for an answer of a server that was dropped: it was too large, or too rich.
const codeDropped = -32097

// tooLarge is what is said of a message of so many bytes.
func tooLarge(size int64) string {
	return fmt.Sprintf("its message has %.1f MiB; at most %d MiB are read", float64(size)/(1<<20), maxMessage>>20)
}

// manyMarks reports whether a message has more than maxMarks.
func manyMarks(text []byte) bool {
	n, inside, escaped := 0, false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case inside:
			escaped, inside = c == '\\', c != '"'
		case c == '"':
			inside = true
		case c == ',' || c == '[' || c == '{':
			n++
		}
	}
	return n > maxMarks
}

// envelope finds the id of a JSON-RPC message that comes in pieces and is not kept. It looks at the members of the message itself, never
// into its result.
type envelope struct {
	size            int64
	depth           int
	inside, escaped bool   // in a string
	key             bool   // the next string is the name of a member
	name            []byte // of the member that is being read
	id              []byte // as it stands in the message
	asks            bool   // it has a method: it is no answer
}

// maxID is how many bytes of an id, and of a member's name, are kept.
const maxID = 100

// add reads a further piece.
func (e *envelope) add(text []byte) {
	e.size += int64(len(text))
	for _, c := range text {
		if e.inside {
			if e.depth == 1 {
				e.note(c)
			}
			switch {
			case e.escaped:
				e.escaped = false
			case c == '\\':
				e.escaped = true
			case c == '"':
				e.inside = false
			}
			continue
		}
		switch c {
		case '"':
			e.inside = true
			if e.depth == 1 {
				e.note(c)
			}
		case '{', '[':
			if e.depth++; e.depth == 1 {
				e.key, e.name = true, nil
			}
		case '}', ']':
			e.depth--
		case ',':
			if e.depth == 1 {
				e.key, e.name = true, nil
			}
		case ':':
			if e.depth == 1 && e.key {
				e.key = false
				e.asks = e.asks || string(e.name) == `"method"`
				if string(e.name) == `"id"` {
					e.id = nil
				}
			}
		default:
			if e.depth == 1 {
				e.note(c)
			}
		}
	}
}

// Write implements io.Writer.
func (e *envelope) Write(text []byte) (int, error) {
	e.add(text)
	return len(text), nil
}

// note keeps a character of a name, or of the id.
func (e *envelope) note(c byte) {
	if c == ' ' && !e.inside || c == '\n' || c == '\r' || c == '\t' {
		return
	}
	switch {
	case e.key && len(e.name) < maxID:
		e.name = append(e.name, c)
	case !e.key && string(e.name) == `"id"` && len(e.id) < maxID:
		e.id = append(e.id, c)
	}
}

// answer returns the error that is read in place of a message that was dropped for a reason; nil when that message answered nothing.
func (e *envelope) answer(why string) []byte {
	if e.asks || len(e.id) == 0 || len(e.id) == maxID || !json.Valid(e.id) || e.id[0] == '{' || e.id[0] == '[' || string(e.id) == "null" {
		return nil
	}
	return errorAnswer(e.id, why)
}

func errorAnswer(id json.RawMessage, why string) []byte {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": jsonrpc.Error{Code: codeDropped, Message: why}})
	if err != nil {
		return nil
	}
	return text
}

// noJSON is the reason for a message that is not JSON.
const noJSON = "its message is not JSON"

// mended gives a message that is JSON but for numbers that are none, or characters that have to be escaped, as JSON; anything else as it is.
//
// source: docs.python.org/3/library/json.html#infinite-and-nan-number-values
func mended(text []byte) []byte {
	if len(text) == 0 || text[0] != '{' || json.Valid(text) {
		return text
	}
	if fixed, ok := tools.RepairJSON(text); ok && json.Valid(fixed) {
		return fixed
	}
	return text
}

// brokenAnswer returns the error that is read in place of a message that is no JSON; nil when it answered nothing.
func brokenAnswer(text []byte) []byte {
	var e envelope
	e.add(text)
	return e.answer(noJSON)
}

// admit makes a message fit to be read: what a result holds in an odd form is put into the usual one, and an answer that is too rich
// becomes an error. nil means that there is nothing to read.
func admit(text []byte) []byte {
	if manyMarks(text) {
		var e envelope
		e.add(text)
		return e.answer(tooRich)
	}
	return usual(text)
}

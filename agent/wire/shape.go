package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// The bounds of a shape, in bytes.
const (
	maxShape    = 300
	maxShapeKey = 40
)

// plainWord is a word of a protocol: in_progress, content_block_delta, chat.completion.chunk.
var plainWord = regexp.MustCompile(`^[A-Za-z][\w.-]{0,39}$`)

// wordFields are the fields whose values are words of the protocol.
var wordFields = []string{"type", "object", "role", "finish_reason", "stop_reason", "status", "event"}

// shape says what a part of an answer consists of, without its texts: they may be what a model says to people.
// A text is given as its length: {"index":0,"delta":{"type":"text_delta","text":"42 bytes"}}.
func shape(raw []byte) string {
	if !json.Valid(raw) {
		return fmt.Sprintf("%d bytes that are not JSON", len(raw))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var w shapeWriter
	for w.out.Len() <= maxShape {
		token, err := d.Token()
		if err != nil { // the end
			return w.out.String()
		}
		w.write(token)
	}
	return w.out.String() + "…"
}

// shapeWriter writes tokens without their texts.
type shapeWriter struct {
	out  bytes.Buffer
	open []level
}

// level is an object or a list that is not closed yet.
type level struct {
	object bool
	key    string // the newest one
	values int    // keys and values so far
}

func (w *shapeWriter) write(token json.Token) {
	if c, ok := token.(json.Delim); ok && (c == '}' || c == ']') {
		w.open = w.open[:len(w.open)-1]
		w.out.WriteString(c.String())
		return
	}
	key, isKey := "", false
	if n := len(w.open); n > 0 {
		at := &w.open[n-1]
		isKey = at.object && at.values%2 == 0
		switch {
		case at.object && !isKey:
			key = at.key
			w.out.WriteByte(':')
		case at.values > 0:
			w.out.WriteByte(',')
		}
		at.values++
		if isKey {
			at.key, _ = token.(string)
		}
	}
	switch v := token.(type) {
	case json.Delim:
		w.open = append(w.open, level{object: v == '{'})
		w.out.WriteString(v.String())
	case string:
		known := isKey && len(v) <= maxShapeKey || slices.Contains(wordFields, key) && plainWord.MatchString(v)
		if !known {
			v = fmt.Sprintf("%d bytes", len(v))
		}
		w.out.Write(Quote(nil, v))
	case nil:
		w.out.WriteString("null")
	default:
		fmt.Fprint(&w.out, v)
	}
}

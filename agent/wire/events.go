package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"parley/agent"
	"parley/tools"
)

// The bounds of one event, in bytes.
const (
	maxLine  = 8 << 20  // a line of an event stream
	maxValue = 32 << 20 // a JSON value outside of an event stream: a whole answer
	maxAlone = 64 << 10 // what is kept of a value that may say why there is no answer
	maxJunk  = 200      // what is kept of lines that are no part of a stream
)

// Event is one event of an answer. Data is valid UTF-8, and valid until the next one is read.
type Event struct {
	Name  string // of an event stream; mostly empty
	Data  []byte
	Value bool // it stood alone, not in an event stream: a whole answer, or one of several JSON values
	Long  bool // it was longer than what is kept, and is left out: Data is its beginning, for the log
}

// Events reads an answer whose packaging is told by its first byte, not by its content type: server-sent events, one JSON value,
// several of them one after the other (NDJSON), or a list of them. It holds one event in memory.
type Events struct {
	in       *bufio.Reader
	values   *json.Decoder // nil = an event stream
	counted  *valueLimit
	list     bool // the values are in a list
	begun    bool
	repaired bool // the rest of the values was repaired, or could not be
	name     string
	data     []byte
	line     []byte // one that was longer than the buffer
	long     bool   // line is the beginning of one that was too long
	leftOut  bool   // the event before was too long
	junk     []byte
	next     []byte   // a line that belongs to the next event
	gap      int      // empty lines behind data that is half of an object
	objects  []string // names of fields that hold objects or lists
	last     error
	alone    []byte // the first value that stood alone
	halves   halves
}

// NewEvents makes a reader of an answer's body. objects are the names of fields that hold objects or lists in the API, from an event down:
// some servers write them as texts.
func NewEvents(body io.Reader, objects ...string) *Events {
	in, _ := readers.Get().(*bufio.Reader)
	in.Reset(tools.EventLines(body))
	return &Events{in: in, objects: objects}
}

// readers are the buffers of answers that are read to their end.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// Close gives the buffer back: neither Next nor the data of an event may be used any more, Junk and Alone may. It does not close the body.
func (e *Events) Close() {
	if e.in != nil {
		e.in.Reset(nil)
		readers.Put(e.in)
		e.in = nil
	}
}

// Junk gives the beginning of what was read and is no part of an event stream: a web page, mostly.
func (e *Events) Junk() string { return string(e.junk) }

// Alone gives the first JSON value that stood alone: where no answer is in it, it may say why. nil = there was none, or a long one.
func (e *Events) Alone() []byte { return e.alone }

// Next gives the next event that has data. The error is io.EOF at the end of the answer, and wraps agent.ErrTooLarge where the last event
// was too long.
func (e *Events) Next() (Event, error) {
	if !e.begun {
		e.begun = true
		if err := e.begin(); err != nil {
			return Event{}, err
		}
	}
	read := e.event
	if e.values != nil {
		read = e.value
	}
	ev, err := read()
	if ev.Data = e.halves.join(ev.Data); !ev.Long {
		ev.Data = e.regular(ev.Data)
	}
	if errors.Is(err, io.EOF) && e.leftOut {
		return Event{}, errLongLine
	}
	e.leftOut = ev.Long
	if ev.Value && e.alone == nil && len(ev.Data) <= maxAlone {
		e.alone = bytes.Clone(ev.Data)
	}
	return ev, err
}

// begin looks at the first byte that says something.
func (e *Events) begin() error {
	if mark, err := e.in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = e.in.Discard(3) // it was peeked at
	}
	for {
		first, err := e.in.Peek(1)
		if err != nil {
			return err
		}
		switch first[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = e.in.Discard(1) // it was peeked at
			continue
		case '{', '[':
			e.counted = &valueLimit{r: e.in}
			e.values, e.list = json.NewDecoder(e.counted), first[0] == '['
			if e.list {
				_, err = e.values.Token()
			}
			return err
		}
		return nil
	}
}

// value gives the next JSON value.
func (e *Events) value() (Event, error) {
	if e.list && !e.values.More() {
		_, err := e.values.Token()
		if err == nil {
			return Event{}, io.EOF
		}
		return Event{}, unended(err)
	}
	e.counted.read = 0
	var raw json.RawMessage
	err := e.values.Decode(&raw)
	if _, odd := errors.AsType[*json.SyntaxError](err); odd && !e.repaired && e.repair() {
		err = e.values.Decode(&raw)
	}
	if err != nil {
		if e.list {
			err = unended(err)
		}
		return Event{}, err
	}
	return Event{Data: raw, Value: true}, nil
}

// repair reads the rest of an answer that is no JSON, the value at hand included, and repairs it.
func (e *Events) repair() bool {
	e.repaired = true
	rest, err := io.ReadAll(io.MultiReader(e.values.Buffered(), e.counted))
	if err != nil {
		return false
	}
	rest, ok := Repair(rest)
	if !ok {
		return false
	}
	begin := ""
	if e.list {
		begin = "["
	}
	e.values = json.NewDecoder(io.MultiReader(strings.NewReader(begin), bytes.NewReader(rest)))
	if e.list {
		_, err = e.values.Token()
	}
	return err == nil
}

// unended is the error of a list that does not end.
func unended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// event gives the next event of a stream. A line that is a JSON object counts as one: servers write errors like that.
func (e *Events) event() (Event, error) {
	e.name, e.data, e.gap = "", e.data[:0], 0
	var head []byte // of an event that is too long
	for e.last == nil || len(e.next) > 0 {
		var line []byte
		if len(e.next) > 0 {
			line, e.next = e.next, nil
		} else {
			line, e.last = e.readLine()
		}
		if e.long {
			e.long, head = false, bytes.Clone(line)
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		for string(field) == "data" && bytes.HasPrefix(value, []byte("data:")) { // wrapped twice. source: sysid/sse-starlette#89
			value = bytes.TrimPrefix(value[len("data:"):], []byte{' '})
		}
		switch {
		case head != nil && (len(line) == 0 || string(field) == "data" && opensValue(value)):
			if len(line) > 0 { // a server that leaves out the empty line between events
				e.next = append(e.next[:0], line...)
			}
			return Event{Name: e.name, Data: head, Long: true}, nil
		case len(line) == 0 && opensValue(e.data) && !closesValue(e.data): // the rest may follow
			e.gap++
		case len(line) == 0:
			if len(e.data) > 0 || endNames[e.name] {
				return Event{Name: e.name, Data: e.data}, nil
			}
			e.name = ""
		case e.gap > 0 && isNextEvent(string(field), value):
			e.next = append(e.next[:0], line...)
			return Event{Name: e.name, Data: e.data}, nil
		case len(field) == 0: // a comment
		case string(field) == "data":
			if head == nil && len(e.data) > maxLine {
				head, e.data = bytes.Clone(e.data[:maxJunk]), e.data[:0]
			}
			if head != nil {
				continue
			}
			if opensValue(value) && closesValue(e.data) && json.Valid(e.data) { // a server that leaves out the empty line between events
				e.next = append(e.next[:0], line...)
				return Event{Name: e.name, Data: e.data}, nil
			}
			if len(e.data) > 0 && e.gap == 0 {
				e.data = append(e.data, '\n')
			}
			e.data, e.gap = append(e.data, value...), 0
		case string(field) == "event":
			e.name = string(value)
		case string(field) == "id", string(field) == "retry":
		case line[0] == '{' && json.Valid(line):
			e.data = append(e.data, line...)
			return Event{Name: e.name, Data: e.data, Value: true}, nil
		default:
			if ev, ok := e.oddLine(line); ok {
				return ev, nil
			}
		}
	}
	if head != nil {
		return Event{Name: e.name, Data: head, Long: true}, nil
	}
	if len(e.data) > 0 {
		return Event{Name: e.name, Data: e.data}, nil
	}
	return Event{}, e.last
}

var (
	errLongLine  = fmt.Errorf("%w: one event has more than %d bytes", agent.ErrTooLarge, maxLine)
	errLongValue = fmt.Errorf("%w: one JSON value has more than %d bytes", agent.ErrTooLarge, maxValue)
)

// opensValue reports whether a line may be the beginning of another event: an object, a list, or [DONE].
func opensValue(line []byte) bool { return len(line) > 0 && (line[0] == '{' || line[0] == '[') }

// closesValue reports whether data may be a whole object or list.
func closesValue(data []byte) bool {
	return len(data) > 0 && (data[len(data)-1] == '}' || data[len(data)-1] == ']')
}

// readLine gives a line without its end. At the end of the answer there may be both a line and an error. Of a line that is too long it gives
// the beginning, and sets long.
func (e *Events) readLine() ([]byte, error) {
	line, err := e.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		e.line = append(e.line[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = e.in.ReadSlice('\n')
			if e.long = e.long || len(e.line)+len(line) > maxLine; e.long {
				e.line = e.line[:maxJunk]
				continue
			}
			e.line = append(e.line, line...)
		}
		line = e.line
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), err
}

// valueLimit bounds one JSON value.
type valueLimit struct {
	r    io.Reader
	read int
}

func (l *valueLimit) Read(p []byte) (int, error) {
	if l.read > maxValue {
		return 0, errLongValue
	}
	n, err := l.r.Read(p)
	l.read += n
	return n, err
}

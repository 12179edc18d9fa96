package anthropic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"parley/agent"
)

// maxEvent bounds one event, in bytes.
const maxEvent = 8 << 20

// maxWhole bounds an answer that comes in one piece, in bytes: all that is kept of one, with its escapes.
const maxWhole = 32 << 20

var errEventTooBig = fmt.Errorf("%w: an event is larger than %d bytes", agent.ErrTooLarge, maxEvent)

// events reads the events of an answer: a stream of server-sent events, or JSON values one after the other, be it one whole answer.
type events struct {
	in      *bufio.Reader
	started bool
	values  *json.Decoder // not nil = JSON values
	limit   *io.LimitedReader
	line    []byte // of the last one, when it did not fit into the buffer
	data    []byte // of the event at hand
	pending []byte // a line that belongs to the next event
}

func newEvents(body io.Reader) *events { return &events{in: bufio.NewReaderSize(body, 32<<10)} }

// next gives the data of the next event, valid until the next call, and its name; io.EOF at a clean end. What comes first says which
// form the answer has, whatever its content type claims.
func (e *events) next() (name string, data []byte, err error) {
	if !e.started {
		e.started = true
		if err := e.sniff(); err != nil {
			return "", nil, err
		}
	}
	if e.values != nil {
		var raw json.RawMessage
		err := e.values.Decode(&raw)
		if e.limit.N <= 0 {
			return "", nil, fmt.Errorf("%w: it is larger than %d bytes", agent.ErrTooLarge, maxWhole)
		}
		e.limit.N = maxWhole
		return "", raw, err
	}
	return e.event()
}

// sniff looks at the first byte of the answer.
func (e *events) sniff() error {
	for {
		b, err := e.in.ReadByte()
		if err != nil {
			return err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // also the mark that some servers put in front of UTF-8
			continue
		case '{', '[':
			e.limit = &io.LimitedReader{R: e.in, N: maxWhole}
			e.values = json.NewDecoder(e.limit)
		case '<':
			page := make([]byte, 4<<10)
			page[0] = b
			n, _ := io.ReadFull(e.in, page[1:]) // a short page is a page
			return pageError(page[:n+1])
		}
		return e.in.UnreadByte()
	}
}

// pageError is a web page in the place of an answer.
type pageError []byte

func (pageError) Error() string { return "the answer is a web page" }

// event reads lines until an empty one.
func (e *events) event() (name string, data []byte, err error) {
	e.data = e.data[:0]
	for {
		line, err := e.readLine()
		if err != nil {
			if errors.Is(err, io.EOF) && len(e.data) > 0 {
				return name, e.data, nil // the last event has no empty line behind it
			}
			return "", nil, err
		}
		if len(line) == 0 {
			if len(e.data) > 0 {
				return name, e.data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if len(e.data) > 0 {
				if json.Valid(e.data) { // a server that leaves the empty line out
					e.pending = bytes.Clone(line)
					return name, e.data, nil
				}
				e.data = append(e.data, '\n')
			}
			if e.data = append(e.data, value...); len(e.data) > maxEvent {
				return "", nil, errEventTooBig
			}
		}
	}
}

// readLine gives the next line without its end, valid until the next call. A line ends with \n, \r\n or the answer.
func (e *events) readLine() ([]byte, error) {
	if line := e.pending; line != nil {
		e.pending = nil
		return line, nil
	}
	line, err := e.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		e.line = append(e.line[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(e.line) > maxEvent {
				return nil, errEventTooBig
			}
			line, err = e.in.ReadSlice('\n')
			e.line = append(e.line, line...)
		}
		line = e.line
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	return bytes.TrimRight(line, "\r\n"), err
}

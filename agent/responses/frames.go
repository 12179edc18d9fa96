package responses

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The bounds of what is read at once, in bytes.
const (
	maxEvent = 8 << 20  // one event of a stream
	maxWhole = 16 << 20 // an answer in one piece
)

// frames reads the pieces of an answer: the events of a stream, or JSON values one after the other. The first byte tells which.
type frames struct {
	r     *bufio.Reader
	left  int64 // of a JSON value
	name  string
	data  []byte
	lines int // of data in the event at hand
}

var errLongEvent = fmt.Errorf("an event is larger than %d bytes", maxEvent)

// each hands each piece with the name of its event to take, until take says that it has enough. err is why reading ended early.
func (f *frames) each(take func(name string, data []byte) (more bool, err error)) error {
	first, err := f.first()
	if err != nil {
		return end(err)
	}
	switch first {
	case '{', '[':
		return f.values(take)
	case '<':
		return errors.New("the answer is a web page, no JSON (is baseUrl right?)")
	}
	return f.events(take)
}

// end is nil at the end of an answer.
func end(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// first skips white space and a byte order mark, and gives the byte behind them without taking it.
func (f *frames) first() (byte, error) {
	for {
		c, err := f.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if c > ' ' && c != 0xef && c != 0xbb && c != 0xbf {
			return c, f.r.UnreadByte()
		}
	}
}

// values reads JSON values.
func (f *frames) values(take func(string, []byte) (bool, error)) error {
	dec := json.NewDecoder(f)
	for {
		f.left = maxWhole
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return end(err)
		}
		if more, err := take("", raw); err != nil || !more {
			return err
		}
	}
}

// Read implements io.Reader for the decoder of values.
func (f *frames) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, fmt.Errorf("the answer is larger than %d bytes", maxWhole)
	}
	n, err := f.r.Read(p[:min(len(p), int(f.left))])
	f.left -= int64(n)
	return n, err
}

// events reads server-sent events.
func (f *frames) events(take func(string, []byte) (bool, error)) error {
	for {
		line, err := f.line()
		if len(line) == 0 && err == nil || err != nil && f.lines > 0 {
			if more, taken := f.dispatch(take); taken != nil || !more {
				return taken
			}
		}
		if err != nil {
			return end(err)
		}
	}
}

// line reads a line and keeps what it says. It gives a line that says something, or an empty one at the end of an event.
func (f *frames) line() ([]byte, error) {
	line, err := f.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) { // a long line is put together
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxEvent {
			line, err = f.r.ReadSlice('\n')
			long = append(long, line...)
		}
		if line = long; len(line) > maxEvent {
			return line, errLongEvent
		}
	}
	line = bytes.TrimRight(line, "\r\n")
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if len(f.data)+len(value) > maxEvent {
			return line, errLongEvent
		}
		if f.lines > 0 {
			f.data = append(f.data, '\n')
		}
		f.data = append(f.data, value...)
		f.lines++
	case "event":
		f.name = string(value)
	}
	return line, err
}

// dispatch hands over the event at hand, if it has data.
func (f *frames) dispatch(take func(string, []byte) (bool, error)) (bool, error) {
	name, data, lines := f.name, bytes.TrimSpace(f.data), f.lines
	f.name, f.data, f.lines = "", f.data[:0], 0
	if lines == 0 || len(data) == 0 {
		return true, nil
	}
	return take(name, data)
}

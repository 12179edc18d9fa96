package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"parley/tools"
)

// maxPage is how many bytes are read of an answer that is no message, such as a page with an error.
const maxPage = 4 << 20

// bounded is a body that ends with an error after so many bytes.
type bounded struct {
	io.ReadCloser
	most, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("it sent more than %d MiB", b.most>>20)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// answerBody is a body that is one message. It is read as a whole, fit to be read (see admit).
type answerBody struct {
	io.ReadCloser
	id  json.RawMessage // of the request that it answers
	out *bytes.Reader
	err error
}

// Read implements io.Reader.
func (b *answerBody) Read(p []byte) (int, error) {
	if b.out == nil {
		var text []byte
		text, b.err = b.whole()
		b.out = bytes.NewReader(text)
	}
	n, err := b.out.Read(p)
	if err != nil && b.err != nil {
		err = b.err
	}
	return n, err
}

func (b *answerBody) whole() ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(b.ReadCloser, maxMessage+1))
	if err != nil {
		return text, err
	}
	if len(text) > maxMessage {
		rest, err := io.Copy(io.Discard, io.LimitReader(b.ReadCloser, maxSkipped))
		if size := int64(len(text)) + rest; err == nil && rest < maxSkipped && b.id != nil {
			return errorAnswer(b.id, tooLarge(size)), nil
		}
		return nil, &misbehaved{fmt.Sprintf("it sent a message of more than %d MiB", maxSkipped>>20)}
	}
	text = bytes.TrimSpace(text)
	if isList(text) { // a batch, as older versions of the protocol had them: what answers the request counts
		if list := objects(text); len(list) > 0 {
			text = list[max(0, slices.IndexFunc(list, b.answers))]
		}
	}
	if len(text) == 0 {
		return nil, nil
	}
	why := ""
	text = mended(text)
	switch {
	case manyMarks(text):
		why = tooRich
	case !json.Valid(text):
		why = noJSON
	default:
		return usual(text), nil
	}
	if b.id == nil {
		return nil, &misbehaved{why}
	}
	return errorAnswer(b.id, why), nil
}

func (b *answerBody) answers(m json.RawMessage) bool {
	var e envelope
	e.add(m)
	return !e.asks && bytes.Equal(e.id, b.id)
}

// eventBody is a stream of events. It gives the events that are messages, each fit to be read (see admit); of an event that is too large
// it keeps nothing. What else a stream holds (comments, events of other names, lines that are none) is left out.
type eventBody struct {
	io.ReadCloser
	in     *bufio.Reader
	out    []byte
	err    error
	left   int64 // bytes of the stream that are still read
	legacy bool  // of the transport of 2024-11-05: every event is a message
}

func newEventBody(from io.ReadCloser, most int64, legacy bool) *eventBody {
	return &eventBody{ReadCloser: from, in: bufio.NewReaderSize(tools.EventLines(from), 64<<10), left: most, legacy: legacy}
}

// Read implements io.Reader.
func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		var e event
		b.err = b.next(&e)
		if b.out = e.encode(); len(b.out) == 0 && len(e.head) > 0 && !b.legacy {
			b.out = append(e.head, '\n') // it says from where the stream can be resumed
		}
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// event is one event of a stream.
type event struct {
	name    []byte
	head    []byte // its lines id and retry
	data    []byte
	skipped *envelope // it is too large: what is known of it
}

// next reads one event. The error says why there is none behind it.
func (b *eventBody) next(e *event) error {
	begin, field := true, ""
	for {
		part, err := b.in.ReadSlice('\n')
		if b.left -= int64(len(part)); b.left < 0 {
			return errors.New("it sent too much in one stream")
		}
		whole := err == nil
		if begin {
			if whole && len(part) == 1 {
				return nil
			}
			var name []byte
			name, part, _ = bytes.Cut(part, []byte(":"))
			if field = string(name); field == "data" && len(e.data) > 0 {
				e.add([]byte("\n"))
			}
		}
		if whole {
			part = bytes.TrimSuffix(part, []byte("\n"))
		}
		switch {
		case field == "data":
			e.add(part)
		case len(e.name)+len(e.head)+len(part) > 4<<10:
		case field == "event" && begin:
			e.name = bytes.Clone(bytes.TrimSpace(part))
		case (field == "id" || field == "retry") && begin && whole:
			e.head = append(append(append(e.head, field...), ':'), part...)
			e.head = append(e.head, '\n')
		}
		begin = whole
		if e.skipped != nil && e.skipped.size > maxSkipped {
			return &misbehaved{fmt.Sprintf("it sent a message of more than %d MiB", maxSkipped>>20)}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// add puts a further piece behind the event's data.
func (e *event) add(part []byte) {
	if e.skipped != nil {
		e.skipped.add(part)
		return
	}
	if e.data = append(e.data, part...); len(e.data) > maxMessage {
		e.skipped = &envelope{}
		e.skipped.add(e.data)
		e.data = nil
	}
}

// encode returns the event as the SDK reads it; nothing when it is no message.
func (e *event) encode() []byte {
	name, data := string(e.name), bytes.TrimSpace(e.data)
	switch {
	case e.skipped != nil:
		data = e.skipped.answer(tooLarge(e.skipped.size))
	case name == "endpoint": // where to send messages to, in the transport of 2024-11-05
	case name != "" && name != "message", len(data) == 0:
		data = nil
	case isList(data):
		return e.batch(data)
	case data[0] != '{':
		data = nil
	default:
		if data = mended(data); json.Valid(data) {
			data = admit(data)
		} else {
			data = brokenAnswer(data)
		}
	}
	if data == nil {
		return nil
	}
	return e.line(data)
}

// batch makes events of the messages of a list.
func (e *event) batch(data []byte) (out []byte) {
	for _, m := range objects(data) {
		if m := admit(m); m != nil {
			out = append(out, e.line(m)...)
		}
	}
	return out
}

func (e *event) line(data []byte) []byte {
	out := slices.Clone(e.head)
	if len(e.name) > 0 {
		out = append(append(append(out, "event: "...), e.name...), '\n')
	}
	data = bytes.ReplaceAll(data, []byte("\n"), []byte(" ")) // between the parts of a message, never in its texts
	return append(append(append(out, "data: "...), data...), "\n\n"...)
}

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of what is read from and written to a server's pipes.
const (
	maxNoise     = 64 << 10         // bytes of a line that are searched for a message behind noise
	maxObjects   = 100              // places of a line where a message is looked for
	writeTimeout = 10 * time.Second // a server that does not read for so long hangs
	askRate      = 100              // messages a second that are no answers; more are dropped
	askBurst     = 1000
)

// pipe is what a server's standard input is written to.
type pipe interface {
	io.WriteCloser
	SetWriteDeadline(t time.Time) error
}

// stdio speaks with a server over its standard input and output, a message a line. Unlike the SDK's own transport it survives noise
// between, before and behind messages and messages that are too large, has a deadline for writing, and bounds what a server says
// without being asked.
type stdio struct {
	in     *bufio.Reader
	from   io.Closer
	log    *slog.Logger
	redact func(string) string
	ask    bucket
	read   []jsonrpc.Message // of a line with several messages
	noise  int64             // bytes since the last message
	noted  bool              // that there is noise is in the log

	write chan struct{} // holds one: the turn to write
	to    pipe
	once  sync.Once
	deaf  atomic.Bool // it did not read in time
}

func newStdio(from io.ReadCloser, to pipe, s *server) *stdio {
	return &stdio{in: bufio.NewReaderSize(from, 64<<10), from: from, to: to, log: s.log, redact: s.secretless, write: make(chan struct{}, 1), ask: bucket{rate: askRate, burst: askBurst}}
}

// Connect implements sdk.Transport.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// SessionID implements sdk.Connection.
func (s *stdio) SessionID() string { return "" }

// Read implements sdk.Connection.
func (s *stdio) Read(context.Context) (jsonrpc.Message, error) {
	for {
		for len(s.read) > 0 {
			m := s.read[0]
			s.read = s.read[1:]
			if _, asks := m.(*jsonrpc.Request); asks && !s.ask.take(time.Now()) {
				continue
			}
			return m, nil
		}
		text, skipped, err := readLine(s.in)
		switch {
		case err != nil && s.deaf.Load():
			return nil, &misbehaved{"it does not read what it is sent"}
		case err != nil:
			return nil, err
		case skipped != nil:
			s.log.Warn("message of MCP server skipped", "size", skipped.size, "most", maxMessage)
			s.messages(skipped.answer(tooLarge(skipped.size)), int(min(skipped.size, maxSkipped)))
		default:
			s.line(bytes.TrimSpace(text))
		}
		if s.noise > maxSkipped {
			return nil, &misbehaved{fmt.Sprintf("it wrote %d MiB that are no messages", maxSkipped>>20)}
		}
	}
}

// line takes the messages out of a line.
func (s *stdio) line(text []byte) {
	if len(text) == 0 {
		return
	}
	before := len(s.read)
	text = mended(text)
	if text[0] == '{' && json.Valid(text) {
		s.messages(text, len(text))
	} else {
		for _, m := range objects(text) {
			s.messages(m, len(m))
		}
		if len(s.read) == before && text[0] == '{' {
			s.messages(brokenAnswer(text), 0)
		}
	}
	if len(s.read) > before {
		s.noise = 0
		return
	}
	s.noise += int64(len(text))
	said := line(s.redact(clean(string(text[:min(len(text), 16<<10)]))), 200)
	if !s.noted {
		s.noted = true
		s.log.Warn("MCP server writes noise to its output", "line", said, "hint", "standard output is for messages; its log belongs to standard error")
		return
	}
	s.log.Debug("MCP server wrote no message", "line", said)
}

// messages adds a message, if it is one, to those that are read next.
func (s *stdio) messages(text []byte, size int) {
	text = admit(text)
	if text == nil {
		s.noise += int64(size)
		return
	}
	if m, err := jsonrpc.DecodeMessage(text); err == nil {
		s.read = append(s.read, m)
	}
}

// objects finds the JSON-RPC messages of a line that holds more than one, or other text: a banner without a line end before a message,
// progress dots, a batch.
func objects(text []byte) (out []json.RawMessage) {
	at, budget := 0, int64(4*len(text)+1<<20) // of bytes that are looked at
	for tries := 0; tries < maxObjects && budget > 0; tries++ {
		next := bytes.IndexByte(text[at:min(len(text), at+maxNoise)], '{')
		if next < 0 {
			return out
		}
		at += next
		var m json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(text[at:])).Decode(&m); err != nil {
			if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
				budget -= wrong.Offset
			} else {
				budget -= int64(len(text) - at)
			}
			at++
			continue
		}
		at += len(m)
		var is struct {
			Version json.RawMessage `json:"jsonrpc"`
		}
		if json.Unmarshal(m, &is) == nil && is.Version != nil {
			out = append(out, m)
		}
	}
	return out
}

// misbehaved is why the host ended a connection.
type misbehaved struct{ how string }

func (m *misbehaved) Error() string { return m.how }

// readLine reads up to the end of a line. Of one that is longer than a message may be it keeps nothing, and returns what is known of it.
func readLine(r *bufio.Reader) (whole []byte, skipped *envelope, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if err == nil && whole == nil && skipped == nil {
			return part, nil, nil
		}
		if skipped != nil {
			skipped.add(part)
		} else if whole = append(whole, part...); len(whole) > maxMessage {
			skipped = &envelope{}
			skipped.add(whole)
			whole = nil
		}
		switch {
		case skipped != nil && skipped.size > maxSkipped:
			return nil, nil, &misbehaved{fmt.Sprintf("it wrote a line of more than %d MiB", maxSkipped>>20)}
		case err == nil:
			return whole, skipped, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, nil, err
		}
	}
}

// Write implements sdk.Connection.
func (s *stdio) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	s.write <- struct{}{} // for at most writeTimeout: then the pipe is broken
	defer func() { <-s.write }()
	if err := s.to.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err = s.to.Write(append(b, '\n')); err != nil { // half of it may be written: nothing can follow
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.deaf.Store(true)
		}
		_ = s.Close()
	}
	return err
}

// Close implements sdk.Connection.
func (s *stdio) Close() error {
	s.once.Do(func() {
		_ = s.to.Close() // the server is to end: this is how it hears of it
		_ = s.from.Close()
	})
	return nil
}

// bucket allows a rate of things, and a burst.
type bucket struct {
	rate, burst float64
	used        float64
	last        time.Time
}

func (b *bucket) take(now time.Time) bool {
	if !b.last.IsZero() {
		b.used = max(b.used-b.rate*now.Sub(b.last).Seconds(), 0)
	}
	b.last = now
	if b.used+1 > b.burst {
		return false
	}
	b.used++
	return true
}

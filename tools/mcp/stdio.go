package mcp

import (
	"bufio"
	"bytes"
	"context"
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
	longestLine = 4 << 20          // bytes of one message
	mostJunk    = 100              // lines without a message, one after the other
	writeWithin = 10 * time.Second // a server that does not read for so long hangs
	askRate     = 100              // messages a second that are no answers; more are dropped
	askBurst    = 1000
)

// pipe is what a server's standard input is written to.
type pipe interface {
	io.WriteCloser
	SetWriteDeadline(t time.Time) error
}

// stdio speaks with a server over its standard input and output, a message a line. Unlike the SDK's own transport it survives lines
// that are no messages, has a deadline for writing, and bounds what a server says by itself.
type stdio struct {
	in     *bufio.Reader
	from   io.Closer
	log    *slog.Logger
	redact func(string) string
	ask    bucket

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
	for junk := 0; junk < mostJunk; {
		text, err := readLine(s.in, longestLine)
		if err != nil && s.deaf.Load() {
			err = &misbehaved{"it does not read what it is sent"}
		}
		if err != nil {
			return nil, err
		}
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		if !new(marks).add(text) {
			if m := refusal(text); m != nil {
				return m, nil
			}
			junk++
			continue
		}
		m, err := jsonrpc.DecodeMessage(text)
		if err != nil || text[0] != '{' {
			junk++
			s.log.Debug("the MCP server wrote something that is no message", "line", line(s.redact(clean(string(text[:min(len(text), 16<<10)]))), 200))
			continue
		}
		if _, asks := m.(*jsonrpc.Request); asks && !s.ask.take(time.Now()) {
			continue
		}
		return m, nil
	}
	return nil, &misbehaved{fmt.Sprintf("it wrote %d lines that are no messages", mostJunk)}
}

// misbehaved is why the host ended a connection.
type misbehaved struct{ how string }

func (m *misbehaved) Error() string { return m.how }

// readLine reads up to the end of a line, at most n bytes.
func readLine(r *bufio.Reader, n int) ([]byte, error) {
	var whole []byte
	for {
		part, err := r.ReadSlice('\n')
		if err == nil && whole == nil {
			return part, nil
		}
		whole = append(whole, part...)
		switch {
		case len(whole) > n:
			return nil, &misbehaved{fmt.Sprintf("it wrote a line of more than %d MiB", n>>20)}
		case err == nil:
			return whole, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Write implements sdk.Connection.
func (s *stdio) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	s.write <- struct{}{} // for at most writeWithin: then the pipe is broken
	defer func() { <-s.write }()
	if err := s.to.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
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

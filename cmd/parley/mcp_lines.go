package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxLine     = 16 << 20
	drainWithin = time.Minute // what was asked is answered after the end of the input, for so long
)

// lines is MCP over standard input and output (MCP, stdio: one JSON-RPC message a line). A line that is none is answered with an error,
// where the library's own transport would end, and what was asked before the input ends is answered.
type lines struct {
	out io.Writer
	in  chan []byte   // closed at the end
	end error         // why, once in is closed; nil = the input is over
	off chan struct{} // closed by Close

	mu     sync.Mutex
	asked  map[jsonrpc.ID]bool
	silent chan struct{} // closed when nothing is asked any more; nil = nobody waits for that
	once   sync.Once
}

func newLines(in io.Reader, out io.Writer) *lines {
	l := &lines{out: out, in: make(chan []byte), off: make(chan struct{}), asked: map[jsonrpc.ID]bool{}}
	go l.scan(in)
	return l
}

// Connect implements sdk.Transport.
func (l *lines) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// SessionID implements sdk.Connection: there is one session.
func (l *lines) SessionID() string { return "" }

// Close implements sdk.Connection.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.off) })
	return nil
}

func (l *lines) scan(in io.Reader) {
	defer close(l.in)
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		select {
		case l.in <- bytes.Clone(line):
		case <-l.off:
			return
		}
	}
	l.end = s.Err()
}

// Read implements sdk.Connection.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.off:
			return nil, io.EOF
		case line, more := <-l.in:
			if !more {
				l.drain(ctx)
				return nil, errors.Join(l.end, io.EOF)
			}
			m, err := jsonrpc.DecodeMessage(line)
			if err == nil {
				if q, ok := m.(*jsonrpc.Request); ok && q.IsCall() {
					l.mu.Lock()
					l.asked[q.ID] = true
					l.mu.Unlock()
				}
				return m, nil
			}
			if err := l.refuse(line); err != nil {
				return nil, err
			}
		}
	}
}

// refuse answers a line that is no message, as JSON-RPC has it: the id is null.
func (l *lines) refuse(line []byte) error {
	code, text := jsonrpc.CodeParseError, "the line is not JSON: send one JSON-RPC message a line"
	if json.Valid(line) {
		code, text = jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message; send one message a line, no batches"
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(b, '\n'))
	return err
}

// Write implements sdk.Connection.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(b, '\n'))
	if a, ok := m.(*jsonrpc.Response); ok {
		delete(l.asked, a.ID)
		if len(l.asked) == 0 && l.silent != nil {
			close(l.silent)
			l.silent = nil
		}
	}
	return err
}

// drain waits until everything is answered.
func (l *lines) drain(ctx context.Context) {
	l.mu.Lock()
	if len(l.asked) == 0 {
		l.mu.Unlock()
		return
	}
	silent := make(chan struct{})
	l.silent = silent
	l.mu.Unlock()
	late := time.NewTimer(drainWithin)
	defer late.Stop()
	select {
	case <-silent:
	case <-late.C:
	case <-ctx.Done():
	case <-l.off:
	}
}

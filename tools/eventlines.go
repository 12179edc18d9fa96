package tools

import (
	"bytes"
	"io"
)

// EventLines returns a stream of server-sent events with a line feed at the end of each line: a carriage return ends one as well, alone or in
// front of a line feed.
//
// source: html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
func EventLines(from io.Reader) io.Reader { return &eventLines{from: from} }

type eventLines struct {
	from     io.Reader
	returned bool // the last byte was a carriage return: a line feed behind it belongs to it
}

// Read implements io.Reader.
func (l *eventLines) Read(p []byte) (int, error) {
	for {
		n, err := l.from.Read(p)
		read := p[:n]
		if l.returned && n > 0 {
			l.returned = false
			read = bytes.TrimPrefix(read, []byte("\n"))
		}
		if bytes.IndexByte(read, '\r') >= 0 {
			l.returned = read[len(read)-1] == '\r'
			read = bytes.ReplaceAll(read, []byte("\r\n"), []byte("\n"))
			read = bytes.ReplaceAll(read, []byte("\r"), []byte("\n"))
		}
		if n = copy(p, read); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

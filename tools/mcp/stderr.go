package mcp

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"
)

// The bounds of what a server's words take in the log.
const (
	logLine  = 2000 // bytes of a line
	logRate  = 10   // lines a second
	logBurst = 100
)

// stderrTail are what a server wrote last to its standard error.
type stderrTail struct {
	read chan struct{} // closed when there is no more

	mu   sync.Mutex
	last string
}

func (w *stderrTail) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cut(w.last, 200)
}

func (w *stderrTail) set(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = text
}

// follow puts the server's standard error into the log until it ends.
func (s *server) follow(r io.Reader, last *stderrTail) {
	in := bufio.NewReaderSize(r, 16<<10)
	limit := bucket{rate: logRate, burst: logBurst}
	dropped, inside := 0, false // inside the rest of a line that was too long
	for {
		text, err := in.ReadSlice('\n')
		if len(text) > 0 && !inside {
			if limit.take(time.Now()) {
				if dropped > 0 {
					s.log.Warn("MCP server logs too much; dropped lines", "lines", dropped)
					dropped = 0
				}
				if said := line(s.secretless(clean(string(text))), logLine); said != "" {
					s.log.Info("MCP server wrote to standard error", "line", said)
					last.set(said)
				}
			} else {
				dropped++
			}
		}
		inside = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !inside {
			return
		}
	}
}

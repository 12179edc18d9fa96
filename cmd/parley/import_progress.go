package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// progressBar draws on the terminal how far a long command is. It draws nothing elsewhere, and takes its line away at the end.
type progressBar struct {
	out   io.Writer // nil: nothing is drawn
	width int
	what  string
	drawn time.Time // when the line was last drawn; zero = there is no line
	now   func() time.Time
}

const (
	progressInterval = 100 * time.Millisecond
	progressCells    = 30
)

// newProgressBar draws on standard error, if that is a terminal and the command prints for people.
func newProgressBar(e *env, asJSON bool) *progressBar {
	b := &progressBar{now: time.Now}
	if fd := int(os.Stderr.Fd()); !e.quiet && !asJSON && os.Getenv("TERM") != "dumb" && term.IsTerminal(fd) {
		b.out, b.width = os.Stderr, 80
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			b.width = w
		}
	}
	return b
}

// begin starts a part of the work.
func (b *progressBar) begin(what string) {
	b.end()
	b.what = what
	b.set(0, 0)
}

// set says how much of the part is done. A total of 0 is unknown.
func (b *progressBar) set(done, total int) {
	now := b.now()
	if b.out == nil || !b.drawn.IsZero() && now.Sub(b.drawn) < progressInterval {
		return
	}
	b.drawn = now
	line := b.what
	if total > 0 {
		full := bar(float64(done), float64(total), progressCells)
		line = fmt.Sprintf("%s: %d of %d  %s%s", b.what, done, total, full, strings.Repeat("·", max(0, progressCells-columns(full))))
	} else if done > 0 {
		line = fmt.Sprintf("%s: %d", b.what, done)
	}
	_, _ = fmt.Fprint(b.out, "\r"+cut(line, b.width-1)+"\x1b[K") // a terminal that went away has no reader
}

// end takes the line away.
func (b *progressBar) end() {
	if b.out != nil && !b.drawn.IsZero() {
		_, _ = fmt.Fprint(b.out, "\r\x1b[K")
	}
	b.drawn = time.Time{}
}

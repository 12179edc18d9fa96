package chatclient

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// scrollback prints finished lines above the live rows. To make room, bubbletea moves the cursor up by the height of the text and of its last
// frame; if that is more than the screen has, the scrollback is torn. So the live rows have at most half of the screen, and a longer text is printed
// in pieces of the other half, one behind the other.
type scrollback struct {
	lines    []string // not printed yet
	printing bool     // a printedMsg is on its way
}

// printedMsg says that a piece was printed.
type printedMsg struct{}

// add prints a text whose lines are no wider than the screen, behind what waits.
func (x *scrollback) add(text string, height int) tea.Cmd {
	x.lines = append(x.lines, strings.Split(text, "\n")...)
	if x.printing {
		return nil
	}
	return x.next(height)
}

// next prints the next piece on a screen of so many rows.
func (x *scrollback) next(height int) tea.Cmd {
	x.printing = len(x.lines) > 0
	if !x.printing {
		return nil
	}
	n := min(height-liveRows(height), len(x.lines))
	piece := strings.Join(x.lines[:n], "\n")
	x.lines = x.lines[n:]
	return tea.Sequence(tea.Println(piece), func() tea.Msg { return printedMsg{} })
}

// liveRows is how many rows of a screen are not part of the scrollback, at most.
func liveRows(height int) int { return height / 2 }

// firstFrame is the terminal. It tells when the first frame is drawn, which sets the window's title: until then bubbletea takes the whole screen
// for its frame.
type firstFrame struct {
	tty
	once  sync.Once
	drawn chan struct{}
}

// tty is what bubbletea asks for the size of the screen.
type tty interface {
	io.ReadWriteCloser
	Fd() uintptr
}

func (w *firstFrame) Write(b []byte) (int, error) {
	n, err := w.tty.Write(b)
	if bytes.Contains(b, []byte("\x1b]2;")) {
		w.once.Do(func() { close(w.drawn) })
	}
	return n, err
}

// wait waits for the first frame, or the end of ctx; not for long, as a terminal may get no title.
func (w *firstFrame) wait(ctx context.Context) {
	select {
	case <-w.drawn:
	case <-time.After(2 * time.Second):
	case <-ctx.Done():
	}
}

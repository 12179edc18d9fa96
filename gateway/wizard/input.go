package wizard

import (
	"bufio"
	"io"
)

// Input reads the lines of the answers, one at a time. One goroutine calls its methods.
type Input struct {
	in    *bufio.Reader
	ahead chan inputLine // of a line that is being read; nil = none is
}

type inputLine struct {
	text string
	err  error
}

// NewInput returns the lines of a reader.
func NewInput(r io.Reader) *Input { return &Input{in: bufio.NewReader(r)} }

// wait begins to read the next line, unless that is under way, and returns the channel that gets it. The line stays the next one until take.
func (i *Input) wait() <-chan inputLine {
	if i.ahead == nil {
		ahead := make(chan inputLine, 1)
		i.ahead = ahead
		go func() {
			text, err := i.in.ReadString('\n')
			ahead <- inputLine{text, err}
		}()
	}
	return i.ahead
}

// next returns the next line.
func (i *Input) next() (string, error) {
	line := <-i.wait()
	i.ahead = nil
	return line.text, line.err
}

// unread gives back a line of wait: it is the next one.
func (i *Input) unread(line inputLine) {
	i.ahead = make(chan inputLine, 1)
	i.ahead <- line
}

package main

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// The lines of a test run that say that a seed begins and how it ended.
var (
	seedBegins = regexp.MustCompile(`^=== RUN +TestSimulation/(\d+)$`)
	seedEnded  = regexp.MustCompile(`^ *--- (PASS|FAIL): TestSimulation/(\d+) `)
)

// seeds reads the output of a test run, line by line as it comes.
type seeds struct {
	say     func(seed uint64, text string) // of one that failed
	passed  func()
	next    uint64    // the seed that has to begin now
	strange bool      // another one did
	figures simulated // the newest: of all seeds until then
	lived   int
	failed  []uint64
	at      uint64          // the one that lives now; 0 = none
	text    strings.Builder // since it began, or since the last one ended
	rest    []byte
}

// Write implements io.Writer.
func (s *seeds) Write(b []byte) (int, error) {
	s.rest = append(s.rest, b...)
	for {
		i := bytes.IndexByte(s.rest, '\n')
		if i < 0 {
			return len(b), nil
		}
		s.line(string(s.rest[:i]))
		s.rest = s.rest[i+1:]
	}
}

func (s *seeds) line(line string) {
	line = strings.ReplaceAll(line, "\x16", "") // how the test marks lines of its own, which it then prints at once
	if m := seedBegins.FindStringSubmatch(line); m != nil {
		s.at, _ = strconv.ParseUint(m[1], 10, 64)
		s.strange = s.strange || s.at != s.next
		s.next++
		s.text.Reset()
		return
	}
	m := seedEnded.FindStringSubmatch(line)
	switch {
	case m == nil && strings.Contains(line, simulationLine):
		s.figures = figuresOf(strings.NewReader(line))
	case m == nil:
		s.text.WriteString(line + "\n")
	case m[1] == "PASS":
		s.lived, s.at = s.lived+1, 0
		s.text.Reset()
		s.passed()
	default:
		s.ends()
	}
}

// ends writes down that the seed that lives now has failed.
func (s *seeds) ends() {
	s.lived, s.failed = s.lived+1, append(s.failed, s.at)
	s.say(s.at, s.text.String())
	s.at = 0
	s.text.Reset()
}

// end is the end of the output: the seed that lived then took the process down with it.
func (s *seeds) end() {
	if rest := string(s.rest); !strings.Contains(rest, simulationLine) { // half a number is none
		s.line(rest)
	}
	if s.at != 0 {
		s.ends()
	}
}

// figuresOf finds the line of figures, of all seeds of a process until then: "simulation: seeds=500 messages=12000 …".
func figuresOf(r io.Reader) simulated {
	out := simulated{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		_, line, ok := strings.Cut(lines.Text(), simulationLine)
		if !ok {
			continue
		}
		for _, f := range strings.Fields(line) {
			name, value, _ := strings.Cut(f, "=")
			if n, err := strconv.Atoi(value); err == nil {
				out[name] += n
			}
		}
	}
	return out
}

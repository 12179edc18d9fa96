package chatclient

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// input is the line that a person is writing. It may have several lines.
type input struct {
	text []rune
	at   int // cursor, 0 … len(text)
}

// insert puts typed or pasted text at the cursor. Terminals paste line ends as CR.
func (in *input) insert(s string) {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	parts := strings.Split(lines, "\t") // code and tables keep their tabs
	for i, p := range parts {
		parts[i] = Clean(p)
	}
	r := []rune(strings.Join(parts, "\t"))
	in.text = slices.Insert(in.text, in.at, r...)
	in.at += len(r)
}

// take gives what was written and empties the line.
func (in *input) take() string {
	s := string(in.text)
	*in = input{}
	return s
}

func (in *input) empty() bool { return strings.TrimSpace(string(in.text)) == "" }

// edit does what a key asks for; false when the key means nothing here.
func (in *input) edit(key string) bool {
	n := len(in.text)
	switch key {
	case "left", "ctrl+b":
		in.at = max(in.at-1, 0)
	case "right", "ctrl+f":
		in.at = min(in.at+1, n)
	case "home", "ctrl+a":
		in.at = in.lineStart()
	case "end", "ctrl+e":
		in.at = in.lineEnd()
	case "alt+left", "ctrl+left", "alt+b":
		in.at = in.wordStart()
	case "alt+right", "ctrl+right", "alt+f":
		in.at = in.wordEnd()
	case "backspace", "ctrl+h":
		in.cut(max(in.at-1, 0), in.at)
	case "delete", "ctrl+d":
		in.cut(in.at, min(in.at+1, n))
	case "ctrl+w", "alt+backspace":
		in.cut(in.wordStart(), in.at)
	case "ctrl+u":
		in.cut(in.lineStart(), in.at)
	case "ctrl+k":
		in.cut(in.at, in.lineEnd())
	default:
		return false
	}
	return true
}

func (in *input) cut(from, to int) {
	in.text = slices.Delete(in.text, from, to)
	in.at = from
}

func (in *input) lineStart() int {
	i := in.at
	for i > 0 && in.text[i-1] != '\n' {
		i--
	}
	return i
}

func (in *input) lineEnd() int {
	i := in.at
	for i < len(in.text) && in.text[i] != '\n' {
		i++
	}
	return i
}

func (in *input) wordStart() int {
	i := in.at
	for i > 0 && unicode.IsSpace(in.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(in.text[i-1]) {
		i--
	}
	return i
}

func (in *input) wordEnd() int {
	i := in.at
	for i < len(in.text) && unicode.IsSpace(in.text[i]) {
		i++
	}
	for i < len(in.text) && !unicode.IsSpace(in.text[i]) {
		i++
	}
	return i
}

// tabWidth is the distance of tab stops in the input.
const tabWidth = 4

// layout breaks the text into rows of at most width cells and says where the cursor is. There is always a row.
func (in *input) layout(width int) (rows []string, x, y int) {
	width = max(width, 2) // a wide character needs two
	var row strings.Builder
	used := 0
	next := func() {
		rows = append(rows, row.String())
		row.Reset()
		used = 0
	}
	for i, r := range in.text {
		shown := string(r)
		if r == '\t' {
			shown = strings.Repeat(" ", min(tabWidth-used%tabWidth, width))
		}
		w := ansi.StringWidth(shown)
		if r != '\n' && used+w > width {
			next()
		}
		if i == in.at {
			x, y = used, len(rows)
		}
		if r == '\n' {
			next()
			continue
		}
		row.WriteString(shown)
		used += w
	}
	if used == width {
		next()
	}
	if in.at == len(in.text) {
		x, y = used, len(rows)
	}
	return append(rows, row.String()), x, y
}

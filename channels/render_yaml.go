package channels

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/parser"
)

var yamlKey = parser.NewContextKey()

// isYAML reports whether a line is part of a block of YAML. A block has no blank line, and has a key with a nested list or an item with
// several keys. Each block is read once.
func isYAML(src []byte, at int, pc parser.Context) bool {
	type verdict struct {
		start, end int
		is         bool
	}
	if v, ok := pc.Get(yamlKey).(verdict); ok && v.start <= at && at < v.end {
		return v.is
	}
	v := verdict{start: bytes.LastIndex(src[:at], []byte("\n\n")) + 1, end: len(src)}
	if i := bytes.Index(src[at:], []byte("\n\n")); i >= 0 {
		v.end = at + i + 1
	}
	v.is = hasNestedKey(src[v.start:v.end])
	pc.Set(yamlKey, v)
	return v.is
}

// hasNestedKey finds a key with an item below it that is indented or has a key, and an item with a key and a line with a key below it. Keys
// begin with a small letter: people begin the items of their lists with a capital one.
func hasNestedKey(block []byte) bool {
	var above yamlLine
	for line := range bytes.Lines(block) {
		l := yamlLineOf(bytes.TrimSuffix(line, []byte("\n")))
		switch {
		case above.isBareKey && l.isItem && (l.hasKey || l.isIndented && !l.isEmpty), above.isItem && above.hasKey && l.hasKey && l.isIndented && !l.isItem:
			return true
		}
		above = l
	}
	return false
}

// yamlLine is a line of YAML: "- name: value".
type yamlLine struct{ isIndented, isItem, hasKey, isBareKey, isEmpty bool }

func yamlLineOf(line []byte) (l yamlLine) {
	rest := bytes.TrimLeft(line, " ")
	l.isIndented = len(rest) < len(line)
	if l.isItem = bytes.HasPrefix(rest, []byte("- ")); l.isItem {
		rest = rest[2:]
	}
	l.isEmpty = len(rest) == 0 || strings.IndexByte("\t\f\r ", rest[0]) >= 0
	if l.isEmpty || rest[0] != '_' && (rest[0] < 'a' || rest[0] > 'z') {
		return l
	}
	n := 1
	for n < len(rest) && (isWordByte(rest[n]) || rest[n] == '.' || rest[n] == '-') {
		n++
	}
	if n < len(rest) && rest[n] == ':' {
		l.isBareKey = n+1 == len(rest)
		l.hasKey = l.isBareKey || rest[n+1] == ' '
	}
	return l
}

// isWordByte reports whether a byte is a letter, a digit or an underscore of ASCII.
func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

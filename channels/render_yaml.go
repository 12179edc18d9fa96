package channels

import (
	"bytes"
	"regexp"

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
	block := src[v.start:v.end]
	v.is = (bytes.Contains(block, []byte(":\n")) || bytes.Contains(block, []byte("\n "))) && yaml.Match(block)
	pc.Set(yamlKey, v)
	return v.is
}

// yaml finds a key with an item below it that is indented or has a key, and an item with a key and a line with a key below it. Keys begin with
// a small letter: people begin the items of their lists with a capital one.
var yaml = regexp.MustCompile(`(?m)^ *(?:- )?[a-z_][\w.-]*:\n(?: +- \S| *- [a-z_][\w.-]*:(?: |$))|^ *- [a-z_][\w.-]*:(?: .*)?\n +[a-z_][\w.-]*:(?: |$)`)

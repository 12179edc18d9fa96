package channels

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"

	"parley/channels/pattern"
)

// lineBreak ends a line at a tag that says so. Two of them leave a line empty.
func (b *builder) lineBreak(n *ast.RawHTML) {
	b.lineEnd()
	if before, ok := n.PreviousSibling().(*ast.RawHTML); ok && b.gap > 0 && isBreak(before.Segments.Value(b.src)) {
		b.br(2)
	}
}

// EndsLine reports whether a tag of a source ends a line there: a <br> that is not spoken about.
func EndsLine(src []byte, n *ast.RawHTML) bool {
	if !isBreak(n.Segments.Value(src)) {
		return false
	}
	start, end := n.Segments.At(0).Start, n.Segments.At(n.Segments.Len()-1).Stop
	return !isAlone(src, start, end) && !isQuoted(src, start, end)
}

// isAlone reports whether the tag src[start:end] stands between two words of a line: then it is spoken about.
func isAlone(src []byte, start, end int) bool {
	return start > 1 && end+1 < len(src) && src[start-1] == ' ' && src[end] == ' ' && src[start-2] != '\n' && src[end+1] != '\n'
}

// isQuoted reports whether the tag src[start:end] stands between quotation marks: it is code, or spoken about.
func isQuoted(src []byte, start, end int) bool {
	const longest = 200
	head, tail := src[max(0, start-longest):start], src[end:min(len(src), end+longest)]
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	tail, _, _ = bytes.Cut(tail, []byte("\n"))
	return bytes.Count(head, []byte{'"'})%2 == 1 && bytes.IndexByte(tail, '"') >= 0 ||
		openQuote.Match(head) && bytes.IndexByte(tail, '\'') >= 0 || openTypedQuote.Match(head) && bytes.ContainsAny(tail, "”“»«」’")
}

var (
	openQuote      = pattern.New(`(?:^|[^\p{L}\p{N}'])'[^']*$`)
	openTypedQuote = pattern.New(`[“„«»「‘][^“”„«»「」‘’]*$`)
)

func isBreak(tag []byte) bool {
	s := strings.ToLower(strings.ReplaceAll(string(tag), " ", ""))
	return s == "<br>" || s == "<br/>"
}

package channels

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// lineBreak ends a line at a tag that says so. Two of them leave a line empty.
func (b *builder) lineBreak(n *ast.RawHTML) {
	b.lineEnd()
	if before, ok := n.PreviousSibling().(*ast.RawHTML); ok && b.gap > 0 && isBreak(b.lines(before.Segments)) {
		b.br(2)
	}
}

// alone reports whether a tag stands between two words of a line: then it is spoken about.
func (b *builder) alone(n *ast.RawHTML) bool {
	start, end := n.Segments.At(0).Start, n.Segments.At(n.Segments.Len()-1).Stop
	return start > 1 && end+1 < len(b.src) && b.src[start-1] == ' ' && b.src[end] == ' ' && b.src[start-2] != '\n' && b.src[end+1] != '\n'
}

// isQuoted reports whether a tag stands between quotation marks: it is code, or spoken about.
func (b *builder) isQuoted(n *ast.RawHTML) bool {
	const longest = 200
	start, end := n.Segments.At(0).Start, n.Segments.At(n.Segments.Len()-1).Stop
	head, tail := b.src[max(0, start-longest):start], b.src[end:min(len(b.src), end+longest)]
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	tail, _, _ = bytes.Cut(tail, []byte("\n"))
	return bytes.Count(head, []byte{'"'})%2 == 1 && bytes.IndexByte(tail, '"') >= 0 ||
		openQuote.Match(head) && bytes.IndexByte(tail, '\'') >= 0 || openTypedQuote.Match(head) && bytes.ContainsAny(tail, "”“»«」’")
}

var (
	openQuote      = regexp.MustCompile(`(?:^|[^\p{L}\p{N}'])'[^']*$`)
	openTypedQuote = regexp.MustCompile(`[“„«»「‘][^“”„«»「」‘’]*$`)
)

func isBreak(tag string) bool {
	tag = strings.ToLower(strings.ReplaceAll(tag, " ", ""))
	return tag == "<br>" || tag == "<br/>"
}

package channels

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// ruled gives the line that a rule was written as.
func (b *builder) ruled(n ast.Node) string {
	if n.Pos() < 0 {
		return "---"
	}
	line, _, _ := strings.Cut(string(b.src[n.Pos():]), "\n")
	return strings.TrimSpace(line)
}

// indentation gives the white space between the start of a line and the place where its text starts.
func (b *builder) indentation(at int) string {
	i := at
	for i > 0 && (b.src[i-1] == ' ' || b.src[i-1] == '\t') {
		i--
	}
	if b.indent != "" || b.st.quote || i > 0 && b.src[i-1] != '\n' {
		return ""
	}
	return string(b.src[i:at])
}

// unquoted reports whether a line of a quotation has no mark: it is the answer to it.
func (b *builder) unquoted(at int) bool {
	return bytes.IndexByte(b.src[bytes.LastIndexByte(b.src[:at], '\n')+1:at], '>') < 0
}

// blanks are as wide as the longest number of a list at least.
const blanks = "                        "

func (b *builder) list(l *ast.List) {
	const deepest = 8 // levels of indentation; deeper ones look the same
	was := b.indent
	number := l.Start
	joins := b.joinsList(l)
	mark := b.spec.bullet + " "
	switch {
	case l.IsOrdered():
		mark = string(l.Marker) + " "
	case l.Marker == '*' && was == "" && l.FirstChild() == l.LastChild() && l.FirstChild().FirstChild() == l.FirstChild().LastChild(): // a note: * without tax
		b.put(word, "*")
		mark = " "
	case joins:
		mark = "• "
	}
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			b.br(1)
			if n.HasBlankPreviousLines() {
				b.br(2)
			}
		}
		width := 2
		if l.IsOrdered() {
			written := digits(b.md, n)
			if written == "" {
				written = strconv.Itoa(number)
			}
			width = len(written) + len(mark)
			b.put(glue, written)
			if joins || number == 0 || !isNumber(written, number) {
				b.put(markup, `\`) // Discord would count on from the first number, and from 1 at least
				number, _ = strconv.Atoi(written)
			}
			number++
		}
		b.put(glue, mark)
		if len(was) < deepest*3 {
			b.indent = was + blanks[:width]
		}
		b.blocks(n)
		b.indent = was
	}
}

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

func (b *builder) list(l *ast.List) {
	const deepest = 8 // levels of indentation; deeper ones look the same
	was := b.indent
	number := l.Start
	joins := b.joinsList(l)
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			b.br(1)
			if n.HasBlankPreviousLines() {
				b.br(2)
			}
		}
		mark := b.spec.bullet + " "
		if joins {
			mark = "• "
		}
		width := 2
		switch {
		case l.IsOrdered():
			digits := strconv.Itoa(number)
			if v, ok := n.AttributeString(numberAttribute); ok {
				digits = string(v.([]byte))
			}
			mark = string(l.Marker) + " "
			width = len(digits + mark)
			b.put(glue, digits)
			if joins || number == 0 || digits != strconv.Itoa(number) {
				b.put(markup, `\`) // Discord would count on from the first number, and from 1 at least
				number, _ = strconv.Atoi(digits)
			}
			number++
		case l.Marker == '*' && was == "" && l.FirstChild() == l.LastChild() && n.FirstChild() == n.LastChild(): // a note: * without tax
			b.put(word, "*")
			mark = " "
		}
		b.put(glue, mark)
		if len(was) < deepest*3 {
			b.indent = was + strings.Repeat(" ", width)
		}
		b.blocks(n)
		b.indent = was
	}
}

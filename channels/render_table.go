package channels

import (
	"bytes"
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// tables says how a dialect shows a table.
type tables uint8

const (
	tableCode    tables = iota // in columns, as a code block
	tableBullets               // an item for each row, with the header's words
	tableRows                  // cells with bars between them
)

// wideTables makes tables as the parser does, but keeps what a row has beyond the last column: the parser would drop it.
type wideTables struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (w wideTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if !hasBar(node.Lines(), reader.Source()) {
		return
	}
	parent, before := node.Parent(), node.PreviousSibling()
	lines := append([]text.Segment(nil), node.Lines().Sliced(0, node.Lines().Len())...)
	for _, line := range lines { // a line of dashes under a title makes no table
		if v := line.Value(reader.Source()); bytes.IndexByte(v, '|') < 0 && len(bytes.Trim(v, "-: \t\n")) == 0 {
			return
		}
	}
	w.ParagraphTransformer.Transform(node, reader, pc)
	n := parent.FirstChild()
	if before != nil {
		n = before.NextSibling()
	}
	for ; n != nil; n = n.NextSibling() {
		if _, is := n.(*east.Table); !is {
			continue
		}
		at := 0
		for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() { // behind the header
			for at < len(lines) && lines[at].Start < row.Pos() {
				at++
			}
			if at < len(lines) && lines[at].Start == row.Pos() {
				widen(row, lines[at], reader.Source())
			}
		}
	}
}

// hasBar reports whether there is a bar in a paragraph: there is one in each table.
func hasBar(lines *text.Segments, src []byte) bool {
	for i := range lines.Len() {
		if line := lines.At(i); bytes.IndexByte(src[line.Start:line.Stop], '|') >= 0 {
			return true
		}
	}
	return false
}

// widen lets the last cell of a row reach to the end of its line.
func widen(row ast.Node, line text.Segment, src []byte) {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 {
		return
	}
	start, stop := last.Lines().At(0).Start, line.TrimRightSpace(src).Stop
	for start < stop && strings.IndexByte("| \t", src[start]) >= 0 { // in front of an empty cell's neighbor
		start++
	}
	for stop > start && strings.IndexByte("| \t", src[stop-1]) >= 0 && (stop-2 < start || src[stop-2] != '\\') {
		stop--
	}
	if was := last.Lines().At(0); stop > max(was.Stop, start) {
		last.Lines().Set(0, text.NewSegment(start, stop))
	}
}

func (b *builder) table(t ast.Node) {
	if b.spec.tables == tableBullets {
		b.bullets(t)
		return
	}
	var rows [][]string
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, b.cell(c))
		}
		for len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		rows = append(rows, cells)
	}
	s := columns(rows)
	if b.spec.tables == tableCode {
		b.code("", s)
		return
	}
	b.text(s)
}

// cell gives the text of a cell without markup, on one line.
func (b *builder) cell(n ast.Node) string {
	sub := builder{document: &document{}, spec: b.spec, md: b.md, src: b.src, maxURL: b.maxURL}
	sub.inlines(n)
	w := newWriter(&plainSpec, sub.document, Bytes)
	for i := range sub.atoms {
		if sub.atoms[i].kind == newline {
			sub.atoms[i] = atom{kind: space, text: " "}
		}
		w.write(&sub.atoms[i])
	}
	return w.finish()
}

// columns lines cells up, unless the spaces for that would outgrow the text.
func columns(rows [][]string) string {
	const widest = 40 // a longer cell pushes its row out of line instead of widening the column
	var widths []int
	raw, padded := 0, 0
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if w := clusters(c); w <= widest {
				widths[i] = max(widths[i], w)
			}
			raw += len(c) + 3
		}
	}
	for _, r := range rows {
		for i := range r {
			padded += widths[i] + 3
		}
	}
	pad := padded <= 4*raw+200
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, c := range r {
			if j > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(c)
			if w := clusters(c); pad && j < len(r)-1 && w < widths[j] {
				b.WriteString(strings.Repeat(" ", widths[j]-w))
			}
		}
		if i == 0 && len(rows) > 1 && pad {
			b.WriteByte('\n')
			for j, w := range widths {
				if j > 0 {
					b.WriteString("-+-")
				}
				b.WriteString(strings.Repeat("-", max(w, 1)))
			}
		}
	}
	return b.String()
}

func clusters(s string) int {
	n := 0
	for g := graphemes.FromString(s); g.Next(); {
		n++
	}
	return n
}

// bullets writes a table as a list: the first cell leads, the others follow with their column's header.
func (b *builder) bullets(t ast.Node) {
	head := t.FirstChild()
	if head == nil {
		return
	}
	var names []string
	for c := head.FirstChild(); c != nil; c = c.NextSibling() {
		names = append(names, b.cell(c))
	}
	if head.NextSibling() == nil {
		b.text(strings.Join(names, ", "))
		return
	}
	indent, st := b.indent, b.st
	for r := head.NextSibling(); r != nil; r = r.NextSibling() {
		b.br(1)
		b.put(glue, b.spec.bullet+" ")
		b.indent = indent + "  "
		i := 0
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			switch {
			case i == 0:
				b.st.bold = len(names) > 1
				b.inlines(c)
				b.st = st
			case c.FirstChild() != nil:
				b.br(1)
				if i < len(names) && names[i] != "" {
					b.text(names[i] + ": ")
				}
				b.inlines(c)
			}
			i++
		}
		b.indent = indent
	}
}

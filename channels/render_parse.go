package channels

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// parse takes Markdown apart as the dialect needs it, in the memory of other atoms.
func parse(md string, s *spec, lim Limits, atoms []atom) *document {
	if s.verbatim {
		return parseVerbatim(md, atoms)
	}
	b := &builder{document: newDocument(md, atoms), spec: s, maxURL: 2000}
	if lim.Text > 0 {
		b.maxURL = min(b.maxURL, lim.Text/2)
	}
	defer func() {
		if s.whole {
			b.wholeWords()
		}
		if s.html && hasLinkedName(md) {
			b.filesAsCode()
		}
		if s.dialect == DiscordMD && webAddress(md) >= 0 {
			b.bracketAddresses()
		}
	}()
	if plainEnough(md) {
		b.plain(md)
		return b.document
	}
	for _, p := range pieces(md) {
		b.br(p.gap)
		if !knotty(p.text) {
			b.piece(p.text)
			continue
		}
		for _, q := range untie(p.text) {
			b.br(q.gap)
			switch {
			case isFence(q.text):
				b.fenced(q.text)
			default:
				b.knots(q.text)
			}
		}
	}
	return b.document
}

// newDocument makes an empty document with room for the atoms of a text.
func newDocument(md string, atoms []atom) *document {
	return &document{atoms: slices.Grow(atoms[:0], stretches(md)+8)}
}

// stretches counts the words of a text and the white space between them: about as many atoms are made of it. A word ends behind some signs of Chinese
// and Japanese as well.
func stretches(md string) int {
	const fullStop, fullComma = "\xe3\x80", "\xef\xbc" // what such signs begin with
	n := 0
	was := true
	for i := range len(md) {
		switch c := md[i]; {
		case c == ' ' || c == '\n':
			if !was {
				was = true
				n++
			}
			continue
		case c >= fullStop[0] && (strings.HasPrefix(md[i:], fullStop) || strings.HasPrefix(md[i:], fullComma)):
			n++
		}
		if was {
			was = false
			n++
		}
	}
	return n
}

// knots takes text without code that costs the parser too much as it is: in stretches of lines that do not.
func (b *builder) knots(s string) {
	afterBlank := false
	for s != "" {
		end, brackets := 0, 0
		last := "" // line of the stretch
		for end < len(s) {
			line := s[end:]
			if i := strings.IndexByte(line, '\n'); i >= 0 {
				line = line[:i+1]
			}
			if brackets += strings.Count(line, "["); end > 0 && brackets > mostBracket {
				break
			}
			end += len(line)
			last = line
		}
		stretch := s[:end]
		s = s[end:]
		b.br(1)
		if strings.HasPrefix(stretch, "\n") || afterBlank {
			b.br(2)
		}
		if knotty(stretch) {
			b.flush()
			b.plain(stretch)
		} else {
			b.piece(stretch)
		}
		afterBlank = last == "\n"
	}
}

func isFence(s string) bool {
	var f fence
	first, _, _ := strings.Cut(s, "\n")
	return f.line(first)
}

// fenced takes code whose fences untie has found.
func (b *builder) fenced(s string) {
	first, body, _ := strings.Cut(strings.TrimSuffix(s, "\n"), "\n")
	var f fence
	f.line(first)
	if i := strings.LastIndexByte(body, '\n'); f.line(body[i+1:]) {
		body = body[:max(i, 0)]
	}
	_, info := fenceRow(strings.TrimSpace(first))
	lang, words := infoWords(info)
	b.text(words)
	b.br(1)
	b.code(lang, body)
}

// builder turns the parser's tree into a document.
type builder struct {
	*document
	spec     *spec
	md       string // the piece that is parsed
	src      []byte // the same
	st       style
	gap      int      // line ends to write before the next atom
	indent   string   // of the list that is open
	unmarked ast.Node // the last list that has no marks of the dialect's
	maxURL   int      // an address that is longer is written out instead of linked
}

// piece parses a piece. A parser that fails on it must not take the host down: the text is then shown as it is.
func (b *builder) piece(s string) {
	atoms, st, indent := len(b.atoms), b.st, b.indent
	defer func() {
		if recover() != nil {
			b.atoms, b.st, b.indent = b.atoms[:atoms], st, indent
			b.flush()
			b.plain(s)
		}
	}()
	b.md, b.src = s, []byte(s)
	b.blocks(tree(b.src))
}

// br asks for n line ends before whatever comes next.
func (b *builder) br(n int) { b.gap = max(b.gap, n) }

// flush writes the line ends that are due, and the indentation of a list.
func (b *builder) flush() {
	if b.gap == 0 {
		return
	}
	n := b.gap
	b.gap = 0
	if len(b.atoms) == 0 {
		return
	}
	st := style{quote: b.st.quote, heading: b.atoms[len(b.atoms)-1].st.heading}
	b.newline(n, st)
	if b.indent != "" {
		b.atoms = append(b.atoms, atom{kind: space, text: b.indent, st: st})
	}
}

func (b *builder) put(k kind, s string) {
	b.flush()
	b.atoms = append(b.atoms, atom{kind: k, text: s, st: b.st})
}

// text writes words. Line ends in them are kept: people who type them in a chat mean them.
func (b *builder) text(s string) {
	for {
		line, rest, more := strings.Cut(s, "\n")
		if line != "" {
			b.flush()
			b.add(line, b.st)
		}
		if !more {
			return
		}
		b.br(1)
		s = rest
	}
}

func (b *builder) blocks(parent ast.Node) {
	first := true
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if !first {
			b.br(1)
			// The parser makes tables out of paragraphs and forgets the blank line in front of them.
			if _, table := n.(*east.Table); table || n.HasBlankPreviousLines() {
				b.br(2)
			}
		}
		if n.Kind() != ast.KindLinkReferenceDefinition { // nothing is written for one
			b.block(n)
			first = false
		}
	}
}

func (b *builder) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		b.inlines(n)
	case *ast.Heading:
		b.heading(n)
	case *ast.ThematicBreak:
		b.text(b.ruled(n))
	case *ast.FencedCodeBlock:
		b.code(string(n.Language(b.src)), b.lines(n.Lines()))
	case *ast.CodeBlock: // text that is indented: shown as it is, and no code
		for i := range n.Lines().Len() {
			if i > 0 {
				b.br(1)
			}
			line := n.Lines().At(i)
			if s := strings.TrimRight(b.indentation(line.Start)+string(line.Value(b.src)), " \t\n"); s != "" {
				b.text(s)
			} else {
				b.br(2)
			}
		}
	case *ast.HTMLBlock:
		s := b.lines(n.Lines())
		if n.HasClosure() {
			s += string(n.ClosureLine.Value(b.src))
		}
		b.text(strings.Trim(s, "\n"))
	case *ast.Blockquote:
		was := b.st.quote
		b.st.quote = true
		b.blocks(n)
		b.st.quote = was
		b.br(1)
	case *ast.List:
		b.list(n)
	case *east.Table:
		b.table(n)
	default:
		b.blocks(n)
	}
}

func (b *builder) lines(l *text.Segments) string {
	var s strings.Builder
	for i := range l.Len() {
		seg := l.At(i)
		s.Write(seg.Value(b.src))
	}
	return s.String()
}

func (b *builder) heading(n *ast.Heading) {
	was := b.st
	b.st.heading = true
	if b.spec.headings && n.Level <= 3 {
		b.put(markup, strings.Repeat("#", n.Level)+" ")
	} else {
		b.st.bold = true
	}
	b.inlines(n)
	if i := len(b.atoms) - 1; b.spec.headings && n.Level <= 3 && i >= 0 && strings.HasSuffix(b.atoms[i].text, "#") {
		b.put(markup, hidden) // Discord leaves out the signs at the end of a heading
	}
	b.st = was
}

func (b *builder) code(lang, s string) {
	s = strings.TrimRight(s, "\n")
	for strings.HasPrefix(s, "\n") {
		s = s[1:]
	}
	if blank(s) {
		return
	}
	indent := b.indent
	b.indent = ""
	b.flush()
	b.indent = indent
	b.pres = append(b.pres, pre{lang: language(lang)})
	b.add(s, style{pre: int32(len(b.pres))})
	b.br(1)
}

// language keeps an info string only when it is a plain name.
func language(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	if len(s) > 20 {
		return ""
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-_.#", r) {
			return ""
		}
	}
	return s
}

func (b *builder) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			n = b.words(t)
			continue
		}
		b.inline(n)
	}
}

// words writes a run of text nodes as one text, so that words stay whole which the parser took apart at a "_" or "*". It gives
// the last node of the run.
func (b *builder) words(t *ast.Text) ast.Node {
	start := t.Segment.Start
	if b.st.quote && b.unquoted(start) {
		b.st.quote = false
	}
	var apart strings.Builder // segments that do not stand one behind the other in the source
	apart.WriteString(b.indentation(start))
	whole := t.Segment
	for {
		next, ok := t.NextSibling().(*ast.Text)
		if !ok || t.SoftLineBreak() || t.HardLineBreak() {
			break
		}
		t = next
		if t.Segment.Start == whole.Stop && t.Segment.Padding == 0 {
			whole.Stop = t.Segment.Stop
			continue
		}
		apart.WriteString(b.value(whole))
		whole = t.Segment
	}
	s := b.value(whole)
	if apart.Len() > 0 {
		apart.WriteString(s)
		s = apart.String()
	}
	indent := b.indent
	if start == 0 || b.src[start-1] == '\n' { // a line that is not indented as the item is that it belongs to
		b.indent = ""
	}
	b.text(s)
	b.indent = indent
	if t.SoftLineBreak() || t.HardLineBreak() {
		b.lineEnd()
	}
	return t
}

// value gives a segment of the source.
func (b *builder) value(s text.Segment) string {
	if s.Padding > 0 || s.ForceNewline {
		return string(s.Value(b.src))
	}
	return b.md[s.Start:s.Stop]
}

func (b *builder) inline(n ast.Node) {
	was := b.st
	switch n := n.(type) {
	case *ast.String:
		b.text(string(n.Value))
	case *ast.CodeSpan:
		b.codeSpan(n)
	case *ast.Emphasis:
		if n.Level >= 2 {
			b.st.bold = true
		} else {
			b.st.italic = true
		}
		b.inlines(n)
	case *east.Strikethrough:
		b.st.strike = true
		b.inlines(n)
	case *ast.Link:
		b.link(string(n.Destination), func() { b.inlines(n) })
	case *ast.Image:
		b.link(string(n.Destination), func() {
			if at := len(b.atoms); n.HasChildren() {
				b.inlines(n)
				if len(b.atoms) > at {
					return
				}
			}
			b.text("image")
		})
	case *ast.AutoLink:
		if s := string(n.Label(b.src)); len(s) > b.maxURL || strings.ContainsAny(s, "`<>|\\") || b.spec.whole && strings.Contains(s, "*") || b.spec.dialect == DiscordMD && webAddress(s) < 0 { // hardly an address, and markup elsewhere
			b.text(s)
		} else {
			b.put(glue, s)
		}
	case *ast.RawHTML:
		if EndsLine(b.src, n) {
			b.lineBreak(n)
			break
		}
		b.text(b.lines(n.Segments))
	case *east.TaskCheckBox:
		if n.IsChecked {
			b.put(glue, "☑ ")
		} else {
			b.put(glue, "☐ ")
		}
	default:
		b.inlines(n)
	}
	b.st = was
}

// lineEnd ends a line inside a paragraph. Links and headings stay on one line.
func (b *builder) lineEnd() {
	if b.st.link != 0 || b.st.heading {
		b.put(space, " ")
		return
	}
	b.br(1)
}

func (b *builder) codeSpan(n ast.Node) {
	var s strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			s.Write(bytes.ReplaceAll(t.Segment.Value(b.src), []byte("\n"), []byte(" ")))
		}
	}
	b.st.code = true
	b.st.ticks = b.spec.needsTicks(s.String())
	b.text(s.String())
}

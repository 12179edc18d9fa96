package channels

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Part is one message of a text that was split.
type Part struct {
	Text  string // in the dialect
	Plain string // the same without markup; links show their address
}

// The smallest limits that Split obeys; what is below is raised to them. A code block alone needs three lines and a dozen marks.
const (
	MinText  = 64
	MinLines = 4
	MinMarks = 8
)

// Render writes Markdown in a dialect, as one message of any length. Text that cannot be seen gives "".
func Render(md string, d Dialect) string {
	parts := Split(md, Limits{Dialect: d})
	if len(parts) == 0 {
		return ""
	}
	return parts[0].Text
}

// Split writes Markdown in the dialect of lim and cuts it into messages that keep to lim.Text and lim.Lines in both forms of
// Part, and to lim.Marks. Text is what a platform counts: TelegramHTML is counted after its markup is parsed, the others as they are written.
//
// Nothing is lost but white space at the cuts. Cuts are made between paragraphs, lines, sentences or words, in this order of
// preference; a word that is longer than a message is cut between graphemes. Code blocks are closed and opened again at a cut,
// links stay whole as long as they fit into a message. No part is empty, white space only, or has unbalanced markup. The same
// arguments give the same parts. Text that cannot be seen gives no part. It takes linear time, hostile input included.
func Split(md string, lim Limits) []Part {
	lim = effective(lim)
	md = clean(md)
	if blank(md) {
		return nil
	}
	s := specOf(lim.Dialect)
	if plainEnough(md) && !(s.html && (hasLinkedName(md) || lim.Marks > 0 && strings.ContainsAny(md, "/$"))) { // commands and cashtags are marked
		if t := strings.TrimSpace(md); within(t, lim) {
			return []Part{{t, t}}
		}
	}
	if s.verbatim && within(md, lim) {
		p := Part{Text: strings.Trim(md, "\n")}
		if p.Plain = plainOf(parseVerbatim(p.Text, nil), lim); blank(p.Plain) {
			p.Plain = p.Text
		}
		return []Part{p}
	}
	if !s.verbatim {
		md = SeparateFences(md)
	}
	m := splitBuffers.Get().(*splitBuffer)
	defer m.release()
	parts := m.cut(parse(md, s, lim, m.atoms), s, lim)
	if len(parts) == 0 { // only markup: show it as it was written
		doc := newDocument(md, m.atoms)
		doc.plain(md)
		parts = m.cut(doc, s, lim)
	}
	return parts
}

// splitBuffer is what one text after the other is taken apart and written in.
type splitBuffer struct {
	atoms       []atom
	text, plain []byte
}

var splitBuffers = sync.Pool{New: func() any { return new(splitBuffer) }}

// cut cuts a document, whose atoms are in the memory from then on.
func (m *splitBuffer) cut(d *document, s *spec, lim Limits) []Part {
	c := cutter{doc: d, text: newWriter(s, d, lim.Unit), plain: newWriter(&plainSpec, d, lim.Unit), lim: lim}
	c.text.buf, c.plain.buf = m.text[:0], m.plain[:0]
	parts := c.run()
	m.atoms, m.text, m.plain = d.atoms, c.text.buf, c.plain.buf
	return parts
}

// release gives the memory to the next text, unless this one was very long.
func (m *splitBuffer) release() {
	const mostAtoms, mostText = 1 << 20, 1 << 22
	if cap(m.atoms) > mostAtoms || cap(m.text) > mostText || cap(m.plain) > mostText {
		return
	}
	clear(m.atoms) // they hold the text
	splitBuffers.Put(m)
}

func effective(lim Limits) Limits {
	if lim.Text > 0 {
		lim.Text = max(lim.Text, MinText)
	}
	if lim.Lines > 0 {
		lim.Lines = max(lim.Lines, MinLines)
	}
	if lim.Marks > 0 {
		lim.Marks = max(lim.Marks, MinMarks)
	}
	return lim
}

// within reports whether a text can be one part as it is.
func within(s string, lim Limits) bool {
	if lim.Text > 0 && len(s) > lim.Text && measure(s, lim.Unit) > lim.Text { // no unit counts more than bytes
		return false
	}
	return lim.Lines <= 0 || strings.Count(s, "\n") < lim.Lines
}

// Measure counts a text in a unit. A byte that is no UTF-8 counts as one.
func Measure(s string, u Unit) int {
	if u != Bytes && !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return measure(s, u)
}

// measure counts a text, which is UTF-8, in a unit.
func measure[T string | []byte](s T, u Unit) int {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf { // where all units are the same
		i++
	}
	if u == Bytes || i == len(s) {
		return len(s)
	}
	n := i
	for ; i < len(s); i++ {
		if utf8.RuneStart(s[i]) {
			n++
		}
		if s[i] >= 0xf0 && u == UTF16 { // the first byte of a character that takes two
			n++
		}
	}
	return n
}

// blank reports whether nothing of the text can be seen.
func blank(s string) bool {
	for _, r := range s {
		if r > ' ' && r < 0x7f || !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) {
			return false
		}
	}
	return true
}

// cutter fills one part after the other with the atoms of a document.
type cutter struct {
	doc         *document
	text, plain *writer
	lim         Limits
	parts       []Part
	places      [paragraphCut + 1]splitPoint // by the quality of a cut there; noCut: in front of a long atom
	tried       heldText
	ends        []int // of graphemes
}

// splitPoint is what the writers held of a part, that begins with atom start, in front of atom at.
type splitPoint struct {
	start, at   int
	text, plain heldText
}

// How good a place is for a cut.
const (
	noCut = iota
	wordCut
	sentenceCut
	lineCut
	paragraphCut
)

const longAtom = 64 // bytes: a part is likely to end in it

func (c *cutter) run() []Part {
	for at := 0; at < len(c.doc.atoms); {
		at = c.next(at)
	}
	return c.parts
}

// next makes the part that starts with atom start and gives the atom that the following one starts with.
func (c *cutter) next(start int) int {
	atoms := c.doc.atoms
	c.text.reset()
	c.plain.reset()
	isLong := c.doc.isLong(start, c.lim) // else nothing is cut
	var best [paragraphCut + 1]int       // the last place of each quality that fills enough of the part, 0 = none
	any := 0                             // the last place of any quality
	for i := start; i < len(atoms); i++ {
		if q := c.doc.cutBefore(i); q > noCut && c.text.visible {
			any = i
			if c.text.filled(c.lim, q) {
				best[q] = i
				if isLong && (q > wordCut || c.text.isNearlyFull(c.lim)) {
					c.hold(q, start, i)
				}
			}
		}
		if isLong && len(atoms[i].text) > longAtom {
			c.hold(noCut, start, i)
		}
		c.text.write(&atoms[i])
		c.plain.write(&atoms[i])
		if c.text.fits(c.lim) && c.plain.fits(c.lim) {
			continue
		}
		for q := paragraphCut; q > noCut; q-- {
			if best[q] > 0 {
				return c.end(start, best[q])
			}
		}
		switch a := &atoms[i]; {
		case a.white(): // it goes where the cut is
			return c.end(start, i)
		case any > 0:
			return c.end(start, any)
		case i > start && (a.kind != word || a.st.link != 0): // inside of a link that is longer than a message
			return c.end(start, i)
		}
		return c.breakAtom(start, i)
	}
	c.flush()
	return len(atoms)
}

// hold keeps what is written of a part in front of an atom.
func (c *cutter) hold(quality, start, at int) {
	p := &c.places[quality]
	p.start, p.at = start, at
	c.text.hold(&p.text)
	c.plain.hold(&p.plain)
}

// rewrite leaves atoms[start:cut] written, of a part that is already written further than that.
func (c *cutter) rewrite(start, cut int) {
	for i := range c.places {
		if p := &c.places[i]; p.start == start && p.at == cut && cut > start {
			c.text.resume(&p.text)
			c.plain.resume(&p.plain)
			return
		}
	}
	c.text.reset()
	c.plain.reset()
	for i := start; i < cut; i++ {
		c.text.write(&c.doc.atoms[i])
		c.plain.write(&c.doc.atoms[i])
	}
}

// end ends a part that begins with atom start in front of atom cut, and passes over the white space after it.
func (c *cutter) end(start, cut int) int {
	c.rewrite(start, cut)
	c.flush()
	if cut == start { // white space that does not fit into an empty part
		cut++
	}
	return c.passWhite(cut)
}

// passWhite passes over the white space at a cut.
func (c *cutter) passWhite(cut int) int {
	atoms := c.doc.atoms
	lines := false
	for cut < len(atoms) && atoms[cut].white() && (!lines || atoms[cut].kind == newline || atoms[cut].st.pre == 0) {
		lines = lines || atoms[cut].kind == newline
		cut++
	}
	return cut
}

// breakAtom writes atoms[start:at] and as many graphemes of the atom at as fit. The rest of it stays where it is.
func (c *cutter) breakAtom(start, at int) int {
	c.rewrite(start, at)
	a := c.doc.atoms[at]
	n := c.fitting(a, a.text, true)
	if n == 0 && at > start {
		c.flush()
		return at
	}
	if n == 0 { // one grapheme that is longer than a message
		n = max(c.fitting(a, a.text, false), 1)
		for n < len(a.text) && !utf8.RuneStart(a.text[n]) {
			n++
		}
	}
	head := a
	head.text = a.text[:n]
	c.text.write(&head)
	c.plain.write(&head)
	c.flush()
	c.doc.atoms[at].text = a.text[n:]
	if n == len(a.text) {
		at++
	}
	return at
}

// fitting gives the length of the longest start of s, in whole graphemes or whole runes, that still fits as an atom like a.
func (c *cutter) fitting(a atom, s string, whole bool) int {
	const perUnit = utf8.UTFMax
	if most := c.lim.Text*perUnit + perUnit; len(s) > most {
		for !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	ends := c.ends[:0]
	if whole {
		for g := graphemes.FromString(s); g.Next(); {
			ends = append(ends, g.End())
		}
	} else {
		for i := range s {
			if i > 0 {
				ends = append(ends, i)
			}
		}
		ends = append(ends, len(s))
	}
	c.ends = ends
	lo, hi := 0, len(ends) // the first lo ends fit, those from hi on do not
	for lo < hi {
		mid := (lo + hi + 1) / 2
		a.text = s[:ends[mid-1]]
		if c.text.wouldFit(&a, c.lim, &c.tried) && c.plain.wouldFit(&a, c.lim, &c.tried) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	if lo == 0 {
		return 0
	}
	return ends[lo-1]
}

// flush makes a part of what the writers hold, unless nothing of it can be seen.
func (c *cutter) flush() {
	if !c.text.visible {
		return
	}
	text := c.text.finish()
	c.parts = append(c.parts, Part{text, c.plain.finishLike(text)})
}

// isLong reports whether the atoms from one on may be more than fits into a part. Little is lost where they are not.
func (d *document) isLong(start int, lim Limits) bool {
	n, lines := 0, 0
	for i := start; i < len(d.atoms); i++ {
		a := &d.atoms[i]
		n += len(a.text) + 1
		lines += int(a.n)
		if lim.Text > 0 && n > lim.Text*3/4 || lim.Lines > 0 && lines > lim.Lines*3/4 {
			return true
		}
	}
	return false
}

// cutBefore says how good a cut in front of an atom is.
func (d *document) cutBefore(i int) int {
	a := &d.atoms[i]
	if i == 0 || a.st.link != 0 && d.atoms[i-1].st.link == a.st.link {
		return noCut
	}
	prev := &d.atoms[i-1]
	switch a.kind {
	case newline:
		switch {
		case a.st.pre != 0 && prev.st.pre == a.st.pre || prev.st.heading:
			return sentenceCut
		case a.n > 1:
			return paragraphCut
		}
		return lineCut
	case space:
		if prev.kind == word && a.st.pre == 0 && endsSentence(prev.text) {
			return sentenceCut
		}
		if prev.white() && a.st.pre != 0 {
			return noCut // indentation
		}
		return wordCut
	}
	if a.kind == word && prev.kind == word && prev.openEnd {
		if endsSentence(prev.text) {
			return sentenceCut
		}
		return wordCut
	}
	return noCut
}

// endsSentence looks at the last character, closing quotes and brackets aside.
func endsSentence(s string) bool {
	if last := len(s) - 1; last >= 0 && ascii(rune(s[last])) && !among(rune(s[last]), `"')]`) {
		return among(rune(s[last]), ".!?")
	}
	s = strings.TrimRight(s, `"')]”’»`)
	r, _ := utf8.DecodeLastRuneInString(s)
	switch r {
	case '.', '!', '?', '…', '。', '！', '？':
		return true
	}
	return false
}

// extends reports whether the text starts with a character that belongs to the one before it.
func extends(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return joins(r)
}

// joins: marks, joiners, variation selectors, skin tones.
func joins(r rune) bool {
	return r >= 0x300 && (unicode.Is(unicode.M, r) || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff)
}

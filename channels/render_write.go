package channels

import (
	"strings"
	"unicode"
)

// spec is how a dialect is written. Each of the functions that are nil does nothing.
type spec struct {
	dialect  Dialect
	verbatim bool   // source text, passed on
	html     bool   // markup is not counted, may run over line ends, and code holds no other markup
	headings bool   // has # headings
	whole    bool   // marks whole words only, and has no way to escape a mark
	bullet   string // of lists
	tables   tables
	quote    string // in front of every quoted line; html has a tag instead

	bold, italic, strike, code, ticks [2]string // what opens and what closes
	italicNext                        string    // instead of italic next to a "*"

	link   func(url string, quiet bool) (open, close string)
	pre    func(p pre) (open, close string)
	word   func(out []byte, s string, at wordPlace) []byte // appends text and escapes it
	behind func(out []byte, s string, at wordPlace) []byte // instead of word directly behind an address
	inCode func(s string, st style) string                 // escapes code
	glue   func(s string) string                           // escapes what stays as it is
}

// markup that is open, outermost first. A mark is one of these letters with what closes it.
type mark struct {
	what  byte  // q quote, p pre, l link, b bold, i italic, s strike, c code
	id    int32 // link, pre
	close string
	size  int // of close, counted
}

// writer writes atoms in a dialect and knows at every moment how long the result would be if it ended here.
type writer struct {
	*spec
	doc     *document
	unit    Unit
	buf     []byte
	n       int // counted so far
	lines   int
	marked  int // stretches of markup, and what the platform marks by itself
	stack   []mark
	closing int // counted length of what is open
	gap     int // line ends due before the next atom
	sp      string
	literal []int // where in buf marks stand that are text, with whole
	url     bool  // an address was written, and nothing white since: what follows is part of it for the platform
	apart   bool  // white space outside of code was read since the last atom: code goes on behind it as code of its own
	visible bool  // something that can be seen was written
	quoted  bool  // the last atom was quoted
	prefix  bool  // only a line's own prefix was written since its start
	started bool

	underscored bool // the document is
}

func newWriter(s *spec, d *document, u Unit) *writer {
	return &writer{spec: s, doc: d, unit: u, lines: 1, underscored: s.dialect == DiscordMD && d.isUnderscored()}
}

func (w *writer) reset() {
	*w = writer{spec: w.spec, doc: w.doc, unit: w.unit, underscored: w.underscored, buf: w.buf[:0], lines: 1, stack: w.stack[:0], literal: w.literal[:0]}
}

// finish closes what is open and gives the text.
func (w *writer) finish() string {
	for len(w.stack) > 0 {
		w.pop()
	}
	s := disarm(string(w.buf), w.literal)
	if w.html {
		return strings.TrimSpace(s)
	}
	return strings.TrimRightFunc(s, unicode.IsSpace)
}

func (w *writer) fits(lim Limits) bool {
	return (lim.Text <= 0 || w.n+w.closing <= lim.Text) && (lim.Lines <= 0 || w.lines+w.preLines() <= lim.Lines) &&
		(lim.Marks <= 0 || w.marked <= lim.Marks)
}

// preLines: closing a code block takes a line.
func (w *writer) preLines() int {
	n := 0
	for _, m := range w.stack {
		n += strings.Count(m.close, "\n")
	}
	return n
}

// filled reports whether enough is written for a cut of this quality.
func (w *writer) filled(lim Limits, quality int) bool {
	if quality == wordCut {
		return true
	}
	const part = 0.4
	return lim.Text > 0 && float64(w.n) >= part*float64(lim.Text) || lim.Lines > 0 && float64(w.lines) >= part*float64(lim.Lines) ||
		lim.Marks > 0 && float64(w.marked) >= part*float64(lim.Marks)
}

// wouldFit tries an atom without writing it.
func (w *writer) wouldFit(a *atom, lim Limits) bool {
	was, stack := *w, append([]mark(nil), w.stack...)
	w.write(a)
	ok := w.fits(lim)
	*w = was
	w.stack = append(w.stack[:0], stack...)
	return ok
}

// heldText is what a writer held at a place.
type heldText struct {
	writer
	stack []mark
}

// hold keeps what is written. It is valid until the writer is reset.
func (w *writer) hold(h *heldText) {
	h.writer, h.stack = *w, append(h.stack[:0], w.stack...)
}

// resume returns to what was held: what was written since is forgotten.
func (w *writer) resume(h *heldText) {
	buf, stack, literal := w.buf, w.stack, w.literal
	*w = h.writer
	w.buf, w.literal = buf[:len(h.buf)], literal[:len(h.literal)]
	w.stack = append(stack[:0], h.stack...)
}

func (w *writer) write(a *atom) {
	switch {
	case a.kind == newline:
		w.gap, w.sp, w.apart = w.gap+int(a.n), "", true
		return
	case a.kind == space && (a.st.pre == 0 || w.spec == &plainSpec && !w.started):
		w.sp, w.apart = a.text, w.apart || !a.st.code
		return
	case a.kind == markup && !w.headings:
		return
	}
	target := w.marks(a.st)
	if a.st.pre == 0 || !w.inPre(a.st.pre) {
		w.closeTo(target, w.gap > 0)
	}
	w.white(a)
	w.openTo(target, a)
	w.put(a)
}

// marks lists the markup that an atom wants, outermost first.
type marks [7]mark

func (w *writer) marks(st style) (m marks) {
	alone := st.pre != 0 || w.html && st.code
	if st.quote && w.html {
		m[0].what = 'q'
	}
	if st.pre != 0 {
		m[1] = mark{what: 'p', id: st.pre}
		return m
	}
	if st.link != 0 {
		m[2] = mark{what: 'l', id: st.link}
		alone = alone && !w.html
		st.code = st.code && !w.html
	}
	if st.bold && !alone {
		m[3].what = 'b'
	}
	if st.italic && !alone {
		m[4].what = 'i'
	}
	if st.strike && !alone {
		m[5].what = 's'
	}
	if st.code {
		m[6].what = 'c'
		if st.ticks {
			m[6].id = 1
		}
	}
	return m
}

func (m *marks) has(x mark) bool {
	for i := range m {
		if m[i].what == x.what && m[i].id == x.id {
			return true
		}
	}
	return false
}

func (w *writer) inPre(id int32) bool {
	return len(w.stack) > 0 && w.stack[len(w.stack)-1].what == 'p' && w.stack[len(w.stack)-1].id == id
}

// closeTo closes whatever the next atom does not want, and what stands above it. Only html markup runs over line ends, and no code.
func (w *writer) closeTo(t marks, lineEnd bool) {
	keep := len(w.stack)
	for i, m := range w.stack {
		if !t.has(m) || lineEnd && !w.html || m.what == 'c' && w.apart {
			keep = i
			break
		}
	}
	for len(w.stack) > keep {
		w.pop()
	}
}

// white writes the white space that is due, unless nothing has been written yet.
func (w *writer) white(a *atom) {
	gap, sp := w.gap, w.sp
	w.gap, w.sp, w.apart = 0, "", false
	w.url = w.url && gap == 0 && sp == ""
	q := a.st.quote && a.st.pre == 0 && w.quote != ""
	switch {
	case !w.started:
		if sp = ""; q {
			w.raw(w.quote)
		}
		w.prefix = true
	case gap > 0:
		for i := range gap {
			w.raw("\n")
			w.lines++
			if q && (w.quoted || i == gap-1) {
				w.raw(w.quote)
			}
		}
		w.prefix = true
	}
	w.started = true
	w.quoted = a.st.quote && a.st.pre == 0
	if sp != "" {
		w.raw(sp)
	}
}

func (w *writer) openTo(t marks, a *atom) {
	for i := range t {
		if t[i].what == 0 || w.isOpen(t[i]) {
			continue
		}
		m := t[i]
		var open string
		switch m.what {
		case 'q':
			open, m.close = "<blockquote>", "</blockquote>"
		case 'p':
			open, m.close = w.call(func() (string, string) { return w.pre(w.doc.pres[m.id-1]) }, w.pre != nil)
		case 'l':
			open, m.close = w.call(func() (string, string) { return w.link(w.doc.links[m.id-1], a.st.quiet) }, w.link != nil)
		case 'b':
			open, m.close = w.bold[0], w.bold[1]
		case 'i':
			open, m.close = w.italic[0], w.italic[1]
			if w.italicNext != "" && len(w.buf) > 0 && w.buf[len(w.buf)-1] == '*' {
				open, m.close = w.italicNext, w.italicNext
			}
		case 's':
			open, m.close = w.strike[0], w.strike[1]
		case 'c':
			open, m.close = w.code[0], w.code[1]
			if m.id == 1 {
				open, m.close = w.ticks[0], w.ticks[1]
			}
		}
		if w.mark(open); open != "" {
			w.marked++
		}
		w.lines += strings.Count(open, "\n")
		if !w.html {
			m.size = measure(m.close, w.unit)
		}
		w.closing += m.size
		w.stack = append(w.stack, m)
	}
}

func (w *writer) call(f func() (string, string), ok bool) (string, string) {
	if !ok {
		return "", ""
	}
	return f()
}

func (w *writer) isOpen(x mark) bool {
	for _, m := range w.stack {
		if m.what == x.what && m.id == x.id {
			return true
		}
	}
	return false
}

func (w *writer) pop() {
	m := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.closing -= m.size
	w.mark(m.close)
	w.lines += strings.Count(m.close, "\n")
}

// put writes an atom's text.
func (w *writer) put(a *atom) {
	if a.kind == markup {
		w.mark(a.text)
		w.url = false
		return
	}
	s := a.text
	url, prefix := w.url, w.prefix
	w.url = w.url || a.kind == glue && webAddress(s) >= 0
	if w.whole && a.kind == word && a.st.pre == 0 && !a.st.code {
		w.keep(s)
	}
	w.prefix = w.prefix && a.kind == glue && strings.HasSuffix(a.text, " ")
	if !w.visible {
		w.visible = !blank(s)
	}
	if w.html && !a.st.code && a.st.pre == 0 && a.st.link == 0 && mayBeMarked(s) {
		w.marked++
	}
	start := len(w.buf)
	w.append(a, url, prefix)
	if w.html {
		w.n += measure(s, w.unit)
	} else {
		w.n += measure(w.buf[start:], w.unit)
	}
}

// mayBeMarked reports whether the platform could mark a word by itself: mentions, tags, commands, addresses.
func mayBeMarked(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '@', '#', '/', ':', '$':
			return true
		}
	}
	return false
}

// append writes the text of an atom as the dialect needs it where it stands: behind an address, or behind a line's own prefix.
func (w *writer) append(a *atom, url, prefix bool) {
	s := a.text
	switch {
	case a.st.pre != 0 || a.st.code:
		if w.inCode != nil {
			s = w.inCode(s, a.st)
		}
	case a.kind == word && url && w.behind != nil:
		w.buf = w.behind(w.buf, s, wordPlace{underscored: w.underscored})
		return
	case a.kind == word && w.word != nil:
		w.buf = w.word(w.buf, s, wordPlace{prefix, w.underscored})
		return
	case w.glue != nil:
		s = w.glue(s)
	}
	w.buf = append(w.buf, s...)
}

// raw writes what is counted in every dialect.
func (w *writer) raw(s string) {
	w.buf = append(w.buf, s...)
	w.n += measure(s, w.unit)
}

// mark writes markup.
func (w *writer) mark(s string) {
	w.buf = append(w.buf, s...)
	if !w.html {
		w.n += measure(s, w.unit)
	}
}

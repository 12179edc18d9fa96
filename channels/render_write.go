package channels

import (
	"bytes"
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

// wantedMarkup is markup that an atom wants.
type wantedMarkup struct {
	what byte  // q quote, p pre, l link, b bold, i italic, s strike, c code
	id   int32 // link, pre
}

// mark is markup that is open, with what closes it.
type mark struct {
	wantedMarkup
	close string
	size  int // of close, counted
	lines int // that closing takes
}

// writer writes atoms in a dialect and knows at every moment how long the result would be if it ended here.
type writer struct {
	*spec
	doc         *document
	unit        Unit
	underscored bool   // the document is
	buf         []byte // what is written
	literal     []int  // where in buf marks stand that are text, with whole
	stack       []mark // outermost first
	writtenState
}

// writtenState is what a writer knows of what it has written.
type writtenState struct {
	n       int // counted so far
	lines   int
	marked  int    // stretches of markup, and what the platform marks by itself
	closing int    // counted length of what closes what is open
	ending  int    // lines that closing takes
	gap     int    // line ends due before the next atom
	sp      string // white space due before it
	style   style  // of the last atom
	url     bool   // an address was written, and nothing white since: what follows is part of it for the platform
	apart   bool   // white space outside of code was read since the last atom: code goes on behind it as code of its own
	visible bool   // something that can be seen was written
	quoted  bool   // the last atom was quoted
	prefix  bool   // only a line's own prefix was written since its start
	started bool
}

func newWriter(s *spec, d *document, u Unit) *writer {
	return &writer{spec: s, doc: d, unit: u, underscored: s.dialect == DiscordMD && d.isUnderscored(), writtenState: writtenState{lines: 1}}
}

func (w *writer) reset() {
	w.buf, w.literal, w.stack, w.writtenState = w.buf[:0], w.literal[:0], w.stack[:0], writtenState{lines: 1}
}

// finish closes what is open and gives the text.
func (w *writer) finish() string { return w.finishLike("") }

// finishLike is finish, and gives the text that it is given where that is the same.
func (w *writer) finishLike(like string) string {
	for len(w.stack) > 0 {
		w.pop()
	}
	if len(w.literal) > 0 {
		return strings.TrimRightFunc(disarm(string(w.buf), w.literal), unicode.IsSpace)
	}
	text := bytes.TrimRightFunc(w.buf, unicode.IsSpace)
	if w.html {
		text = bytes.TrimSpace(text)
	}
	if string(text) == like {
		return like
	}
	return string(text)
}

func (w *writer) fits(lim Limits) bool {
	return (lim.Text <= 0 || w.n+w.closing <= lim.Text) && (lim.Lines <= 0 || w.lines+w.ending <= lim.Lines) && (lim.Marks <= 0 || w.marked <= lim.Marks)
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

// isNearlyFull reports whether the part may end soon.
func (w *writer) isNearlyFull(lim Limits) bool {
	return lim.Text > 0 && w.n > lim.Text*3/4 || lim.Lines > 0 && w.lines > lim.Lines*3/4 || lim.Marks > 0 && w.marked > lim.Marks*3/4
}

// wouldFit tries an atom without writing it. It holds what is written meanwhile.
func (w *writer) wouldFit(a *atom, lim Limits, held *heldText) bool {
	if lim.Text > 0 && w.n+measure(a.text, w.unit) > lim.Text { // and nothing is written shorter than it is
		return false
	}
	w.hold(held)
	w.write(a)
	ok := w.fits(lim)
	w.resume(held)
	return ok
}

// heldText is what a writer held at a place.
type heldText struct {
	writtenState
	size, literal int // of what is written, of the marks that are text
	stack         []mark
}

// hold keeps what is written. It is valid until the writer is reset.
func (w *writer) hold(h *heldText) {
	h.writtenState, h.size, h.literal, h.stack = w.writtenState, len(w.buf), len(w.literal), append(h.stack[:0], w.stack...)
}

// resume returns to what was held: what was written since is forgotten.
func (w *writer) resume(h *heldText) {
	w.writtenState, w.buf, w.literal, w.stack = h.writtenState, w.buf[:h.size], w.literal[:h.literal], append(w.stack[:0], h.stack...)
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
	if w.started && a.st == w.style && (w.gap == 0 || len(w.stack) == 0) && (!a.st.code || !w.apart) { // it wants what is open
		w.white(a)
		w.put(a)
		return
	}
	target := w.marks(a.st)
	if a.st.pre == 0 || !w.inPre(a.st.pre) {
		w.closeTo(&target, w.gap > 0)
	}
	w.white(a)
	w.openTo(&target, a)
	w.style = a.st
	w.put(a)
}

// marks lists the markup that an atom wants, outermost first.
type marks [7]wantedMarkup

func (w *writer) marks(st style) (m marks) {
	alone := st.pre != 0 || w.html && st.code
	if st.quote && w.html {
		m[0].what = 'q'
	}
	if st.pre != 0 {
		m[1] = wantedMarkup{what: 'p', id: st.pre}
		return m
	}
	if st.link != 0 {
		m[2] = wantedMarkup{what: 'l', id: st.link}
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

func (m *marks) has(x wantedMarkup) bool {
	for i := range m {
		if m[i] == x {
			return true
		}
	}
	return false
}

func (w *writer) inPre(id int32) bool {
	return len(w.stack) > 0 && w.stack[len(w.stack)-1].what == 'p' && w.stack[len(w.stack)-1].id == id
}

// closeTo closes whatever the next atom does not want, and what stands above it. Only html markup runs over line ends, and no code.
func (w *writer) closeTo(t *marks, lineEnd bool) {
	keep := len(w.stack)
	for i := range w.stack {
		if m := w.stack[i].wantedMarkup; !t.has(m) || lineEnd && !w.html || m.what == 'c' && w.apart {
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
			w.buf = append(w.buf, '\n')
			w.n++
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

func (w *writer) openTo(t *marks, a *atom) {
	for i := range t {
		if t[i].what == 0 || w.isOpen(t[i]) {
			continue
		}
		m := mark{wantedMarkup: t[i]}
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
		m.lines = strings.Count(m.close, "\n") // as for a block of code
		w.closing += m.size
		w.ending += m.lines
		w.stack = append(w.stack, m)
	}
}

func (w *writer) call(f func() (string, string), ok bool) (string, string) {
	if !ok {
		return "", ""
	}
	return f()
}

func (w *writer) isOpen(x wantedMarkup) bool {
	for i := range w.stack {
		if w.stack[i].wantedMarkup == x {
			return true
		}
	}
	return false
}

func (w *writer) pop() {
	m := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.closing -= m.size
	w.ending -= m.lines
	w.mark(m.close)
	w.lines += m.lines
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

package channels

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// A document is a text taken apart: a flat row of words, spaces and line ends with their styles. It is cut anywhere between two
// atoms and each piece written by itself, so that markup is balanced in every message by construction.
type document struct {
	atoms []atom
	links []string // addresses; style.link is an index plus one
	pres  []pre    // code blocks; style.pre is an index plus one
}

// pre is a code block.
type pre struct {
	lang        string
	open, close string // verbatim dialect: the fences as written
}

type kind uint8

const (
	word    kind = iota // text without white space; escaped as the dialect needs
	glue                // text that is not escaped and not cut: addresses, list markers
	markup              // only in the rendered form: the dialect's own line prefixes
	space               // white space inside a line
	newline             // n line ends
)

type atom struct {
	text    string
	n       int32
	st      style
	kind    kind
	openEnd bool // a cut may follow although no white space does
}

func (a *atom) white() bool { return a.kind == space || a.kind == newline }

// style is how an atom looks. It is comparable.
type style struct {
	link, pre                    int32
	bold, italic, strike, code   bool
	ticks, heading, quote, quiet bool // ticks: code with backticks in it; quiet: part of a link that needs no address behind it
}

// clean makes text valid: UTF-8, "\n" as the only line end, no control characters but tab.
func clean(s string) string {
	if utf8.ValidString(s) && !dirtySigns.in(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < ' ' && r != '\n' && r != '\t' || r == 0x7f:
			return -1
		}
		return r
	}, s)
}

// plainEnough reports whether the text means the same in every dialect and needs no parser.
func plainEnough(s string) bool {
	if beginsBlock(s) {
		return false
	}
	for i := range len(s) {
		if !plainSigns[s[i]] {
			continue
		}
		switch s[i] {
		case 'w':
			if strings.HasPrefix(s[i:], "www.") {
				return false
			}
		case '\n':
			if i > 0 && s[i-1] == ' ' || strings.HasPrefix(s[i:], "\n\n\n") || beginsBlock(s[i+1:]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// beginsBlock reports whether a line could begin a list, a heading or code, or is indented.
func beginsBlock(line string) bool {
	if line == "" {
		return false
	}
	switch c := line[0]; c {
	case ' ', '\t', '-', '+', '=':
		return true
	default:
		return c >= '0' && c <= '9' && numbered(line)
	}
}

var (
	plainSigns = newByteSet("*_`~[]<>&\\|#:@\tw\n")
	dirtySigns = newByteSet("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f")
)

// numbered reports whether the text starts like an item of an ordered list.
func numbered(s string) bool {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i < len(s) && (s[i] == '.' || s[i] == ')')
}

// add appends text in a style: line ends, spaces and words become atoms.
func (d *document) add(s string, st style) {
	for s != "" {
		r, n := rune(s[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s)
		}
		switch {
		case r == '\n':
			n = len(s) - len(strings.TrimLeft(s, "\n"))
			d.newline(n, st)
		case isSpace(s, r, n):
			n = spaces(s)
			d.atoms = append(d.atoms, atom{kind: space, text: s[:n], st: st})
		default:
			var open bool
			n, open = wordEnd(s)
			d.word(s[:n], st)
			d.atoms[len(d.atoms)-1].openEnd = open
		}
		s = s[n:]
	}
}

// word appends a word, in several atoms when it is long, so that whoever looks at an atom looks at little.
func (d *document) word(s string, st style) {
	const most = 512
	for len(s) > most {
		end := 0
		for g := graphemes.FromString(s[:min(len(s), most+64)]); g.Next() && g.End() <= most; {
			end = g.End()
		}
		if end == 0 {
			for end = most; !utf8.RuneStart(s[end]); end-- {
			}
		}
		d.atoms = append(d.atoms, atom{kind: word, text: s[:end], st: st})
		s = s[end:]
	}
	d.atoms = append(d.atoms, atom{kind: word, text: s, st: st})
}

func (d *document) newline(n int, st style) {
	d.atoms = append(d.atoms, atom{kind: newline, n: int32(n), st: st})
}

// isSpace reports whether a cut may be made at r, the first rune of s: white space that joins nothing and carries no mark.
func isSpace(s string, r rune, n int) bool {
	if r != ' ' && r != '\t' && (r < 0x80 || !unicode.IsSpace(r) || r == 0xa0 || r == 0x202f) {
		return false
	}
	return len(s) == n || s[n] < 0x80 || !extends(s[n:])
}

func spaces(s string) int {
	for i, r := range s {
		if r == '\n' || !isSpace(s[i:], r, utf8.RuneLen(r)) {
			return i
		}
	}
	return len(s)
}

// wordEnd gives the length of the word that s starts with. A word also ends behind the punctuation of scripts that write no
// spaces, where a line may be broken.
func wordEnd(s string) (n int, open bool) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\n' && i > 0, (c == ' ' || c == '\t') && i > 0 && isSpace(s[i:], rune(c), 1):
			return i, false
		case c < utf8.RuneSelf:
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if i > 0 && isSpace(s[i:], r, size) {
			return i, false
		}
		i += size
		switch r {
		case '。', '！', '？', '，', '、', '；', '：':
			if i < len(s) && !extends(s[i:]) {
				return i, true
			}
		}
	}
	return len(s), false
}

// plain appends text as it is, without looking for Markdown.
func (d *document) plain(s string) {
	isFirst := true
	for line := range strings.SplitSeq(strings.Trim(s, "\n"), "\n") {
		if !isFirst {
			if last := len(d.atoms) - 1; last >= 0 && d.atoms[last].kind == newline {
				d.atoms[last].n = 2
			} else {
				d.newline(1, style{})
			}
		}
		isFirst = false
		d.add(strings.TrimRight(line, " \t"), style{})
	}
}

// parseVerbatim takes source text apart that is passed on as written. It knows fences, links and code spans, so that they can be
// kept whole.
func parseVerbatim(md string, atoms []atom) *document {
	d := newDocument(md, atoms)
	f := newFence(md)
	blankLines := 0
	for i, line := range strings.Split(md, "\n") {
		if i > 0 {
			blankLines++
		}
		was := f
		edge := f.line(line)
		st := style{}
		if f.open() && was.open() {
			st.pre = int32(len(d.pres))
		}
		if edge && f.open() {
			const longest = 20 // what is longer leaves too little room for code
			p := pre{open: line, close: strings.Repeat(string(f.char), min(f.n, longest))}
			if len(line) > longest {
				p.open = p.close
			}
			d.pres = append(d.pres, p)
		}
		if edge || line == "" {
			continue
		}
		if blankLines > 0 && len(d.atoms) > 0 {
			last := d.atoms[len(d.atoms)-1].st
			if last.pre != st.pre || st.pre == 0 {
				last = style{}
				blankLines = min(blankLines, 2)
			}
			d.newline(blankLines, last)
		}
		blankLines = 0
		if st.pre != 0 {
			d.add(line, st)
			continue
		}
		for line != "" {
			n, whole := unit(line)
			if whole {
				d.atoms = append(d.atoms, atom{kind: glue, text: line[:n]})
			} else {
				d.add(line[:n], st)
			}
			line = line[n:]
		}
	}
	return d
}

// unit gives the next stretch of a line: a link, an address or a code span that must not be cut, or what comes before one.
func unit(s string) (n int, whole bool) {
	const longest = 1000
	i := strings.IndexAny(s, "`[<")
	switch {
	case i < 0:
		return len(s), false
	case i > 0:
		return i, false
	}
	head := s[:min(len(s), longest)]
	end := -1
	switch s[0] {
	case '`':
		ticks := len(s) - len(strings.TrimLeft(s, "`"))
		if ticks < len(head) {
			if j := strings.Index(head[ticks:], strings.Repeat("`", ticks)); j >= 0 {
				end = 2*ticks + j
			}
		}
		if end < 0 {
			return ticks, false
		}
	case '[':
		if j := strings.Index(head, "]("); j >= 0 {
			if k := strings.IndexByte(head[j:], ')'); k >= 0 {
				end = j + k + 1
			}
		}
	case '<':
		if j := strings.IndexAny(head, " >"); j > 0 && head[j] == '>' {
			end = j + 1
		}
	}
	if end < 0 {
		return 1, false
	}
	return end, true
}

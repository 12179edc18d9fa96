package channels

import "strings"

// fence follows fenced code over lines. The zero fence is outside of code.
type fence struct {
	char       byte
	n          int
	backticked bool // only backticks fence: the text has no two rows of tildes, and what nothing closes is a line under a title
}

func newFence(text string) fence {
	if !strings.Contains(text, "~~~") {
		return fence{backticked: true}
	}
	rows := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "~~~") {
			rows++
		}
	}
	return fence{backticked: rows < 2}
}

func (f *fence) open() bool { return f.n > 0 }

// line takes the next line and reports whether it opens or closes code.
func (f *fence) line(s string) bool {
	if s == "" {
		return false
	}
	t := strings.TrimLeft(s, " ")
	if len(s)-len(t) > 3 || t == "" || t[0] != '`' && t[0] != '~' {
		return false
	}
	n := len(t) - len(strings.TrimLeft(t, t[:1]))
	rest := t[n:]
	switch {
	case f.n == 0 && n >= 3 && (t[0] == '~' && !f.backticked || t[0] == '`' && !strings.Contains(rest, "`")):
		f.char, f.n = t[0], n
		return true
	case f.n > 0 && t[0] == f.char && n >= f.n && strings.TrimSpace(rest) == "":
		f.n = 0
		return true
	}
	return false
}

// infoWords takes apart what stands behind an opening fence: the name of a language, and words that are more than that.
func infoWords(info string) (lang, words string) {
	first, _, several := strings.Cut(info, " ")
	switch lang = language(first); {
	case !several && (lang != "" || info == ""):
		return lang, ""
	case lang != strings.ToLower(first):
		return "", info
	}
	return lang, info
}

// The parser takes more than linear time for some shapes of text, so it gets pieces of bounded size, and pieces of such a shape
// are taken as plain text. Ordinary texts are far below these bounds.
const (
	pieceSize   = 16 << 10 // a piece ends at the next blank line outside of code
	pieceMost   = 32 << 10 // and here at the latest
	mostBracket = 400      // "[" in a piece
	mostNesting = 24       // quote and list markers at the start of a line
	mostCells   = 20_000   // widest line times lines
)

// piece is a stretch of source and the line ends in front of it.
type piece struct {
	text string
	gap  int
}

// pieces cuts a long text where it does not hurt: at blank lines outside of code, if there are any.
func pieces(md string) []piece {
	if len(md) <= pieceSize {
		return []piece{{text: md}}
	}
	var out []piece
	f := newFence(md)
	start, gap := 0, 0
	opened := "" // the line that opened the code that is open
	reopen := ""
	emit := func(end, nextGap int) {
		text := md[start:end]
		if reopen != "" {
			text = reopen + "\n" + text
		}
		reopen = ""
		if f.open() {
			text += "\n" + strings.Repeat(string(f.char), f.n)
			reopen = opened
		}
		if strings.TrimSpace(md[start:end]) != "" {
			out = append(out, piece{text, gap})
		}
		start, gap = end, nextGap
	}
	for at := 0; at < len(md); {
		end := len(md)
		if i := strings.IndexByte(md[at:], '\n'); i >= 0 {
			end = at + i
		}
		for end-start > pieceMost { // a line that is too long by itself, or the last one that fits
			cut := at
			if cut == start {
				cut = wordBefore(md, start+pieceMost)
				emit(cut, 0)
				at = cut
				continue
			}
			emit(cut, 1)
		}
		line := md[at:end]
		if f.line(line) && f.open() {
			row, info := fenceRow(strings.TrimLeft(line, " "))
			lang, _ := infoWords(info)
			opened = row + lang
		}
		if line == "" && !f.open() && at-start >= pieceSize && end+1 < len(md) && md[end+1] != ' ' && md[end+1] != '\t' {
			emit(at, 2)
		}
		at = end + 1
	}
	if start < len(md) {
		f.n = 0 // what is open at the end of the text is closed by the parser
		emit(len(md), 0)
	}
	return out
}

// wordBefore gives a place at or before i that is between two words, or at least between two runes.
func wordBefore(s string, i int) int {
	if j := strings.LastIndexByte(s[i-1000:i], ' '); j > 0 {
		return i - 1000 + j
	}
	for s[i]&0xc0 == 0x80 {
		i--
	}
	return i
}

// knotty reports whether a piece would cost the parser too much.
func knotty(s string) bool {
	if strings.Count(s, "[") > mostBracket {
		return true
	}
	widest, lines := 0, 0
	for line := range strings.Lines(s) {
		lines++
		widest = max(widest, strings.Count(line, "|"))
		nesting := 0
	prefix:
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case c == '>' || c == '-' || c == '+' || c == '*' || c == '.' || c == ')':
				nesting++
			case c != ' ' && c != '\t' && (c < '0' || c > '9'):
				break prefix
			}
		}
		if nesting > mostNesting && strings.Trim(line, "-*_ \n") != "" {
			return true
		}
	}
	return widest*lines > mostCells
}

// Stretch is a part of a text for a Markdown parser.
type Stretch struct {
	Text    string
	IsPlain bool // a parser would take too long for it: it is shown as it is
}

// Stretches cuts Markdown into parts that ParseMarkdown takes bounded time for, together the whole text. An ordinary text is one of them up
// to 16 kB, and longer ones are cut at empty lines.
func Stretches(md string) (out []Stretch) {
	for _, p := range pieces(md) {
		if !knotty(p.text) {
			out = append(out, Stretch{p.text, false})
			continue
		}
		for _, q := range untie(p.text) {
			out = append(out, Stretch{q.text, !isFence(q.text) && knotty(q.text)})
		}
	}
	return out
}

// untie separates the code blocks of a knotty piece from its text: code is harmless, and the text may be once it stands alone.
func untie(s string) []piece {
	var out []piece
	f := newFence(s)
	start := 0
	for at := 0; at < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if f.line(strings.TrimSuffix(s[at:end], "\n")) {
			cut := end
			if f.open() {
				cut = at
			}
			if cut > start {
				out = append(out, piece{s[start:cut], 1})
				start = cut
			}
		}
		at = end
	}
	if start < len(s) {
		out = append(out, piece{s[start:], 1})
	}
	return out
}

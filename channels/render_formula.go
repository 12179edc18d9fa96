package channels

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/util"

	"parley/channels/pattern"
)

// TeX formulas of several lines stay as they are written. The parser reads a text in which they are masked: it finds no markup in them, and its
// segments hold for the text itself, since masks have the same length. Formulas of one line are left to literals.

// formulaEnds are how formulas end, by how they begin. Behind \begin stands the name of an environment, which the end repeats.
var formulaEnds = []struct{ open, close string }{{"$$", "$$"}, {`\[`, `\]`}, {`\(`, `\)`}, {`\begin{`, `\end{`}, {"$", "$"}}

const longestFormula = 4000

// maskFormulas returns a text with a letter for each byte of its formulas of several lines. It returns the text itself when it has none.
func maskFormulas(src []byte) []byte {
	if bytes.IndexByte(src, '$') < 0 && bytes.IndexByte(src, '\\') < 0 {
		return src
	}
	m := formulaMask{src: src, out: src, barrier: -1}
	for at := 0; at < len(src); {
		n := 0
		if src[at] == '$' || src[at] == '\\' {
			n = m.formula(at)
		}
		at += max(n, 1)
	}
	return m.out
}

// formulaMask masks the formulas of a text from its begin to its end, in linear time.
type formulaMask struct {
	src, out []byte
	next     [5]int // where the next end of each kind of formula stands, at least
	ends     []int  // where each end of an environment stands, found when one is looked for
	barrier  int    // where the next line without text, or the next backtick stands, at least
}

// formula masks the formula that begins at a place, and returns how much of the text needs no second look; 0 = no formula begins there.
func (m *formulaMask) formula(at int) int {
	rest := m.src[at:]
	if rest[0] == '\\' && (len(rest) < 2 || !among(rune(rest[1]), "[(b")) {
		return 0
	}
	if at > 0 && (m.src[at-1] == '\\' || m.src[at-1] == '/' || util.IsAlphaNumeric(m.src[at-1])) {
		return 0
	}
	for kind, f := range formulaEnds {
		if !bytes.HasPrefix(rest, []byte(f.open)) {
			continue
		}
		body := at + len(f.open)
		end := m.until(&m.next[kind], body, f.close)
		if f.open == `\begin{` {
			end = m.environment(body, end)
		}
		if end < 0 || end-at > longestFormula {
			return len(f.open)
		}
		switch content := m.src[body:end]; {
		case bytes.IndexByte(content, '\n') < 0:
			return end - at // the end may be the begin of the next one
		case m.closed(at, end) || m.crosses(f.open, at, end) || !isFormula(f.open, content):
			return len(f.open)
		}
		end += len(f.close)
		if f.open == `\begin{` {
			end += bytes.IndexByte(m.src[end:], '}') + 1
		}
		m.mask(at, end)
		return end - at
	}
	return 0
}

// until gives the place of a text from a place on, -1 = it is nowhere. *known remembers the last one that was found.
func (m *formulaMask) until(known *int, from int, s string) int {
	if *known >= 0 && *known < from {
		*known = after(m.src, from, s)
	}
	return *known
}

// environment gives where the environment ends whose name begins at a place: with the first end of that name from a place on, unless it is too far.
func (m *formulaMask) environment(name, end int) int {
	const longest, most = 30, 20
	n := bytes.IndexByte(m.src[name:min(len(m.src), name+longest)], '}')
	if n < 0 || end < 0 {
		return -1
	}
	if m.ends == nil {
		for at := end; at >= 0; at = after(m.src, at+1, `\end{`) {
			m.ends = append(m.ends, at)
		}
	}
	near := min(len(m.src), name+longestFormula) - len(`\end{`)
	next, _ := slices.BinarySearch(m.ends, end)
	for _, end := range m.ends[next:min(len(m.ends), next+most)] {
		if end > near {
			break
		}
		if bytes.HasPrefix(m.src[end+len(`\end{`):], m.src[name:name+n+1]) {
			return end
		}
	}
	return -1
}

// after gives the place of a text from a place on, -1 = it is nowhere.
func after(src []byte, from int, s string) int {
	i := bytes.Index(src[from:], []byte(s))
	if i < 0 {
		return -1
	}
	return from + i
}

// closed reports whether a paragraph ends, or code begins, between two places.
func (m *formulaMask) closed(at, end int) bool {
	if m.barrier < at {
		m.barrier = len(m.src)
		if i := formulaBarrier.FindIndex(m.src[at:]); i != nil {
			m.barrier = at + i[0]
		}
	}
	return m.barrier < end
}

// formulaBarrier finds what is in no formula: an empty line, a backtick, a fence of tildes, and the line below the head of a table.
var formulaBarrier = pattern.New("`|~~~|\n[ \t>]*(?:\n|(?:\\|[ \t]*:?-+|:?--+):?[ \t]*\\|)")

// crosses reports whether a formula of several lines would begin in a cell, reach from one item of a list into the next one, or begin with dollars
// that more words stand around: Joe's $$ and Kim's $$ are prices.
func (m *formulaMask) crosses(open string, at, end int) bool {
	from := max(0, at-longestFormula)
	head := string(m.src[from+bytes.LastIndexByte(m.src[from:at], '\n')+1 : at])
	marks := blockMarks(head)
	if strings.HasPrefix(head[marks:], "|") || strings.Contains(head, " | ") || open == "$$" && m.areDollarsOfText(at, end, marks < len(head)) {
		return true
	}
	if !containerOf(head).isItem() {
		return false
	}
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, quoteMarks)) }
	for _, line := range strings.Split(string(m.src[at:end]), "\n")[1:] {
		if containerOf(line).isItem() && indent(line) <= indent(head) {
			return true
		}
	}
	return false
}

// areDollarsOfText reports whether two pairs of dollars in different lines are no begin and end of a formula: three are none, and behind words a
// formula begins at the end of its line and ends at the begin of another one.
func (m *formulaMask) areDollarsOfText(at, end int, isBehindWords bool) bool {
	body, rest := m.src[at+len("$$"):end], m.src[end+len("$$"):]
	last := string(body[bytes.LastIndexByte(body, '\n')+1:])
	if body[0] == '$' || bytes.HasPrefix(rest, []byte("$")) || containerOf(last+"$").isItem() && blockMarks(last+"$") == len(last) {
		return true
	}
	return isBehindWords && (bytes.TrimLeft(body, " \t")[0] != '\n' || strings.Trim(last, quoteMarks) != "")
}

// isFormula reports whether text between two marks is TeX. Two dollars may be the price of a restaurant, and one the price of anything.
func isFormula(open string, content []byte) bool {
	last := content[len(content)-1]
	switch open {
	case "$":
		return len(content) < 300 && !util.IsSpace(content[0]) && !util.IsSpace(last) && texCommand.Match(content)
	case `\begin{`:
		return true
	}
	return texSign.Match(content) || content[0] == '\n' && len(bytes.Trim(content[bytes.LastIndexByte(content, '\n'):], " \t\n>")) == 0
}

var (
	texCommand = pattern.New(`\\[A-Za-z]|[_^]\{`)
	texSign    = pattern.New(`[\\^={]|[A-Za-z0-9]_[A-Za-z0-9{]`)
)

// mask writes letters over a part of the text, but not over what begins its lines.
func (m *formulaMask) mask(at, end int) {
	if &m.out[0] == &m.src[0] {
		m.out = bytes.Clone(m.src)
	}
	begin := " \t"
	if line := m.src[bytes.LastIndexByte(m.src[:at], '\n')+1:]; bytes.HasPrefix(bytes.TrimLeft(line, begin), []byte(">")) {
		begin = quoteMarks
	}
	for at < end {
		line := m.out[at:end]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		for i := len(line) - len(bytes.TrimLeft(line, begin)); i < len(line); i++ {
			line[i] = 'x'
		}
		at += len(line) + 1
	}
}

package channels

import (
	"slices"
	"strings"
)

// SeparateFences puts each fence of code on a line of its own, as Markdown wants it. Models write "Try this: ```js" and "``` It prints
// 1."; Markdown reads the first as text and the second as a new fence. Words behind a closing fence follow on it. It takes linear time.
func SeparateFences(md string) string {
	if areFencesSeparate(md) {
		return md
	}
	return rewriteFences(md)
}

func rewriteFences(md string) string {
	lines := strings.Split(md, "\n")
	f := &fenceRows{lines: lines, tildes: !newFence(md).backticked}
	f.out.Grow(len(md) + len(md)/8)
	for i, line := range f.lines {
		text := strings.TrimLeft(line, quoteMarks)
		if row, rest := fenceRow(text); row != "" {
			f.rows = append(f.rows, fenceLine{
				line: int32(i), n: int32(len(row)), char: row[0], isAlone: rest == "", hasWords: strings.Contains(rest, " "),
				isApart: len(row) < len(text) && text[len(row)] == ' ', hasRow: strings.Contains(rest, row[:3]),
			})
		}
	}
	for i, next := len(f.rows)-1, len(f.rows); i >= 0; i-- {
		l := &f.rows[i]
		if l.next = int32(next); l.isAlone || l.hasWords {
			next = i
		}
	}
	for i := 0; i < len(f.lines); {
		i = f.line(i)
	}
	return strings.TrimPrefix(f.out.String(), "\n")
}

// areFencesSeparate reports whether there are no fences, or all are as most models write them: three backticks at the start of a line, with
// the name of a language or nothing behind those that open.
func areFencesSeparate(md string) bool {
	if strings.Contains(md, "~~~") {
		return false
	}
	open := false
	for at := 0; ; {
		i := strings.Index(md[at:], "```")
		if i < 0 {
			return !open
		}
		start := at + i
		at = len(md)
		if n := strings.IndexByte(md[start:], '\n'); n >= 0 {
			at = start + n
		}
		info := md[start+len("```") : at]
		if start > 0 && md[start-1] != '\n' || info != "" && (open || language(info) != info) {
			return false
		}
		open = !open
	}
}

const quoteMarks = " \t>"

// fenceRows writes lines again, with fences on lines of their own.
type fenceRows struct {
	lines    []string
	out      strings.Builder // each line behind a line end
	rows     []fenceLine
	tildes   bool // rows of tildes are fences
	listed   bool // an item of a list came before: fences may be indented
	quoteEnd int  // the line behind the quotation that was looked at last
}

// fenceLine is a line that begins with a row of backticks or tildes, and what is known of the text behind the row.
type fenceLine struct {
	line, n  int32 // n: of the characters in the row
	char     byte
	isAlone  bool  // there is no text
	isApart  bool  // it begins with a space
	hasWords bool  // there are several words
	hasRow   bool  // it has such a row itself
	next     int32 // the index of the next one that is alone or has words
}

// container is what a line with code belongs to: the marks of quotations and items in front of it, and what continues them.
type container struct{ marks, next string }

func containerOf(line string) container {
	end := blockMarks(line)
	if end == 0 {
		return container{}
	}
	return container{line[:end], strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, line[:end])}
}

// blockMarks gives the length of the marks of quotations and of list items at the start of a line, with the white space around them.
func blockMarks(line string) int {
	const longest = 9 // digits of a number
	for at := 0; ; {
		for at < len(line) && isSpaceOrTab(line[at]) {
			at++
		}
		i := at
		for i < len(line) && i < at+longest && line[i] >= '0' && line[i] <= '9' {
			i++
		}
		if i == len(line) {
			return at
		}
		isMark := i == at && strings.IndexByte("-*+", line[i]) >= 0 || i > at && (line[i] == '.' || line[i] == ')')
		switch {
		case i == at && line[i] == '>':
			at++
		case isMark && i+1 < len(line) && isSpaceOrTab(line[i+1]):
			at = i + 2
		default:
			return at
		}
	}
}

func isSpaceOrTab(c byte) bool { return c == ' ' || c == '\t' }

func (c container) isItem() bool { return c.marks != c.next }

// fenceRow gives the row of at least three backticks or tildes that a text starts with, and what stands behind it.
func fenceRow(s string) (row, rest string) {
	if !strings.HasPrefix(s, "```") && !strings.HasPrefix(s, "~~~") {
		return "", s
	}
	rest = strings.TrimLeft(s, s[:1])
	return s[:len(s)-len(rest)], strings.TrimSpace(rest)
}

// write writes a line.
func (f *fenceRows) write(parts ...string) {
	f.out.WriteByte('\n')
	for _, part := range parts {
		f.out.WriteString(part)
	}
}

// line writes a line outside of code, with the code that begins on it, and gives the next line.
func (f *fenceRows) line(i int) int {
	line := f.lines[i]
	c := containerOf(line)
	f.listed = f.listed || c.isItem()
	body := line[len(c.marks):]
	row, info := fenceRow(body)
	if isOpening := row != "" && (row[0] == '`' && !strings.Contains(info, "`") || row[0] == '~' && f.tildes) &&
		(f.listed || len(c.marks) < 4 || strings.Contains(c.marks, ">")); isOpening {
		return f.fence(i, c, row)
	}
	if at, inner := fenceInside(body); at > 0 && row == "" {
		if next := f.inside(i, c, body[:at], inner, body[at+len(inner):]); next > 0 {
			return next
		}
	}
	f.write(line)
	return i + 1
}

// fence writes code whose fence begins a line.
func (f *fenceRows) fence(i int, c container, row string) int {
	limit := f.limit(i, c)
	end, tail := f.closing(i, limit, row)
	if end < 0 {
		end = f.closingBehind(i, limit, row)
	}
	f.write(f.lines[i])
	if end < 0 {
		f.code(c, f.lines[i+1:limit])
		return limit
	}
	return f.end(i, end, c, row, tail)
}

// inside writes code whose fence stands behind other words. It gives 0 when nothing closes it: then the row is text.
func (f *fenceRows) inside(i int, c container, head, row, info string) int {
	const longest = 2000 // lines
	end, tail := f.closing(i, min(i+longest, len(f.lines)), row)
	if end < 0 || end >= f.limit(i, c) || info != strings.TrimLeft(info, " \t") || strings.TrimSpace(info+strings.Join(f.lines[i+1:end], "")) == "" {
		return 0
	}
	if next := f.rowAfter(i); int(f.rows[next].line) < end { // another fence opens first
		return 0
	}
	f.write(c.marks, strings.TrimRight(head, " \t"))
	if info = strings.TrimSpace(info); info == "" || language(info) != "" && !strings.Contains(info, " ") {
		f.write(c.next, row, info)
	} else {
		f.write(c.next, row)
		f.write(c.next, info)
	}
	return f.end(i, end, c, row, tail)
}

// end writes the lines of code between i and end, and the fence that closes them. What follows on that becomes a line.
func (f *fenceRows) end(i, end int, c container, row, tail string) int {
	code := f.lines[i+1 : end]
	if !strings.HasPrefix(strings.TrimLeft(f.lines[end], quoteMarks), row) { // the fence stands at the end of code
		line := strings.TrimRight(f.lines[end], " \t")
		code = append(code[:len(code):len(code)], strings.TrimSuffix(line, row))
	}
	f.code(c, code)
	f.write(c.next, row)
	if tail == "" {
		return end + 1
	}
	f.lines[end] = c.next + tail
	return end
}

// code writes lines of code, indented as an item's text is: a line that is not would end the item and the code.
func (f *fenceRows) code(c container, lines []string) {
	outside := c.isItem() && slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" && !c.holds(line) })
	indent := ""
	if outside {
		indent = c.next
	}
	for _, line := range lines {
		f.write(indent, line)
	}
}

// holds reports whether a line is indented as an item's text is.
func (c container) holds(line string) bool { return strings.HasPrefix(line, c.next) }

// limit gives the line that does not belong to the container of line i any more.
func (f *fenceRows) limit(i int, c container) int {
	quoted, item := strings.Contains(c.marks, ">"), c.isItem()
	if !quoted && !item {
		return len(f.lines)
	}
	if quoted && i >= f.quoteEnd {
		for f.quoteEnd = i + 1; f.quoteEnd < len(f.lines) && strings.HasPrefix(strings.TrimLeft(f.lines[f.quoteEnd], " "), ">"); {
			f.quoteEnd++
		}
	}
	end := len(f.lines)
	if quoted {
		end = f.quoteEnd
	}
	gap := false
	for k := i + 1; item && k < end; k++ {
		line := f.lines[k]
		switch {
		case strings.TrimSpace(line) == "":
			gap = true
			continue
		case !c.holds(line) && (gap || containerOf(line).isItem()):
			return k
		}
	}
	return end
}

// closing gives the line that closes code which a row opens on line i, -1 = none, and the text behind its fence. A fence with one word
// closes when no fence alone or with several words follows. Markdown as code has such fences itself, so there only a space parts words from
// the fence that they follow on.
func (f *fenceRows) closing(i, limit int, row string) (end int, tail string) {
	const most = 200 // a bound for the time
	end = -1
	nests := opensMarkdown(f.lines[i])
	first := f.rowAfter(i)
	for k := first; k < min(len(f.rows), first+most) && int(f.rows[k].line) < limit; k++ {
		l := &f.rows[k]
		if l.char == row[0] && int(l.n) >= len(row) && !l.hasRow && (end < 0 || l.isAlone || l.hasWords) {
			isEnd := l.isAlone || l.hasWords && (!nests || l.isApart)
			if isEnd || end < 0 {
				end = int(l.line)
			}
			if isEnd {
				break
			}
		}
		if end >= 0 {
			k = int(l.next) - 1
		}
	}
	if end >= 0 {
		_, tail = fenceRow(strings.TrimLeft(f.lines[end], quoteMarks))
	}
	return end, tail
}

// opensMarkdown reports whether an opening fence is that of code that is Markdown itself.
func opensMarkdown(line string) bool {
	line = strings.TrimRight(line, " \t")
	row, isMarkdown := strings.CutSuffix(line, "markdown")
	if !isMarkdown {
		row, isMarkdown = strings.CutSuffix(line, "md")
	}
	return isMarkdown && (strings.HasSuffix(row, "```") || strings.HasSuffix(row, "~~~"))
}

// closingBehind gives the line of code that a closing fence ends, -1 = none.
func (f *fenceRows) closingBehind(i, limit int, row string) int {
	for k := i + 1; k < limit; k++ {
		if line := strings.TrimRight(f.lines[k], " \t"); strings.HasSuffix(line, row) && strings.Count(line, row[:3]) == 1 {
			return k
		}
	}
	return -1
}

// rowAfter gives the index of the first row behind a line.
func (f *fenceRows) rowAfter(i int) int {
	lo, hi := 0, len(f.rows)
	for lo < hi {
		if mid := (lo + hi) / 2; int(f.rows[mid].line) > i {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// fenceInside finds a row of three or more backticks behind other words that no row on the line closes.
func fenceInside(s string) (at int, row string) {
	for i := strings.IndexByte(s, '`'); i >= 0 && i < len(s); {
		rest := strings.TrimLeft(s[i:], "`")
		row := s[i : len(s)-len(rest)]
		switch j := strings.Index(rest, row); {
		case j >= 0:
			i += len(row) + j + len(row)
		case len(row) >= 3 && !strings.Contains(rest, "`") && i > 0 && s[i-1] != '\\':
			return i, row
		default:
			i += len(row)
		}
		if i >= len(s) {
			break
		}
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			break
		}
		i += j
	}
	return 0, ""
}

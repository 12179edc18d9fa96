package channels

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"parley/channels/pattern"
)

// lineFacts says what a line of the source is, for all marks of it: what is code shows each single mark as it is written.
type lineFacts struct {
	start int // in the source
	text  []byte
	kind  lineKind // 0 = not looked at yet
}

// lineKind says which single marks of a line are characters of code.
type lineKind uint8

const (
	lineOfProse lineKind = iota + 1
	lineOfNames          // underscores around a word, which are part of a name
	lineOfCode           // all of them
)

var lineKey = parser.NewContextKey()

// lineOf gives the facts of the line that has src[at], one for all marks of the line.
func lineOf(pc parser.Context, src []byte, at int) *lineFacts {
	const longest = 1000
	if l, ok := pc.Get(lineKey).(*lineFacts); ok && at < l.start+len(l.text) && at >= l.start {
		return l
	}
	start := bytes.LastIndexByte(src[max(0, at-longest):at], '\n') + 1 + max(0, at-longest)
	text := src[start:min(len(src), at+longest)]
	if i := bytes.IndexByte(text[at-start:], '\n'); i >= 0 {
		text = text[:at-start+i]
	}
	l := &lineFacts{start: start, text: text}
	pc.Set(lineKey, l)
	return l
}

// isCode reports whether all of the line is code.
func (l *lineFacts) isCode() bool {
	if l.kind == 0 {
		l.kind = kindOfLine(l.text)
	}
	return l.kind == lineOfCode
}

// shows reports whether two single marks around a text are shown as they are written.
func (l *lineFacts) shows(char byte, content []byte) bool {
	return l.isCode() || l.kind == lineOfNames && char == '_' && (bytes.IndexByte(content, ' ') < 0 || bytes.Contains(content, []byte(" * ")) || bytes.Contains(content, []byte(" + ")))
}

// Signs of code. In what people write to each other, outside of code between backticks and of addresses, they hardly stand.
var (
	codeSigns = pattern.New(`\s(?:&&|\|\||[=!]==?|:=|[-+/*|&]=|\|\|=|=~|!~\*?|~\*)\s` + // operators with two characters
		`|\$[({]\w|\d>&\d|^(?:for|while|until|if)\s.*;\s*(?:do|then)\b|\w->\w+(?:\s*=|[;(\[]|\.\w|->\w+\s*[=;(])` + // of shells, C and PHP
		`|(?:^|[\s(\[,=])[rf]b?['"]` + // raw strings of Python
		`|\{$|\{\s[^}]*\s\}|\{\}$|=\s.*;$|\?\s.*\s:\s.*;$` + // blocks and statements
		`|^#(?:if(?:n?def)?|el(?:if|se)|endif|define|undef|include|pragma)\b` + // the C preprocessor
		`|;\s+(?://|/\*|#)\s|^[A-Z]{3,}\s.*;\s+--\s|(?:^|\s)/\*+\s.*\s\*/|^[\w.]+(?:\(.*\)|\s[-+*/]?=\s.*)\s+(?://|#)\s` + // comments behind statements and between them
		`|<%|%>|%%~?[A-Za-z]\b`) // templates and loops of batch files
	// prompts finds what programs ask for a command with: me@host:~$, PS C:\>, mysql>, irb(main):001:0>.
	prompts = pattern.New(`^(?:\([\w.-]+\)\s)?(?:[$%]|\[?[\w.-]+@[\w.-]+(?::\S*?|\s\S+\]|\s[~/]\S*\s)?[$#%>]|~?/\S*[$#]|~[$#]|\w*sh(?:-[\d.]+)?[$#>]|[\d.]+:\d+(?:\[\d+\])?>` +
		`|(?:PS\s)?[A-Za-z]:\\[^<>|*]*>|PS(?:\s\S+)?>|irb(?:\(\S*?\)[:\d]*)?>|[a-z]\w*[=-][#>]|\w+\s\[\S+\]>|[a-z]\w*>.*;$)(?:\s|$)`)
	nameSigns = pattern.New(`^[@$]?[a-z_][\w.]*(?:\[\S*\])? =\s|^[A-Z_][A-Z0-9_]*=\S|[\s,(]%[a-z]{2,3}\b|^\.(?:[a-z]+\s|[A-Z]+:)|^\$\(|\w_(?:\(|\.\w)` +
		`|^[A-Z]{3,} [A-Z]{3,}\s.*;$`)
	// lispSigns finds forms of Lisp in brackets. What is in brackets people write too.
	lispSigns = pattern.New(`\(\(|\([\w-]+ \(|\[\*|\s'(?:\(|\*|[a-z-]+\))|\s:[a-z][a-z-]+[\s)]|#['(\\]|\^[:{]|"[^"]*(?:%[sd]|~[a-z%])[^"]*"|\snil\)` +
		`|^\((?:def(?:n-?|var|un|ine|const(?:ant)?|parameter|macro|once)?|(?:re)?set!|swap!)\s`)
)

// lineWords returns what of a line is looked at for signs of code: not what begins it, and a space for each code between backticks, address and link.
func lineWords(line []byte) []byte {
	line = line[lineHead(line):]
	if bytes.IndexByte(line, '`') < 0 && !bytes.Contains(line, []byte("://")) && !bytes.Contains(line, []byte("](")) {
		return bytes.TrimSpace(line)
	}
	words := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		if n := passedOver(line[i:]); n > 0 {
			words = append(words, ' ')
			i += n
			continue
		}
		words = append(words, line[i])
		i++
	}
	return bytes.TrimSpace(words)
}

// lineHead gives the length of what stands in front of a line's words: marks of quotations and of an item of a list.
func lineHead(line []byte) int {
	at := 0
	for at < len(line) && (isPatternSpace(line[at]) || line[at] == '>') {
		at++
	}
	mark := at
	for mark < len(line) && util.IsNumeric(line[mark]) {
		mark++
	}
	switch rest := line[mark:]; {
	case mark > at && len(rest) > 0 && (rest[0] == '.' || rest[0] == ')'), mark == at && len(rest) > 0 && among(rune(rest[0]), "-+*"):
		mark++
	case mark == at && bytes.HasPrefix(rest, []byte("•")):
		mark += len("•")
	default:
		return at
	}
	end := mark
	for end < len(line) && isPatternSpace(line[end]) {
		end++
	}
	if end == mark {
		return at
	}
	return end
}

// passedOver gives the length of the code between backticks, the address or the link that a text begins with, 0 = none. Backticks that nothing
// closes are code as well when there are several.
func passedOver(s []byte) int {
	switch s[0] {
	case '`':
		n := len(s) - len(bytes.TrimLeft(s, "`"))
		if end := bytes.IndexByte(s[n:], '`'); end >= 0 {
			return len(s) - len(bytes.TrimLeft(s[n+end:], "`"))
		}
		if n > 1 {
			return n
		}
	case 'h':
		n := len("http://")
		if !bytes.HasPrefix(s, []byte("http://")) {
			if n++; !bytes.HasPrefix(s, []byte("https://")) {
				return 0
			}
		}
		end := n
		for end < len(s) && !isPatternSpace(s[end]) {
			end++
		}
		if end > n {
			return end
		}
	case '[':
		closing := bytes.IndexByte(s, ']')
		if closing < 0 || !bytes.HasPrefix(s[closing:], []byte("](")) {
			return 0
		}
		if end := bytes.IndexByte(s[closing:], ')'); end >= 0 {
			return closing + end + 1
		}
	}
	return 0
}

// mayHaveSigns reports whether a line has a character without which neither codeSigns nor nameSigns match: most lines that people write have none,
// and are read once instead of at each place by each sign.
func mayHaveSigns(line []byte) bool {
	for i, c := range line {
		switch c {
		case '&', '|', '=', '~', '$', '>', ';', '{', '}', '%':
			return true
		case '\'', '"': // behind the letter of a raw string
			if i > 0 && among(rune(line[i-1]), "rfb") {
				return true
			}
		case '(': // behind a name
			if i > 0 && (isWordByte(line[i-1]) || line[i-1] == '.') {
				return true
			}
		case '.':
			if i > 0 && line[i-1] == '_' {
				return true
			}
		case '*': // of a comment
			if i > 0 && line[i-1] == '/' {
				return true
			}
		}
	}
	return len(line) > 0 && (line[0] == '#' || line[0] == '.')
}

// endsPrompt reports whether a word of a line may end a prompt.
func endsPrompt(line []byte) bool {
	for i, c := range line {
		if (c == '$' || c == '#' || c == '%' || c == '>') && (i+1 == len(line) || line[i+1] == ' ') {
			return true
		}
	}
	return false
}

// isCommand reports whether a line is a command and its arguments, of which one is a pattern like *_x_* and another one a pattern, an option or the name
// of a file: copy *_a_* *_b_*, tar czf x.tgz *_a_*.
func isCommand(line []byte) bool {
	const mostWords = 2 // the command and what it does
	words, arguments, patterns := 0, 0, 0
	for field := range bytes.FieldsSeq(line) {
		switch {
		case len(bytes.Trim(field, "abcdefghijklmnopqrstuvwxyz")) == 0:
			if words++; words > mostWords || arguments > 0 {
				return false
			}
			continue
		case (field[0] == '*' || field[len(field)-1] == '*') && isCodeWord(field):
			patterns++
		case isOption(field), field[0] == '/' && len(field) == 2, fileName.Match(field):
		default:
			return false
		}
		arguments++
	}
	return words > 0 && patterns > 0 && arguments > 1
}

func kindOfLine(line []byte) lineKind {
	line = lineWords(line)
	some := mayHaveSigns(line)
	names := some && nameSigns.Match(line)
	isForm := len(line) > 1 && line[0] == '(' && line[len(line)-1] == ')' && isASCII(line)
	if some && (codeSigns.Match(line) || endsPrompt(line) && prompts.Match(line)) || beginsTimes(line) || isForm && lispSigns.Match(line) {
		return lineOfCode
	}
	const most = 32 // a bound for the time
	for i, n := 0, 0; i < len(line) && n < most; i++ {
		c := line[i]
		if c != '*' && c != '_' || i > 0 && (line[i-1] == c || line[i-1] == '\\' || isWordByte(line[i-1])) || i+1 >= len(line) || isBlankByte(line[i+1]) || line[i+1] == c {
			continue
		}
		n++
		end := bytes.IndexByte(line[i+1:], c)
		if end += i + 1; end <= i+1 || among(rune(line[end-1]), " (") || end+1 < len(line) && isWordByte(line[end+1]) {
			continue
		}
		before, _ := utf8.DecodeLastRune(line[:i])
		after, _ := utf8.DecodeRune(line[end+1:])
		m := pairOfMarks{char: c, head: line[:i], content: line[i+1 : end], tail: line[end+1:], before: before, after: after}
		switch {
		case followsCommand(m.head), among(rune(m.content[0]), "*_") && isCommand(line):
			return lineOfCode
		case c == '_' && m.isOfCode():
			names = true
		}
	}
	if names {
		return lineOfNames
	}
	return lineOfProse
}

// followsOpener reports whether a single mark in front of another one on its line opens something that nothing closes: then marks are the
// first characters of words on that line, as in *43# and *62*.
func followsOpener(opener *parser.Delimiter) bool {
	const most = 8                                     // a bound for the time
	row, closers := opener.Processor.(*markRun).row, 0 // those in front of a link are paired later
	for p, n := opener.PreviousDelimiter, 0; p != nil && n < most; p, n = p.PreviousDelimiter, n+1 {
		q, ok := p.Processor.(*markRun)
		switch {
		case !ok || q.row != row:
			return false
		case q.char != opener.Char || p.Length == 2:
		case p.CanClose:
			closers++
		case closers > 0:
			closers--
		case p.Length == 1 && (ofWord(q.after) || q.after == '#'):
			return true
		}
	}
	return false
}

// isHalf reports whether another single mark of the same kind in the word that has one at src[start] can be no markup: then none of the word is,
// as in *a*-*b* and _a_/_b_.
func isHalf(src []byte, start int, char byte) bool {
	const longest = 100
	from := start
	for from > max(0, start-longest) && !isBlankByte(src[from-1]) {
		from--
	}
	word := src[from:min(len(src), start+longest)]
	if i := bytes.IndexAny(word[start-from:], " \t\n"); i >= 0 {
		word = word[:start-from+i]
	}
	if i := bytes.Index(word, []byte("](")); i >= start-from { // an address follows
		word = word[:i]
	}
	if bytes.ContainsFunc(word, unspaced) {
		return false
	}
	for i := 0; i < len(word); i++ {
		n := 0
		for i+n < len(word) && word[i+n] == char {
			n++
		}
		if n == 1 && from+i != start && (i == 0 || word[i-1] != '\\') {
			r := runAt(src, from+i, 1)
			if opens, closes := r.flanks(1); !opens && !closes && (char == '*' || !r.isWithin) {
				return true
			}
		}
		i += max(n, 1) - 1
	}
	return false
}

// runAt gives a run of n marks at a place of the source, without what its line is.
func runAt(src []byte, start, n int) markRun {
	r := markRun{src: src, char: src[start], start: start, end: start + n, before: '\n', after: ' '}
	if start > 0 {
		r.before, _ = utf8.DecodeLastRune(src[:start])
	}
	if r.end < len(src) {
		r.after, _ = utf8.DecodeRune(src[r.end:])
	}
	r.isWithin = inWord(r.before) && inWord(r.after)
	return r
}

// opensCall reports whether a bracket is opened in a text, directly behind a word or another bracket, that it does not close: _is_x(k) or f('A_').
func opensCall(content []byte) bool {
	depth := 0
	for i, c := range content {
		switch c {
		case '(', '[', '{':
			if depth > 0 || i > 0 && (isWordByte(content[i-1]) || among(rune(content[i-1]), ")]}")) {
				depth++
			}
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
	}
	return depth > 0
}

package channels

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"parley/channels/pattern"
)

// isOfCode reports whether two single marks around a text are characters of code: of names in a statement, of patterns behind a command or an
// option, of an argument. It looks at what stands beside them on their line.
func (r *markRun) isOfCode(c *markRun, content []byte) bool {
	const longest = 200
	head := r.src[max(0, r.start-longest):r.start]
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	if r.command.of(func() bool { return followsCommand(head) }) {
		return true
	}
	if r.named.of(func() bool {
		outerHead := bytes.TrimRight(head, signsOfMarks)
		return isOption(lastField(outerHead)) || isArgument(head) || isSubstituted(outerHead)
	}) && isCodeWord(content) {
		return true
	}
	tail := r.src[c.end:min(len(r.src), c.end+longest)]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[:i]
	}
	m := pairOfMarks{char: r.char, head: head, content: content, tail: tail, before: r.before, after: c.after}
	return m.isBeside() || r.line != nil && r.line.shows(r.char, content)
}

const signsOfMarks = "*_~"

// pairOfMarks is a text between two single marks and what stands beside them on their line.
type pairOfMarks struct {
	char                byte
	head, content, tail []byte
	before, after       rune
}

// isCodeWord reports whether a text may be a name or a pattern.
func isCodeWord(content []byte) bool {
	return len(content) > 0 && bytes.IndexByte(content, ' ') < 0 && !bytes.ContainsFunc(content, func(r rune) bool { return !ascii(r) })
}

// isOfCode reports whether the marks are characters of a name.
func (m *pairOfMarks) isOfCode() bool {
	outerHead := bytes.TrimRight(m.head, signsOfMarks)
	return isCodeWord(m.content) && (isOption(lastField(outerHead)) || isArgument(m.head) || isSubstituted(outerHead) || m.isBeside())
}

// isBeside reports whether the marks stand beside what makes them characters of code.
func (m *pairOfMarks) isBeside() bool {
	if !isCodeWord(m.content) {
		return false
	}
	outerHead, outerTail := bytes.TrimRight(m.head, signsOfMarks), bytes.TrimLeft(m.tail, signsOfMarks)
	previous := lastField(outerHead)
	isNested := m.char == '_' && (m.before == '*' || m.after == '*') || m.char == '*' && m.content[0] == '_'
	if isNested && (isInGlob(m.head, m.tail) || string(previous) == "--" || bytes.Equal(previous, []byte("=~"))) {
		return true
	}
	return (m.char == '_' || isNested) && (isOperator(lastField(bytes.TrimRight(outerHead, "([ \t"))) || isOperator(firstField(bytes.TrimLeft(outerTail, ")] \t"))) ||
		isListedTightly(m.head, m.tail) || isKeyword(previous) || isKeyword(firstField(bytes.TrimLeft(outerTail, ") \t"))) || isComprehension(m.head, m.tail) ||
		bytes.Contains(m.head, []byte("._")) || bytes.Contains(m.head, []byte("->_")) || isStatement(m.head, m.content, m.tail))
}

// isInGlob reports whether what stands beside a text between underscores are stars of a pattern: *_a_*.txt, x*_a_*, \*_a_*\, *_a_*) and a star that
// nothing on the line closes or opens.
func isInGlob(head, tail []byte) bool {
	outerHead, outerTail := bytes.TrimRight(head, "*_"), bytes.TrimLeft(tail, "*_")
	if n := len(outerHead); n > 0 && (outerHead[n-1] == '\\' || outerHead[n-1] == '/' && len(outerTail) > 0 && among(rune(outerTail[0]), `/.`) || isWordByte(outerHead[n-1])) {
		return true
	}
	if len(outerTail) > 0 && (outerTail[0] == '\\' || isWordByte(outerTail[0]) || outerTail[0] == ')' && bytes.Count(head, []byte("(")) <= bytes.Count(head, []byte(")")) ||
		outerTail[0] == '.' && len(outerTail) > 1 && isWordByte(outerTail[1])) {
		return true
	}
	before, after := len(head)-len(bytes.TrimRight(head, "*")), len(tail)-len(bytes.TrimLeft(tail, "*"))
	return before == 1 && after == 0 && !closesLater(tail) || before == 0 && after == 1 && !opensEarlier(head)
}

// closesLater reports whether a star behind a word follows.
func closesLater(tail []byte) bool {
	for i, c := range tail {
		if c == '*' && i > 0 && tail[i-1] != ' ' && tail[i-1] != '*' {
			return true
		}
	}
	return false
}

// opensEarlier reports whether a star in front of a word came before.
func opensEarlier(head []byte) bool {
	for i, c := range head {
		if c == '*' && i+1 < len(head) && (isWordByte(head[i+1]) || head[i+1] >= utf8.RuneSelf || among(rune(head[i+1]), `"'(`)) {
			return true
		}
	}
	return false
}

// isSubstituted reports whether a text ends with what begins a substitution of a shell: $(, ${ or $((.
func isSubstituted(head []byte) bool {
	head = bytes.TrimRight(head, " ")
	name := bytes.TrimRight(head, "({")
	return len(name) < len(head) && bytes.HasSuffix(name, []byte("$"))
}

// isKeyword reports whether a word is one of SQL beside which a name stands. In capitals few people write them in a sentence.
func isKeyword(s []byte) bool {
	switch string(s) {
	case "SELECT", "FROM", "WHERE", "LIKE", "ILIKE", "JOIN", "INTO", "TABLE", "HAVING", "VALUES":
		return true
	}
	return false
}

// isComprehension reports whether a name stands in one of a programming language: [_x_ for _x_ in _y_].
func isComprehension(head, tail []byte) bool {
	open := bytes.LastIndexAny(head, "[{")
	if open < 0 || bytes.ContainsAny(head[open:], "]}") {
		return false
	}
	inner := head[open+1:]
	isFirst := len(bytes.TrimSpace(inner)) == 0
	return !isFirst && (bytes.HasSuffix(inner, []byte(" in ")) || bytes.HasSuffix(inner, []byte(" if "))) && bytes.Contains(inner, []byte(" for ")) ||
		(isFirst || bytes.HasSuffix(inner, []byte(" for "))) && bytes.Contains(tail, []byte(" in ")) && (!isFirst || bytes.HasPrefix(tail, []byte(" for ")))
}

// isListedTightly reports whether commas or colons without spaces stand beside a name: a,_b_,c and k:_v_.
func isListedTightly(head, tail []byte) bool {
	n := len(head)
	return n > 1 && among(rune(head[n-1]), ",;:|") && isWordByte(head[n-2]) || len(tail) > 1 && among(rune(tail[0]), ",;:|") && isWordByte(tail[1])
}

// isPicture reports whether a character is an emoji, or ends one.
func isPicture(r rune) bool {
	const pictures, joiner, keycap, emojiStyle = 0x2600, 0x200d, 0x20e3, 0xfe0f
	return r >= pictures && unicode.In(r, unicode.So, unicode.Sk) || r == joiner || r == keycap || r == emojiStyle
}

func lastField(s []byte) []byte {
	s = bytes.TrimRight(s, " \t")
	return s[bytes.LastIndexAny(s, " \t")+1:]
}

func firstField(s []byte) []byte {
	if i := bytes.IndexAny(s, " \t"); i >= 0 {
		return s[:i]
	}
	return s
}

// isOption reports whether a word is an option of a command: -v, --name.
func isOption(s []byte) bool {
	name := bytes.TrimLeft(s, "-")
	if dashes := len(s) - len(name); dashes < 1 || dashes > 2 || len(name) == 0 || !unicode.IsLetter(rune(name[0])) {
		return false
	}
	for _, c := range name {
		if !isWordByte(c) && c != '-' {
			return false
		}
	}
	return true
}

// isOperator reports whether a word assigns or compares.
func isOperator(s []byte) bool {
	switch string(s) {
	case "=", "==", "===", "!=", "!==", "+=", "-=", "*=", "/=", "|=", ":=", "<=", ">=", "&&", "||":
		return true
	}
	return false
}

// isArgument reports whether a bracket is open at the end of a text that stands directly behind a name: f(a, …, x[….
func isArgument(head []byte) bool {
	const longest = 60
	depth := 0
	for i := len(head) - 1; i > max(0, len(head)-longest); i-- {
		switch head[i] {
		case ')', ']':
			depth++
		case '(', '[':
			if depth--; depth < 0 {
				return isWordByte(head[i-1])
			}
		}
	}
	return false
}

// followsCommand reports whether a line, up to a mark, is a command of a shell.
func followsCommand(head []byte) bool {
	head = head[bytes.LastIndexAny(head, "|;&")+1:]
	words := bytes.TrimLeft(head, " \t>*+-.)0123456789")
	for _, lead := range commandLeads {
		words = bytes.TrimPrefix(words, lead)
	}
	name := firstField(words)
	if len(name) == len(words) { // nothing behind it
		return false
	}
	switch string(name) {
	case "grep", "egrep", "fgrep", "rg", "sed", "awk", "ls", "rm", "cp", "mv", "cd", "mkdir", "rmdir", "chmod", "chown", "scp", "rsync", "echo", "xcopy", "robocopy":
		return true
	case "git", "docker", "npm", "npx", "yarn", "pip", "cargo", "kubectl", "curl", "wget", "find", "go", "cat", "make", "python", "python3", "node", "tar", "ssh", "pytest":
		return bytes.Contains(words, []byte(" -"))
	}
	return false
}

// commandLeads may stand in front of a command.
var commandLeads = [][]byte{[]byte("then "), []byte("do "), []byte("else "), []byte("sudo ")}

// isStatement reports whether a line is a statement of a programming language: if _x_: return _y_.
func isStatement(head, content, tail []byte) bool {
	switch string(firstField(bytes.TrimLeft(head, " \t"))) {
	case "if", "elif", "while", "for", "return", "del", "import", "from", "raise", "yield":
		line := make([]byte, 0, len(head)+len(content)+len(tail)+2)
		line = append(append(append(append(append(line, head...), '_'), content...), '_'), tail...)
		return statement.Match(line)
	}
	return false
}

var statement = pattern.New(`^\s*(?:(?:if|elif|while) .*:(?:\s*(?:return|break|continue|pass|raise|yield)\b.*)?$|for \S+ in \S+:|(?:return|del|import|raise|yield) \S+(?:, \S+)*;?$|from \S+ import \S)`)

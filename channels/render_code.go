package channels

import (
	"bytes"
	"regexp"
	"unicode"
)

// isOfCode reports whether two single marks around a text are characters of code: of names in a statement, of patterns behind a command or an
// option, of an argument. It looks at what stands beside them on their line.
func (r *markRun) isOfCode(c *markRun, content []byte) bool {
	const longest = 200
	head := r.src[max(0, r.start-longest):r.start]
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	tail := r.src[c.end:min(len(r.src), c.end+longest)]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[:i]
	}
	if followsCommand(head) {
		return true
	}
	if bytes.IndexByte(content, ' ') >= 0 || bytes.ContainsFunc(content, func(r rune) bool { return !ascii(r) }) {
		return false
	}
	previous := lastField(head)
	if isOption(previous) || isArgument(head) {
		return true
	}
	return r.char == '_' && (isOperator(lastField(bytes.TrimRight(head, "([ \t"))) || isOperator(firstField(bytes.TrimLeft(tail, ")] \t"))) ||
		isListedTightly(head, tail) ||
		bytes.Contains(head, []byte("._")) || bytes.Contains(head, []byte("->_")) || isStatement(head, content, tail))
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
	prompt := bytes.HasPrefix(words, []byte("$ "))
	if prompt {
		words = words[len("$ "):]
	}
	words = bytes.TrimPrefix(words, []byte("sudo "))
	name := firstField(words)
	if len(name) == len(words) { // nothing behind it
		return false
	}
	switch string(name) {
	case "grep", "egrep", "fgrep", "rg", "sed", "awk", "ls", "rm", "cp", "mv", "cd", "mkdir", "rmdir", "chmod", "chown", "scp", "rsync", "echo":
		return true
	case "git", "docker", "npm", "npx", "yarn", "pip", "cargo", "kubectl", "curl", "wget", "find", "go", "cat", "make", "python", "python3", "node", "tar", "ssh", "pytest":
		return prompt || bytes.Contains(words, []byte(" -"))
	}
	return prompt
}

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

var statement = regexp.MustCompile(`^\s*(?:(?:if|elif|while) .*:(?:\s*(?:return|break|continue|pass|raise|yield)\b.*)?$|for \S+ in \S+:|(?:return|del|import|raise|yield) \S+;?$|from \S+ import \S)`)

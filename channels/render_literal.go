package channels

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"parley/channels/pattern"
)

// take makes text of the next n bytes as they are written: more of the text in front of them, if there is one. The parser moves that to the end,
// where it is.
func take(parent ast.Node, block text.Reader, n int) ast.Node {
	_, segment := block.PeekLine()
	block.Advance(n)
	stop := segment.Start + n
	if t, ok := parent.LastChild().(*ast.Text); ok && t.Segment.Stop == segment.Start && !t.SoftLineBreak() && !t.HardLineBreak() {
		t.Segment = t.Segment.WithStop(stop)
		return t
	}
	return ast.NewTextSegment(segment.WithStop(stop))
}

// literals parses backslashes and formulas. A backslash is left out only in front of what would be markup without it; those of
// patterns, paths and TeX stay. Formulas in $…$, $$…$$, \(…\) and \[…\] stay as they are.
type literals struct{}

// Trigger implements parser.InlineParser.
func (literals) Trigger() []byte { return []byte{'\\', '$'} }

// Parse implements parser.InlineParser.
func (literals) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	scan := scanOf(pc)
	if n := scan.formula(block, line, segment.Start); n > 0 {
		return take(parent, block, n)
	}
	if line[0] == '$' {
		return nil
	}
	if n := len(line) - len(bytes.TrimLeft(line, `\`)); n > 1 { // each but the last one stands in front of one
		return take(parent, block, n&^1)
	}
	if len(line) == 1 || line[1] == '\n' {
		return take(parent, block, 1)
	}
	if !isEscape(line) {
		return nil // a letter behind it is no escape in Markdown either
	}
	_, cell := parent.(*east.TableCell)
	n := 0 // of backslashes that stay, with the signs behind them; what could be a formula is looked at first
	for isEscape(line[n:]) && (n == 0 || !among(rune(line[n+1]), `\([`)) && !scan.escapes(block.Source(), segment.Start+n, line[n:], cell, pc) {
		n += 2
	}
	if n > 0 {
		return take(parent, block, n)
	}
	block.Advance(1)
	return take(parent, block, 1)
}

// isEscape reports whether a text begins with a backslash in front of a sign.
func isEscape(s []byte) bool { return len(s) > 1 && s[0] == '\\' && util.IsPunct(s[1]) }

// escapes reports whether the backslash at src[at:] is there for Markdown. line is the rest of its line. A word without an end is not
// looked at.
func (s *inlineScan) escapes(src []byte, at int, line []byte, cell bool, pc parser.Context) bool {
	if strings.IndexByte("|#[]-+.)*_~`<>&", line[1]) < 0 {
		return false
	}
	start, end, ok := s.word(src, at, line)
	if !ok {
		return false
	}
	head := src[start:at]
	if among(rune(line[1]), "*_~`<>") && loneSigns.Match(src[start:end]) && !opensItem(src, at, line) && !betweenOperands(src, start, end) {
		return false
	}
	switch line[1] {
	case '|':
		return cell
	case '#', '[', ']':
		return isOfProse(src[start:end]) || line[1] == '#' && len(head) == 0 && opensLine(src, start)
	case '-', '+':
		return len(head) == 0 && opensLine(src, start)
	case '.', ')':
		return len(head) > 0 && len(bytes.Trim(head, "0123456789")) == 0 && opensLine(src, start)
	case '*', '_', '~', '`', '<':
		return !isTechnical(src, start, end, pc)
	case '>':
		return len(head) == 0 && opensLine(src, start) || bytes.Contains(head, []byte(`\<`)) && !isTechnical(src, start, end, pc)
	case '&':
		return entity.Match(line[1:])
	}
	return false
}

// isOfProse reports whether the backslashes of a word stand in front of brackets and marks, and it is no pattern: \[, \#1, \[x\], C\#.
func isOfProse(word []byte) bool {
	isLetter := func(r rune) bool {
		return ascii(r) && ofWord(r) || !ascii(r) && unicode.In(r, unicode.L, unicode.M, unicode.N)
	}
	word = bytes.TrimLeftFunc(word, func(r rune) bool { return strings.ContainsRune(`"'({“„«`, r) })
	rest := word
	for len(rest) > 0 {
		r, size := utf8.DecodeRune(rest)
		if r == '\\' && len(rest) > 1 && among(rune(rest[1]), "[]#*_~") {
			size = 2
		} else if !isLetter(r) {
			break
		}
		rest = rest[size:]
	}
	return len(rest) < len(word) && len(bytes.TrimLeftFunc(rest, func(r rune) bool { return isLetter(r) || strings.ContainsRune("(){}[].,;:!?\"'”»-", r) })) == 0
}

var technicalKey = parser.NewContextKey()

// isTechnical looks at a word once, however many backslashes it has.
func isTechnical(src []byte, start, end int, pc parser.Context) bool {
	type verdict struct {
		start int
		is    bool
	}
	if v, ok := pc.Get(technicalKey).(verdict); ok && v.start == start {
		return v.is
	}
	v := verdict{start, technical.Match(src[start:end])}
	pc.Set(technicalKey, v)
	return v.is
}

// opensItem reports whether the star behind a backslash would begin an item of a list without it.
func opensItem(src []byte, at int, line []byte) bool {
	begin := bytes.LastIndexByte(src[max(0, at-20):at], '\n') + 1 + max(0, at-20)
	return line[1] == '*' && (len(line) < 3 || util.IsSpace(line[2])) && len(bytes.Trim(src[begin:at], " \t>*+-")) == 0
}

// betweenOperands reports whether a sign stands between what it calculates with or compares: 2 \* 3, x \< y, (a + b) \* c.
func betweenOperands(src []byte, start, end int) bool {
	const longest = 40
	return leftOperand.Match(src[max(0, start-longest):start]) && rightOperand.Match(src[end:min(len(src), end+longest)])
}

// opensLine reports whether there is nothing but white space in front of a place of a line.
func opensLine(src []byte, at int) bool {
	for at > 0 && (src[at-1] == ' ' || src[at-1] == '\t') {
		at--
	}
	return at == 0 || src[at-1] == '\n'
}

var (
	// technical finds words whose backslashes are their own: \d, C:\dir, \alpha, \., .*\*, ^\*, ¯\_(ツ)_/¯, s/\*/x/, /\*+/g, '5\_%', /\__/\.
	technical = pattern.New(`['"(|]/\\\*|['"(|]\\\*/|\\[A-Za-z0-9.()\[\]{}?+^$/|\\]|\.\*|[.)\]][*+?]|\^|¯|^[A-Za-z]:\\|` +
		`^["'(]*(?:s|y|m|tr|qr)[/|#@,].*[/|#@,]|^["'(=]*/.+/[dgimpsuxy]*["'),;.]*$|\\_.*%|%.*\\_|\\_+/|\\_{3}|\\$`)
	// loneSigns finds words of nothing but signs behind backslashes that are no markup without them either: \*, "\_", \*/\_.
	loneSigns    = pattern.New("^[\"'([“„«]*\\\\[*_~`<](?:[/|,]\\\\[*_~`<>])*[\"')\\]”“».,;:!?]*$")
	leftOperand  = pattern.New(`(?:\d[\p{L}%]?|(?:^|[^\p{L}])\p{L}|[)\]}])[ \t]+$`)
	rightOperand = pattern.New(`^[ \t]+(?:[-+$]?\d|\p{L}(?:$|[^\p{L}])|[(\[{])`)
	entity       = pattern.New(`^&#?\w{1,32};`)
)

// texBegin finds the begin of an environment of TeX.
var texBegin = pattern.New(`^\\begin\{\w+\*?\}`)

// formula gives the length of the TeX formula that a line's rest, which begins at a place of the source, starts with, 0 = none. The dollars of prices and of shells are none.
func (s *inlineScan) formula(block text.Reader, line []byte, at int) int {
	const longest = 2000
	head := line[:min(len(line), longest)]
	if len(head) < 2 {
		return 0
	}
	kind := -1
	switch [2]byte(head) {
	case [2]byte{'$', '$'}:
		kind = endsDisplay
	case [2]byte{'\\', '('}:
		kind = endsRound
	case [2]byte{'\\', '['}:
		kind = endsSquare
	case [2]byte{'\\', 'b'}:
		return s.environment(block.Source(), head, at)
	}
	if kind >= 0 {
		if end := s.endOfFormula(block.Source(), at+2, kind) + 2; end > at+4 && end <= at+len(head) {
			return end - at
		}
		return 0
	}
	if head[0] != '$' || len(head) < 3 || util.IsSpace(head[1]) || inWord(block.PrecendingCharacter()) {
		return 0
	}
	for i := 1; i < len(head); i++ {
		switch head[i] {
		case '\\':
			i++
		case '`', '\n':
			return 0
		case '$':
			after, _ := utf8.DecodeRune(head[i+1:])
			if util.IsSpace(head[i-1]) || i+1 < len(head) && unicode.IsDigit(after) || bytes.Contains(head[:i], []byte("**")) && bytes.Contains(head[:i], []byte(" ")) {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// environment gives the length of the environment of TeX that a line's rest starts with, 0 = none.
func (s *inlineScan) environment(src, head []byte, at int) int {
	if !bytes.HasPrefix(head, []byte(`\begin{`)) {
		return 0
	}
	from := s.endOfFormula(src, at, endsEnvironment) - at
	if from >= len(head) {
		return 0
	}
	name := texBegin.Find(head)
	if name == nil {
		return 0
	}
	end := []byte(`\end` + string(name[len(`\begin`):]))
	if i := bytes.Index(head[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return 0
}

// codeSpans parses code between backticks, but not between two apostrophes (don`t), not the quotation marks of TeX (“x”), and no
// backticks that are quoted themselves ('`').
type codeSpans struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (c codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	n := len(line) - len(bytes.TrimLeft(line, "`"))
	after, _ := utf8.DecodeRune(line[n:])
	switch {
	case n == 1 && inWord(block.PrecendingCharacter()) && inWord(after):
		return take(parent, block, n)
	case n < len(line) && quoted(lastBefore(block.Source()[:segment.Start]), after), n < len(line) && among(after, `'"`) && lastBefore(block.Source()[:segment.Start]) == after:
		return take(parent, block, n)
	case n == 1 && endsFace(block.PrecendingCharacter(), line[n:]):
		return take(parent, block, n)
	case n == 2 && inWord(after):
		const longest = 1000
		rest := line[n:min(len(line), longest)]
		if end := bytes.Index(rest, []byte("``")); end > 0 && bytes.Contains(rest[:end], []byte("''")) {
			return take(parent, block, n)
		}
	}
	return c.InlineParser.Parse(parent, block, pc)
}

// lastBefore gives the last character of a text without backslashes.
func lastBefore(s []byte) rune {
	const most = 8
	for range most {
		s = bytes.TrimSuffix(s, []byte(`\`))
	}
	r, _ := utf8.DecodeLastRune(s)
	return r
}

// endsFace reports whether a backtick between two texts is the cheek of a face: (´∀`), (*´ω`*).
func endsFace(before rune, after []byte) bool {
	return !ascii(before) && !util.IsSpaceRune(before) && !isOpening(before) && (bytes.HasPrefix(bytes.TrimLeft(after, "*;"), []byte(")")) ||
		bytes.HasPrefix(after, []byte("）")))
}

// autoLinks parses addresses in angle brackets: those of the web only. std::vector<std::string> is none.
type autoLinks struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (a autoLinks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if !isWebLink(line) {
		return nil
	}
	return a.InlineParser.Parse(parent, block, pc)
}

func isWebLink(line []byte) bool {
	for _, scheme := range []string{"<https://", "<http://", "<mailto:"} {
		if len(line) >= len(scheme) && strings.EqualFold(string(line[:len(scheme)]), scheme) {
			return true
		}
	}
	return false
}

// linksThatLead parses links and pictures. What leads nowhere, like handlers[0](event), is text as it is written.
type linksThatLead struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (l linksThatLead) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if line[0] == '!' && inWord(block.PrecendingCharacter()) { // Look![here](…)
		return take(parent, block, 1)
	}
	if n := bracketedWords(line); n > 0 && !pc.IsInLinkLabel() && pc.Get(definedKey) == nil {
		return take(parent, block, n)
	}
	n := l.InlineParser.Parse(parent, block, pc)
	var dest []byte
	opening := "["
	switch n := n.(type) {
	case *ast.Link:
		if n.Reference != nil {
			return n
		}
		dest = n.Destination
	case *ast.Image:
		if n.Reference != nil {
			return n
		}
		dest, opening = n.Destination, "!["
	default:
		return n
	}
	_, end := block.PeekLine()
	if leads(string(dest)) || end.Start < segment.Start || bytes.IndexByte(block.Source()[segment.Start:end.Start], '\n') >= 0 {
		return n
	}
	parent.AppendChild(parent, ast.NewRawTextSegment(text.NewSegment(n.Pos(), n.Pos()+len(opening))))
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		n.RemoveChild(n, c)
		parent.AppendChild(parent, c)
	}
	return ast.NewRawTextSegment(text.NewSegment(segment.Start, end.Start))
}

// bracketedWords gives the length of words in brackets that a text begins with and that only a definition could make a link of, 0 = none: [a], [x 1].
// What follows on them is what the parser would look at in any case.
func bracketedWords(line []byte) int {
	if line[0] != '[' {
		return 0
	}
	n := 1
	for n < len(line) && (util.IsAlphaNumeric(line[n]) || line[n] == ' ') {
		n++
	}
	if n == 1 || n+1 >= len(line) || line[n] != ']' || among(rune(line[n+1]), "[(") || !util.IsPunct(line[n+1]) && !isBlankByte(line[n+1]) {
		return 0
	}
	return n + 1
}

// CloseBlock implements parser.CloseBlocker: brackets that nothing closes become text.
func (l linksThatLead) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := l.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// leads reports whether a destination is meant as one: an address, a path or a file's name.
func leads(dest string) bool {
	return strings.ContainsAny(dest, ":/#") && !group.MatchString(dest) || fileName.MatchString(dest)
}

// group finds the begin of a group of a regular expression: [a-z](?:x)*.
var group = pattern.New(`^\?(?:[:=!>]|P?<)`)

var fileName = pattern.New(`\w\.[A-Za-z]\w*$`)

// lineEnds gives back the backslash at the end of a line: C:\dir\ is a folder, and a shell goes on behind it.
type lineEnds struct{}

// Transform implements parser.ASTTransformer.
func (lineEnds) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	src := reader.Source()
	if bytes.IndexByte(src, '\\') < 0 {
		return
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering && t.HardLineBreak() && t.Segment.Stop < len(src) && src[t.Segment.Stop] == '\\' {
			t.Segment = t.Segment.WithStop(t.Segment.Stop + 1)
		}
		return ast.WalkContinue, nil
	})
}

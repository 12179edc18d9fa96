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

// emphasis parses "*", "_" and "~~" where the writer of a chat meant them. CommonMark sees markup in 5~10, in 2*3*4, in ^_^ and in
// globs; here such marks are text. What remains follows CommonMark with the amendments for Chinese, Japanese and Korean.
//
// source: tats-u/markdown-cjk-friendly, specification.md; commonmark/commonmark-spec#650; agegr/pi-web#385
type emphasis struct{}

// The parser compares each mark of a paragraph with each, so they are paired in groups: of enoughMarks where none is open, of maxMarks else.
const (
	enoughMarks = 64
	maxMarks    = 128
)

var marksKey = parser.NewContextKey()

type markCount struct {
	in   ast.Node
	n    int // since the last group
	open int
}

// pair pairs the marks so far when there are enough. A link that is open keeps them waiting: they may be part of its text.
func (c *markCount) pair(parent ast.Node, pc parser.Context) {
	if c.n < enoughMarks || c.open > 0 && c.n < maxMarks || c.n%enoughMarks != 0 && c.open > 0 {
		return
	}
	first := pc.FirstDelimiter()
	for n := parent.LastChild(); n != nil && first != nil && n != ast.Node(first); n = n.PreviousSibling() {
		if n.Kind().String() == "LinkLabelState" {
			return
		}
	}
	if first != nil { // the parser looks at all nodes behind the one that it is given
		parser.ProcessDelimiters(first.PreviousSibling(), pc)
	}
	c.n, c.open = 0, 0
}

// Trigger implements parser.InlineParser.
func (emphasis) Trigger() []byte { return []byte{'*', '_', '~'} }

// Parse implements parser.InlineParser.
func (emphasis) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	if n > 3 || line[0] == '~' && n != 2 || scanOf(pc).inAddress(block.Source(), segment.Start, n) {
		return take(parent, block, n)
	}
	if end := max(dunder(line, before), patternIn(line, n, before)); end > 0 {
		return take(parent, block, end)
	}
	row, _ := block.Position()
	r := markRun{src: block.Source(), char: line[0], row: row, start: segment.Start, end: segment.Start + n, before: before, after: ' '}
	if n < len(line) {
		r.after, _ = utf8.DecodeRune(line[n:])
	}
	r.isWithin = inWord(before) && inWord(r.after)
	opens, closes := r.flanks(n)
	count, _ := pc.Get(marksKey).(*markCount)
	if count == nil || count.in != parent {
		count = &markCount{in: parent}
		pc.Set(marksKey, count)
	}
	count.pair(parent, pc)
	if !opens && !closes || count.n > 2*maxMarks {
		return take(parent, block, n)
	}
	if n == 1 && line[0] != '~' {
		r.line = lineOf(pc, block.Source(), segment.Start)
	}
	count.n++
	if opens && (!closes || count.open == 0) {
		count.open++
	} else if count.open > 0 {
		count.open--
	}
	mark := &struct { // one allocation
		run markRun
		parser.Delimiter
	}{run: r}
	d := &mark.Delimiter
	d.CanOpen, d.CanClose, d.Length, d.OriginalLength, d.Char, d.Processor = opens, closes, n, n, r.char, &mark.run
	d.Segment = segment.WithStop(segment.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	return d
}

// dunder gives the length of a name like __init__ or __FILE__ at the start of a line's rest, 0 = none. Bold words are not written
// like that: they are longer than a word, or begin with one capital.
func dunder(line []byte, before rune) int {
	if !bytes.HasPrefix(line, []byte("__")) || before == '_' {
		return 0
	}
	i := 2
	for i < len(line) && (line[i] == '_' || util.IsAlphaNumeric(line[i])) {
		i++
	}
	name := bytes.TrimRight(line[2:i], "_")
	if len(name) == 0 || i-2-len(name) != 2 || !bytes.Equal(name, bytes.ToLower(name)) && !bytes.Equal(name, bytes.ToUpper(name)) {
		return 0
	}
	if r, _ := utf8.DecodeRune(line[i:]); i < len(line) && inWord(r) {
		return 0
	}
	return i
}

// patternIn gives the length of a pattern like *x* in quotation marks or __(.*?)__, without what closes the quotation, 0 = none. It
// begins with n marks.
func patternIn(line []byte, n int, before rune) int {
	const longest = 100
	head := line[:min(len(line), longest)]
	if n >= len(head) {
		return 0
	}
	size := bytes.Index(head[n:], line[:n])
	if size <= 0 {
		return 0
	}
	content, end := head[n:n+size], n+size+n
	isQuoted := among(before, `'"`) && end < len(line) && rune(line[end]) == before
	if isQuoted && n == 1 || isQuoted && replaced.Match(content) || among(rune(content[0]), `(\.[`) && expression.Match(content) {
		return end
	}
	return 0
}

// markRun is a row of marks and what stands on both sides of it. It implements parser.DelimiterProcessor.
type markRun struct {
	src           []byte
	char          byte
	row           int
	start, end    int // in src
	before, after rune
	tight         bool // it ends a sentence, and the next word follows without a space
	isWithin      bool // it stands inside of a word of a script that separates words
	bracketed     runFact
	command       runFact
	named         runFact
	half          runFact // another mark of its word can be no markup
	line          *lineFacts
}

// runFact is what was found out about a run. Each run is compared with many.
type runFact uint8

// of returns the answer, and asks when there is none yet.
func (a *runFact) of(ask func() bool) bool {
	if *a == 0 {
		*a = 1
		if ask() {
			*a = 2
		}
	}
	return *a == 2
}

// Which ASCII punctuation may stand outside and inside of a single mark. What is missing is part of a formula, a path, a pattern, or
// an emoticon. Double marks are hardly anything but markup, so more may stand around them.
const (
	outsideOpening = `([{"',;:*_~|`
	insideOpening  = "\"'([{<`*_~#$"
	notOpening     = ",;:.!?)]}"
	insideClosing  = ")]}>\"'`*_~!?:%"
	outsideClosing = `)]}"'.,;:!?*_~|-`
	neverOutside   = `^$\`
	behindValue    = `.)]}%` // a double mark behind one of these may be an operator or a pattern
)

// flanks reports whether the run may open and may close emphasis.
func (r *markRun) flanks(n int) (opens, closes bool) {
	before := r.before
	if before >= 0xfe00 && before <= 0xfe0e && r.start > utf8.RuneLen(before) { // a variation selector: the character is before it
		before, _ = utf8.DecodeLastRune(r.src[:r.start-utf8.RuneLen(before)])
	}
	cjkBefore, cjkAfter := unspaced(before) || before >= 0xe0100 && before <= 0xe01ef, unspaced(r.after)
	spaceBefore, spaceAfter := util.IsSpaceRune(before), util.IsSpaceRune(r.after)
	punctBefore, punctAfter := util.IsPunctRune(before), util.IsPunctRune(r.after)
	left := !spaceAfter && (!punctAfter || cjkAfter || spaceBefore || punctBefore || cjkBefore)
	right := !spaceBefore && (!punctBefore || cjkBefore || spaceAfter || punctAfter || cjkAfter)
	if r.char == '_' {
		left, right = left && (!right || punctBefore), right && (!left || punctAfter)
	}
	switch single := n == 1; {
	case n == 2 && r.char == '*' && r.repeatsEnd() && r.endsPhrase(): // **A:**: b
		return false, true
	case single && ornament(before, r.after), single && isPicture(before) && (r.char == '_' || isPicture(r.after)) || single && r.char == '_' && isPicture(r.after), n != 2 && ofWord(before) && ofWord(r.after), quoted(before, r.after), before == r.after && punctBefore && !isOpening(before): // a*b, “*”, |*|
		return false, false
	case !single:
		opens = left && !r.standsAlone() && !among(before, neverOutside) && (spaceBefore || cjkBefore || !punctBefore || !among(r.after, notOpening)) &&
			(!among(before, behindValue) || r.startsText())
		r.tight = !right && n == 2 && r.char == '*' && r.endsSentence()
		closes = (right || r.tight) && r.after != '\\' && !among(before, "([{<")
	default:
		opens = left && (spaceBefore || cjkBefore || !punctBefore || among(before, outsideOpening) || !ascii(before) || isEitherOr(r.src, r.start-1, r.char)) && r.startsWord()
		closes = right && (spaceAfter || cjkAfter || !punctAfter || among(r.after, outsideClosing) || !ascii(r.after) || isEitherOr(r.src, r.end, r.char)) &&
			(!punctBefore || !ascii(before) || among(before, insideClosing) || among(before, ".,") && (spaceAfter || cjkAfter))
	}
	return opens, closes
}

// isEitherOr reports whether a slash at a place stands between two words with a single mark: *either*/*or*. One letter is a quantity that is divided: *a*/*b*.
func isEitherOr(src []byte, slash int, char byte) bool {
	if slash < 3 || slash+3 >= len(src) || src[slash] != '/' || src[slash-1] != char || src[slash+1] != char {
		return false
	}
	head, tail := src[:slash-1], src[slash+2:]
	last, n := utf8.DecodeLastRune(head)
	before, _ := utf8.DecodeLastRune(head[:len(head)-n])
	first, n := utf8.DecodeRune(tail)
	next, _ := utf8.DecodeRune(tail[n:])
	mark := rune(char)
	return before != mark && last != mark && first != mark && next != mark
}

// startsWord reports whether a single mark stands in front of something that is emphasized: words, and not *.go or (*_*).
func (r *markRun) startsWord() bool {
	if r.standsAlone() {
		return false
	}
	if !util.IsPunctRune(r.after) || !ascii(r.after) || among(r.after, insideOpening) {
		return r.after != '~' || bytes.HasPrefix(r.src[r.end:], []byte("~~"))
	}
	return bytes.HasPrefix(r.src[r.end:], []byte("..."))
}

// standsAlone reports whether nothing that could be emphasized follows on the run and other marks: only the end of a word, of a quotation or of
// what is in brackets.
func (r *markRun) standsAlone() bool {
	rest := bytes.TrimLeft(r.src[r.end:min(len(r.src), r.end+8)], "*_~")
	return len(rest) == 0 || util.IsSpace(rest[0]) || among(rune(rest[0]), ")]}") ||
		among(rune(rest[0]), `'"`) && len(rest) > 1 && (util.IsSpace(rest[1]) || among(rune(rest[1]), ",;)]"))
}

// startsText reports whether text follows on the run, and no operand or pattern in brackets.
func (r *markRun) startsText() bool {
	return ofWord(r.after) || !ascii(r.after) || among(r.after, "\"'`")
}

// endsText reports whether the run stands at the end of a word, and no operand follows on it.
func (r *markRun) endsText() bool {
	return r.tight || util.IsSpaceRune(r.after) || unspaced(r.after) || !ascii(r.after) && !ofWord(r.after) || among(r.after, outsideClosing)
}

// endsSentence reports whether the run stands between the end of a sentence or label and a word: **Note:**text.
func (r *markRun) endsSentence() bool {
	return unicode.IsLetter(r.after) && r.endsPhrase()
}

// endsPhrase reports whether a punctuation mark that ends a phrase stands in front of the run.
func (r *markRun) endsPhrase() bool {
	if !among(r.before, ":.!?") && (ascii(r.before) || !util.IsPunctRune(r.before)) {
		return false
	}
	last, _ := utf8.DecodeLastRune(r.src[:r.start-utf8.RuneLen(r.before)])
	if r.before == '.' && unicode.IsDigit(last) { // 2.**x
		return false
	}
	return ofWord(last) || among(last, `.!?)"'%`)
}

// repeatsEnd reports whether the same punctuation mark stands on both sides of the run and text ends with it: **A.**. B, but not a.**.b.
func (r *markRun) repeatsEnd() bool {
	if r.before != r.after || isOpening(r.before) || r.end >= len(r.src) {
		return false
	}
	_, size := utf8.DecodeRune(r.src[r.end:])
	rest := r.src[r.end+size:]
	return !ascii(r.after) || len(rest) == 0 || util.IsSpace(rest[0])
}

// startsClearly reports whether the run stands at the begin of a word.
func (r *markRun) startsClearly() bool {
	return r.startsText() && !ofWord(r.before) && !among(r.before, "!?=&/+|<>@#")
}

// IsDelimiter implements parser.DelimiterProcessor.
func (r *markRun) IsDelimiter(b byte) bool { return b == r.char }

// CanOpenCloser implements parser.DelimiterProcessor.
func (r *markRun) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	c, ok := closer.Processor.(*markRun)
	if !ok || c.char != r.char || opener.Length < 3 && closer.Length < 3 && opener.Length != closer.Length {
		return false
	}
	content := r.src[r.end:c.start]
	if opener.Length == 1 || closer.Length == 1 {
		if opener.Length == closer.Length && bytes.IndexByte(content, ' ') >= 0 && oneOfSeveral(opener, closer) { // *nix, *BSD and A*
			return false
		}
		if i := strings.IndexRune(")]}", c.before); i == 0 && bytes.IndexByte(content, '(') < 0 || i > 0 && r.after != rune("([{"[i]) { // [a-z]*, {a,b}*
			return false
		}
		if bytes.IndexByte(content, ')') >= 0 && r.inBrackets() && leaves('(', content) || isFace(r.before, content, c.after) { // (*ﾟ∀ﾟ) and (*_*)
			return false
		}
		if c.after == ')' && !r.inBrackets() || r.before == '{' && c.after == '}' || r.before == ':' && c.after == ':' || bytes.Contains(content, []byte("**/")) || c.after == '.' && c.beforeEnding() { // case $x in *a*) …, {*_a,_b*}, :*a*:, *_a.c and _*.py
			return false
		}
		if opener.OriginalLength == 1 && closer.OriginalLength == 1 && (followsOpener(opener) || r.half.of(func() bool { return isHalf(r.src, r.start, r.char) }) || c.half.of(func() bool { return isHalf(c.src, c.start, c.char) })) {
			return false
		}
		return (r.row == c.row || opener.OriginalLength > 2) && saysSomething(content) && bytes.IndexByte(content, ';') < 0 && !opensCall(content) && (r.char == '*' || !names(content) && !bytes.Contains(content, []byte(" = "))) &&
			!r.isOfCode(c, content)
	}
	if r.isWithin && c.isWithin { // 2**3 and f(**a, b**c)
		return false
	}
	if among(r.before, behindValue) && (!c.endsText() || c.isWithin || bytes.Count(content, []byte("(")) > bytes.Count(content, []byte(")"))) || c.tight && !r.startsClearly() { // (a)**b+c**(d)
		return false
	}
	if leaves(r.before, content) || bytes.IndexByte(content, ')') >= 0 && r.inBrackets() && leaves('(', content) || r.after == '/' && c.after == '/' { // f(**a)(**b), **/a **/b
		return false
	}
	if c.before == '/' && (r.after == '/' || bytes.IndexByte(content, ' ') >= 0) { // **/folder/**
		return false
	}
	if r.isWithin || c.isWithin { // **W**orld, un**believ**able
		return len(content) < 40 && onlyLetters(content) && unicode.IsLetter(outer(r, c))
	}
	return true
}

// beforeEnding reports whether a dot and the ending of a name follow on the run.
func (r *markRun) beforeEnding() bool {
	next, _ := utf8.DecodeRune(r.src[min(r.end+1, len(r.src)):])
	return ofWord(next)
}

// leaves reports whether a text closes the bracket that stands in front of it.
func leaves(bracket rune, content []byte) bool {
	i := strings.IndexRune("([{", bracket)
	if i < 0 {
		return false
	}
	depth := 0
	for _, c := range content {
		switch c {
		case "([{"[i]:
			depth++
		case ")]}"[i]:
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return false
}

// inBrackets reports whether a round bracket is open where the run stands.
func (r *markRun) inBrackets() bool {
	const longest = 1000
	return r.bracketed.of(func() bool {
		line := r.src[max(0, r.start-longest):r.start]
		line = line[bytes.LastIndexByte(line, '\n')+1:]
		return bytes.Count(line, []byte("(")) > bytes.Count(line, []byte(")"))
	})
}

// oneOfSeveral reports whether another single mark on the same line could open as well: then they are notes or names, and no pair.
func oneOfSeveral(opener, closer *parser.Delimiter) bool {
	const most = 8 // a bound for the time
	row := opener.Processor.(*markRun).row
	for p, n := closer.PreviousDelimiter, 0; p != nil && n < most; p, n = p.PreviousDelimiter, n+1 {
		if q, ok := p.Processor.(*markRun); ok && p != opener && q.char == opener.Char && p.Length == 1 && p.CanOpen && q.row == row {
			return true
		}
	}
	return false
}

// outer gives the character outside of the mark that stands inside of a word.
func outer(opener, closer *markRun) rune {
	if opener.isWithin {
		return opener.before
	}
	return closer.after
}

// OnMatch implements parser.DelimiterProcessor.
func (r *markRun) OnMatch(consumes int) ast.Node {
	if r.char == '~' {
		return east.NewStrikethrough()
	}
	return ast.NewEmphasis(consumes)
}

func ascii(r rune) bool { return r < utf8.RuneSelf }

func among(r rune, set string) bool { return ascii(r) && strings.IndexByte(set, byte(r)) >= 0 }

// inWord reports whether a character is part of a word of a script that separates words by spaces.
func inWord(r rune) bool {
	return ofWord(r) && !unspaced(r)
}

// ofWord reports whether a character is part of a word.
func ofWord(r rune) bool {
	if ascii(r) {
		return util.IsAlphaNumeric(byte(r))
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) && !unicode.Is(unicode.Variation_Selector, r)
}

// unspaced reports whether a character is of a script that writes no spaces between words.
func unspaced(r rune) bool {
	const first = 0xe00 // Thai begins there
	return isCJK(r) || r >= first && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Javanese)
}

// saysSomething reports whether there are letters, digits or pictures: (*_*) is a face, and *:・ﾟ✧* an ornament.
func saysSomething(s []byte) bool {
	const enough, pictures = 100, 0x1f000 // a bound for the time; where most emoji begin
	for i, r := range string(s) {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Lm, r) || unicode.IsNumber(r) || r >= pictures || i > enough {
			return true
		}
	}
	return false
}

// names reports whether what stands between two underscores are names that have some themselves: _private_var … CONST_NAME_, or a list
// of such: _private, __dunder__, trailing_.
func names(s []byte) bool {
	if bytes.IndexByte(s, '_') < 0 {
		return false
	}
	first, _, _ := bytes.Cut(s, []byte(" "))
	last := s[bytes.LastIndexByte(s, ' ')+1:]
	return name.Match(first) || name.Match(last) || listed.Match(s)
}

// listed finds a name that begins or ends with an underscore, and a list of names in which one name has underscores.
var listed = pattern.New(`(?:^|\s)_\w|\w_(?:[\s,;:.)]|$)|^\w+, (?:.*[^\w])?\w+_\w`)

var name = pattern.New(`^[A-Za-z0-9]+_[A-Za-z0-9_]+$`)

func onlyLetters(s []byte) bool {
	for _, r := range string(s) {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return len(s) > 0
}

// isCJK reports whether a character is Chinese, Japanese or Korean, punctuation of full width included: East Asian Width W, F or H
// without emoji, and all of Hangul.
//
// source: tats-u/markdown-cjk-friendly, ranges.md (Unicode 17)
func isCJK(r rune) bool { return r >= 0x1100 && unicode.Is(cjk, r) }

var cjk = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x11ff, 1}, {0x20a9, 0x20a9, 1}, {0x2329, 0x232a, 1}, {0x2630, 0x2637, 1}, {0x268a, 0x268f, 1}, {0x2e80, 0x303e, 1},
		{0x3041, 0x3247, 1}, {0x3250, 0xa4c6, 1}, {0xa960, 0xa97c, 1}, {0xac00, 0xd7fb, 1}, {0xf900, 0xfaff, 1}, {0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6b, 1}, {0xff01, 0xffdc, 1}, {0xffe0, 0xffee, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18df2, 1}, {0x1aff0, 0x1b2fb, 1}, {0x1d300, 0x1d376, 1}, {0x1f200, 0x1f200, 1}, {0x1f202, 0x1f202, 1},
		{0x1f210, 0x1f219, 1}, {0x1f21b, 0x1f22e, 1}, {0x1f230, 0x1f231, 1}, {0x1f237, 0x1f237, 1}, {0x1f23b, 0x1f23b, 1},
		{0x1f240, 0x1f248, 1}, {0x1f260, 0x1f265, 1}, {0x20000, 0x3fffd, 1},
	},
}

package channels

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"parley/channels/pattern"
)

// markdown parses the Markdown of chats: CommonMark with tables, strikethrough, bare links and task lists, where marks count
// only where the writer of a chat meant them. Lines under a text make no heading of it, "+" begins no list, ">" begins a quotation
// only in front of a space, entities and the backslashes of paths, patterns and formulas are text.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(markedList{guardedBlock{parser.NewListParser(), beginsList}}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(guardedBlock{parser.NewATXHeadingParser(), beginsHeading}, 600),
			util.Prioritized(fencedCode{guardedBlock{parser.NewFencedCodeBlockParser(), beginsFence}}, 700),
			util.Prioritized(quotation{guardedBlock{parser.NewBlockquoteParser(), beginsQuote}}, 800),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(literals{}, 50),
			util.Prioritized(codeSpans{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(linksThatLead{parser.NewLinkParser()}, 200),
			util.Prioritized(autoLinks{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(emphasis{}, 500),
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(util.Prioritized(definitions{}, 100), util.Prioritized(wideTables{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0), util.Prioritized(lineEnds{}, 10)),
	)
})

// guardedBlock is a block that begins only where a condition holds as well. It is given the line from its first mark on.
type guardedBlock struct {
	parser.BlockParser
	begins func(line []byte, reader text.Reader, pc parser.Context) bool
}

// Open implements parser.BlockParser.
func (w guardedBlock) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	if line = withoutBlanks(line); len(line) == 0 || !w.begins(line, reader, pc) {
		return nil, parser.NoChildren
	}
	return w.BlockParser.Open(parent, reader, pc)
}

// withoutBlanks returns a text without spaces and tabs in front.
func withoutBlanks(s []byte) []byte {
	for len(s) > 0 && isSpaceOrTab(s[0]) {
		s = s[1:]
	}
	return s
}

// beginsList: "+ 1 555 0100" is a number to call, rows of marks are text, and the lists of YAML stay as they are written.
func beginsList(line []byte, reader text.Reader, pc parser.Context) bool {
	if line[0] != '-' {
		return line[0] != '+' && !isRowOfMarks(line)
	}
	if isRowOfMarks(line) {
		return false
	}
	_, segment := reader.PeekLine()
	return len(line) < 2 || line[1] != ' ' || !isYAML(reader.Source(), segment.Start, pc)
}

// markedList ends in front of a row of marks.
type markedList struct{ guardedBlock }

// Continue implements parser.BlockParser.
func (l markedList) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if line, _ := reader.PeekLine(); isRowOfMarks(line) {
		return parser.Close
	}
	return l.BlockParser.Continue(node, reader, pc)
}

// isRowOfMarks reports whether a line begins with the mark of an item and no item: with several such marks, as in "- - x", or with the times of a
// crontab, as in "* * * * * cmd".
func isRowOfMarks(line []byte) bool {
	if len(line) < 4 || line[0] != '*' && line[0] != '-' || !isBlankByte(line[1]) {
		return false
	}
	rest := withoutBlanks(line[1:])
	return len(rest) > 1 && (rest[0] == '*' || rest[0] == '-') && isBlankByte(rest[1]) || line[0] == '*' && beginsTimes(rest)
}

// beginsTimes reports whether a text begins with the times of a crontab, or with those behind the first one. At least one of them is any time;
// 5 * 3 * 2 is a product.
//
// source: crontab(5)
func beginsTimes(s []byte) bool {
	if len(s) == 0 || s[0] != '*' && !util.IsNumeric(s[0]) {
		return false
	}
	found := crontabTimes.Find(s)
	return bytes.Contains(found, []byte("* *")) || bytes.IndexByte(found, '*') >= 0 && bytes.ContainsAny(found, ",-/")
}

// crontabTimes finds hours, days, months and days of the week.
var crontabTimes = pattern.New(`^(?:[\d*,/-]+[ \t]+){2}(?:[\w*,/-]+[ \t]+){2}`)

// beginsHeading: a heading has words, and is no comment in a piece of code.
func beginsHeading(line []byte, reader text.Reader, _ parser.Context) bool {
	if len(bytes.Trim(line, "# \t\r\n")) == 0 {
		return false
	}
	_, segment := reader.PeekLine()
	src := reader.Source()
	next, _, _ := bytes.Cut(src[min(segment.Stop, len(src)):], []byte("\n"))
	before := src[:max(0, bytes.LastIndexByte(src[:segment.Start], '\n'))]
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	return bytes.HasPrefix(line, []byte("##")) || !codeLine.Match(next) && !codeLine.Match(before)
}

// codeLine finds lines beside which a line that begins with "# " is a comment: another comment, an assignment, a call, a command.
var codeLine = pattern.New(`^\s*(?:# |(?:def|class|import|from|for|while|if|elif|return|export|sudo|apt|pip|npm|git|cd|echo|curl|docker|mkdir|rm|ls|cat|set|func|let|const|var|SELECT)\s\S.*[=():;/.\-*{$]|\$\s|(?:export )?[\w.\[\]'"$]+\s*[-+*/|&:<]?=\s*\S|[\w.]+\(.*\)\s*[;{:]?$)`)

// beginsQuote: >5, >>> and >_< are none, and neither is a mark alone.
func beginsQuote(line []byte, _ text.Reader, _ parser.Context) bool {
	return len(line) > 1 && (line[1] == ' ' || line[1] == '\t') && !util.IsBlank(line[1:])
}

// quotation ends in front of a line whose ">" compares: >5, >=3, >-1. A letter right behind the sign is a quoted word.
type quotation struct{ guardedBlock }

// Continue implements parser.BlockParser.
func (q quotation) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if rest, isQuoted := bytes.CutPrefix(bytes.TrimLeft(line, " "), []byte(">")); isQuoted && comparison.Match(rest) && !quotedItem.Match(rest) {
		return parser.Close
	}
	return q.BlockParser.Continue(node, reader, pc)
}

var (
	comparison = pattern.New(`^(?:=|[-+.]?[0-9]|[$€£¥₹])`)
	quotedItem = pattern.New(`^[0-9]{1,9}[.)] `)
)

var lastTildesKey = parser.NewContextKey()

// beginsFence: a row of tildes that nothing closes is a line under a title.
func beginsFence(line []byte, reader text.Reader, pc parser.Context) bool {
	if line[0] != '~' {
		return true
	}
	last, known := pc.Get(lastTildesKey).(int)
	if !known {
		last = lastTildes(reader.Source())
		pc.Set(lastTildesKey, last)
	}
	_, segment := reader.PeekLine()
	return segment.Stop <= last
}

// fencedCode shows words behind an opening fence that are more than the name of a language: as a line in front of the code. Where there is no
// code, the fence is text.
type fencedCode struct{ parser.BlockParser }

// Close implements parser.BlockParser.
func (f fencedCode) Close(node ast.Node, reader text.Reader, pc parser.Context) {
	f.BlockParser.Close(node, reader, pc)
	n, ok := node.(*ast.FencedCodeBlock)
	if !ok || n.Info == nil {
		return
	}
	src, info := reader.Source(), n.Info.Segment
	lang, words := infoWords(string(info.Value(src)))
	if words == "" {
		return
	}
	line := ast.NewParagraph()
	line.SetBlankPreviousLines(n.HasBlankPreviousLines())
	line.SetPos(n.Pos())
	n.SetBlankPreviousLines(false)
	n.Parent().InsertBefore(n.Parent(), n, line)
	if util.IsBlank(n.Lines().Value(src)) {
		line.Lines().Append(info.WithStart(n.Pos()))
		n.Parent().RemoveChild(n.Parent(), n)
		return
	}
	line.Lines().Append(info)
	n.Info.Segment = info.WithStop(info.Start + len(lang))
}

// lastTildes gives where the last line begins that could close code between tildes, -1 = nowhere.
func lastTildes(src []byte) int {
	for end := len(src); end > 0; {
		start := bytes.LastIndexByte(src[:end], '\n') + 1
		if line := bytes.TrimSpace(src[start:end]); len(line) >= 3 && len(bytes.Trim(line, "~")) == 0 {
			return start
		}
		end = start - 1
	}
	return -1
}

// numberItems keeps the numbers of lists as they are written: a list of years has gaps. An item that does not follow on the one before it holds its
// digits in the attribute that HTML has for that.
func numberItems(doc ast.Node, src []byte) {
	const attribute = "value"
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		l, ok := n.(*ast.List)
		if !ok || !entering || !l.IsOrdered() {
			return ast.WalkContinue, nil
		}
		next := l.Start
		for item := l.FirstChild(); item != nil; item = item.NextSibling() {
			if d := digits(src, item); len(d) > 0 && !isNumber(d, next) {
				item.SetAttributeString(attribute, d)
				next, _ = strconv.Atoi(string(d))
			}
			next++
		}
		return ast.WalkContinue, nil
	})
}

// digits gives the number that an item of a list is written with.
func digits[T string | []byte](src T, item ast.Node) T {
	const longest = 9
	start := max(0, item.Pos())
	end := start
	for end < min(len(src), item.Pos()+longest) && util.IsNumeric(src[end]) {
		end++
	}
	return src[start:end]
}

// isNumber reports whether a number is written as digits.
func isNumber[T string | []byte](digits T, n int) bool {
	var buf [20]byte
	return string(strconv.AppendInt(buf[:0], int64(n), 10)) == string(digits)
}

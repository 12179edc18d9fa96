package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSpoken bounds the text that is held back behind an opening tag in a sentence, because its closing tag may follow, in bytes.
const maxSpoken = 64 << 10

// seam is the place of reasoning that was taken out of a text.
type seam struct {
	at   int       // the length of the text in front of it
	code codeState // there
}

// textEnd gives the end of a text.
func textEnd(s string) string { return s[max(0, len(s)-maxTail):] }

// ahead is how far the text behind an opening tag was searched for its closing tag.
type ahead struct {
	code codeState
	n    int // of the pending text; 0 = nothing
}

// opening reads an opening tag that stands in the text, and reports whether there is more to read. Reasoning begins where the tag begins a
// line, or where no sentence speaks of it. A sentence that has both tags of a pair is no exception, unless there are no words between them.
func (r *Reader) opening(p *Piece, last bool) bool {
	tag, n, _ := openingMark(r.pending)
	rest := r.pending[n:]
	if rest == "" && !last {
		return false // what follows tells whether the tag is only spoken of
	}
	if r.code.inLine && isSpokenOf(textEnd(r.text.String()), rest) {
		inner, closed := r.upToClosing(tag, n)
		if !closed && !last && len(r.pending) <= maxSpoken && r.mayLook(0) {
			return false
		}
		if !closed || isConnective(inner) {
			r.ahead = ahead{}
			r.showCode(n)
			return r.pending != ""
		}
	}
	r.ahead = ahead{}
	if !r.thought {
		r.opened = r.pending[:n]
	}
	r.seam = seam{at: r.text.Len(), code: r.code}
	r.thought, r.reason, r.pending, r.state = true, tag, rest, inReasoning
	if r.begun {
		r.think("\n\n")
	}
	if last {
		r.rest(p)
	}
	return true
}

// inSpan reads what may be a tag behind a run of ` and reports whether there is more to read. The tag is code where the same run follows in its
// paragraph.
func (r *Reader) inSpan(last bool) bool {
	kind, n, partial := markAt(r.pending)
	if kind != reasonMark && kind != closingMark {
		if partial && !last {
			return false
		}
		r.showCode(1)
		return true
	}
	near := r.pending[:min(len(r.pending), maxSpoken)]
	switch closed, ended := spanEnd(near, r.code.span, last); {
	case closed || !r.mayLook(len(near)):
		r.showCode(n)
		return r.pending != ""
	case ended || len(near) == maxSpoken:
		r.code.span = 0 // the run was no code
		return true
	}
	return false
}

// spanEnd reports whether a run of n ` follows in a text, or the paragraph ends before one does. last says that the text is whole.
func spanEnd(s string, n int, last bool) (closed, ended bool) {
	run, blank := 0, false
	for i := range len(s) {
		switch b := s[i]; {
		case b == '`':
			run++
			continue
		case run == n:
			return true, false
		case b == '\n' && blank:
			return false, true
		case b == '\n':
			blank = true
		case b != ' ' && b != '\t' && b != '\r':
			blank = false
		}
		if run > 0 {
			run, blank = 0, s[i] == '\n'
		}
	}
	return last && run == n, last && run != n
}

// rest reads reasoning in the text at the end of an answer, up to the text behind it.
func (r *Reader) rest(p *Piece) {
	for r.state != inText && r.step(p) {
	}
	if r.state == inReasoning {
		r.unclosed()
	}
	if strings.TrimSpace(r.pending) == "" {
		r.pending = ""
	}
	r.state = inText
}

// upToClosing gives what stands between an opening tag of n bytes and its closing tag outside of code.
func (r *Reader) upToClosing(tag *reasonTag, n int) (inner string, closed bool) {
	a := &r.ahead
	if a.n == 0 {
		a.code, a.n = r.code, n
		a.code.inLine, a.code.empty = true, false
	}
	near := r.pending[:max(a.n, min(len(r.pending), maxSpoken))]
	if !r.mayLook(len(near) - a.n) {
		return "", false
	}
	for {
		a.n += a.code.plain(near[a.n:])
		if a.n == len(near) {
			return "", false
		}
		for _, closing := range tag.closing {
			switch length, partial := prefixTag(r.pending[a.n:], closing); {
			case a.code.span > 0:
			case length > 0:
				return r.pending[n:a.n], true
			case partial:
				return "", false
			}
		}
		a.code.pass(r.pending[a.n : a.n+1])
		a.n++
	}
}

// isSpokenOf reports whether the sentence around an opening tag speaks of it: the sentence has begun, and no word touches the tag.
func isSpokenOf(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	if isWordOfLetters(last) || isWordOfLetters(next) || next == '\n' || next == '\r' {
		return false
	}
	return !endsSentence(before)
}

// isWordOfLetters reports whether a character belongs to a word of a script that puts spaces between words.
func isWordOfLetters(c rune) bool {
	return (unicode.IsLetter(c) || unicode.IsDigit(c)) && !unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// connectives stand between two tags that are spoken of.
var connectives = []string{"", "and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "и", "или", "和", "或", "与", "と"}

// isConnective reports whether the text between two tags says nothing: dots, a word such as "and".
func isConnective(inner string) bool {
	return slices.Contains(connectives, strings.ToLower(strings.TrimFunc(inner, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })))
}

// join sets the text behind reasoning apart from the text in front of it, as far as the white space on both sides did.
func (r *Reader) join(space string) {
	before := textEnd(r.text.String())
	before = before[len(strings.TrimRight(before, " \t\r\n")):]
	switch lines := strings.Count(space, "\n") - strings.Count(before, "\n"); {
	case lines > 0:
		space = strings.Repeat("\n", lines)
	case before != "" || space == "":
		space = ""
	default:
		space = " "
	}
	r.code.pass(space)
	r.show(space)
}

// lone reads a closing tag whose opening tag is not there, and reports whether there is more to read. What stands in front of the tag was
// reasoning, up to earlier reasoning that was taken out.
func (r *Reader) lone(p *Piece, n int, last bool) bool {
	kept, before := r.text.String()[:r.seam.at], r.text.String()[r.seam.at:]
	blank := strings.TrimRightFunc(before, unicode.IsSpace) == ""
	if !last && isUndecided(r.pending[n:]) {
		return false
	}
	if !r.mayLook(r.text.Len()) || !blank && quotedTag(before, r.pending[:n], r.pending[n:], r.Closes && !r.thought) {
		r.showCode(n)
		return true
	}
	if r.thought && strings.TrimSpace(r.pending[n:]) == "" { // the answer must stand behind it, or else in front of it
		if last {
			r.pending = r.pending[n:]
		}
		return false
	}
	said := strings.TrimSpace(before)
	if !r.thought {
		r.opened = before[:strings.Index(before, said)]
	}
	if !r.thought || kept == "" {
		r.closed = before[strings.Index(before, said)+len(said):] + r.pending[:n]
	}
	p.Restart, r.from = p.Restart || r.from > 0, 0
	r.thought, r.state, r.pending, r.code = true, atStart, r.pending[n:], r.seam.code
	r.text.Reset()
	r.text.WriteString(kept)
	if r.begun && said != "" {
		r.think("\n\n")
	}
	r.think(said)
	return true
}

// quotedTag reports whether a lone tag is spoken of rather than used: also when its opening tag stands in the text. A tag that touches the word
// behind it, or that stands between two sentences, is used. expected says that the model writes closing tags alone: then only marks around the tag
// speak of it.
// source: ollama/ollama#18082, perplexityai/api-discussion#177
func quotedTag(before, tag, after string, expected bool) bool {
	if strings.Contains(strings.ToLower(before), strings.ToLower(strings.Replace(tag, "/", "", 1))) {
		return true
	}
	last := before[len(before)-1]
	next := '\n'
	if after != "" {
		next, _ = utf8.DecodeRuneInString(after)
	}
	switch {
	case last == '\n' || next == '\n' || next == '\r' || isWordOfLetters(next):
		return false
	case strings.IndexByte("\"'(*", last) >= 0 || strings.ContainsRune("\"'`)*", next):
		return true
	case expected:
		return false
	case next == ',' || next == '.':
		return true
	}
	return (last == ' ' || last == '\t') && !betweenSentences(before, after)
}

// betweenSentences reports whether a sentence ends in front of a tag, and another one begins behind it. The number of a list is no sentence.
func betweenSentences(before, after string) bool {
	before = textEnd(before)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " \t"))
	return endsSentence(before) && strings.Trim(line, " \t.0123456789") != "" && !unicode.IsLower(next)
}

// isUndecided reports whether the text behind a lone tag is too short to tell whether the tag is only spoken of.
func isUndecided(after string) bool {
	after = strings.TrimLeft(after, " \t")
	return !utf8.FullRuneInString(after)
}

// endsSentence reports whether a text ends with a sentence, marks of Markdown and quotation behind it included.
func endsSentence(text string) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(textEnd(text), " \t*_\"'”’»)"))
	return strings.ContainsRune(".!?…。！？", end) || unicode.IsSymbol(end)
}

package control

import (
	"cmp"
	"strings"

	"parley/agent/wire/markup"
)

// Word is a control word: what an agent asks of the host instead of talking.
type Word string

// The words.
const (
	Speak        Word = ""              // ordinary text
	NoReply      Word = "NO_REPLY"      // nothing to say
	ReplySkip    Word = "REPLY_SKIP"    // ends the replies of an exchange
	AnnounceSkip Word = "ANNOUNCE_SKIP" // nothing to announce
)

var controlWords = []Word{NoReply, ReplySkip, AnnounceSkip}

// Place is where a text goes.
type Place int

// The places. They differ in a text that says more than the word in its first or last line.
const (
	Waited  Place = iota // somebody waits for an answer: they get what the text says beside the word
	Unasked              // nobody does: the text is silent
	Loop                 // a reply of an exchange: the word ends the exchange, and the rest is the last reply
)

// Reading is what a text is.
type Reading struct {
	Word Word   // the control word that is the whole text, its first line or its last line; Speak = none
	Text string // what it says beside the word, without thinking and trimmed; "" = nothing
}

// Read tells what a text is (contract W1, W2). A text is the word when nothing but marks stands around it: punctuation, quotation
// marks, Markdown, code fences, invisible characters, more of the word. A text that mentions the word in a sentence is text.
func Read(text string) Reading {
	text = strings.TrimSpace(markup.WithoutReasoning(text))
	if blank(text) {
		return Reading{}
	}
	if !mentions(text) {
		return Reading{Text: text}
	}
	if word := wordOf(text); word != Speak {
		return Reading{Word: word}
	}
	rest, word, reasoned := strings.Split(text, "\n"), Speak, false
	for _, reasons := range []bool{false, true, false} {
		for more := true; more; {
			front, w := leading(rest, reasons)
			rest, word = rest[front:], cmp.Or(word, w)
			back, w := trailing(rest, reasons)
			rest, word = rest[:len(rest)-back], cmp.Or(word, w)
			more = front+back > 0 && !reasons
			reasoned = reasoned || front+back > 0 && reasons
		}
	}
	said := strings.TrimSpace(strings.Join(rest, "\n"))
	if word == Speak || reasoned && mentions(said) { // it explains the words
		return Reading{Text: text}
	}
	if bare(said) {
		said = ""
	}
	return Reading{Word: word, Text: said}
}

// Split tells what a text means in its place: the control word that it is there, and the text that is for others.
func Split(text string, at Place) (Word, string) {
	switch r := Read(text); {
	case at == Waited && r.Text != "":
		return Speak, r.Text
	case at == Unasked && r.Word != Speak:
		return r.Word, ""
	default:
		return r.Word, r.Text
	}
}

// Draft gives what may be shown of a text that is still growing; false when nothing may be. It holds back what may still become a
// control word or a tag around thinking.
func Draft(text string, at Place) (string, bool) {
	text, thinks := markup.DraftWithoutReasoning(text)
	if thinks {
		return "", false
	}
	shown := text
	for end := len(text); end > 0; { // lines of marks may belong to the word: a code fence, a rule
		begin := strings.LastIndexByte(text[:end], '\n')
		if line := text[begin+1 : end]; !growing(line) && (end == len(text) || !bare(line)) {
			break
		}
		end = max(begin, 0)
		shown = strings.TrimRight(text[:end], "\r\n")
	}
	if mentions(shown) {
		r := Read(shown)
		if at == Unasked && r.Word != Speak {
			return "", false
		}
		if r.Word != Speak {
			shown = r.Text
		}
	}
	if head := shown[:min(len(shown), maxMarks)]; shown == "" || len(shown) < maxMarks && bare(head) {
		return "", false
	}
	return shown, true
}

// leading gives how many lines at the front of a text are the word. reasons says that a reason may stand behind it.
func leading(lines []string, reasons bool) (n int, word Word) {
	for n < len(lines) && bare(lines[n]) && !isFence(lines[n]) {
		n++
	}
	if n == len(lines) {
		return 0, Speak
	}
	end := n + 1
	if isFence(lines[n]) {
		for end < len(lines) && !isFence(lines[end]) {
			end++
		}
		end = min(end+1, len(lines))
	}
	if word = lineWord(lines[n:end], reasons); word == Speak {
		return 0, Speak
	}
	return end, word
}

// trailing is leading for the end of a text.
func trailing(lines []string, reasons bool) (n int, word Word) {
	last := len(lines) - 1
	for last >= 0 && bare(lines[last]) && !isFence(lines[last]) {
		last--
	}
	if last < 0 {
		return 0, Speak
	}
	first := last
	if isFence(lines[last]) {
		for first--; first > 0 && !isFence(lines[first]); {
			first--
		}
		first = max(first, 0)
	}
	if word = lineWord(lines[first:last+1], reasons); word == Speak {
		return 0, Speak
	}
	return len(lines) - first, word
}

func lineWord(lines []string, reasons bool) Word {
	if !reasons {
		return wordOf(strings.Join(lines, "\n"))
	}
	if len(lines) > 1 {
		return Speak
	}
	return reasonWord(lines[0])
}

package responses

import "strings"

// tags are the marks that models put around their thoughts where the server does not take them out.
var tags = []struct{ open, shut string }{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}, {"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"}, {"◁think▷", "◁/think▷"},
	{"<|channel|>analysis<|message|>", "<|end|>"}, {"<|channel>thought", "<channel|>"},
}

// finalMark stands in front of the answer where thoughts are a channel of their own.
var finalMarks = []string{"<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>"}

const blank = " \t\r\n"

// withoutThoughts tells the thoughts at the start of a text from the text.
func withoutThoughts(s string) (thoughts, text string) {
	rest := s
	for {
		tag, at := opened(strings.TrimLeft(rest, blank))
		if tag < 0 {
			break
		}
		inside := strings.TrimLeft(rest, blank)[at:]
		thought, after, found := strings.Cut(inside, tags[tag].shut)
		thoughts = joinThoughts(thoughts, thought)
		rest = strings.TrimLeft(after, blank)
		if !found {
			return thoughts, ""
		}
	}
	rest = withoutMark(rest)
	if thoughts != "" {
		return thoughts, rest
	}
	if i, n := shutAlone(s); i >= 0 {
		return strings.TrimSpace(s[:i]), strings.TrimLeft(s[i+n:], blank)
	}
	return "", rest
}

func joinThoughts(a, b string) string {
	b = strings.TrimSpace(b)
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

func withoutMark(s string) string {
	for _, mark := range finalMarks {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(s, blank), mark); ok {
			return strings.TrimLeft(rest, blank)
		}
	}
	return s
}

// opened gives the tag that a text begins with, and its length; -1 = none.
func opened(s string) (tag, length int) {
	for i, t := range tags {
		if strings.HasPrefix(s, t.open) {
			return i, len(t.open)
		}
	}
	return -1, 0
}

// shutAlone finds an end tag without its begin, at the end of a line: templates of some models open the tag in the prompt. A tag that a
// text only talks about is none.
func shutAlone(s string) (at, length int) {
	for _, t := range tags[:3] {
		i := strings.Index(s, t.shut)
		if i < 0 || strings.Contains(s[:i], t.open) || strings.Count(s[:i], "`")%2 == 1 {
			continue
		}
		if after := s[i+len(t.shut):]; after == "" || after[0] == '\n' || after[0] == '\r' {
			return i, len(t.shut)
		}
	}
	return -1, 0
}

// splitter tells thoughts from text while a message comes in.
type splitter struct {
	state int // atStart, inThought, inText
	tag   int
	held  string // not decided yet
	late  bool   // something was thought before: white space in front of the text is dropped
}

const (
	atStart = iota
	inThought
	inText
)

// add takes the next piece in and gives what is decided now. seen is the message so far, with the piece; restart says that what was
// given as text before were thoughts.
func (p *splitter) add(piece string, seen func() string) (thoughts, text string, restart bool) {
	if p.state == inText {
		if !p.late && strings.ContainsAny(piece, ">\n") {
			if all := seen(); strings.Contains(all, "</th") {
				if i, n := shutAlone(all); i >= 0 && i+n < len(all) {
					p.late = true
					return strings.TrimSpace(all[:i]), strings.TrimLeft(all[i+n:], blank), true
				}
			}
		}
		return "", piece, false
	}
	p.held += piece
	for {
		if p.state == inThought {
			i := strings.Index(p.held, tags[p.tag].shut)
			if i < 0 {
				n := len(p.held) - tail(p.held, tags[p.tag].shut)
				thoughts += p.held[:n]
				p.held = p.held[n:]
				return thoughts, text, false
			}
			thoughts += p.held[:i]
			p.held, p.state, p.late = p.held[i+len(tags[p.tag].shut):], atStart, true
		}
		s := strings.TrimLeft(p.held, blank)
		if tag, n := opened(s); tag >= 0 {
			p.state, p.tag, p.held = inThought, tag, s[n:]
			continue
		}
		if undecided(s) {
			return thoughts, text, false
		}
		p.state = inText
		if p.late {
			text = withoutMark(s)
		} else {
			text = withoutMark(p.held)
		}
		p.held = ""
		return thoughts, text, false
	}
}

// undecided reports whether a text may still become a tag.
func undecided(s string) bool {
	if s == "" {
		return true
	}
	for _, t := range tags {
		if strings.HasPrefix(t.open, s) {
			return true
		}
	}
	for _, mark := range finalMarks {
		if strings.HasPrefix(mark, s) || strings.HasPrefix(s, mark) && strings.TrimLeft(s[len(mark):], blank) == "" {
			return true
		}
	}
	return false
}

// tail gives how many bytes at the end of a text may be the begin of a tag.
func tail(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasPrefix(tag, s[len(s)-n:]) {
			return n
		}
	}
	return 0
}

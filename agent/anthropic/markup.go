package anthropic

import (
	"strings"

	"parley/agent"
)

// tags are the marks that models put around their thinking when the server does not take it out of the text.
var tags = []struct{ open, end string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"},
	{"[THINK]", "[/THINK]"},
	{"◁think▷", "◁/think▷"},
	{"<|channel|>analysis<|message|>", "<|end|>"},
	{"<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"},
}

// openers are marks in front of the answer that say nothing.
var openers = []string{"<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>"}

// loneEnds are the marks that end thinking whose beginning the server's template has put into the prompt.
var loneEnds = []string{"</think>", "</thinking>", "[/THINK]"}

// maxMark is the length of the longest of them, and of their beginning.
const maxMark = 12

// The states of markup.
const (
	beginning = iota // nothing but space and marks has come
	inside           // of thinking
	beyond           // what comes is text
)

// markup finds thinking that stands in the text, at the beginning of an answer only. Marks may be split over any number of pieces.
type markup struct {
	state    int
	held     string // may be a part of a mark
	tag      int    // inside: which
	part     *part  // inside: the thinking
	index    *int   // the server's, of the text
	tail     string // beyond: the end of the text so far
	watching bool   // beyond: for a lone end
}

// addText adds a piece of text, in which there may be thinking.
func (s *stream) addText(index *int, text string) error {
	k := s.markup
	if k == nil {
		if s.continues() {
			return s.putText(index, text)
		}
		k = &markup{watching: true}
		s.markup = k
	}
	if k.state == beyond && !k.watching {
		return s.putText(index, text)
	}
	k.index = index
	k.held += text
	for {
		var more bool
		var err error
		switch k.state {
		case beginning:
			more, err = s.begin(k)
		case inside:
			more, err = s.think(k)
		default:
			return s.watch(k)
		}
		if err != nil || !more || s.stopped {
			return err
		}
	}
}

// continues reports whether this answer goes on with one that had text already.
func (s *stream) continues() bool {
	for _, p := range s.before {
		if p.kind == textPart && len(p.text) > 0 {
			return true
		}
	}
	return false
}

// begin looks for a mark at the beginning. more: there is something to do in the next state.
func (s *stream) begin(k *markup) (more bool, err error) {
	text := strings.TrimLeft(k.held, " \t\r\n")
	for i, t := range tags {
		switch rest, found, partly := cutMark(text, t.open); {
		case found:
			p, err := s.add(thinkingPart, nil)
			if err != nil {
				return false, err
			}
			p.kept.Tag, p.kept.End = t.open, t.end
			k.state, k.tag, k.part, k.held, k.watching = inside, i, p, rest, false
			return true, nil
		case partly:
			return false, nil
		}
	}
	for _, o := range openers {
		switch rest, found, partly := cutMark(text, o); {
		case found:
			k.held = rest
			return true, nil
		case partly:
			return false, nil
		}
	}
	if text == "" {
		return false, nil
	}
	if k.part != nil { // space between thinking and text
		k.held = text
	}
	k.state = beyond
	return true, nil
}

// cutMark takes a mark off the front of a text, or reports that the whole text may be the beginning of it.
func cutMark(text, mark string) (rest string, found, partly bool) {
	if len(text) >= len(mark) {
		return text[min(len(mark), len(text)):], strings.EqualFold(text[:len(mark)], mark), false
	}
	return "", false, text != "" && strings.EqualFold(text, mark[:len(text)])
}

// think passes thinking on until the mark that ends it.
func (s *stream) think(k *markup) (more bool, err error) {
	end := tags[k.tag].end
	if i := strings.Index(k.held, end); i >= 0 {
		thought := k.held[:i]
		k.held, k.state = k.held[i+len(end):], beginning
		return true, s.addThinking(k.part, thought)
	}
	n := len(k.held)
	for keep := min(len(end)-1, n); keep > 0; keep-- {
		if strings.HasPrefix(end, k.held[n-keep:]) {
			n -= keep
			break
		}
	}
	thought := k.held[:n]
	k.held = k.held[n:]
	return false, s.addThinking(k.part, thought)
}

// watch passes text on. When a lone end of thinking comes, all text so far was thinking: what was handed on is taken back.
func (s *stream) watch(k *markup) error {
	text := k.held
	k.held = ""
	if !k.watching {
		return s.putText(k.index, text)
	}
	around := k.tail + text
	for _, end := range loneEnds {
		if !strings.Contains(around, end) {
			continue
		}
		p := s.newest(k.index)
		so := ""
		if p != nil && p.kind == textPart {
			so = string(p.text)
		}
		all := so + text
		i := strings.Index(all, end)
		if i < 0 || strings.Contains(all[:i], end[:1]+end[2:]) || strings.HasSuffix(all[:i], "`") || strings.HasPrefix(all[i+len(end):], "`") {
			k.watching = false // it is talked about
			return s.putText(k.index, text)
		}
		return s.takeBack(k, p, all[:i], end, all[i+len(end):])
	}
	k.tail = around[max(0, len(around)-maxMark):]
	return s.putText(k.index, text)
}

// takeBack makes thinking of the text so far.
func (s *stream) takeBack(k *markup, p *part, thought, end, rest string) error {
	var err error
	if p == nil || p.kind != textPart {
		p, err = s.add(textPart, k.index)
	}
	if err != nil {
		return err
	}
	if len(p.text) > 0 {
		s.text -= len(p.text)
		s.give(agent.Delta{Restart: true})
		for _, was := range s.parts {
			if was != p && was.kind == thinkingPart && len(was.text) > 0 {
				s.give(agent.Delta{Thinking: string(was.text)})
			}
		}
	}
	p.kind, p.index, p.text, p.kept = thinkingPart, -1, nil, kept{End: end}
	if err := s.addThinking(p, thought); err != nil || s.stopped {
		return err
	}
	k.part, k.watching, k.state, k.held = p, false, beginning, ""
	return s.addText(k.index, rest)
}

// flush ends what waits for the rest of a mark: the block is complete.
func (s *stream) flush() error {
	k := s.markup
	if k == nil || k.state == beginning && k.held == "" && k.part == nil {
		return nil
	}
	held := k.held
	was := k.state
	k.held, k.state, k.watching = "", beyond, false
	switch {
	case held == "" || was == beginning && k.part != nil && strings.TrimSpace(held) == "":
		return nil
	case was == inside:
		return s.addThinking(k.part, held)
	}
	return s.putText(k.index, held)
}

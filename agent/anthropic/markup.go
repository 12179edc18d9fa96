package anthropic

import (
	"encoding/json"
	"slices"

	"parley/agent"
	"parley/agent/wire"
	"parley/agent/wire/markup"
)

// addText adds a piece of a text. What the model wrote there for itself is taken out of it.
func (s *stream) addText(index *int, text string) error {
	p, err := s.find(index, textPart)
	if err != nil {
		return err
	}
	if p.kind == otherPart {
		p.cut = true // people do not see the text of an unknown block
		return nil
	}
	if p.reader == nil {
		p.reader = &markup.Reader{Tools: s.tool, Closes: s.closes && len(s.parts) == 1}
	}
	if err := s.show(p, p.reader.Add(text)); err != nil || s.stopped || p.reader.TextLen() <= maxText {
		return err
	}
	return s.t.TooLarge("its text", maxText)
}

// readers gives the readers of the answer's texts.
func (s *stream) readers() (out []*markup.Reader) {
	for _, p := range s.parts {
		if p.reader != nil {
			out = append(out, p.reader)
		}
	}
	return out
}

// closesAlone reports whether the thinking of a block stood in the text with only a closing tag.
func closesAlone(data json.RawMessage) bool {
	var k opaqueBlock
	return len(data) > 0 && json.Unmarshal(data, &k) == nil && wire.IsLone(k.Tag, k.End)
}

// tool gives the schema of an offered tool.
func (s *stream) tool(name string) (schema json.RawMessage, offered bool) {
	for _, spec := range s.specs {
		if spec.Name == name {
			return spec.Schema, true
		}
	}
	return nil, false
}

// show takes in what a piece of a text turned out to be.
func (s *stream) show(p *answerBlock, x markup.Piece) error {
	if x.Restart {
		s.takeBack(p)
	}
	if x.Thinking != "" {
		if p.thought == nil {
			p.thought = &answerBlock{kind: thinkingPart, index: -1}
			s.parts = slices.Insert(s.parts, slices.Index(s.parts, p), p.thought)
		}
		if err := s.addThinking(p.thought, x.Thinking); err != nil || s.stopped {
			return err
		}
	}
	if x.Text == "" {
		return nil
	}
	if s.text += len(x.Text); s.text > maxText {
		return s.t.TooLarge("its text", maxText)
	}
	p.text = append(p.text, x.Text...)
	s.give(agent.Delta{Text: x.Text})
	return nil
}

// takeBack begins the answer again without the text of a part: it was thinking.
func (s *stream) takeBack(p *answerBlock) {
	s.text -= len(p.text)
	p.text = nil
	s.give(agent.Delta{Restart: true})
	for _, was := range slices.Concat(s.before, s.parts) {
		switch {
		case was == p || len(was.text) == 0:
		case was.kind == textPart:
			s.give(agent.Delta{Text: string(was.text)})
		case was.kind == thinkingPart:
			s.give(agent.Delta{Thinking: string(was.text)})
		}
	}
}

// flush ends the text at hand: the next block begins, or the answer is complete. Calls that were written as text become calls.
func (s *stream) flush() error {
	for _, p := range slices.Clone(s.parts) {
		if p.reader == nil || p.ended {
			continue
		}
		p.ended = true
		if err := s.show(p, p.reader.End()); err != nil || s.stopped {
			return err
		}
		if opened, closed, ok := p.reader.Tags(); ok && p.thought != nil {
			p.thought.kept.Tag, p.thought.kept.End = opened, closed
		}
		for _, c := range p.reader.Calls() {
			call, err := s.add(callPart, nil)
			if err != nil {
				return err
			}
			call.id, call.name, call.text = c.ID, c.Name, c.Arguments
			if err := s.countArguments(len(c.Arguments)); err != nil {
				return err
			}
		}
	}
	return nil
}

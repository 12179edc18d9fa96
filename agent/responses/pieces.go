package responses

import (
	"encoding/json"
	"strings"

	"parley/agent"
	"parley/agent/wire/markup"
)

// say adds a piece of a message's text and shows what of it is no thought.
func (s *stream) say(o *output, piece string, refusal bool) error {
	if piece == "" {
		return nil
	}
	if s.textBytes += len(piece); s.textBytes > maxText {
		return s.t.TooLarge("the text", maxText)
	}
	if o.done {
		o.late.WriteString(piece)
		return nil
	}
	o.text.WriteString(piece)
	o.refused, o.answered = o.refused || refusal, o.answered || !refusal
	return s.found(o, o.reader.Add(piece))
}

// found passes on what a piece of a message turned out to be.
func (s *stream) found(o *output, p markup.Piece) error {
	if p.Restart {
		_ = s.pass(agent.Delta{Restart: true})
		s.shownIn = nil
		for _, before := range s.outputs {
			if before != o && before.kind == message {
				_ = s.show(before, before.reader.Text())
			}
		}
	}
	if p.Thinking != "" {
		o.musing.WriteString(p.Thinking)
		_ = s.pass(agent.Delta{Thinking: p.Thinking})
	}
	return s.show(o, p.Text)
}

// show passes text on; texts of two messages are set apart.
func (s *stream) show(o *output, text string) error {
	if text == "" {
		return nil
	}
	if s.shownIn != nil && s.shownIn != o {
		text = "\n\n" + strings.TrimLeft(text, "\n")
	}
	s.shownIn = o
	return s.pass(agent.Delta{Text: text})
}

// flush shows what was held back of a message because it might have become a mark.
func (s *stream) flush(o *output) error {
	if o.kind != message || o.ended {
		return nil
	}
	o.ended = true
	return s.found(o, o.reader.End())
}

// said takes a message's whole text in: it counts, and what was not shown of it is.
func (s *stream) said(o *output, text string, refusal bool) error {
	have := o.text.String()
	o.told = o.told || text != ""
	switch {
	case text == "" || text == have:
	case !o.done && strings.HasPrefix(text, have):
		if err := s.say(o, text[len(have):], refusal); err != nil {
			return err
		}
	case !o.done || len(text) > len(have):
		if s.textBytes += len(text) - len(have); s.textBytes > maxText {
			return s.t.TooLarge("the text", maxText)
		}
		o.text.Reset()
		o.text.WriteString(text)
		o.answered, o.refused = o.answered || !refusal, o.refused || refusal
		o.musing.Reset()
		o.reader, o.ended = markup.Reader{Tools: s.tools}, true
		first, last := o.reader.Add(text), o.reader.End()
		o.musing.WriteString(first.Thinking + last.Thinking)
	}
	return nil
}

// partIndex gives which part of a message an event is about, -1 = it does not say.
func partIndex(data []byte) int {
	var fields struct {
		Index json.RawMessage `json:"content_index"`
	}
	_ = json.Unmarshal(data, &fields) // it was read before
	return numberOf(fields.Index, -1)
}

// saidPart takes the whole text of one part of a message in: it counts where it did not come in pieces.
func (s *stream) saidPart(o *output, index int, text string, refusal bool) error {
	switch {
	case text != "" && index != 0 && strings.HasSuffix(o.text.String(), text):
		o.told = true
		return nil
	case index > 0:
		return s.say(o, text, refusal)
	}
	return s.said(o, text, refusal)
}

// part takes a whole part of a message or of thoughts in.
func (s *stream) part(ev *event, data []byte, thought bool) error {
	var fields struct{ Part json.RawMessage }
	var part struct{ Type json.RawMessage }
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(fields.Part, &part) != nil {
		return nil
	}
	kind := textOf(part.Type)
	for _, p := range partsOf(fields.Part) {
		if thought || strings.Contains(kind, "reasoning") || strings.Contains(kind, "summary") {
			o := s.find(reasoning, ev)
			if strings.HasSuffix(o.thoughts.String(), p.text) {
				return nil
			}
			return s.think(o, ev.Type, p.text, ev.Part)
		}
		if err := s.saidPart(s.find(message, ev), partIndex(data), p.text, p.refusal); err != nil {
			return err
		}
	}
	return nil
}

// lately adds to a message what came behind its end, unless that is its text once more, or the whole answer told the rest.
// source: diegosouzapw/OmniRoute#13693
func (s *stream) lately(o *output) error {
	have, late := o.text.String(), o.late.String()
	if late == "" || late == have || len(have) > o.size {
		return nil
	}
	return s.said(o, have+late, o.refused && !o.answered)
}

// think adds a piece of thoughts. What is over the bound is left out.
func (s *stream) think(o *output, name, piece string, part int) error {
	if piece == "" || o.done && name != "" {
		return nil
	}
	source := "text"
	if strings.Contains(name, "summary") {
		source = "summary"
	}
	if o.source == "" || name == "" {
		o.source = source
	} else if o.source != source {
		return nil // the same thoughts in other words
	}
	if part >= 0 && part != o.part {
		if o.part >= 0 && o.thoughts.Len() > 0 {
			piece = "\n\n" + piece
		}
		o.part = part
	}
	if s.thoughtBytes > maxThinking {
		return nil
	}
	if s.thoughtBytes += len(piece); s.thoughtBytes > maxThinking {
		piece = strings.ToValidUTF8(piece[:len(piece)-(s.thoughtBytes-maxThinking)], "") + thoughtsCut
	}
	o.thoughts.WriteString(piece)
	return s.pass(agent.Delta{Thinking: piece})
}

// thoughtsCut stands at the end of thoughts that were longer.
const thoughtsCut = "\n[the rest of the thoughts was left out]"

// argue adds a piece of a call's arguments.
func (s *stream) argue(o *output, piece string) error {
	if o.done {
		return nil
	}
	if s.argumentBytes += len(piece); s.argumentBytes > maxArguments {
		return s.t.TooLarge("the arguments of tool calls", maxArguments)
	}
	o.args.WriteString(piece)
	return nil
}

// argued takes a call's whole arguments in.
func (s *stream) argued(o *output, args string) error {
	if s.argumentBytes += len(args) - o.args.Len(); s.argumentBytes > maxArguments {
		return s.t.TooLarge("the arguments of tool calls", maxArguments)
	}
	o.args.Reset()
	o.args.WriteString(args)
	return nil
}

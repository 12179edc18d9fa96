package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// pictureNote stands in the place of pictures that a model made.
const pictureNote = "(The language model sent a picture, which cannot be shown here.)"

// end makes the answer.
func (s *stream) end() error {
	s.t.Drain()
	if err := s.replay(); err != nil {
		return err
	}
	if s.content.text.Len() == 0 && s.content.held == "" && len(s.calls) == 0 && s.pictures == 0 {
		s.say(s.content.add(strings.ToValidUTF8(s.aside.String(), ""), true))
	}
	s.think(s.reason.end())
	s.say(s.content.end())
	s.show(s.visible.End())
	answer := &agent.Answer{Model: s.model, Usage: s.usage.counted()}
	stop, class := ending(s.finish)
	if err := s.takeOthers(); err != nil {
		return err
	}
	calls, err := s.called()
	if err != nil {
		return err
	}
	text := s.visible.Text()
	if len(calls) == 0 && class == "" {
		calls = s.written()
	}
	if s.pictures > 0 {
		text = strings.TrimLeft(text+"\n\n"+pictureNote, "\n")
		s.give(agent.Delta{Text: text[len(s.visible.Text()):]})
	}
	if len(s.visible.Calls()) > 0 || s.visible.Removed() {
		text = strings.TrimRight(text, " \t\r\n")
	}
	switch {
	case class != "" && (len(calls) == 0 || class == agent.Broken):
		return s.t.Failed(class, s.finish)
	case s.visible.Removed() && len(calls) == 0 && strings.TrimSpace(text) == "":
		return s.t.Broken("the model wrote a call of an unoffered tool as text")
	case stop == agent.StopLength:
		answer.Stop = stop
	case len(calls) > 0:
		answer.Stop = agent.StopToolUse
	case s.filtered && strings.TrimSpace(text) == "":
		answer.Stop = agent.StopFilter
	default:
		answer.Stop = stop
	}
	answer.Content = s.blocks(text, calls)
	if wire.IsWindowFull(s.finish) && answer.IsWordless() { // the prompt fills it
		return s.t.Failed(agent.TooLong, s.finish)
	}
	wire.CallsInReasoning(answer, s.offered)
	s.schemas.Undo(answer, s.tools)
	s.good()
	if s.stopped {
		return nil
	}
	s.answered = true
	s.yield(agent.Delta{Final: answer})
	return nil
}

// replay takes in what only messages inside of a stream's events said. Some servers repeat the whole so far there.
func (s *stream) replay() error {
	text, calls := s.content.text.Len() > 0 || s.content.held != "", len(s.calls) > 0
	for _, m := range s.late {
		for n := range m.ToolCalls {
			m.ToolCalls[n].Index = n
		}
		s.signLate(m)
		switch {
		case text && calls:
			return nil
		case text:
			m = &delta{ToolCalls: m.ToolCalls, FunctionCall: m.FunctionCall}
		case calls:
			m = &delta{Content: m.Content, Refusal: m.Refusal, parts: m.parts}
		}
		if err := s.delta(m); err != nil {
			return err
		}
	}
	return nil
}

// signLate keeps the signatures of a message that repeats what came in pieces without them. Calls that did not come are added with their own.
func (s *stream) signLate(m *delta) {
	for n, k := range m.ToolCalls {
		i := slices.IndexFunc(s.calls, func(c *call) bool { return k.ID != "" && c.id == k.ID })
		if i < 0 {
			i = n
		}
		if i >= len(s.calls) || k.Function.Name != "" && k.Function.Name != s.calls[i].name {
			continue
		}
		c := s.calls[i]
		if says(k.Extra) && c.extra == nil {
			c.extra = bytes.Clone(k.Extra)
		}
		if c.fields.kept() == nil {
			c.fields.add(k.signed)
		}
		if c.function.kept() == nil {
			c.function.add(k.Function.signed)
		}
	}
	for _, f := range []struct{ to, from *json.RawMessage }{{&s.extra, &m.Extra}, {&s.sealed, &m.Sealed}, {&s.special, &m.Provider}} {
		if *f.to == nil && says(*f.from) && (f.to == &s.sealed || bytes.Contains(*f.from, []byte("signature"))) {
			*f.to = bytes.Clone(*f.from)
		}
	}
}

// blocks puts the answer together, with what the provider wants back.
func (s *stream) blocks(text string, calls []sessions.Block) []sessions.Block {
	var out []sessions.Block
	opened, closed, tagged := s.visible.Tags()
	kept := opaque{Field: s.field, Details: s.details.json(), Sealed: s.sealed, Provider: s.special, Blocks: s.thinks.json(), Rest: rawOfFields(s.rest)}
	if s.field == fieldParts && len(s.part) > 0 {
		kept.Part = rawOf(s.part)
	}
	if tagged && s.field == "" {
		kept.Field, kept.Open, kept.Close = fieldTags, opened, closed
	}
	if s.thought.Len() > 0 {
		kept.Returned = s.returned && kept.Field != ""
		out = append(out, sessions.Block{Type: sessions.ThinkingBlock, Text: s.thought.String(), Opaque: kept.block(s.from)})
		kept = opaque{}
	}
	kept.Field, kept.Extra = "", s.extra
	if text != "" {
		b := sessions.Block{Type: sessions.TextBlock, Text: text}
		if !kept.empty() {
			b.Opaque, kept = kept.block(s.from), opaque{}
		}
		out = append(out, b)
	}
	for i, c := range calls {
		if i == 0 && !kept.empty() {
			var own opaque
			if c.Opaque != nil {
				own = readOpaque(c.Opaque.Data)
			}
			kept.ofCall = own.ofCall
			c.Opaque = kept.block(s.from)
		}
		out = append(out, c)
	}
	return bounded(out)
}

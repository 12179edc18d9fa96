package responses

import (
	"bytes"
	"encoding/json"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// messageItemFields are the fields of an item that a request tells from the blocks of a message.
var messageItemFields = map[string]bool{"type": true, "role": true, "content": true, "status": true, "call_id": true, "name": true, "arguments": true}

// further gives what an item has besides, with its type, nil = nothing: its id, the phase of a message, and what servers put into a call
// and want back.
func further(k kind, raw json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	for name, value := range all {
		if messageItemFields[name] || k == call && isOfCall(name) || !says(value) || k == message && name != "id" && name != "phase" || name == "id" && !usableID(textOf(value)) {
			delete(all, name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	all["type"] = itemTypes[k]
	return all
}

// itemTypes mark the data of a block as that of an item: data of another protocol at the same address has none.
var itemTypes = map[kind]json.RawMessage{message: json.RawMessage(`"message"`), call: json.RawMessage(`"function_call"`)}

// maxID is the longest id of an item that OpenAI takes back.
const maxID = 64

func usableID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

// replayable gives a reasoning item as it can be sent back, nil = it cannot: without its content the provider would have to look it up.
// Fields that are null are left out: what they mean differs. So is its status, which is not taken back.
func replayable(raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || !says(all["encrypted_content"]) && !says(all["content"]) && !says(all["signature"]) {
		return nil
	}
	changed := false
	for name, value := range all {
		if name == "status" || string(bytes.TrimSpace(value)) == "null" {
			delete(all, name)
			changed = true
		}
	}
	if !changed {
		return raw
	}
	out, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return out
}

// end makes the answer.
func (s *stream) end() error {
	s.t.Drain()
	for _, o := range s.outputs {
		if err := s.flush(o); err != nil {
			return err
		}
		if err := s.lately(o); err != nil {
			return err
		}
	}
	answer := &agent.Answer{Model: s.model, Usage: s.usage}
	calls, refused, text := 0, false, false
	for _, o := range s.inOrder() {
		switch o.kind {
		case reasoning:
			s.addThoughts(answer, o)
		case message:
			said, written := s.addMessage(answer, o)
			if said {
				refused, text = refused || o.refused, text || o.answered
			}
			calls += written
		case call:
			if calls++; calls > maxCalls {
				return s.t.Broken("more than %d tool calls in one message", maxCalls)
			}
			if err := s.addCall(answer, o); err != nil {
				return err
			}
		}
	}
	s.bound(answer)
	switch {
	case s.ending == "incomplete" && wire.IsFiltered(s.reason):
		answer.Stop = agent.StopFilter
	case s.ending == "incomplete" && wire.IsWindowFull(s.reason) && answer.IsWordless(): // the prompt fills it
		return s.t.Failed(agent.TooLong, s.reason)
	case s.ending == "incomplete" && wire.IsBroken(s.reason):
		return s.t.Failed(agent.Overloaded, s.reason)
	case s.ending == "incomplete" && wire.IsFailing(s.reason):
		return s.t.Failed(agent.Broken, s.reason)
	case s.ending == "incomplete" && calls == 0 && !wire.IsLength(s.reason) && !wire.IsWindowFull(s.reason):
		answer.Stop = agent.StopUnclear
	case s.ending == "incomplete":
		answer.Stop = agent.StopLength
	case calls > 0:
		answer.Stop = agent.StopToolUse
	case refused && !text:
		answer.Stop = agent.StopFilter
	default:
		answer.Stop = agent.StopEnd
	}
	wire.CallsInReasoning(answer, s.tools)
	if s.undo != nil {
		s.undo(answer)
	}
	s.answered = true
	_ = s.pass(agent.Delta{Final: answer})
	return nil
}

// addThoughts adds a reasoning item that says something to people or to its provider.
func (s *stream) addThoughts(a *agent.Answer, o *output) {
	data := replayable(o.raw)
	if data == nil {
		s.unpaired = true
	}
	if text := o.thoughts.String(); text != "" || data != nil {
		a.Content = append(a.Content, sessions.Block{Type: sessions.ThinkingBlock, Text: text, Opaque: &sessions.Opaque{From: s.from, Data: data}})
	}
}

// addMessage adds a text, and apart from it the thoughts and calls in it. It reports whether there is text, and how many calls.
func (s *stream) addMessage(a *agent.Answer, o *output) (said bool, calls int) {
	if thoughts := o.musing.String(); strings.TrimSpace(thoughts) != "" {
		a.Content = append(a.Content, sessions.Block{Type: sessions.ThinkingBlock, Text: thoughts, Opaque: &sessions.Opaque{From: s.from}})
	}
	if text := o.reader.Text(); strings.TrimSpace(text) != "" {
		for _, b := range a.Content {
			if b.Type == sessions.TextBlock { // texts of two messages are set apart
				text = "\n\n" + strings.TrimLeft(text, "\n")
				break
			}
		}
		a.Content = append(a.Content, sessions.Block{Type: sessions.TextBlock, Text: text, Opaque: s.opaque(o.extra)})
		said = true
	}
	for _, c := range o.reader.Calls() {
		if c.ID == "" {
			c.ID = agent.NewCallID()
		}
		a.Content = append(a.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		calls++
	}
	return said, calls
}

// addCall adds a call.
func (s *stream) addCall(a *agent.Answer, o *output) error {
	text := o.args.String()
	if text == "" {
		text = o.begun
	}
	args := json.RawMessage(text)
	switch {
	case s.ending == "" && !o.done && !json.Valid(args) && len(args) > 0:
		return s.t.Broken("the stream ended inside a tool call")
	case len(bytes.TrimSpace(args)) == 0 && s.ending != "incomplete": // at the limit, arguments may have been cut off
		args = json.RawMessage("{}")
	}
	id := o.callID
	if id == "" {
		id = o.id
	}
	if id == "" {
		id = agent.NewCallID()
	}
	a.Content = append(a.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: o.name, Arguments: wire.Arguments(args), Opaque: s.opaque(o.extra)})
	return nil
}

// opaque gives what the provider wants back with a block, nil = nothing.
func (s *stream) opaque(extra map[string]json.RawMessage) *sessions.Opaque {
	if extra == nil {
		return nil
	}
	data, err := json.Marshal(extra)
	if err != nil {
		return nil
	}
	return &sessions.Opaque{From: s.from, Data: data}
}

// bound drops what there is too much of for the provider, whole; and ids where a reasoning item is missing: the provider would miss it.
func (s *stream) bound(a *agent.Answer) {
	size := 0
	for _, b := range a.Content {
		if b.Opaque != nil {
			size += len(b.Opaque.Data)
		}
	}
	over := s.opaqueOver || size > sessions.MaxOpaque
	for i := range a.Content {
		o := a.Content[i].Opaque
		switch {
		case o == nil || !over && !s.unpaired:
		case over:
			o.Data = nil
		case a.Content[i].Type != sessions.ThinkingBlock:
			o.Data = withoutID(o.Data)
		}
		if o != nil && o.Data == nil && a.Content[i].Type != sessions.ThinkingBlock && !over {
			a.Content[i].Opaque = nil
		}
	}
}

func withoutID(data json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	delete(all, "id")
	if len(all) < 2 { // its type only
		return nil
	}
	out, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return out
}

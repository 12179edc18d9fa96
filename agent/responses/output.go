package responses

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"parley/agent/wire/markup"
	"parley/sessions"
)

// kind is what an item of an answer is to us.
type kind int

const (
	nothing   kind = iota // of no use to us
	message               // text
	call                  // of a function
	reasoning             // thoughts, and what else is encrypted
)

func kindOf(it item) kind {
	switch it.Type {
	case "message", "output_message":
		return message
	case "reasoning":
		return reasoning
	}
	if slices.Contains(callTypes, it.Type) || it.Name != "" && (it.CallID != "" || it.Type == "" && len(it.Arguments) > 0) { // items of the server's own tools have no such id
		return call
	}
	if it.Type == "" && says(it.Content) {
		return message
	}
	if textOf(it.Encrypted) != "" { // a summary of the conversation, for example: it goes back as it came
		return reasoning
	}
	return nothing
}

// output is one item of the answer, as far as it has come.
type output struct {
	kind      kind
	id        string
	index     int  // -1 = not said
	announced bool // the item itself came, not only pieces of it
	done      bool // it is complete

	text     strings.Builder // of a message, as the server sends it
	told     bool            // all of its text was said
	size     int             // of the text, in bytes, when the message was complete
	late     strings.Builder // pieces of the text that came behind its end
	reader   markup.Reader   // tells what of it is for people
	musing   strings.Builder // the thoughts in it
	ended    bool            // reader has it all
	refused  bool            // all or a part of it refuses
	answered bool            // a part of it does not

	thoughts strings.Builder
	source   string // summary or text: some servers send both
	part     int    // of the summary

	name, callID string
	args         strings.Builder
	begun        string // arguments that came with the beginning of the call: some servers say all of them there

	raw   json.RawMessage            // of reasoning: the whole item
	extra map[string]json.RawMessage // of others: what the provider may want back
}

// find gives the item that an event is about, made where there is none. Servers name items by an id, by their place, by both, or by
// an id that changes with each event.
func (s *stream) find(k kind, ev *event) *output {
	s.content()
	if o := s.last; o != nil && o.kind == k && !o.done && (ev.ItemID == o.id && ev.ItemID != "" || ev.ItemID == "" && (ev.Index < 0 || ev.Index == o.index)) {
		return o
	}
	o := s.outputs.known(k, ev.ItemID, ev.Index, ev.Text)
	if o == nil {
		o = s.add(&output{kind: k, id: ev.ItemID, index: ev.Index})
	}
	s.last = o
	return o
}

// add begins an item. One too many is read and forgotten.
func (s *stream) add(o *output) *output {
	o.part, o.reader.Tools, o.reader.Closes = -1, s.tools, s.closes && len(s.outputs) == 0
	if len(s.outputs) < maxOutputs {
		s.outputs = append(s.outputs, o)
	}
	return o
}

// added reads the beginning of an item.
func (s *stream) added(ev *event) error {
	ev.Item = unwrapped(ev.Item)
	it, ok := readItem(ev.Item)
	k := kindOf(it)
	if !ok || k == nothing {
		if !ok {
			s.unread("an item", ev.Item)
		}
		return nil
	}
	s.content()
	o := s.announced(k, it, ev.Index)
	o.announced, s.last = true, o
	if it.ID != "" {
		o.id = it.ID
	}
	if ev.Index >= 0 {
		o.index = ev.Index
	}
	if k == call {
		o.name, o.callID, o.begun = it.Name, it.CallID, arguments(it.Arguments)
		if s.begunBytes += len(o.begun); s.begunBytes > maxArguments {
			return s.t.TooLarge("the arguments of tool calls", maxArguments)
		}
		s.keep(o, it, ev.Item)
	}
	return nil
}

// announced gives the item that begins: one of which pieces came before, or a new one.
func (s *stream) announced(k kind, it item, index int) *output {
	for _, o := range slices.Backward(s.outputs) {
		same := it.ID != "" && o.id == it.ID || k == call && it.CallID != "" && o.callID == it.CallID
		if o.kind == k && (same || !o.announced && !o.done && (o.id == "" || it.ID == "") && (index < 0 || o.index < 0 || o.index == index)) {
			return o
		}
	}
	return s.add(&output{kind: k, id: it.ID, index: index})
}

// done reads a complete item.
func (s *stream) done(ev *event) error {
	ev.Item = unwrapped(ev.Item)
	it, ok := readItem(ev.Item)
	k := kindOf(it)
	if !ok || k == nothing {
		if !ok {
			s.unread("an item", ev.Item)
		}
		return nil
	}
	s.content()
	o := s.outputs.byCallID(k, it)
	if o == nil {
		id := it.ID
		if id == "" {
			id = ev.ItemID
		}
		if o = s.outputs.known(k, id, ev.Index, joined(it.Content, "")); o != nil && k == call && o.callID != "" && it.CallID != "" && o.callID != it.CallID {
			o = nil // another call at the same place
		}
	}
	if o == nil {
		o = s.add(&output{kind: k, id: it.ID, index: ev.Index})
	}
	if err := s.fill(o, it, ev.Item); err != nil || k != message {
		return err
	}
	return s.beside(ev.Item)
}

// beside reads the calls that stand in a message, as chat completions have them.
func (s *stream) beside(raw json.RawMessage) error {
	for _, x := range callsBeside(raw) {
		if it, ok := readItem(x); ok && kindOf(it) == call {
			o := s.outputs.match(call, it, nil)
			if o == nil {
				o = s.add(&output{kind: call, id: it.ID, index: -1})
			}
			if err := s.fill(o, it, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill completes an item with what the server says of the whole of it.
func (s *stream) fill(o *output, it item, raw json.RawMessage) error {
	o.announced = true
	switch o.kind {
	case message:
		for _, p := range partsOf(it.Content) {
			o.refused, o.answered = o.refused || p.refusal, o.answered || !p.refusal
		}
		if err := s.said(o, joined(it.Content, ""), o.refused && !o.answered); err != nil {
			return err
		}
		if err := s.flush(o); err != nil {
			return err
		}
	case call:
		if it.Name != "" {
			o.name = it.Name
		}
		if it.CallID != "" {
			o.callID = it.CallID
		}
		if args := arguments(it.Arguments); args != "" {
			if err := s.argued(o, args); err != nil {
				return err
			}
		}
	case reasoning:
		if o.thoughts.Len() == 0 {
			thought := joined(it.Summary, "\n\n")
			if thought == "" {
				thought = joined(it.Content, "\n\n")
			}
			if err := s.think(o, "", thought, -1); err != nil {
				return err
			}
		}
	}
	if !o.done {
		o.done, o.size = true, o.text.Len()
	}
	if it.ID != "" {
		o.id = it.ID
	}
	s.keep(o, it, raw)
	return nil
}

// keep keeps of an item what its provider may want back: all of a reasoning item, of others the fields that are not told elsewhere. A
// reasoning item that is not complete is none; of two forms of one item the one with its encrypted content counts, then the later one.
func (s *stream) keep(o *output, it item, raw json.RawMessage) {
	if o.kind != reasoning {
		if extra := further(o.kind, raw); extra != nil {
			size := 0
			for _, value := range extra {
				size += len(value)
			}
			if s.opaqueBytes += size; s.opaqueBytes > sessions.MaxOpaque {
				s.opaqueOver = true // none of it is kept
				extra = map[string]json.RawMessage{"type": itemTypes[o.kind]}
			}
			o.extra = extra
		}
		return
	}
	if it.Status == "incomplete" || it.Status == "in_progress" {
		return
	}
	if was, _ := readItem(o.raw); textOf(was.Encrypted) != "" && textOf(it.Encrypted) == "" {
		return
	}
	if s.opaqueBytes += len(raw) - len(o.raw); s.opaqueBytes > sessions.MaxOpaque {
		s.opaqueOver = true // none of it is kept
		raw = nil
	}
	o.raw = bytes.Clone(raw)
}

// settle reads the items of a whole answer: they complete those that came in pieces, and say their order.
func (s *stream) settle(raw json.RawMessage) error {
	list := itemsOf(raw)
	seen := make(map[*output]bool, len(list))
	order := make([]*output, 0, len(list))
	for _, x := range flattened(list) {
		it, ok := readItem(x)
		k := kindOf(it)
		if !ok || k == nothing {
			continue
		}
		o := s.outputs.match(k, it, seen)
		if o == nil {
			o = s.add(&output{kind: k, id: it.ID, index: -1})
		}
		seen[o] = true
		order = append(order, o)
		if err := s.fill(o, it, x); err != nil {
			return err
		}
	}
	if len(order) > 0 && len(order) == len(s.outputs) {
		s.outputs, s.ordered = order, true
	}
	return nil
}

// itemsOf gives the items of an answer, also where they are one, or only what it says.
func itemsOf(raw json.RawMessage) (out []json.RawMessage) {
	var list []json.RawMessage
	switch {
	case !says(raw):
	case raw[0] == '"':
		out = append(out, messageOf(raw))
	case raw[0] == '[' && json.Unmarshal(raw, &list) == nil:
		for _, x := range list {
			out = append(out, itemsOf(x)...)
		}
	case raw[0] == '{':
		var it item
		if it, _ = readItem(raw); it.Type == "output_text" || it.Type == "text" {
			raw = messageOf(raw)
		}
		out = append(out, raw)
	}
	return out
}

// messageOf makes a message of its content.
func messageOf(content json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"type":"message","content":[`), content, []byte(`]}`))
}

// inOrder gives the items in the order of the whole answer, or else of their places where all have one, or else as they came.
func (s *stream) inOrder() []*output {
	places := make(map[int]bool, len(s.outputs))
	for _, o := range s.outputs {
		if o.index < 0 || places[o.index] {
			return s.outputs
		}
		places[o.index] = true
	}
	if !s.ordered {
		slices.SortStableFunc(s.outputs, func(a, b *output) int { return a.index - b.index })
	}
	return s.outputs
}

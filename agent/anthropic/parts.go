package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire/markup"
	"parley/sessions"
)

// The kinds of parts.
const (
	textPart     = "text"
	thinkingPart = "thinking"
	callPart     = "tool_use"
	otherPart    = "other"
)

// answerBlock is one block of an answer, in the making.
type answerBlock struct {
	kind  string
	index int         // the server's; -1 = it said none
	text  []byte      // text, thinking, or the arguments of a call as they were streamed
	kept  opaqueBlock // of thinking and other blocks
	id    string
	name  string
	input json.RawMessage            // arguments that came at the start of the block
	other map[string]json.RawMessage // the fields of a block that is no text, thinking or call
	cut   bool                       // not all of it was kept

	reader  *markup.Reader // of a text
	thought *answerBlock   // thinking that stood in the text
	ended   bool           // the reader has come to the end
}

// block gives a part as it is stored. from names the endpoint, isReturned is whether it is sent thinking without signature.
func (p *answerBlock) block(from string, isReturned bool) sessions.Block {
	switch p.kind {
	case textPart:
		return sessions.Block{Type: sessions.TextBlock, Text: string(p.text)}
	case callPart:
		return sessions.Block{Type: sessions.ToolCallBlock, ID: p.id, Name: p.name, Arguments: p.arguments()}
	}
	b := sessions.Block{Type: sessions.ThinkingBlock, Text: string(p.text), Opaque: &sessions.Opaque{From: from}}
	k := p.kept
	switch {
	case p.cut:
		k = opaqueBlock{Cut: true}
	case p.kind == otherPart && !wantedBack(p.other):
		b.Text = ""
	case p.kind == otherPart:
		if json.Valid(p.text) { // the arguments of a tool of the server
			p.other["input"] = p.text
		}
		b.Text = ""
		k.Block, _ = json.Marshal(p.other) // of raw JSON it never fails
	}
	data, err := json.Marshal(k)
	if err == nil && isReturned && string(data) == "{}" && p.kind == thinkingPart && len(p.text) > 0 {
		data, err = json.Marshal(opaqueBlock{Unsigned: true})
	}
	if err == nil && string(data) != "{}" {
		b.Opaque.Data = data
	}
	return b
}

// wantedBack reports whether a block that is no text, thinking or call is one that the API takes back: uses and results of tools that
// the server runs, and what stands for a conversation that it has summed up. Blocks of the future are only read.
func wantedBack(block map[string]json.RawMessage) bool {
	kind := textOf(block["type"])
	return strings.HasSuffix(kind, "_tool_use") || strings.HasSuffix(kind, "_tool_result") || kind == "compaction" || kind == "container_upload"
}

// arguments gives what the model wrote as the arguments of a call. Servers that do not stream them give them at the start of the block,
// some as a text, and some send them twice.
func (p *answerBlock) arguments() json.RawMessage {
	raw := json.RawMessage(p.text)
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = p.input
		var text string
		if json.Unmarshal(raw, &text) == nil && json.Valid([]byte(text)) {
			raw = json.RawMessage(text)
		}
		return raw
	}
	if json.Valid(raw) {
		return raw
	}
	var last json.RawMessage
	for values := json.NewDecoder(bytes.NewReader(raw)); values.More(); {
		var v json.RawMessage
		if values.Decode(&v) != nil || v[0] != '{' {
			return raw
		}
		last = v
	}
	return last
}

// newest gives the newest part with an index, or the newest one when a server says none; nil = there is none.
func (s *stream) newest(index *int) *answerBlock {
	for i := len(s.parts) - 1; i >= 0; i-- {
		if p := s.parts[i]; index == nil || p.index == *index || p.index < 0 {
			return p
		}
	}
	return nil
}

// find gives the part that a delta belongs to: the newest with its index, of its kind. One that was never started begins here.
func (s *stream) find(index *int, kind string) (*answerBlock, error) {
	if p := s.newest(index); p != nil && (p.kind == kind || p.kind == otherPart) {
		return p, nil
	}
	return s.add(kind, index)
}

func (s *stream) add(kind string, index *int) (*answerBlock, error) {
	if len(s.parts)+len(s.before) >= maxParts {
		return nil, s.t.Broken("more than %d blocks in one answer", maxParts)
	}
	p := &answerBlock{kind: kind, index: -1}
	if index != nil {
		p.index = *index
	}
	s.parts = append(s.parts, p)
	return p, nil
}

// startBlock begins a block, with what of it is in its first event.
func (s *stream) startBlock(index *int, raw json.RawMessage) error {
	var b blockStart
	if inner := callIn(raw); inner != nil {
		raw = inner
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		if !b.loosely(raw) {
			s.unread("a block that is not an object", raw)
			return nil
		}
		s.unread("a block's field of an unexpected type", raw)
	}
	s.accept()
	if err := s.flush(); err != nil || s.stopped {
		return err
	}
	if slices.Contains(callKinds, b.Type) || b.Type == "" && b.Name != "" {
		b.asCall(raw)
	}
	switch kind := b.kind(); kind {
	case textPart:
		if _, err := s.add(textPart, index); err != nil || b.Text == "" {
			return err
		}
		return s.addText(index, b.Text)
	case thinkingPart:
		p, err := s.add(thinkingPart, index)
		if err != nil {
			return err
		}
		s.sign(p, b.Signature)
		return s.addThinking(p, cmp.Or(b.Thinking, b.Text))
	case "redacted_thinking":
		p, err := s.add(thinkingPart, index)
		if err == nil && s.keepOpaque(p, len(b.Data)) {
			p.kept.Redacted = b.Data
		}
		return err
	case callPart:
		p, err := s.add(callPart, index)
		if err != nil {
			return err
		}
		p.id, p.name = b.ID, b.Name
		if !isNull(b.Input) {
			p.input = b.Input
		}
		return s.countArguments(len(b.Input))
	default:
		p, err := s.add(otherPart, index)
		if err != nil {
			return err
		}
		if s.keepOpaque(p, len(raw)) && json.Unmarshal(raw, &p.other) != nil {
			p.cut = true
		}
		return nil
	}
}

// blockStart is a block as it begins, or a whole one.
type blockStart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// kind gives the kind of a block, also where its type is missing.
func (b *blockStart) kind() string {
	switch {
	case b.Type == "output_text":
		return textPart
	case b.Type == "reasoning", b.Type == "reasoning_content":
		return thinkingPart
	case b.Type != "":
		return strings.ToLower(b.Type)
	case b.Thinking != "":
		return thinkingPart
	case b.Name != "":
		return callPart
	}
	return textPart
}

// delta takes a piece of a block in. Which field has something in it says more than the type of the delta.
func (s *stream) delta(index *int, d *delta, data []byte) error {
	s.accept()
	switch {
	case d.Text != "":
		return s.addText(index, d.Text)
	case d.Thinking != "":
		p, err := s.find(index, thinkingPart)
		if err != nil {
			return err
		}
		return s.addThinking(p, d.Thinking)
	case d.Signature != "":
		p, err := s.find(index, thinkingPart)
		if err == nil {
			s.sign(p, d.Signature)
		}
		return err
	case d.PartialJSON != "":
		p, err := s.find(index, callPart)
		if err != nil {
			return err
		}
		p.text = append(p.text, d.PartialJSON...)
		return s.countArguments(len(d.PartialJSON))
	case d.Type == "input_json_delta" && !bytes.Contains(data, []byte(`"partial_json"`)):
		return s.oddArguments(index, data)
	case d.Type == "text_delta" || d.Type == "thinking_delta" || d.Type == "signature_delta" || d.Type == "input_json_delta":
		return nil
	}
	return s.otherDelta(index, data)
}

// otherDelta adds the texts of a delta to the fields of the same names of a block that is no text, thinking or call. A block of which
// not all is understood is not sent back.
func (s *stream) otherDelta(index *int, data []byte) error {
	var e struct{ Delta map[string]json.RawMessage }
	if json.Unmarshal(data, &e) != nil {
		return nil
	}
	p := s.newest(index)
	if p == nil || p.kind != otherPart || p.other == nil {
		return nil // for example the sources of a text
	}
	for name, raw := range e.Delta {
		var old, more string
		if name == "type" {
			continue
		}
		if json.Unmarshal(raw, &more) != nil || p.other[name] != nil && !isNull(p.other[name]) && json.Unmarshal(p.other[name], &old) != nil || !s.keepOpaque(p, len(more)) {
			p.cut = true
			continue
		}
		p.other[name], _ = json.Marshal(old + more) // a text always marshals
	}
	return nil
}

// sign adds a piece of a signature.
func (s *stream) sign(p *answerBlock, signature string) {
	if signature != "" && s.keepOpaque(p, len(signature)) {
		p.kept.Signature += signature
	}
}

// keepOpaque counts what has to be sent back unchanged. Over the bound of a message it is dropped whole, when the answer is complete.
func (s *stream) keepOpaque(p *answerBlock, n int) bool {
	s.opaque += n
	if s.opaque > sessions.MaxOpaque {
		p.cut = true
		return false
	}
	return true
}

func (s *stream) countArguments(n int) error {
	if s.arguments += n; s.arguments > maxArguments {
		return s.t.TooLarge("the arguments of tool calls", maxArguments)
	}
	return nil
}

func (s *stream) hasCalls() bool {
	for _, p := range s.parts {
		if p.kind == callPart {
			return true
		}
	}
	return false
}

// give hands a piece on.
func (s *stream) give(d agent.Delta) {
	s.started = true
	s.t.Spoke()
	s.stopped = s.stopped || !s.yield(d)
}

// addThinking adds a piece of thinking. What is over the bound is left out: the answer may still come.
func (s *stream) addThinking(p *answerBlock, text string) error {
	if text == "" {
		return nil
	}
	if s.thinking += len(text); s.thinking > maxThinking {
		if !p.cut {
			p.cut = true
			p.text = append(p.text, "\n[the rest was too long to be kept]"...)
		}
		return nil
	}
	if p.kind == otherPart { // a thinking delta in a block of another kind
		p.cut = true
		return nil
	}
	p.text = append(p.text, text...)
	s.give(agent.Delta{Thinking: text})
	return nil
}

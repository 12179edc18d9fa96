package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/channels"
	"parley/sessions"
)

// The bounds of what a session tool shows of a transcript (contract H5).
const (
	maxBlock   = 4000      // characters of one block
	maxHistory = 80 * 1024 // bytes of a sessions_history result
	maxRows    = 64 * 1024 // bytes of a sessions_list result (contract L7)
)

// shown makes messages of a transcript fit to be shown to a model: secrets taken out, blocks cut. It counts what it did.
type shown struct {
	redact func(string) string
	block  int                       // longest block, in characters
	name   func(sessions.Key) string // of a session, as the reader's tools show it; nil = its key

	cut      bool // a block was cut
	redacted bool // a secret was taken out
}

// shownTo makes messages fit for a caller.
func (d Deps) shownTo(c Caller) shown {
	return shown{redact: d.Redact, block: maxBlock, name: func(k sessions.Key) string { return d.name(c, k) }}
}

// withoutThinking leaves the thinking of another session out (contract W4). msgs stays as it is.
func withoutThinking(msgs []sessions.Message) []sessions.Message {
	msgs = slices.Clone(msgs)
	for i := range msgs {
		msgs[i].Content = slices.DeleteFunc(slices.Clone(msgs[i].Content), func(b sessions.Block) bool { return b.Type == sessions.ThinkingBlock })
	}
	return msgs
}

// withoutRefused puts a mark in the place of what a provider has refused: a model that read it there would be refused as well. Calls go, and
// their results with them. msgs stays as it is.
func withoutRefused(msgs []sessions.Message) []sessions.Message {
	refused := sessions.RefusedRuns(msgs)
	if refused == nil {
		return msgs
	}
	msgs = slices.Clone(msgs)
	for i := range msgs {
		m := &msgs[i]
		switch {
		case m.IsRefusal():
			m.SetRefused(m.RefusedBy())
			m.Content = append(slices.Clip(m.Content), sessions.Block{Type: sessions.TextBlock, Text: " (" + sessions.RefusedMark + ")"})
		case refused[m.Run]:
			m.Content, m.Error = sessions.TextContent("["+sessions.RefusedMark+"]"), ""
		}
	}
	return msgs
}

// message gives a copy of m that is fit to be shown; m itself stays as it is.
func (s *shown) message(m sessions.Message) sessions.Message {
	m.Seq = 0 // it counts the messages of all sessions; Number counts those of this one (contract V4)
	m.Content = slices.Clone(m.Content)
	for i := range m.Content {
		b := &m.Content[i]
		b.Text = s.text(b.Text)
		b.ID, b.Name = s.text(b.ID), s.text(b.Name)
		b.Signature, b.Opaque = nil, nil // the provider's own state: nothing to read
		if b.Type == sessions.ThinkingBlock {
			b.Data = ""
		}
		if b.Data != "" {
			b.Text, b.Data = fmt.Sprintf("[image left out: %d KiB]", len(b.Data)*3/4/1024), ""
			s.cut = true
		}
		if b.Media != nil { // how it is fetched is nobody's to know
			b.Media = &channels.Media{Kind: b.Media.Kind, Name: s.text(sessions.FileName(b.Media.Name)), MIME: s.text(b.Media.MIME), Size: b.Media.Size}
		}
		if b.Type == sessions.ToolCallBlock {
			b.Arguments = s.arguments(b.Arguments)
		}
	}
	m.Error = s.text(m.Error)
	m.ToolCallID, m.ToolName = s.text(m.ToolCallID), s.text(m.ToolName)
	if m.Provenance != nil {
		p := *m.Provenance
		p.Name, p.Sender, p.User = s.text(p.Name), s.text(p.Sender), s.text(p.User)
		if s.name != nil && p.Source != "" {
			p.Source = sessions.Key(s.name(p.Source))
		}
		p.People = nil // the host's own: it decides about rights
		m.Provenance = &p
	}
	return m
}

func (s *shown) text(t string) string {
	if t == "" {
		return ""
	}
	if s.redact != nil {
		clean := s.redact(t)
		s.redacted = s.redacted || clean != t
		t = clean
	}
	t, cut := clip(t, s.block)
	s.cut = s.cut || cut
	return t
}

// arguments gives the arguments of a tool call with secrets taken out of every text in them; too long ones become an object that
// holds their beginning.
func (s *shown) arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() { // as the model wrote them: not JSON
		return encode(map[string]string{"invalid": s.text(string(raw))})
	}
	whole := encode(s.value(v))
	if len(whole) <= s.block {
		return whole
	}
	if t, cut := clip(string(whole), s.block); cut {
		s.cut = true
		return encode(map[string]string{"truncated": t})
	}
	return whole
}

// value applies text to every text inside decoded JSON, names of fields included.
func (s *shown) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.text(v)
	case []any:
		for i := range v {
			v[i] = s.value(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[s.text(k)] = s.value(x)
		}
		return out
	}
	return v
}

// pairs finds which tool calls and results of a piece of a transcript belong together.
type pairs struct {
	end  []int  // for a call: index of the last message that answers it; itself otherwise
	keep []bool // false: a result without its call
	call map[pairID]int
	done map[pairID]bool
}

// pairID names a call: ids are unique inside a run, and a run may meet an id that another one used.
type pairID struct {
	run sessions.RunID
	id  string
}

func pair(msgs []sessions.Message) pairs {
	p := pairs{end: make([]int, len(msgs)), keep: make([]bool, len(msgs)), call: map[pairID]int{}, done: map[pairID]bool{}}
	for i, m := range msgs {
		p.end[i], p.keep[i] = i, true
		for _, c := range m.ToolCalls() {
			id := pairID{m.Run, c.ID}
			if _, again := p.call[id]; !again {
				p.call[id] = i
			}
		}
		if m.Role != sessions.ToolResult {
			continue
		}
		id := pairID{m.Run, m.ToolCallID}
		at, ok := p.call[id]
		if !ok || p.done[id] {
			p.keep[i] = false
			continue
		}
		p.done[id] = true
		p.end[at] = max(p.end[at], i)
	}
	return p
}

// unit is a piece of a transcript that is shown whole or not at all: a message, or a message that calls tools with all results.
type unit struct {
	from, to int // indexes into the piece, to is exclusive
	msgs     []sessions.Message
	at       []int // the index of each
	notes    int   // how many of msgs stand in for something else
}

// units splits a piece of a transcript, oldest first. Calls without a result and results without a call are left out (contract
// H4); a call is without one while its run is still at it.
func units(msgs []sessions.Message) []unit {
	p := pair(msgs)
	var out []unit
	for i := 0; i < len(msgs); {
		u := unit{from: i, to: p.end[i] + 1}
		for j := i; j < u.to; j++ {
			u.to = max(u.to, p.end[j]+1)
			if m, ok := p.whole(msgs[j], j); ok {
				u.msgs, u.at = append(u.msgs, m), append(u.at, j)
			}
		}
		out = append(out, u)
		i = u.to
	}
	return out
}

// whole gives message i without the calls that have no result; false when nothing is left of it.
func (p pairs) whole(m sessions.Message, i int) (sessions.Message, bool) {
	if !p.keep[i] {
		return m, false
	}
	calls := len(m.ToolCalls())
	if calls == 0 {
		return m, true
	}
	seen := map[string]bool{}
	m.Content = slices.DeleteFunc(slices.Clone(m.Content), func(b sessions.Block) bool {
		if b.Type != sessions.ToolCallBlock {
			return false
		}
		id := pairID{m.Run, b.ID}
		drop := !p.done[id] || p.call[id] != i || seen[b.ID]
		seen[b.ID] = true
		return drop
	})
	return m, len(m.Content) > 0
}

// split takes a unit apart that cannot be shown whole: calls become a note, results are left out, all else stays.
func (u unit) split() []unit {
	var out []unit
	for i := u.from; i < u.to; i++ {
		one := unit{from: i, to: i + 1}
		if j := slices.Index(u.at, i); j >= 0 && u.msgs[j].Role != sessions.ToolResult {
			m := u.msgs[j]
			if len(m.ToolCalls()) > 0 {
				m, one.notes = note(m), 1
			}
			one.msgs, one.at = []sessions.Message{m}, []int{i}
		}
		out = append(out, one)
	}
	return out
}

// note stands in for a message that cannot be shown: who spoke and when, the beginning of what was said, which tools were used.
func note(m sessions.Message) sessions.Message {
	var used []string
	for _, c := range m.ToolCalls() {
		if len(used) < 20 && !slices.Contains(used, c.Name) {
			used = append(used, c.Name)
		}
	}
	text := ""
	for _, b := range m.Content {
		if b.Type == sessions.TextBlock && text == "" {
			text, _ = clip(b.Text, 500)
		}
	}
	if len(used) > 0 {
		names, _ := clip(strings.Join(used, ", "), 500)
		text += "[left out: calls of " + names + " and their results; a larger limit can show them]"
	} else {
		text += "[left out: too large]"
	}
	return sessions.Message{ID: m.ID, Number: m.Number, Role: m.Role, Time: m.Time, Run: m.Run, Content: sessions.TextContent(text)}
}

package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"parley/sessions"
)

// opaque is the Data of a block's sessions.Opaque: what the endpoint wants back with the message.
type opaque struct {
	Field     string          `json:"field,omitempty"`             // where reasoning came: reasoning_content, …, fieldTags, fieldParts
	Open      string          `json:"open,omitempty"`              // fieldTags: what stood in front of the reasoning
	Close     string          `json:"close,omitempty"`             // fieldTags: what stood behind it
	Details   json.RawMessage `json:"reasoning_details,omitempty"` // a list
	Extra     json.RawMessage `json:"extra_content,omitempty"`     // of the message
	Sealed    json.RawMessage `json:"reasoning_opaque,omitempty"`  // of the message
	CallExtra json.RawMessage `json:"call_extra_content,omitempty"`
}

func (o opaque) empty() bool {
	return o.Field == "" && o.Details == nil && o.Extra == nil && o.Sealed == nil && o.CallExtra == nil
}

// block makes the Opaque of a block.
func (o opaque) block(from string) *sessions.Opaque {
	out := &sessions.Opaque{From: from}
	if !o.empty() {
		if data, err := json.Marshal(o); err == nil { // raw values were decoded before
			out.Data = data
		}
	}
	return out
}

// readOpaque reads what block made. What cannot be read is nothing.
func readOpaque(data json.RawMessage) (o opaque) {
	if len(data) > 0 && json.Unmarshal(data, &o) != nil {
		return opaque{}
	}
	return o
}

// bounded drops all data of an answer whose data is too large to be kept: a part of a signature is worth nothing.
func bounded(blocks []sessions.Block) []sessions.Block {
	size := 0
	for _, b := range blocks {
		if b.Opaque != nil {
			size += len(b.Opaque.Data)
		}
	}
	if size <= sessions.MaxOpaque {
		return blocks
	}
	for i := range blocks {
		if o := blocks[i].Opaque; o != nil {
			blocks[i].Opaque = &sessions.Opaque{From: o.From}
		}
	}
	return blocks
}

// details puts the pieces of reasoning_details together: texts and summaries of one entry are joined, everything else stays as it came.
type details struct {
	list    []*detail
	size    int
	dropped bool
}

type detail struct {
	raw    json.RawMessage            // as it came; nil when pieces were joined
	fields map[string]json.RawMessage // its fields but for the one that is joined
	joined string                     // its name: text or summary; empty = none
	text   strings.Builder
}

// add takes a piece in, and gives the reasoning in it that people can read.
func (d *details) add(raw json.RawMessage) (told string) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
			return ""
		}
		items = []json.RawMessage{raw}
	}
	for _, item := range items {
		told += d.addOne(item)
	}
	return told
}

func (d *details) addOne(item json.RawMessage) string {
	fields := make(map[string]json.RawMessage)
	if json.Unmarshal(item, &fields) != nil || d.dropped {
		return ""
	}
	if d.size += len(item); d.size > 8*sessions.MaxOpaque { // pieces are larger than what they add
		d.drop()
		return ""
	}
	joined, text := "", ""
	for _, name := range []string{"text", "summary"} {
		if joined == "" && json.Unmarshal(fields[name], &text) == nil && fields[name] != nil {
			joined = name
		}
	}
	if n := len(d.list); n > 0 && joined != "" && d.list[n-1].goesOn(joined, fields) {
		d.list[n-1].join(text, fields)
		return text
	}
	last := &detail{raw: bytes.Clone(item), fields: fields, joined: joined}
	last.text.WriteString(text)
	d.list = append(d.list, last)
	return text
}

// goesOn reports whether a piece belongs to the entry.
func (e *detail) goesOn(joined string, fields map[string]json.RawMessage) bool {
	if e.joined != joined {
		return false
	}
	for _, name := range []string{"type", "index", "id"} {
		if a, b := e.fields[name], fields[name]; set(a) && set(b) && !bytes.Equal(a, b) {
			return false
		}
	}
	// a signature ends an entry, unless the next piece says that it belongs to it
	return !says(e.fields["signature"]) || fields["index"] != nil && e.fields["index"] != nil
}

// set reports whether a field has a value.
func set(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (e *detail) join(text string, fields map[string]json.RawMessage) {
	e.raw = nil
	e.text.WriteString(text)
	for name, value := range fields {
		if name != e.joined && says(value) {
			e.fields[name] = value
		}
	}
}

// drop forgets all of them.
func (d *details) drop() { *d = details{dropped: true} }

// json gives the list; nil = none.
func (d *details) json() json.RawMessage {
	if len(d.list) == 0 {
		return nil
	}
	out := []byte{'['}
	for i := range d.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, d.list[i].json()...)
	}
	return append(out, ']')
}

func (e *detail) json() []byte {
	if e.raw != nil {
		return e.raw
	}
	text, err := json.Marshal(e.text.String())
	if err != nil { // a text can always be encoded
		return []byte("{}")
	}
	e.fields[e.joined] = text
	names := make([]string, 0, len(e.fields))
	for name := range e.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	out := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil { // a text can always be encoded
			continue
		}
		out = append(append(append(out, key...), ':'), e.fields[name]...)
	}
	return append(out, '}')
}

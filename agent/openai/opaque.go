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

// opaque is the Data of a block's sessions.Opaque: what the endpoint wants back with the message.
type opaque struct {
	Field    string          `json:"field,omitempty"`                    // where reasoning came: reasoning_content, …, fieldTags, fieldParts
	Returned bool            `json:"returned,omitempty"`                 // the endpoint is sent all reasoning of its own: agent's estimate counts it
	Open     string          `json:"open,omitempty"`                     // fieldTags: what stood in front of the reasoning
	Close    string          `json:"close,omitempty"`                    // fieldTags: what stood behind it
	Details  json.RawMessage `json:"reasoning_details,omitempty"`        // a list, or a text where it came as one
	Extra    json.RawMessage `json:"extra_content,omitempty"`            // of the message
	Sealed   json.RawMessage `json:"reasoning_opaque,omitempty"`         // of the message
	Provider json.RawMessage `json:"provider_specific_fields,omitempty"` // of the message
	Blocks   json.RawMessage `json:"thinking_blocks,omitempty"`          // a list, or a text where it came as one
	Part     json.RawMessage `json:"thinking_part,omitempty"`            // fieldParts: further fields of the part, an object
	Rest     json.RawMessage `json:"message_fields,omitempty"`           // an object: further fields of the message
	ofCall
}

// ofCall is what belongs to one call.
type ofCall struct {
	CallID    string          `json:"call_id,omitempty"` // as it came, where it is too long for the transcript
	CallExtra json.RawMessage `json:"call_extra_content,omitempty"`
	Call      *signed         `json:"call_fields,omitempty"`
	Function  *signed         `json:"function_fields,omitempty"`
}

func (c ofCall) empty() bool {
	return c.CallID == "" && c.CallExtra == nil && c.Call == nil && c.Function == nil
}

// hasSignature reports whether the endpoint signs its calls.
func (c ofCall) hasSignature() bool {
	return bytes.Contains(c.CallExtra, []byte("thought_signature")) || c.Call != nil || c.Function != nil
}

// signed are fields of a call or its function in which gateways put signatures, besides extra_content.
// source: docs.litellm.ai/blog/gemini_3 (provider_specific_fields), ai.google.dev/gemini-api/docs/thought-signatures
type signed struct {
	Provider  json.RawMessage `json:"provider_specific_fields,omitempty"`
	Signature json.RawMessage `json:"thought_signature,omitempty"`
	Camel     json.RawMessage `json:"thoughtSignature,omitempty"`
	Rest      json.RawMessage `json:"further_fields,omitempty"` // an object: other fields with signatures
}

// add takes the fields of a piece in.
func (s *signed) add(p signed) {
	for _, f := range []struct{ to, from *json.RawMessage }{{&s.Provider, &p.Provider}, {&s.Signature, &p.Signature}, {&s.Camel, &p.Camel}, {&s.Rest, &p.Rest}} {
		if says(*f.from) {
			*f.to = bytes.Clone(*f.from)
		}
	}
}

// size is that of the fields, in bytes.
func (s *signed) size() int { return len(s.Provider) + len(s.Signature) + len(s.Camel) + len(s.Rest) }

// kept returns the fields if there are any.
func (s signed) kept() *signed {
	if s.Provider == nil && s.Signature == nil && s.Camel == nil && s.Rest == nil {
		return nil
	}
	return &s
}

// appendTo appends the fields to those of an object.
func (s *signed) appendTo(b []byte) []byte {
	if s == nil {
		return b
	}
	named := *s
	named.Rest = nil
	raw, err := json.Marshal(named)
	if err != nil { // raw values were decoded before
		return b
	}
	return appendFields(appendFields(b, raw), s.Rest)
}

// appendFields appends the fields of one JSON object to those of another one.
func appendFields(b, object []byte) []byte {
	inner := bytes.TrimSpace(object)
	if len(inner) <= 2 {
		return b
	}
	return append(append(b, ','), inner[1:len(inner)-1]...)
}

// longestCallID is the longest id of a call that is kept in the transcript, in bytes.
const longestCallID = 64

// sealMark stands in ids of calls between the id and a signature. source: docs.litellm.ai/blog/gemini_3
const sealMark = "__thought__"

// shortCallID returns the id of a call for the transcript, and the one that the endpoint wants back where that is another: some have a
// signature in it.
func shortCallID(id string) (short, whole string) {
	before, _, sealed := strings.Cut(id, sealMark)
	switch {
	case !sealed && len(id) <= longestCallID:
		return id, ""
	case before == "" || len(before) > longestCallID:
		before = agent.NewCallID()
	}
	return before, id
}

func (o opaque) empty() bool {
	return o.Field == "" && o.Details == nil && o.Extra == nil && o.Sealed == nil && o.Provider == nil && o.Blocks == nil && o.Part == nil && o.Rest == nil && o.ofCall.empty()
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

// closesAlone reports whether the reasoning of a block stood in the text with only a closing tag.
func closesAlone(data json.RawMessage) bool {
	o := readOpaque(data)
	return o.Field == fieldTags && wire.IsLone(o.Open, o.Close)
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
	words   strings.Builder // they came as words, not as a list
	quoted  json.RawMessage // a list that came as a JSON text
	isText  bool            // so did several: they go back as one
}

type detail struct {
	raw    json.RawMessage            // as it came; nil when pieces were joined
	fields map[string]json.RawMessage // its fields but for the one that is joined
	joined string                     // its name: text, summary or thinking; empty = none
	text   strings.Builder
}

// add takes a piece in, and gives the reasoning in it that people can read.
func (d *details) add(raw json.RawMessage) (told string) {
	var text string
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return d.addText(raw, text)
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		if len(raw) == 0 || raw[0] != '{' {
			return ""
		}
		items = []json.RawMessage{raw}
	}
	for _, item := range items {
		told += d.addOne(item)
	}
	return told
}

// addText takes a piece in that is a text: JSON, or words.
func (d *details) addText(raw json.RawMessage, text string) (told string) {
	inner := strings.TrimSpace(text)
	if d.size += len(raw); d.dropped || d.size > 8*sessions.MaxOpaque {
		d.drop()
		return ""
	}
	if inner == "" || inner[0] != '[' && inner[0] != '{' || !json.Valid([]byte(inner)) {
		d.words.WriteString(text)
		return text
	}
	d.quoted = nil
	if len(d.list) == 0 {
		d.quoted = bytes.Clone(raw)
	}
	d.isText = true
	return d.add(json.RawMessage(inner))
}

func (d *details) addOne(item json.RawMessage) string {
	var quoted string
	if json.Unmarshal(item, &quoted) == nil {
		return d.addQuoted(item, quoted)
	}
	fields := make(map[string]json.RawMessage)
	if json.Unmarshal(item, &fields) != nil || d.dropped {
		return ""
	}
	if d.size += len(item); d.size > 8*sessions.MaxOpaque { // pieces are larger than what they add
		d.drop()
		return ""
	}
	joined, text := "", ""
	for _, name := range []string{"text", "summary", "thinking"} {
		if joined == "" && json.Unmarshal(fields[name], &text) == nil && fields[name] != nil {
			joined = name
		}
	}
	if n := len(d.list); n > 0 && joined != "" && d.list[n-1].goesOn(joined, fields) {
		d.list[n-1].join(text, fields)
		return text
	}
	if n := len(d.list); n > 0 && joined == "" && d.list[n-1].isSignedBy(fields) {
		d.list[n-1].join("", fields)
		return ""
	}
	last := &detail{raw: bytes.Clone(item), fields: fields, joined: joined}
	last.text.WriteString(text)
	d.list = append(d.list, last)
	return text
}

// addQuoted takes an entry in that is a text. It goes back as it came.
func (d *details) addQuoted(item json.RawMessage, quoted string) (told string) {
	if d.size += len(item); d.dropped || d.size > 8*sessions.MaxOpaque {
		d.drop()
		return ""
	}
	d.list = append(d.list, &detail{raw: bytes.Clone(item)})
	inner := strings.TrimSpace(quoted)
	if inner == "" || inner[0] != '{' || !json.Valid([]byte(inner)) {
		return quoted
	}
	var read details
	return read.addOne(json.RawMessage(inner))
}

// goesOn reports whether a piece belongs to the entry.
func (e *detail) goesOn(joined string, fields map[string]json.RawMessage) bool {
	if e.joined != joined {
		return false
	}
	for _, name := range []string{"type", "index", "id"} {
		if a, b := e.fields[name], fields[name]; isSet(a) && isSet(b) && !bytes.Equal(a, b) {
			return false
		}
	}
	// a signature ends an entry, unless the next piece says that it belongs to it
	return !says(e.fields["signature"]) || fields["index"] != nil && e.fields["index"] != nil
}

// isSignedBy reports whether a piece is the signature of the entry, which comes behind its text in a piece of its own.
// source: agno-agi/agno#5802, OpenRouterTeam/ai-sdk-provider#423
func (e *detail) isSignedBy(fields map[string]json.RawMessage) bool {
	return e.joined != "" && says(fields["signature"]) && !says(fields["data"]) && e.goesOn(e.joined, fields)
}

// isSet reports whether a field has a value.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

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
	switch {
	case d.quoted != nil:
		return d.quoted
	case len(d.list) == 0 && d.words.Len() > 0:
		return wire.Quote(nil, d.words.String())
	case len(d.list) == 0:
		return nil
	}
	out := []byte{'['}
	for i := range d.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, d.list[i].json()...)
	}
	if out = append(out, ']'); d.isText {
		return wire.Quote(nil, string(out))
	}
	return out
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

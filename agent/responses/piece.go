package responses

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// pieceTypes are the types of the events that come by the thousand.
var pieceTypes = []string{
	"response.output_text.delta", "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.function_call_arguments.delta",
}

// piece fills in an event that is a piece of text, the quick way, and reports whether it was one: a flat object of texts, whole numbers
// and empty lists. Everything else is left to the JSON decoder.
func (ev *event) piece(data []byte) bool {
	p := flat{data: data}
	if !p.open() {
		return false
	}
	for p.more() {
		name, ok := p.text()
		if !ok || !p.take(':') {
			return false
		}
		switch string(name) {
		case `"type"`:
			if raw, ok := p.text(); !ok || !ev.pieceType(raw) {
				return false
			}
		case `"delta"`:
			raw, ok := p.text()
			if !ok || !unquote(raw, &ev.Delta) {
				return false
			}
		case `"item_id"`:
			raw, ok := p.text()
			if !ok {
				return false
			}
			if len(raw) != len(ev.id)+2 || string(raw[1:len(raw)-1]) != ev.id || bytes.IndexByte(raw, '\\') >= 0 {
				if !unquote(raw, &ev.id) {
					return false
				}
			}
			ev.ItemID = ev.id
		case `"output_index"`:
			if ev.Index, ok = p.number(); !ok {
				return false
			}
		case `"summary_index"`:
			if ev.Part, ok = p.number(); !ok {
				return false
			}
		case `"sequence_number"`, `"content_index"`:
			if _, ok = p.number(); !ok {
				return false
			}
		case `"obfuscation"`:
			if raw, ok := p.text(); !ok || bytes.IndexByte(raw, '\\') >= 0 && !json.Valid(raw) {
				return false
			}
		case `"logprobs"`:
			if !p.take('[') || !p.take(']') {
				return false
			}
		default:
			return false
		}
	}
	return p.done && ev.Type != ""
}

func (ev *event) pieceType(raw []byte) bool {
	for _, t := range pieceTypes {
		if len(raw) == len(t)+2 && string(raw[1:len(raw)-1]) == t {
			ev.Type = t
			return true
		}
	}
	return false
}

// flat reads a JSON object without nested ones. What it does not take is not necessarily wrong.
type flat struct {
	data []byte
	at   int
	any  bool // a field was read
	done bool // the object ended, and nothing stands behind it
}

func (p *flat) space() {
	for p.at < len(p.data) && (p.data[p.at] == ' ' || p.data[p.at] == '\t' || p.data[p.at] == '\n' || p.data[p.at] == '\r') {
		p.at++
	}
}

func (p *flat) take(c byte) bool {
	p.space()
	if p.at >= len(p.data) || p.data[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *flat) open() bool { return p.take('{') }

// more reports whether another field follows.
func (p *flat) more() bool {
	if p.take('}') {
		p.space()
		p.done = p.at == len(p.data)
		return false
	}
	if p.any && !p.take(',') {
		return false
	}
	p.any = true
	return true
}

// text gives a text with its quotes, escapes unread.
func (p *flat) text() ([]byte, bool) {
	if !p.take('"') {
		return nil, false
	}
	for start := p.at - 1; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '"':
			p.at++
			return p.data[start:p.at], true
		case c == '\\':
			p.at++
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// number gives a whole number that is not negative.
func (p *flat) number() (int, bool) {
	p.space()
	start := p.at
	for p.at < len(p.data) && '0' <= p.data[p.at] && p.data[p.at] <= '9' {
		p.at++
	}
	if n := p.at - start; n == 0 || n > 9 || n > 1 && p.data[start] == '0' {
		return 0, false
	}
	n, err := strconv.Atoi(string(p.data[start:p.at]))
	return n, err == nil
}

// unquote reads a text.
func unquote(raw []byte, out *string) bool {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return json.Unmarshal(raw, out) == nil
	}
	*out = string(raw[1 : len(raw)-1])
	return true
}

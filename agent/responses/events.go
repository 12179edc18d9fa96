package responses

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"parley/agent/wire"
	"parley/sessions"
)

// event is one event of a stream, as far as it is looked at. Its types share one struct.
type event struct {
	Type      string
	Delta     string
	ItemID    string `json:"item_id"`
	Index     int    `json:"output_index"`  // -1 = not said
	Part      int    `json:"summary_index"` // -1 = not said
	Text      string
	Refusal   string
	Arguments json.RawMessage
	Item      json.RawMessage
	Response  json.RawMessage
	Error     json.RawMessage
	Object    string          // of an answer in one piece: response
	Status    string          // of an answer in one piece
	Output    json.RawMessage // of an answer in one piece

	id string // the newest ItemID of a piece: the next one mostly has the same
}

// read fills in an event. It reports whether data is a JSON object. A field of another type than usual is read as well as it can be.
func (ev *event) read(data []byte) error {
	*ev = event{Index: -1, Part: -1, id: ev.id}
	if ev.piece(data) {
		return nil
	}
	*ev = event{Index: -1, Part: -1}
	err := json.Unmarshal(data, ev)
	if err == nil {
		return nil
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return err
	}
	*ev = event{
		Type: textOf(all["type"]), Delta: wordsOf(all["delta"]), ItemID: textOf(all["item_id"]), Index: numberOf(all["output_index"], -1),
		Part: numberOf(all["summary_index"], -1), Text: wordsOf(all["text"]), Refusal: wordsOf(all["refusal"]), Arguments: all["arguments"],
		Item: all["item"], Response: all["response"], Error: all["error"], Object: textOf(all["object"]), Status: textOf(all["status"]),
		Output: all["output"],
	}
	return nil
}

// eventObjects are the fields in which objects and lists stand, from an event down.
var eventObjects = []string{"response", "output", "item", "part", "usage"}

// again reads an event a second time, for one with the same field twice: nothing of it was understood before.
func (ev *event) again(data []byte) {
	if fixed, ok := wire.Mend(data, eventObjects...); ok {
		_ = json.Unmarshal(fixed, ev) // it was read before
	}
}

// item is one item of an answer.
type item struct {
	Type      string
	ID        string
	CallID    string `json:"call_id"`
	Name      string
	Status    string
	Arguments json.RawMessage
	Content   json.RawMessage
	Summary   json.RawMessage
	Encrypted json.RawMessage `json:"encrypted_content"`
}

// readItem reads an item; ok is false when it is no JSON object.
func readItem(raw json.RawMessage) (it item, ok bool) {
	if json.Unmarshal(raw, &it) == nil && len(raw) > 0 && raw[0] == '{' {
		it.findCall(raw)
		return it, true
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return item{}, false
	}
	it = item{
		Type: textOf(all["type"]), ID: textOf(all["id"]), CallID: textOf(all["call_id"]), Name: textOf(all["name"]), Status: textOf(all["status"]),
		Arguments: all["arguments"], Content: all["content"], Summary: all["summary"], Encrypted: all["encrypted_content"],
	}
	it.findCall(raw)
	return it, true
}

// arguments gives the text of a call's arguments: servers send them as a text, as an object, or as a list of one.
func arguments(raw json.RawMessage) string {
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
		return string(raw)
	}
	return textOf(raw)
}

// contentPart is a piece of an item's content.
type contentPart struct {
	text    string
	refusal bool
}

// partsOf reads content: a text, a piece, or a list of both.
func partsOf(raw json.RawMessage) (out []contentPart) {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		if parts := wire.Parts(raw); parts != nil {
			return partsOf(parts)
		}
		if s := textOf(raw); s != "" {
			out = append(out, contentPart{text: s})
		}
	case '{':
		var all map[string]json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			return nil
		}
		kind := textOf(all["type"])
		if strings.Contains(kind, "result") || strings.Contains(kind, "encrypted") || strings.Contains(kind, "citation") { // for machines
			return nil
		}
		if s := wordsOf(all["refusal"]); s != "" {
			out = append(out, contentPart{text: s, refusal: true})
		} else if s := cmp.Or(wordsOf(all["text"]), wordsOf(all["transcript"])); s != "" {
			out = append(out, contentPart{text: s, refusal: textOf(all["type"]) == "refusal"})
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil
		}
		for _, x := range list {
			out = append(out, partsOf(x)...)
		}
	}
	return out
}

// joined gives the texts of content with a separator between its pieces.
func joined(raw json.RawMessage, between string) string {
	parts := partsOf(raw)
	if len(parts) == 1 {
		return parts[0].text
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, between)
}

// response is a whole answer, or what an event says of it.
type response struct {
	Model      string
	Status     string
	Error      json.RawMessage
	Incomplete json.RawMessage `json:"incomplete_details"`
	Output     json.RawMessage
	Usage      json.RawMessage
	Text       json.RawMessage `json:"output_text"` // all of it, as OpenAI's libraries add it
}

func readResponse(raw json.RawMessage) (r response, ok bool) {
	if json.Unmarshal(raw, &r) == nil && len(raw) > 0 && raw[0] == '{' {
		return r, true
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return response{}, false
	}
	return response{
		Model: textOf(all["model"]), Status: textOf(all["status"]), Error: all["error"], Incomplete: all["incomplete_details"], Output: all["output"],
		Usage: all["usage"], Text: all["output_text"],
	}, true
}

// reason says why an answer is incomplete, in the provider's word.
func (r response) reason() string {
	if s := textOf(r.Incomplete); s != "" {
		return s
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(r.Incomplete, &all) // what cannot be read says nothing
	return textOf(all["reason"])
}

// usageOf reads what an answer cost; ok is false when it says nothing.
func usageOf(raw json.RawMessage) (u sessions.Usage, ok bool) {
	var all map[string]json.RawMessage
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return u, false
	}
	pick := func(m map[string]json.RawMessage, names ...string) int {
		for _, n := range names {
			if v := numberOf(m[n], 0); v > 0 {
				return v
			}
		}
		return 0
	}
	var in map[string]json.RawMessage
	for _, n := range []string{"input_tokens_details", "prompt_tokens_details"} {
		if json.Unmarshal(all[n], &in) == nil && in != nil {
			break
		}
	}
	u = sessions.Usage{
		Input: pick(all, "input_tokens", "prompt_tokens"), Output: pick(all, "output_tokens", "completion_tokens"),
		CacheRead: pick(in, "cached_tokens", "cache_read_tokens"), CacheWrite: pick(in, "cache_write_tokens", "cache_creation_tokens"),
	}
	return u, u.Input+u.Output > 0
}

// says reports whether an error field says something: servers send null, {} and "" where there is none.
func says(raw json.RawMessage) bool {
	switch s := strings.TrimSpace(string(raw)); s {
	case "", "null", "{}", `""`, "false", "[]":
		return false
	}
	return true
}

// textOf reads a text; a number or a truth value is one too.
func textOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		_ = json.Unmarshal(raw, &s) // raw is a part of valid JSON
		return s
	case c == '-', '0' <= c && c <= '9', c == 't', c == 'f':
		return string(raw)
	}
	return ""
}

// wordsOf reads a text that may be wrapped: {"text": …}, or a list of such.
func wordsOf(raw json.RawMessage) string {
	if s := textOf(raw); s != "" {
		return s
	}
	return joined(raw, "")
}

// numberOf reads a whole number, also from a text or a fraction.
func numberOf(raw json.RawMessage, otherwise int) int {
	f, err := strconv.ParseFloat(textOf(raw), 64)
	if err != nil || f != f || f < -1 || f > 1<<40 {
		return otherwise
	}
	return int(f)
}

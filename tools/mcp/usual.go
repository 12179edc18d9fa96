package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// members are the members of a JSON object as they stand.
type members map[string]json.RawMessage

// decodeMembers returns the members of an object; nil when text is none.
func decodeMembers(text json.RawMessage) members {
	var m members
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m
}

// text returns a member that is a string.
func (m members) text(name string) (string, bool) {
	var s string
	if raw := m[name]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// set puts a value in, which must be one that can be encoded.
func (m members) set(name string, v any) {
	if raw, err := encodeJSON(v); err == nil {
		m[name] = raw
	}
}

// encodeJSON encodes a value and leaves <, > and & as they are.
func encodeJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// keepText leaves out members that are no strings.
func (m members) keepText(names ...string) {
	for _, name := range names {
		if _, ok := m.text(name); !ok {
			delete(m, name)
		}
	}
}

// metaTask is the member of a tool's _meta that says how it stands to tasks.
const metaTask = "parley/taskSupport"

// usual puts a message into the form that the SDK reads: it takes a list of tools, or a result, as a whole or not at all, so one odd
// entry would cost all others. What cannot be read becomes a text that says so. Other messages stay as they are.
func usual(text []byte) []byte {
	m := decodeMembers(text)
	if usualAnswer(m) {
		if out, err := encodeJSON(m); err == nil {
			text = out
		}
	}
	result := resultMembers(m["result"])
	switch {
	case result == nil:
		return text
	case result.isOfHandshake():
		usualHandshake(m, result)
		if out, err := encodeJSON(m); err == nil {
			return out
		}
		return text
	case isTools(result["tools"]):
		result["tools"] = usualTools(result["tools"])
		next := asText(firstOf(result["nextCursor"], result["next_cursor"]))
		delete(result, "next_cursor")
		if delete(result, "nextCursor"); next != "" && next != "0" && next != "false" {
			result.set("nextCursor", next)
		}
	case result.isOfCall():
		usualResult(result)
	default:
		return text
	}
	delete(result, "_meta")
	m.set("result", result)
	out, err := encodeJSON(m)
	if err != nil {
		return text
	}
	return out
}

// resultMembers returns the members of a result. Servers that do not use a library send the content alone, as a text, a number or a list, or
// a list of tools; nil when there is no result.
func resultMembers(raw json.RawMessage) members {
	if m := decodeMembers(raw); m != nil || len(raw) == 0 || string(raw) == "null" {
		return m
	}
	if isList(raw) && decodeMembers(first(raw))["inputSchema"] != nil {
		return members{"tools": raw}
	}
	return members{"content": raw}
}

// first returns the first entry of a list.
func first(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil
	}
	return list[0]
}

// isOfCall reports whether members are those of the result of a call: all that is no list of tools, no handshake, and no answer to a ping.
func (m members) isOfCall() bool { return len(m) > 1 || len(m) == 1 && m["_meta"] == nil }

func isList(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }

// usualTools keeps of each entry what is used of it. An entry that is no tool is an entry without a name.
func usualTools(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if named := decodeMembers(raw); named != nil { // by their names
		for _, name := range slices.Sorted(maps.Keys(named)) {
			t := decodeMembers(named[name])
			if t["name"] == nil {
				t.set("name", name)
			}
			if entry, err := encodeJSON(t); err == nil {
				list = append(list, entry)
			}
		}
	} else if json.Unmarshal(raw, &list) != nil {
		return raw
	}
	out := make([]members, 0, len(list))
	for _, entry := range list {
		t, kept := decodeMembers(entry), members{}
		if inner := decodeMembers(t["function"]); inner != nil && t["name"] == nil { // as the APIs of models have them
			t = inner
		}
		for _, name := range []string{"name", "title", "description"} {
			if s, ok := t.text(name); ok {
				kept.set(name, s)
			}
		}
		for _, name := range []string{"inputSchema", "input_schema", "parameters"} {
			schema := t[name]
			if s, ok := t.text(name); ok && json.Valid([]byte(s)) {
				schema = json.RawMessage(s)
			}
			if schema != nil && kept["inputSchema"] == nil {
				kept["inputSchema"] = schema
			}
		}
		if tasks, ok := decodeMembers(t["execution"]).text("taskSupport"); ok {
			kept.set("_meta", map[string]string{metaTask: tasks})
		}
		if kept["name"] == nil {
			kept.set("name", "")
		}
		if kept["inputSchema"] == nil {
			kept.set("inputSchema", map[string]any{})
		}
		out = append(out, kept)
	}
	text, err := encodeJSON(out)
	if err != nil {
		return raw
	}
	return text
}

// usualResult puts the result of a call into the usual form.
func usualResult(r members) {
	for name, old := range map[string]string{"structuredContent": "structured_content", "isError": "is_error"} { // as Python's fields are called
		if r[name] == nil && r[old] != nil {
			r[name] = r[old]
		}
		delete(r, old)
	}
	if raw := r["isError"]; raw != nil {
		n, err := strconv.ParseFloat(asText(raw), 64)
		r.set("isError", !(err == nil && n == 0) && !slices.Contains(noErrors, strings.ToLower(asText(raw))))
	}
	if old := r["toolResult"]; old != nil { // as the first version of the protocol had it
		if r["structuredContent"] == nil {
			r["structuredContent"] = old
		}
		delete(r, "toolResult")
	}
	content := r["content"]
	if content == nil && r["structuredContent"] == nil { // all of it is what the tool gave
		rest := maps.Clone(r)
		delete(rest, "isError")
		delete(rest, "_meta")
		if kind, _ := rest.text("type"); kind != "" {
			r.set("content", rest)
			content = r["content"]
		} else if len(rest) > 0 {
			r.set("structuredContent", rest)
		}
	}
	if raw := r["structuredContent"]; len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
		r.set("structuredContent", string(raw)) // the SDK would round its numbers
	}
	var list []json.RawMessage
	switch {
	case len(content) == 0 || string(content) == "null":
	case isList(content):
		if json.Unmarshal(content, &list) != nil {
			return
		}
	default:
		list = []json.RawMessage{content}
	}
	blocks := make([]members, 0, len(list))
	for _, entry := range list {
		blocks = append(blocks, usualBlock(entry))
	}
	r.set("content", blocks)
	for name := range r {
		if name != "content" && name != "structuredContent" && name != "isError" {
			delete(r, name)
		}
	}
}

// noErrors are the words for a result that is no error.
var noErrors = []string{"", "false", "no", "none", "null", "off", "ok", "success", "{}", "[]"}

// usualBlock puts one block of a result into a form that can be read.
func usualBlock(entry json.RawMessage) members {
	b := decodeMembers(entry)
	if b == nil {
		var s string
		if json.Unmarshal(entry, &s) != nil {
			s = string(entry)
		}
		return textBlock(s)
	}
	delete(b, "_meta")
	delete(b, "annotations")
	kind, _ := b.text("type")
	switch kind {
	case "text":
		if _, ok := b.text("text"); !ok {
			return textBlock(asText(firstOf(b["text"], b["content"], b["value"])))
		}
		return b
	case "image", "audio", "image_url", "input_image", "video", "file":
		b.findFile()
		b.keepText("mimeType")
		if kind != "image" && kind != "audio" {
			return b.asResource(kind)
		}
		if !b.decode("data") {
			mime, _ := b.text("mimeType")
			return textBlock(fmt.Sprintf("[%s %s: its data cannot be read]", kind, mime))
		}
		return b
	case "resource":
		x := decodeMembers(b["resource"])
		if x == nil {
			break
		}
		delete(x, "_meta")
		if raw := x["text"]; raw != nil {
			if _, ok := x.text("text"); !ok {
				x.set("text", asText(raw))
			}
		}
		x.keepText("uri", "mimeType")
		if x["uri"] == nil {
			x.set("uri", "")
		}
		if x["blob"] != nil && !x.decode("blob") {
			uri, _ := x.text("uri")
			return textBlock(fmt.Sprintf("[resource %s: its data cannot be read]", uri))
		}
		b.set("resource", x)
		return b
	case "resource_link":
		b.keepText("uri", "name", "title", "description", "mimeType")
		delete(b, "size")
		delete(b, "icons")
		return b
	}
	return textBlock(unknownBlock(kind, b))
}

// unknownBlock words a block of a kind that is not known: its text where it has one, else what kind it is.
func unknownBlock(kind string, b members) string {
	if s, ok := b.text("text"); ok {
		return s
	}
	delete(b, "type")
	if len(b) == 1 { // it is what it says
		for _, inner := range b {
			if kind != "" && len(inner) > 0 && (inner[0] == '{' || inner[0] == '[') {
				return string(inner)
			}
		}
	}
	if text, err := encodeJSON(b); err == nil && len(b) > 0 && kind == "" {
		return string(text)
	}
	if kind == "" {
		return "[something without a type that is not shown]"
	}
	return "[" + kind + ": not shown]"
}

// firstOf gives the first value that is there.
func firstOf(values ...json.RawMessage) json.RawMessage {
	i := slices.IndexFunc(values, func(v json.RawMessage) bool { return v != nil })
	if i < 0 {
		return nil
	}
	return values[i]
}

// isTools reports whether a value is a list of tools, or an object that has them under their names.
func isTools(raw json.RawMessage) bool {
	if isList(raw) {
		entry := first(raw)
		return entry == nil || entry[0] == '{'
	}
	all := decodeMembers(raw)
	for _, t := range all {
		if m := decodeMembers(t); m == nil || m["inputSchema"] == nil && m["description"] == nil {
			return false
		}
	}
	return len(all) > 0
}

// findFile puts the data of a picture, or of another file, where the protocol has it: blocks of the APIs of models have it elsewhere.
func (m members) findFile() {
	for _, name := range []string{"source", "image_url", "file"} {
		in := decodeMembers(m[name])
		if url, ok := m.text(name); ok {
			in = members{}
			in.set("url", url)
		}
		for to, from := range map[string][]string{"data": {"data", "url", "file_data"}, "mimeType": {"mimeType", "media_type", "mime_type"}} {
			for _, name := range from {
				if m[to] == nil && in[name] != nil {
					m[to] = in[name]
				}
			}
		}
	}
	m["mimeType"] = firstOf(m["mimeType"], m["mime_type"], m["media_type"])
	if data, ok := m.text("data"); ok && m["mimeType"] == nil {
		if kind, rest, isURL := strings.Cut(strings.TrimPrefix(data, "data:"), ";"); isURL && rest != "" && len(kind) < 100 {
			m.set("mimeType", kind)
		}
	}
}

// asResource makes an embedded file of a block with data of another kind.
func (m members) asResource(kind string) members {
	if !m.decode("data") {
		return textBlock("[" + kind + ": not shown]")
	}
	if mime, _ := m.text("mimeType"); strings.HasPrefix(mime, "image/") {
		return members{"type": json.RawMessage(`"image"`), "mimeType": m["mimeType"], "data": m["data"]}
	}
	inner := members{"uri": json.RawMessage(`""`), "blob": m["data"]}
	if m["mimeType"] != nil {
		inner["mimeType"] = m["mimeType"]
	}
	out := members{"type": json.RawMessage(`"resource"`)}
	out.set("resource", inner)
	return out
}

func textBlock(s string) members {
	b := members{}
	b.set("type", "text")
	b.set("text", s)
	return b
}

// isBase64 reports whether a member is a string of base64 in its standard form.
func isBase64(raw json.RawMessage) bool {
	if len(raw) < 2 || raw[0] != '"' || len(raw)%4 != 2 {
		return false
	}
	data := bytes.TrimRight(raw[1:len(raw)-1], "=")
	if len(raw)-2-len(data) > 2 {
		return false
	}
	for _, c := range data {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+' && c != '/' {
			return false
		}
	}
	return true
}

// decode puts base64 data into its standard form: servers send it with a data URL in front, with line breaks, in the alphabet of URLs, or
// without padding. It reports whether it could be read.
func (m members) decode(name string) bool {
	if isBase64(m[name]) {
		return true
	}
	s, ok := m.text(name)
	if !ok {
		return false
	}
	if rest, isURL := strings.CutPrefix(s, "data:"); isURL {
		if _, s, ok = strings.Cut(rest, ","); !ok {
			return false
		}
	}
	plain := strings.NewReplacer("\n", "", "\r", "", " ", "", "\t", "", "-", "+", "_", "/").Replace(s)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(plain, "="))
	if err != nil {
		return false
	}
	var b bytes.Buffer
	b.WriteByte('"')
	b.WriteString(base64.StdEncoding.EncodeToString(data))
	b.WriteByte('"')
	m[name] = b.Bytes()
	return true
}

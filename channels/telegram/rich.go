package telegram

import (
	"encoding/json"
	"maps"
	"strings"

	"parley/channels"
)

// richParts are the fields of a rich message's parts that have something to read in them, in reading order. A list of inline is one
// line, each of the others is a line of its own: https://core.telegram.org/bots/api#richmessage.
var (
	richInline  = []string{"summary", "label", "text", "alternative_text", "expression", "button"}
	richLines   = []string{"blocks", "items", "cells", "buttons", "caption", "credit"}
	richFiles   = fieldSet("animation audio photo video voice_note document")
	richTargets = []string{"email_address", "phone_number", "bank_card_number", "username", "hashtag", "cashtag", "bot_command"} // what words stand for
)

// byHost stands in front of what the host words until all else is escaped. No text of a message has such a byte: it is no UTF-8.
const byHost = "\xff"

// richText reads a rich message as Markdown, with its files. What only makes letters look different is left out.
func richText(raw json.RawMessage) (string, []channels.Media) {
	var message any
	if len(raw) == 0 || json.Unmarshal(raw, &message) != nil {
		return "", nil
	}
	var r richReader
	r.read(message)
	var lines []string
	inCode := false
	for line := range strings.Lines(r.b.String()) {
		line = strings.TrimRight(line, " \n\r\t")
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
		}
		if line != "" || inCode {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(channels.Typed(strings.Join(lines, "\n")), byHost, ""), r.files
}

type richReader struct {
	b     strings.Builder
	files []channels.Media
}

func (r *richReader) read(v any) {
	switch v := v.(type) {
	case string:
		r.b.WriteString(v)
	case []any:
		for _, one := range v {
			r.read(one)
		}
	case map[string]any:
		r.part(v)
	}
}

// host writes what the host words.
func (r *richReader) host(words string) { r.b.WriteString(byHost + words) }

// part reads one part, with what its kind adds to its words.
func (r *richReader) part(v map[string]any) {
	kind, _ := v["type"].(string)
	address, _ := v["url"].(string)
	if richFiles[kind] {
		r.host("[" + strings.ReplaceAll(kind, "_", " ") + "]")
		r.files = append(r.files, richFile(v)...)
	}
	if kind == "map" {
		r.place(v)
	}
	before := r.b.Len()
	r.fields(v)
	words := r.b.String()[before:]
	if strings.HasSuffix(kind, "quote") { // block, pull and expandable_block
		r.replace(before, "> "+strings.ReplaceAll(strings.TrimRight(words, "\n"), "\n", "\n> "))
		return
	}
	for _, field := range richTargets {
		target, _ := v[field].(string)
		if target = channels.OneLine(target); !strings.Contains(strings.ToLower(words), strings.ToLower(target)) && (dialled(target) == "" || dialled(target) != dialled(words)) {
			r.b.WriteString(" (" + map[bool]string{true: "@"}[field == "username"] + target + ")")
		}
	}
	e := wireEntity{Type: map[string]string{"url": "text_link"}[kind], URL: address}
	switch kind {
	case "code", "pre", "strikethrough", "spoiler", "date_time":
		e.Type = kind
		e.Language, _ = v["language"].(string)
		if at, ok := v["unix_time"].(float64); ok {
			e.Time = quantity(at)
		}
	}
	if m, ok := e.mark(words); ok && words != "" {
		if m.block {
			m.close = "\n" + m.close
		}
		r.replace(before, m.open+words+m.close)
	}
}

// replace puts something in the place of what was written from there on.
func (r *richReader) replace(from int, text string) {
	kept := r.b.String()[:from]
	r.b.Reset()
	r.b.WriteString(kept + text)
}

func (r *richReader) place(v map[string]any) {
	raw, err := json.Marshal(v["location"])
	var at wireLocation
	if err == nil && json.Unmarshal(raw, &at) == nil {
		r.host(at.words())
	}
}

// button names a button, with what it opens or copies.
func (r *richReader) button(v map[string]any) {
	var words richReader
	words.read(v["text"])
	rest := maps.Clone(v)
	delete(rest, "text") // it is no mere string
	raw, err := json.Marshal(rest)
	var b wireButton
	if err == nil {
		_ = json.Unmarshal(raw, &b) // what makes no sense is not told
	}
	b.Text = channels.OneLine(words.b.String())
	r.host(channels.HostLine("button: " + b.words()))
}

func (r *richReader) fields(v map[string]any) {
	if done, is := v["is_checked"].(bool); v["has_checkbox"] == true {
		r.b.WriteString(map[bool]string{true: "☑ ", false: "☐ "}[is && done])
	}
	for _, field := range richInline {
		if b, is := v[field].(map[string]any); is && field == "button" {
			r.button(b)
			continue
		}
		r.read(v[field])
		if field == "label" && v[field] != nil {
			r.b.WriteString(" ")
		}
	}
	for _, field := range richLines {
		if v[field] != nil && v["label"] == nil { // of a list: the item begins behind its number
			r.b.WriteString("\n")
		}
		r.lines(v[field], field)
	}
}

// lines reads a list with a line for each, of a table for each row, or a single one.
func (r *richReader) lines(v any, field string) {
	if v == nil {
		return
	}
	list, is := v.([]any)
	if !is {
		list = []any{v}
	}
	for _, one := range list {
		if b, is := one.(map[string]any); is && field == "buttons" {
			r.button(b)
		} else if row, is := one.([]any); is {
			for i, cell := range row {
				if i > 0 {
					r.b.WriteString(" | ")
				}
				r.read(cell)
			}
		} else {
			r.read(one)
		}
		r.b.WriteString("\n")
	}
}

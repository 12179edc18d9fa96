package telegram

import (
	"encoding/json"
	"strings"

	"parley/channels"
)

// richParts are the fields of a rich message's parts that have something to read in them, in reading order. A list of inline is one
// line, each of the others is a line of its own: https://core.telegram.org/bots/api#richmessage.
var (
	richInline = []string{"summary", "label", "text", "alternative_text", "expression", "button"}
	richLines  = []string{"blocks", "items", "cells", "buttons", "caption", "credit"}
	richFiles  = fieldSet("animation audio photo video voice_note document")
)

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
	return strings.Join(lines, "\n"), r.files
}

type richReader struct {
	b     strings.Builder
	files []channels.Media
	code  int // how deep in parts that show a text as it is
}

func (r *richReader) read(v any) {
	switch v := v.(type) {
	case string:
		r.typed(v)
	case []any:
		for _, one := range v {
			r.read(one)
		}
	case map[string]any:
		r.part(v)
	}
}

// typed writes what a person typed; whether it begins a line is seen from what stands in front.
func (r *richReader) typed(s string) {
	if before := r.b.String(); r.code > 0 {
		r.b.WriteString(s)
	} else if before == "" || strings.HasSuffix(before, "\n") {
		r.b.WriteString(channels.Typed(s))
	} else {
		first, rest, more := strings.Cut(s, "\n")
		r.b.WriteString(first)
		if more {
			r.b.WriteString("\n" + channels.Typed(rest))
		}
	}
}

// part reads one part, with what its kind adds to its words.
func (r *richReader) part(v map[string]any) {
	kind, _ := v["type"].(string)
	address, _ := v["url"].(string)
	if richFiles[kind] {
		r.b.WriteString("[" + strings.ReplaceAll(kind, "_", " ") + "]")
		r.files = append(r.files, richFile(v)...)
	}
	if kind == "map" {
		r.place(v)
	}
	before := r.b.Len()
	if kind == "code" || kind == "pre" {
		r.code++
		defer func() { r.code-- }()
	}
	r.fields(v)
	words := r.b.String()[before:]
	e := wireEntity{Type: map[string]string{"url": "text_link"}[kind], URL: address}
	switch kind {
	case "":
		e.Type = map[bool]string{true: "text_link"}[address != ""] // a button
	case "code", "pre", "strikethrough", "spoiler", "date_time":
		e.Type = kind
		e.Language, _ = v["language"].(string)
		if at, ok := v["unix_time"].(float64); ok {
			e.Time = quantity(at)
		}
	case "blockquote", "pullquote":
		r.replace(before, "> "+strings.ReplaceAll(strings.TrimRight(words, "\n"), "\n", "\n> "))
		return
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
		r.b.WriteString(at.words())
	}
}

func (r *richReader) fields(v map[string]any) {
	if done, is := v["is_checked"].(bool); v["has_checkbox"] == true {
		r.b.WriteString(map[bool]string{true: "☑ ", false: "☐ "}[is && done])
	}
	for _, field := range richInline {
		r.read(v[field])
		if field == "label" && v[field] != nil {
			r.b.WriteString(" ")
		}
	}
	for _, field := range richLines {
		if v[field] != nil && v["label"] == nil { // of a list: the item begins behind its number
			r.b.WriteString("\n")
		}
		r.lines(v[field])
	}
}

// lines reads a list with a line for each, of a table for each row, or a single one.
func (r *richReader) lines(v any) {
	if v == nil {
		return
	}
	list, is := v.([]any)
	if !is {
		list = []any{v}
	}
	for _, one := range list {
		if row, is := one.([]any); is {
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

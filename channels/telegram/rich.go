package telegram

import (
	"encoding/json"
	"strings"
)

// richParts are the fields of a rich message's parts that have something to read in them, in reading order. A list of inline is one
// line, each of the others is a line of its own: https://core.telegram.org/bots/api#richmessage.
var (
	richInline = []string{"summary", "label", "text", "alternative_text", "expression"}
	richLines  = []string{"blocks", "items", "cells", "caption", "credit"}
	richFiles  = fieldSet("map animation audio photo video voice_note")
)

// richText reads a rich message as plain text. What it was made to look like is left out.
func richText(raw json.RawMessage) string {
	var message any
	if len(raw) == 0 || json.Unmarshal(raw, &message) != nil {
		return ""
	}
	var b strings.Builder
	readRich(&b, message)
	var lines []string
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func readRich(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v)
	case []any:
		for _, one := range v {
			readRich(b, one)
		}
	case map[string]any:
		if kind, _ := v["type"].(string); richFiles[kind] {
			b.WriteString("[" + strings.ReplaceAll(kind, "_", " ") + "]")
		}
		for _, field := range richInline {
			readRich(b, v[field])
			if field == "label" && v[field] != nil {
				b.WriteString(" ")
			}
		}
		for _, field := range richLines {
			if v[field] != nil && v["label"] == nil { // of a list: the item begins behind its number
				b.WriteString("\n")
			}
			readLines(b, v[field])
		}
	}
}

// readLines reads a list with a line for each, of a table for each row, or a single one.
func readLines(b *strings.Builder, v any) {
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
					b.WriteString(" | ")
				}
				readRich(b, cell)
			}
		} else {
			readRich(b, one)
		}
		b.WriteString("\n")
	}
}

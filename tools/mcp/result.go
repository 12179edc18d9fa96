package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/tools"
)

// mostResult is how much of a result is kept, in bytes. It is less than what the loop keeps, so that the note of what was cut stays.
const mostResult = 64 << 10

// resultOf makes text of what a tool gave: its texts, what else there was in a few words, and its structured content as JSON unless a
// text says the same.
func resultOf(r *sdk.CallToolResult) tools.Result {
	var parts []string
	structured := r.StructuredContent != nil
	for _, c := range r.Content {
		parts = append(parts, contentText(c))
		if t, ok := c.(*sdk.TextContent); ok && structured && sameJSON(t.Text, r.StructuredContent) {
			structured = false
		}
	}
	if structured {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(r.StructuredContent) == nil {
			parts = append(parts, strings.TrimSpace(b.String()))
		}
	}
	text := clean(strings.Join(parts, "\n"))
	if len(text) > mostResult {
		text = fmt.Sprintf("%s\n[cut here: the result has %d bytes]", cut(text, mostResult), len(text))
	}
	if text == "" {
		text = "(the tool gave no text)"
	}
	return tools.Result{Text: text, IsError: r.IsError}
}

// contentText words one block of a result.
func contentText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[image %s, %d bytes: not shown]", line(c.MIMEType, 100), len(c.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("[audio %s, %d bytes: not shown]", line(c.MIMEType, 100), len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[resource %s: %s %s]", line(c.URI, 500), line(c.Name, 200), line(c.Description, 500))
	case *sdk.EmbeddedResource:
		switch {
		case c.Resource == nil:
		case c.Resource.Text != "":
			return fmt.Sprintf("[resource %s]\n%s", line(c.Resource.URI, 500), c.Resource.Text)
		default:
			return fmt.Sprintf("[resource %s, %s, %d bytes: not shown]", line(c.Resource.URI, 500), line(c.Resource.MIMEType, 100), len(c.Resource.Blob))
		}
	}
	return "[something that is not shown]"
}

// sameJSON reports whether a text is this value.
func sameJSON(text string, v any) bool {
	var w any
	if len(text) > mostResult || json.Unmarshal([]byte(text), &w) != nil {
		return false
	}
	b, err := json.Marshal(v)
	if err != nil {
		return false
	}
	var x any
	return json.Unmarshal(b, &x) == nil && reflect.DeepEqual(w, x)
}

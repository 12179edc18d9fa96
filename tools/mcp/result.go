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
// text says the same. Secrets are taken out before anything is cut.
func resultOf(r *sdk.CallToolResult, redact func(string) string) tools.Result {
	show := func(s string, n int) string { return line(redact(clean(s)), n) }
	var parts []string
	structured := ""
	if r.StructuredContent != nil {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(r.StructuredContent) == nil {
			structured = strings.TrimSpace(b.String())
		}
	}
	for _, c := range r.Content {
		parts = append(parts, contentText(c, show))
		if t, ok := c.(*sdk.TextContent); ok && structured != "" && sameJSON(t.Text, r.StructuredContent) {
			structured = ""
		}
	}
	if structured != "" {
		parts = append(parts, structured)
	}
	text := redact(clean(strings.Join(parts, "\n")))
	if len(text) > mostResult {
		text = fmt.Sprintf("%s\n[cut here: the result has %d bytes]", cut(text, mostResult), len(text))
	}
	if text == "" {
		text = "(the tool gave no text)"
	}
	return tools.Result{Text: text, IsError: r.IsError}
}

// contentText words one block of a result; show makes a line of one of its fields.
func contentText(c sdk.Content, show func(string, int) string) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[image %s, %d bytes: not shown]", show(c.MIMEType, 100), len(c.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("[audio %s, %d bytes: not shown]", show(c.MIMEType, 100), len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[resource %s: %s %s]", show(c.URI, 500), show(c.Name, 200), show(c.Description, 500))
	case *sdk.EmbeddedResource:
		switch {
		case c.Resource == nil:
		case c.Resource.Text != "":
			return fmt.Sprintf("[resource %s]\n%s", show(c.Resource.URI, 500), c.Resource.Text)
		default:
			return fmt.Sprintf("[resource %s, %s, %d bytes: not shown]", show(c.Resource.URI, 500), show(c.Resource.MIMEType, 100), len(c.Resource.Blob))
		}
	}
	return "[something that is not shown]"
}

// sameJSON reports whether a text is this value, as it was decoded.
func sameJSON(text string, v any) bool {
	var w any
	return len(text) <= mostResult && json.Unmarshal([]byte(text), &w) == nil && reflect.DeepEqual(w, v)
}

package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// maxResult is how much of a result's text is kept, in bytes. It is less than what the loop keeps, so that the note of what was cut stays.
const maxResult = 64 << 10

// reading is one result that is being read.
type reading struct {
	tool   string // names files that have no name
	redact func(string) string
	parts  []string
	blocks []sessions.Block
}

// resultOf makes a result of what a tool gave: its texts as one text, pictures, sound and files as blocks that the text names by their
// ids, and its structured content as JSON unless the texts say the same. Secrets are taken out before anything is cut.
func resultOf(r *sdk.CallToolResult, tool string, redact func(string) string) tools.Result {
	x := reading{tool: tool, redact: redact}
	for _, c := range r.Content {
		x.parts = append(x.parts, x.content(c))
	}
	if v := x.withoutFiles(exact(r.StructuredContent)); v != nil && !says(strings.Join(x.parts, "\n"), v) {
		if s, isText := v.(string); isText {
			x.parts = append(x.parts, s)
		} else if b, err := encodeJSON(v); err == nil {
			x.parts = append(x.parts, string(b))
		}
	}
	text := redact(clean(strings.Join(x.parts, "\n")))
	if len(text) > maxResult {
		text = fmt.Sprintf("%s\n[cut here: the result has %d bytes]", cut(text, maxResult), len(text))
	}
	switch {
	case text == "" && r.IsError:
		text = "(the tool failed, and did not say why)"
	case text == "":
		text = "(the tool gave no text)"
	}
	return tools.Result{Text: text, IsError: r.IsError, Blocks: x.blocks}
}

// show makes a line of a field of a result, of at most n bytes.
func (x *reading) show(s string, n int) string { return line(x.redact(clean(s)), n) }

// content words one block of a result, and keeps it when it is a picture, sound or a file.
func (x *reading) content(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		if data, mime := fileInText(c.Text); data != nil {
			return x.file("file", mime, "", data)
		}
		return c.Text
	case *sdk.ImageContent:
		return x.file("image", c.MIMEType, "", c.Data)
	case *sdk.AudioContent:
		return x.file("audio", c.MIMEType, "", c.Data)
	case *sdk.ResourceLink:
		return fmt.Sprintf("[resource %s: %s %s]", x.show(c.URI, 500), x.show(c.Name, 200), x.show(c.Description, 500))
	case *sdk.EmbeddedResource:
		switch {
		case c.Resource == nil:
		case c.Resource.Text != "" || len(c.Resource.Blob) == 0:
			return fmt.Sprintf("[resource %s]\n%s", x.show(c.Resource.URI, 500), c.Resource.Text)
		default:
			return x.file("resource "+x.show(c.Resource.URI, 500)+",", c.Resource.MIMEType, c.Resource.URI, c.Resource.Blob)
		}
	}
	return "[something that is not shown]"
}

// file keeps bytes as a block, and gives the line of the text that names it.
func (x *reading) file(what, mime, uri string, data []byte) string {
	mime = x.show(mime, 100)
	about := strings.TrimSpace(what + " " + mime)
	if len(data) == 0 {
		return fmt.Sprintf("[%s, 0 bytes]", strings.TrimSuffix(about, ","))
	}
	b := sessions.Block{Type: sessions.FileBlock, ID: tools.NewFileID(), Data: base64.StdEncoding.EncodeToString(data),
		Media: &channels.Media{Kind: channels.Document, Name: x.name(uri, mime), MIME: mime, Size: int64(len(data))}}
	switch kind, _, _ := strings.Cut(strings.ToLower(mime), "/"); {
	case kind == "image" || what == "image":
		b.Type, b.MIME, b.Media.Kind = sessions.ImageBlock, mime, channels.Image
	case kind == "audio" || what == "audio":
		b.Media.Kind = channels.Audio
	case kind == "video":
		b.Media.Kind = channels.Video
	}
	x.blocks = append(x.blocks, b)
	return fmt.Sprintf("[%s, %d bytes: attachment %s]", about, len(data), b.ID)
}

// leastFile is how many bytes of base64 count as a file: shorter ones may be words or keys.
const leastFile = 1024

// fileInText returns the file that a text is, in base64 or as a data URL; nil when it is none. Without a type in front only what begins like a
// picture, sound, video or PDF is one.
func fileInText(text string) (data []byte, mime string) {
	m := members{}
	if rest, ok := strings.CutPrefix(text, "data:"); ok {
		kind, _, ok := strings.Cut(rest, ";base64,")
		if !ok || len(kind) > 200 {
			return nil, ""
		}
		mime, _, _ = strings.Cut(kind, ";")
	} else if len(text) < leastFile || !isBase64(json.RawMessage(`"`+text+`"`)) {
		return nil, ""
	}
	if m.set("data", text); !m.decode("data") {
		return nil, ""
	}
	if json.Unmarshal(m["data"], &data) != nil || len(data) == 0 {
		return nil, ""
	}
	if mime == "" {
		mime, _, _ = strings.Cut(http.DetectContentType(data), ";")
		if kind, _, _ := strings.Cut(mime, "/"); mime != "application/pdf" && kind != "image" && kind != "audio" && kind != "video" {
			return nil, ""
		}
	}
	return data, mime
}

// withoutFiles puts the names of attachments in the place of files in structured content: those of the blocks again, as a server of files
// sends them, and others.
func (x *reading) withoutFiles(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[k] = x.withoutFiles(v[k])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = x.withoutFiles(v[i])
		}
		return out
	case string:
		if i := slices.IndexFunc(x.blocks, func(b sessions.Block) bool { return b.Data == v }); i >= 0 {
			return "attachment " + x.blocks[i].ID
		}
		if data, mime := fileInText(v); data != nil {
			return strings.Trim(x.file("file", mime, "", data), "[]")
		}
		return v
	}
	return v
}

// name returns the name of a file for people: the end of its address, else that of the tool.
func (x *reading) name(uri, mime string) string {
	if u, err := url.Parse(uri); err == nil && uri != "" && u.Scheme != "data" {
		if base := path.Base(filePath(u)); base != "." && base != "/" && path.Ext(base) != "" {
			return sessions.FileName(x.show(base, 100))
		}
	}
	return sessions.FileName(line(x.tool, 80) + tools.FileEnding(mime))
}

// filePath returns the part of an address that names a file.
func filePath(u *url.URL) string {
	if u.Path != "" {
		return u.Path
	}
	return u.Opaque
}

// exact returns structured content with its numbers as they were sent: they come as text (see usualResult), because the SDK rounds them.
func exact(v any) any {
	text, ok := v.(string)
	if !ok || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return v
	}
	if whole, ok := decodeExact(text); ok {
		return whole
	}
	return v
}

func decodeExact(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil || d.More() {
		return nil, false
	}
	return v, true
}

// says reports whether a text holds all that a value does: it is the same JSON, or every string and number of the value is in it. What the
// value calls its parts does not count. Behind a text that is cut there is no room for the value.
func says(text string, v any) bool {
	if strings.TrimSpace(text) == "" {
		return false
	}
	if len(text) > maxResult {
		return true
	}
	if w, ok := decodeExact(text); ok && reflect.DeepEqual(w, v) {
		return true
	}
	left := maxLeaves
	return holds(text, v, &left)
}

// maxLeaves is how many strings and numbers of a value are looked for in a text.
const maxLeaves = 5000

// holds reports whether every string and number of a value is in a text; a value with more than so many is taken for one that is not.
func holds(text string, v any, left *int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if !holds(text, x, left) {
				return false
			}
		}
		return true
	case []any:
		for _, x := range v {
			if !holds(text, x, left) {
				return false
			}
		}
		return true
	case nil, bool:
		return true
	}
	if *left--; *left < 0 {
		return false
	}
	if s, ok := v.(string); ok {
		if strings.TrimSpace(s) == "" || strings.Contains(text, s) || strings.Contains(text, strings.TrimSpace(s)) {
			return true
		}
		quoted, err := encodeJSON(s) // the text is JSON itself
		return err == nil && strings.Contains(text, string(quoted[1:len(quoted)-1]))
	}
	plain, err := encodeJSON(v)
	return err == nil && containsWord(text, string(plain))
}

// containsWord reports whether a text has a number that is no part of a longer one.
func containsWord(text, word string) bool {
	inWord := func(s string, i int) bool {
		return i >= 0 && i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] == '_')
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		fraction := end+1 < len(text) && text[end] == '.' && inWord(text, end+1) || i > 1 && text[i-1] == '.' && inWord(text, i-2)
		if !inWord(text, i-1) && !inWord(text, end) && !fraction {
			return true
		}
		from = i + 1
	}
}

package channels

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// CleanText makes a text from a platform what an Inbound promises: valid UTF-8 without NUL.
func CleanText(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// MaxRaw is how much of an update that could not be read is kept, in bytes.
const MaxRaw = 4 << 10

// CutRaw gives what is kept of an update that could not be read: all of it, or its start. What is cut is no JSON any more, and neither
// is what never was any: it is kept as a JSON string.
func CutRaw(raw []byte) json.RawMessage {
	if len(raw) <= MaxRaw && json.Valid(raw) {
		return bytes.Clone(raw)
	}
	for n := min(len(raw), MaxRaw-2); ; n = n * 3 / 4 {
		text, err := json.Marshal(CleanText(string(raw[:n])))
		if err == nil && len(text) <= MaxRaw {
			return text
		}
	}
}

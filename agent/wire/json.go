package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"parley/sessions"
)

// JSON encodes v without the escapes that only web pages need.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// Quote appends s as a JSON string. Most texts need no escapes but line breaks: those are not worth the encoder's reflection.
func Quote(b []byte, s string) []byte {
	start := len(b)
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			continue
		}
		var escape string
		switch c {
		case '\n':
			escape = `\n`
		case '"':
			escape = `\"`
		case '\\':
			escape = `\\`
		default:
			if c >= utf8.RuneSelf {
				continue // checked below
			}
			escape = fmt.Sprintf(`\u%04x`, c)
		}
		b = append(append(b, s[done:i]...), escape...)
		done = i + 1
	}
	b = append(append(b, s[done:]...), '"')
	if !utf8.ValidString(s) {
		return Quote(b[:start], strings.ToValidUTF8(s, "\uFFFD"))
	}
	return b
}

// Text joins the text blocks of a repaired message: blocks come from different messages, or from before and after a tool call.
func Text(blocks []sessions.Block) string {
	if len(blocks) == 1 && blocks[0].Type == sessions.TextBlock {
		return blocks[0].Text
	}
	var room [8]string // a text is made for each message of a prompt
	texts := room[:0]
	for i := range blocks {
		if b := &blocks[i]; b.Type == sessions.TextBlock {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Image reports whether the providers can look at a picture of this type, and gives a line of text for one that they cannot.
func Image(b sessions.Block) (ok bool, instead string) {
	switch b.MIME {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return true, ""
	}
	return false, "[a picture of type " + strings.Join(strings.Fields(b.MIME), " ") + " that cannot be shown to the model]"
}

// Scalar gives a JSON value as lessons name it: a text without quotes, anything else as it is.
func Scalar(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"parley/router/turn"
)

// read takes the body of a request: JSON, of at most maxBody bytes, within bodyTimeout.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, "", "media_type", "send JSON, with Content-Type: application/json")
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout)) // a recorder has no deadlines
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, refuse(http.StatusRequestEntityTooLarge, "", "too_large", "the body is longer than %d bytes", maxBody)
	} else if err != nil {
		p := refuse(http.StatusRequestTimeout, "", "slow", "the body did not arrive within %s", bodyTimeout)
		p.final = true
		return nil, p
	}
	_ = rc.SetReadDeadline(time.Time{}) // not when it was given up: net/http reads on after the answer, which needs an end
	return text, nil
}

// decode reads one JSON object. Fields that are not known are left alone: the API grows, and what matters here is named in v.
func decode(text []byte, v any) error {
	if t := bytes.TrimSpace(text); len(t) == 0 || t[0] != '{' {
		return refuse(http.StatusBadRequest, "", "invalid_json", "the body must be one JSON object")
	}
	err := json.Unmarshal(text, v)
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return bad(t.Field, "%s: unexpected type %s", t.Field, t.Value)
	}
	return refuse(http.StatusBadRequest, "", "invalid_json", "the body is not JSON: %v", err)
}

// message is one message of a conversation as the client has it.
type message struct {
	Role string          `json:"role"`
	Type string          `json:"type"` // responses: message, …
	Text messageContent  `json:"content"`
	ID   json.RawMessage `json:"id"` // responses: of an item_reference, the message of an earlier response
}

// messageContent are what a message says: a string, or a list of parts.
type messageContent struct {
	text     string
	pictures [][]byte
}

// contentPart is a piece of a message.
type contentPart struct {
	Type    string     `json:"type"`
	Text    string     `json:"text"`
	Refusal string     `json:"refusal"`
	Picture pictureURL `json:"image_url"`
	File    string     `json:"file_id"`
}

// UnmarshalJSON refuses what no agent would see.
func (t *messageContent) UnmarshalJSON(text []byte) error {
	if string(text) == "null" { // of an assistant that called tools
		return nil
	}
	if text[0] == '"' {
		return json.Unmarshal(text, &t.text)
	}
	var parts []contentPart
	if err := json.Unmarshal(text, &parts); err != nil {
		return bad("messages", "the content of a message must be a text or a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
		case "refusal":
			p.Text = p.Refusal
		case "image_url", "input_image":
			data, err := p.picture()
			if err != nil {
				return err
			}
			t.pictures = append(t.pictures, data)
			continue
		default:
			return unsupported("messages", "a part of the type %.50q is not supported: use text and images", p.Type)
		}
		if b.Len() > 0 && p.Text != "" {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	t.text = b.String()
	return nil
}

// talk is what a request says, whichever endpoint it came to.
type talk struct {
	system string
	before []message // what was said earlier, as the client has it
	newest messageContent
}

// listen sorts the messages of a request: instructions, the past, and the newest message of the user.
func listen(param string, msgs []message) (t talk, err error) {
	var system []string
	for _, m := range msgs {
		if m.Role != "user" && len(m.Text.pictures) > 0 {
			return t, unsupported(param, "%s: only messages of the user may have images", param)
		}
		switch m.Role {
		case "system", "developer":
			if s := strings.TrimSpace(m.Text.text); s != "" {
				system = append(system, s)
			}
		case "user", "assistant", "tool", "function":
			t.before = append(t.before, m)
		default:
			return t, bad(param, "%s: unknown role %.50q: use system, developer, user or assistant", param, m.Role)
		}
	}
	t.system = strings.Join(system, "\n\n")
	n := len(t.before)
	switch {
	case n == 0:
		return t, bad(param, "%s: a message with the role user is missing", param)
	case t.before[n-1].Role == "tool" || t.before[n-1].Role == "function":
		return t, unsupported(param, "%s: the last message is a tool's result; agents use their own tools, not the client's", param)
	case t.before[n-1].Role != "user":
		return t, bad(param, "%s: the last message must be the user's; an agent cannot continue the middle of an answer", param)
	}
	t.newest, t.before = t.before[n-1].Text, t.before[:n-1]
	if strings.TrimSpace(t.newest.text) == "" && len(t.newest.pictures) == 0 {
		return t, bad(param, "%s: the user's last message has no text", param)
	}
	return t, nil
}

// alone is the newest message with what was said before in front of it, quoted, and its pictures, the newest of them all: for a session
// that knows nothing of it.
func (t talk) alone() messageContent {
	var b strings.Builder
	var pictures [][]byte
	for _, m := range t.before {
		pictures = append(pictures, m.Text.pictures...)
		text := strings.TrimSpace(m.Text.text + strings.Repeat("\n[picture]", len(m.Text.pictures)))
		if text == "" {
			continue
		}
		b.WriteString("> " + m.Role + ": " + strings.ReplaceAll(text, "\n", "\n> ") + "\n")
	}
	if b.Len() == 0 {
		return t.newest
	}
	pictures = pictures[max(0, min(len(pictures), len(pictures)+len(t.newest.pictures)-turn.MaxPictures)):]
	return messageContent{"The conversation so far:\n\n" + b.String() + "\n" + t.newest.text, append(pictures, t.newest.pictures...)}
}

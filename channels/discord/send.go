package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/channels"
)

// suppressEmbeds is the flag of a message that shows no previews of its links.
const suppressEmbeds = 1 << 2

// body is what a message is made or changed with.
type body struct {
	Content     string       `json:"content"`
	Nonce       string       `json:"nonce,omitempty"`
	Enforce     bool         `json:"enforce_nonce,omitempty"`
	Reference   *reference   `json:"message_reference,omitempty"`
	Mentions    mentions     `json:"allowed_mentions"`
	Flags       int          `json:"flags"`
	Attachments []attachment `json:"attachments,omitempty"`
}

type reference struct {
	MessageID string `json:"message_id"`
	MustExist bool   `json:"fail_if_not_exists"`
}

// mentions says who is notified by what a message mentions.
type mentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users,omitempty"`
	RepliedUser bool     `json:"replied_user"`
}

type attachment struct {
	ID       string  `json:"id"` // its number among the files
	Filename string  `json:"filename"`
	Seconds  float64 `json:"duration_secs,omitempty"` // of a voice message
	Waveform string  `json:"waveform,omitempty"`
}

// nonce is the platform's idempotency key; it may have 25 characters.
func nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:25]
}

// Send implements channels.Channel. The answer to a command of Discord's own menu takes the place of the answer that was promised.
func (c *Channel) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	if err := c.placed(ctx, out.To); err != nil {
		return channels.Receipt{}, err
	}
	if r, done, err := c.answer(ctx, out); done {
		return r, err
	}
	r, err := c.post(ctx, out)
	if said, ok := errors.AsType[*apiError](err); ok && len(out.Files) == 0 && said.Code == codeInvalid && strings.Contains(said.Fields, `"content"`) && strings.Contains(said.Fields, "MAX_LENGTH") {
		return out.SendSmaller(ctx, limits, err, c.post)
	}
	return r, err
}

// post makes a message of its own.
func (c *Channel) post(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	return c.try(ctx, c.draft(out, true), func(q *request) {
		q.method, q.path, q.route = http.MethodPost, channelPath(out.To.Chat, "/messages"), messagesRoute(http.MethodPost, out.To.Chat)
	})
}

// messageID is the id of a message; an event that is about one has it before a colon.
func messageID(id channels.MessageID) string {
	text, _, _ := strings.Cut(string(id), ":")
	if !isID(text) {
		return ""
	}
	return text
}

// made reads the message that the platform made. An answer that names none, with whatever status, leaves open whether it did.
func (q request) made(raw json.RawMessage) (channels.Receipt, error) {
	r := receipt(raw)
	if r.ID == "" {
		return r, &channels.Error{Class: channels.Ambiguous, Err: &apiError{Call: q.name(), Text: "the answer has no message id"}}
	}
	return r, nil
}

// receipt reads a message.
func receipt(raw json.RawMessage) channels.Receipt {
	var m struct {
		ID        string `json:"id"`
		Timestamp string `json:"timestamp"`
	}
	r := channels.Receipt{At: time.Now()}
	if json.Unmarshal(raw, &m) == nil && isID(m.ID) {
		r.ID = channels.MessageID(m.ID)
		if at, err := time.Parse(time.RFC3339, m.Timestamp); err == nil {
			r.At = channels.PlausibleTime(at)
		}
	}
	return r
}

// Edit implements channels.Editor.
func (c *Channel) Edit(ctx context.Context, id channels.MessageID, out channels.Outbound) error {
	if err := c.placed(ctx, out.To); err != nil {
		return err
	}
	b := body{Flags: suppressEmbeds}
	b.Content, b.Mentions = c.mentioning(out.To, out.Text)
	q := request{method: http.MethodPatch, path: messagePath(out.To.Chat, id), route: messageRoute(http.MethodPatch, out.To.Chat), body: b}
	said, err := c.rest.call(ctx, q)
	if err == nil {
		_, err = q.made(said)
	}
	return err
}

// Remove takes a message back. One that is gone already is no error.
func (c *Channel) Remove(ctx context.Context, to channels.Address, id channels.MessageID) error {
	_, err := c.rest.call(ctx, request{method: http.MethodDelete, path: messagePath(to.Chat, id), route: messageRoute(http.MethodDelete, to.Chat)})
	if codeOf(err) == codeUnknownMessage {
		return nil
	}
	return err
}

// Typing implements channels.Typer. Discord shows it for ten seconds.
func (c *Channel) Typing(ctx context.Context, to channels.Address) error {
	if err := c.placed(ctx, to); err != nil {
		return err
	}
	_, err := c.rest.call(ctx, request{
		method: http.MethodPost, path: channelPath(to.Chat, "/typing"), route: route{path: "channels/typing", verb: http.MethodPost, major: string(to.Chat)},
	})
	return err
}

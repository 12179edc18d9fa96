package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// What the Bot API takes: https://core.telegram.org/bots/api#sending-files and the methods' own descriptions.
const (
	filesLimit   = 10
	fileBytes    = 50_000_000
	filesBytes   = 50_000_000 // what one request takes
	captionLimit = 1024
	photoBytes   = 10_000_000
	photoSides   = 10_000 // width and height together
	photoRatio   = 20
)

// sendFiles sends files with the text as their caption: one by the method of its kind, several as an album, in one call: either all
// arrive or none. The receipt is that of the first message.
func (c *Channel) sendFiles(ctx context.Context, params tgbotapi.Params, out channels.Outbound) (channels.Receipt, error) {
	kinds, err := fileKinds(out.Files, out.Text)
	if err != nil {
		return channels.Receipt{}, err
	}
	total := int64(0)
	for _, f := range out.Files {
		total += f.Size
	}
	if total > filesBytes {
		return channels.Receipt{}, &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("%d files have %d bytes together, more than Telegram's limit of %d for one message", len(out.Files), total, filesBytes)}
	}
	receipt, err := c.sendAlbum(ctx, maps.Clone(params), kinds, out)
	said, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return receipt, err
	case out.Text != "" && said.refusesCaption():
		return c.sendApart(ctx, params, kinds, out)
	case said.refusesFile():
		c.log.WarnContext(ctx, "Telegram refused a file; sending without it", "err", said)
		return c.sendWithout(ctx, params, out)
	}
	return receipt, err
}

// sendWithout sends the text of a message whose files Telegram does not take. The text names them.
func (c *Channel) sendWithout(ctx context.Context, params tgbotapi.Params, out channels.Outbound) (channels.Receipt, error) {
	text := out.WithNote(out.Files, c.Limits(out.To))
	text.Files = nil
	receipt, err := c.sendText(ctx, params, text)
	receipt.LeftOut, receipt.Unsent = leaving(receipt.LeftOut, namesOf(out.Files)), channels.FileWords(out.Files)
	return receipt, err
}

// sendApart sends text and files as two messages, the text first: once that is shown the message counts as sent.
func (c *Channel) sendApart(ctx context.Context, params tgbotapi.Params, kinds []shown, out channels.Outbound) (channels.Receipt, error) {
	alone := out
	alone.Files = nil
	receipt, err := c.sendText(ctx, maps.Clone(params), alone)
	if err != nil {
		return receipt, err
	}
	receipt.LeftOut = leaving(receipt.LeftOut, "the caption of "+namesOf(out.Files)+" (sent as a separate message)")
	out.Text, out.Plain = "", ""
	left, err := c.sendAlbum(ctx, maps.Clone(params), kinds, out)
	if e := channels.Classify(err); err != nil && (e.Class == channels.Limited || e.Class == channels.Transient) && pause(ctx, max(e.RetryAfter, time.Second)) {
		left, err = c.sendAlbum(ctx, maps.Clone(params), kinds, out) // the gate paces messages, and this is the second one of its send
	}
	switch {
	case err == nil:
		receipt.LeftOut = leaving(receipt.LeftOut, left.LeftOut)
	case channels.Classify(err).Class == channels.Ambiguous:
		c.log.WarnContext(ctx, "text arrived; delivery of a file is unknown", "err", err)
		receipt.LeftOut = leaving(receipt.LeftOut, namesOf(out.Files)+" (may have arrived)")
	default:
		c.log.WarnContext(ctx, "Telegram refused a file; sent the text only", "err", err)
		receipt.LeftOut, receipt.Unsent = leaving(receipt.LeftOut, namesOf(out.Files)), channels.FileWords(out.Files)
		if _, err := c.sendWithout(ctx, params, out); err != nil {
			c.log.WarnContext(ctx, "Telegram refused the note about a file", "err", err)
		}
	}
	return receipt, nil
}

// pause waits, and reports whether ctx lets it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// namesOf words which files were left out.
func namesOf(files []channels.File) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	if len(names) == 1 {
		return "the file " + names[0]
	}
	return "the files " + strings.Join(names, ", ")
}

// leaving adds to what was left out.
func leaving(left, more string) string { return strings.Trim(left+", "+more, ", ") }

// sendAlbum makes one call, and a second one with everything as documents when Telegram took nothing because of how it was to be shown.
func (c *Channel) sendAlbum(ctx context.Context, params tgbotapi.Params, kinds []shown, out channels.Outbound) (channels.Receipt, error) {
	receipt, err := c.sendGroup(ctx, maps.Clone(params), kinds, out)
	said, ok := errors.AsType[*apiError](err)
	documents := asDocuments(len(kinds))
	if !ok || slices.Equal(kinds, documents) || said.refusesCaption() || !said.refusesFile() || said.tooLarge || said.Code == http.StatusRequestEntityTooLarge {
		return receipt, err
	}
	receipt, err = c.sendGroup(ctx, params, documents, out)
	for i, f := range out.Files {
		if err == nil && kinds[i].as != document {
			receipt.LeftOut = leaving(receipt.LeftOut, "showing "+f.Name+" as a "+kinds[i].as)
		}
	}
	return receipt, err
}

// refusesFile reports whether a message with files may be refused for their sake, as they are or at all: so it is of each refusal that does
// not speak of the chat, its topic or the right to write there. New words for refused files need no release of this host.
func (e *apiError) refusesFile() bool {
	switch {
	case e.tooLarge || e.Code == http.StatusRequestEntityTooLarge:
		return true
	case e.Code == http.StatusForbidden: // most of these are about the chat
		return !slices.ContainsFunc(chatRefusals, e.says) && slices.ContainsFunc(fileRefusals, e.says)
	}
	return e.Code == http.StatusBadRequest && !slices.ContainsFunc(chatRefusals, e.says)
}

// refusesTopic reports whether the topic that a message is for is not open, or not there.
func (e *apiError) refusesTopic() bool { return e.says("thread not found") || e.says("topic") }

// chatRefusals are parts of the sentences in which Telegram refuses a message whatever is in it: there is no such chat, person or topic, or
// the bot may not write there.
var chatRefusals = []string{
	"chat not found", "user not found", "group not found", "peer_id_invalid", "channel_invalid", "channel_private", "chat_id_invalid", "chat_id is empty",
	"user_is_blocked", "user_is_bot", "user is deactivated", "input_user_deactivated", "user_deactivated", "bot was", "bot is not a member", "upgraded", "deactivated",
	"thread not found", "topic", "chat_restricted", "chat_write_forbidden", "rights to send a message", "rights to send text messages", "chat_send_plain_forbidden",
}

// refusesCaption reports whether it is the text that is too long to go with files.
func (e *apiError) refusesCaption() bool { return e.says("caption") && e.says("too") && e.says("long") }

// fileRefusals are parts of the sentences in which Telegram forbids files: for want of a right in the chat, or for somebody's privacy.
var fileRefusals = []string{
	"not enough rights to send", "rights to send a ", "chat_send_", "voice_messages_forbidden", "video_messages_forbidden", "user_restricts_receiving",
	"file", "photo", "video", "audio", "media", "document", "sticker",
}

// inputMedia is one file of an album.
type inputMedia struct {
	Type    string `json:"type"`
	Media   string `json:"media"`
	Caption string `json:"caption,omitempty"`
	Mode    string `json:"parse_mode,omitempty"`
	Width   int    `json:"width,omitempty"`
	Height  int    `json:"height,omitempty"`
	Seconds int    `json:"duration,omitempty"`
	Streams bool   `json:"supports_streaming,omitempty"`
}

func (c *Channel) sendGroup(ctx context.Context, common tgbotapi.Params, kinds []shown, out channels.Outbound) (channels.Receipt, error) {
	method, fields := "sendMediaGroup", make([]string, len(kinds))
	if len(kinds) == 1 {
		fields[0] = kinds[0].as
		method = "send" + strings.ToUpper(fields[0][:1]) + fields[0][1:]
	}
	write := func(text, mode string) (json.RawMessage, error) {
		params := maps.Clone(common)
		if len(kinds) == 1 {
			params.AddNonEmpty("caption", text)
			if text != "" {
				params.AddNonEmpty("parse_mode", mode)
			}
			kinds[0].describe(params)
			if kinds[0].as == document && out.Files[0].Kind == channels.Image {
				params["disable_content_type_detection"] = "true"
			}
			return c.calls.uploadTo(ctx, method, out.To.Chat, params, fields, out.Files)
		}
		list := make([]inputMedia, len(kinds))
		for i, kind := range kinds {
			fields[i] = "file" + strconv.Itoa(i)
			list[i] = inputMedia{Type: kind.as, Media: "attach://" + fields[i], Width: kind.width, Height: kind.height, Seconds: kind.seconds, Streams: kind.as == video}
		}
		if text != "" {
			list[0].Caption, list[0].Mode = text, mode
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return nil, &channels.Error{Class: channels.Rejected, Err: err}
		}
		params["media"] = string(raw)
		return c.calls.uploadTo(ctx, method, out.To.Chat, params, fields, out.Files)
	}
	raw, left, err := forgiving(common, out, write)
	if err != nil {
		return channels.Receipt{}, err
	}
	if len(kinds) > 1 {
		var sent []json.RawMessage
		if json.Unmarshal(raw, &sent) == nil && len(sent) > 0 {
			raw = sent[0]
		}
	}
	return c.receipt(raw, out.To, left), nil
}

package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

const (
	htmlMode   = "HTML"
	noPreview  = `{"is_disabled":true}`
	replyParam = "reply_parameters"
	general    = "1" // the topic of a forum that has no topic id in messages
)

// Send implements channels.Channel. Text that Telegram cannot parse is sent once more as Plain.
func (c *Channel) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	c.drafts.end(out.To)
	params := tgbotapi.Params{"chat_id": string(out.To.Chat)}
	if out.To.Thread != "" && out.To.Thread != general {
		params["message_thread_id"] = string(out.To.Thread)
	}
	if id, err := strconv.ParseInt(string(out.ReplyTo), 10, 64); err == nil {
		params[replyParam] = fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, id)
	}
	if len(out.Files) > 0 {
		return c.sendFiles(ctx, params, out)
	}
	params["link_preview_options"] = noPreview
	raw, err := c.write(ctx, "sendMessage", params, out)
	if err != nil {
		return channels.Receipt{}, err
	}
	return c.receipt(raw, out.To), nil
}

// receipt reads what Telegram says about a message that it took: it was sent whatever the answer looks like.
func (c *Channel) receipt(raw json.RawMessage, to channels.Address) channels.Receipt {
	var sent struct {
		MessageID int64 `json:"message_id"`
		Date      int64 `json:"date"`
	}
	if json.Unmarshal(raw, &sent) != nil || sent.MessageID == 0 {
		return channels.Receipt{At: time.Now()}
	}
	c.topics.saw(to.Chat, sent.MessageID, to.Thread)
	return channels.Receipt{ID: messageID(sent.MessageID), At: time.Unix(sent.Date, 0)}
}

// Remove implements channels.Remover. Telegram lets a bot delete its messages for 48 hours; one that is gone is no error.
func (c *Channel) Remove(ctx context.Context, to channels.Address, id channels.MessageID) error {
	_, err := c.toChat(ctx, "deleteMessage", to.Chat, tgbotapi.Params{"chat_id": string(to.Chat), "message_id": string(id)})
	if said, ok := errors.AsType[*apiError](err); ok && said.says("message to delete not found") {
		return nil
	}
	return err
}

// Edit implements channels.Editor. A text that is already there is no error.
func (c *Channel) Edit(ctx context.Context, id channels.MessageID, out channels.Outbound) error {
	params := tgbotapi.Params{"chat_id": string(out.To.Chat), "message_id": string(id), "link_preview_options": noPreview}
	_, err := c.write(ctx, "editMessageText", params, out)
	if said, ok := errors.AsType[*apiError](err); ok && said.says("message is not modified") {
		return nil
	}
	return err
}

// write makes a call that carries text.
func (c *Channel) write(ctx context.Context, method string, params tgbotapi.Params, out channels.Outbound) (json.RawMessage, error) {
	return forgiving(params, out, func(text, mode string) (json.RawMessage, error) {
		params["text"] = text
		delete(params, "parse_mode")
		params.AddNonEmpty("parse_mode", mode)
		return c.toChat(ctx, method, out.To.Chat, params)
	})
}

// forgiving makes a call with markup and, where Telegram cannot read that, without; and without the reply where Telegram has not
// got the message that is replied to. Where it goes is never changed.
func forgiving(params tgbotapi.Params, out channels.Outbound, call func(text, mode string) (json.RawMessage, error)) (json.RawMessage, error) {
	text, mode := out.Text, htmlMode
	for {
		raw, err := call(text, mode)
		said, ok := errors.AsType[*apiError](err)
		switch {
		case !ok:
			return raw, err
		case said.says("can't parse entities") && mode != "" && out.Plain != "":
			text, mode = out.Plain, ""
		case params[replyParam] != "" && (said.says("message to be replied not found") || said.says("replied message not found")):
			delete(params, replyParam)
		default:
			return raw, err
		}
	}
}

// heeding makes a call unless the platform asked to wait with what the key names, and notes when it does now.
func (c *Channel) heeding(method, key string, call func() (json.RawMessage, error)) (json.RawMessage, error) {
	if err := c.held(method, key); err != nil {
		return nil, err
	}
	raw, err := call()
	if err != nil {
		c.hold(key, err)
	}
	return raw, err
}

// ofBot makes a call about no chat.
func (c *Channel) ofBot(ctx context.Context, client *http.Client, limit time.Duration, method string, params tgbotapi.Params) (json.RawMessage, error) {
	return c.heeding(method, method, func() (json.RawMessage, error) { return c.api.call(ctx, client, limit, method, params) })
}

// toChat makes a call about a chat.
func (c *Channel) toChat(ctx context.Context, method string, chat channels.ChatID, params tgbotapi.Params) (json.RawMessage, error) {
	return c.heeding(method, string(chat), func() (json.RawMessage, error) { return c.api.call(ctx, c.sends, callTimeout, method, params) })
}

// uploadTo is toChat with files.
func (c *Channel) uploadTo(ctx context.Context, method string, chat channels.ChatID, params tgbotapi.Params, fields []string, files []channels.File) (json.RawMessage, error) {
	return c.heeding(method, string(chat), func() (json.RawMessage, error) { return c.api.upload(ctx, c.sends, method, params, fields, files) })
}

// Typing implements channels.Typer. Unlike a message, the action names the General topic of a forum.
func (c *Channel) Typing(ctx context.Context, to channels.Address) error {
	params := tgbotapi.Params{"chat_id": string(to.Chat), "action": "typing"}
	switch {
	case to.Thread != "":
		params["message_thread_id"] = string(to.Thread)
	case c.topics.isForum(to.Chat):
		params["message_thread_id"] = general
	}
	_, err := c.toChat(ctx, "sendChatAction", to.Chat, params)
	return err
}

type botCommand struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// menu stands for a chat where the platform may ask to wait with the menu.
const menu channels.ChatID = "the menu"

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// Publish implements channels.Commander: it sets the bot's menu when it is not what is there. Commands whose names Telegram does
// not allow are left out, and so are those beyond the hundredth.
func (c *Channel) Publish(ctx context.Context, cmds []channels.Command) error {
	const mostCommands, longestDescription = 100, 256
	want := []botCommand{}
	for _, cmd := range cmds {
		description := []rune(cmd.Description)
		if commandName.MatchString(cmd.Name) && len(description) > 0 && len(want) < mostCommands {
			want = append(want, botCommand{cmd.Name, string(description[:min(len(description), longestDescription)])})
		}
	}
	raw, err := c.toChat(ctx, "getMyCommands", menu, nil)
	if err != nil {
		return err
	}
	var have []botCommand
	if err := json.Unmarshal(raw, &have); err == nil && slices.Equal(have, want) {
		return nil
	}
	list, err := json.Marshal(want)
	if err != nil {
		return &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("commands: %w", err)}
	}
	_, err = c.toChat(ctx, "setMyCommands", menu, tgbotapi.Params{"commands": string(list)})
	return err
}

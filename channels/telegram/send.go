package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

const (
	htmlMode     = "HTML"
	noPreview    = `{"is_disabled":true}`
	previewParam = "link_preview_options"
	replyParam   = "reply_parameters"
	topicParam   = "message_thread_id"
)

// Send implements channels.Channel. What Telegram refuses of a message and what is not the message itself is left out of a second call, and
// the receipt says so. Where it goes is never changed.
func (c *Channel) Send(ctx context.Context, out channels.Outbound) (receipt channels.Receipt, err error) {
	if err := c.answers(ctx); err != nil {
		return channels.Receipt{}, err
	}
	defer func() { c.failing.Store(err != nil && channels.Classify(err).Class == channels.Ambiguous) }()
	c.drafts.end(out.To)
	out.Text = c.mention(out)
	done := c.posts.sending(out.To)
	defer func() {
		number, _ := strconv.ParseInt(string(receipt.ID), 10, 64)
		done(number)
	}()
	params := destination(out.To)
	params.AddNonEmpty(replyParam, replyTo(out.ReplyTo))
	if len(out.Files) > 0 {
		return c.sendFiles(ctx, params, out)
	}
	return c.sendText(ctx, params, out)
}

// answers asks a server that failed at the last message whether it works again. A message that such a server may have taken is sent three
// times at most, and none of these times is spent on a server that is away.
func (c *Channel) answers(ctx context.Context) error {
	if !c.failing.Load() {
		return nil
	}
	_, err := c.calls.ofBot(ctx, c.calls.sends, callTimeout, "getMe", nil)
	if err == nil {
		return nil
	}
	switch e := channels.Classify(err); e.Class {
	case channels.Ambiguous, channels.Transient, channels.Limited:
		return &channels.Error{Class: channels.Transient, RetryAfter: e.RetryAfter, Err: e.Err} // nothing was sent
	}
	return nil // the message itself is answered as it has to be
}

func (c *Channel) sendText(ctx context.Context, params tgbotapi.Params, out channels.Outbound) (channels.Receipt, error) {
	receipt, err := c.sendWords(ctx, maps.Clone(params), out)
	if said, ok := errors.AsType[*apiError](err); ok && said.Code == http.StatusBadRequest && said.isTooLong() {
		return out.SendSmaller(ctx, c.Limits(out.To), err, func(ctx context.Context, part channels.Outbound) (channels.Receipt, error) {
			params := maps.Clone(params)
			if part.ReplyTo == "" {
				delete(params, replyParam)
			}
			return c.sendWords(ctx, params, part)
		})
	}
	return receipt, err
}

// sendWords sends one message of text. Where Telegram refuses it in words that are not known here, it is sent once more without all options.
func (c *Channel) sendWords(ctx context.Context, params tgbotapi.Params, out channels.Outbound) (channels.Receipt, error) {
	const method = "sendMessage"
	params[previewParam] = noPreview
	replies := params[replyParam] != ""
	raw, left, err := c.write(ctx, method, params, out)
	said, ok := errors.AsType[*apiError](err)
	if ok && said.Code == http.StatusBadRequest && !said.moved && !said.isTooLong() && !slices.ContainsFunc(chatRefusals, said.says) && !slices.ContainsFunc(textRefusals, said.says) {
		bare := maps.Clone(params)
		delete(bare, previewParam)
		left = "the link preview option"
		delete(bare, replyParam)
		if replies {
			left = leaving("the reply reference", left)
		}
		if out.Plain != "" && out.Plain != out.Text {
			left = leaving("the formatting", left)
		}
		bare["text"] = cmp.Or(out.Plain, out.Text)
		delete(bare, "parse_mode")
		raw, err = c.calls.toChat(ctx, method, out.To.Chat, bare)
	}
	if err != nil {
		return channels.Receipt{}, err
	}
	return c.receipt(raw, out.To, left), nil
}

// isTooLong reports whether Telegram finds a text too long.
func (e *apiError) isTooLong() bool {
	return e.says("message is too long") || e.says("message_too_long")
}

// textRefusals are parts of the sentences in which Telegram refuses a message that no option is to blame for.
var textRefusals = []string{
	"text is empty", "message_empty", "text must be non-empty", "not found", "can't be", "banned", "administrator", "rights", "message_id_invalid", "caption", "file", "entit",
}

// receipt reads what Telegram says about a message that it took: it was sent whatever the answer looks like.
func (c *Channel) receipt(raw json.RawMessage, to channels.Address, left string) channels.Receipt {
	var sent struct {
		MessageID   int64    `json:"message_id"`
		EphemeralID int64    `json:"ephemeral_message_id"`
		Date        quantity `json:"date"`
	}
	if json.Unmarshal(raw, &sent) != nil || sent.MessageID == 0 && sent.EphemeralID == 0 {
		return channels.Receipt{At: time.Now(), LeftOut: left}
	}
	id, _ := (&wireMessage{MessageID: sent.MessageID, EphemeralID: sent.EphemeralID}).id()
	c.topics.saw(to.Chat, sent.MessageID, to.Thread)
	return channels.Receipt{ID: id, At: sent.Date.time(), LeftOut: left}
}

// mention makes names in a text for a group reach the people.
func (c *Channel) mention(out channels.Outbound) string {
	if out.To.Type == channels.Direct {
		return out.Text
	}
	return c.people.mention(out.To.Chat, out.Text)
}

// existing names a message of a chat to a method; ephemeral: it is one that a single member of a group sees, and the method another one.
func existing(to channels.Address, id channels.MessageID) (params tgbotapi.Params, ephemeral bool) {
	number, ephemeral := strings.CutPrefix(string(id), ephemeralID)
	if !ephemeral {
		return tgbotapi.Params{"chat_id": string(to.Chat), "message_id": string(id)}, false
	}
	_, _, only := split(to.Thread)
	return tgbotapi.Params{"chat_id": string(to.Chat), "ephemeral_message_id": number, "receiver_user_id": only}, true
}

// Remove implements channels.Remover. Telegram lets a bot delete its messages for 48 hours; one that is gone is no error.
func (c *Channel) Remove(ctx context.Context, to channels.Address, id channels.MessageID) error {
	method := "deleteMessage"
	params, ephemeral := existing(to, id)
	if ephemeral {
		method = "deleteEphemeralMessage"
	}
	_, err := c.calls.toChat(ctx, method, to.Chat, params)
	if said, ok := errors.AsType[*apiError](err); ok && said.says("message to delete not found") {
		return nil
	}
	return err
}

// Edit implements channels.Editor. A text that is already there is no error.
func (c *Channel) Edit(ctx context.Context, id channels.MessageID, out channels.Outbound) error {
	out.Text = c.mention(out)
	method := "editMessageText"
	params, ephemeral := existing(out.To, id)
	if ephemeral {
		method = "editEphemeralMessageText"
	}
	params[previewParam] = noPreview
	_, _, err := c.write(ctx, method, params, out)
	if said, ok := errors.AsType[*apiError](err); ok && said.says("message is not modified") {
		return nil
	}
	return err
}

// write makes a call that carries text.
func (c *Channel) write(ctx context.Context, method string, params tgbotapi.Params, out channels.Outbound) (raw json.RawMessage, left string, err error) {
	return forgiving(params, out, func(text, mode string) (json.RawMessage, error) {
		params["text"] = text
		delete(params, "parse_mode")
		params.AddNonEmpty("parse_mode", mode)
		return c.calls.toChat(ctx, method, out.To.Chat, params)
	})
}

// forgiving makes a call with markup and, where Telegram cannot read that, without; and without the reply or the option about link previews
// where Telegram does not take that. left says what was left out. Where it goes is never changed, except that a person whose own chat has
// no such topic any more gets the message outside of topics: nobody else reads there.
func forgiving(params tgbotapi.Params, out channels.Outbound, call func(text, mode string) (json.RawMessage, error)) (raw json.RawMessage, left string, err error) {
	text, mode := out.Text, htmlMode
	var without []string
	for {
		raw, err := call(text, mode)
		said, ok := errors.AsType[*apiError](err)
		switch {
		case !ok || said.Code != http.StatusBadRequest:
			return raw, strings.Join(without, ", "), err
		case said.says("entit") && mode != "" && out.Plain != "": // it cannot parse them, there are too many, one names nobody
			text, mode = out.Plain, ""
			without = append(without, "the formatting")
		case params[replyParam] != "" && (said.says("repl") || said.says("quote")):
			delete(params, replyParam)
			without = append(without, "the reply reference")
		case params[topicParam] != "" && !isGroup(params["chat_id"]) && said.refusesTopic():
			delete(params, topicParam)
			without = append(without, "the topic")
		case params[previewParam] != "" && (said.says("webpage") || said.says("web page") || said.says("preview")):
			delete(params, previewParam)
			without = append(without, "the link preview option")
		default:
			return raw, "", err
		}
	}
}

// isGroup reports whether an id is of a group or channel; those of people are positive.
func isGroup(chat string) bool { return strings.HasPrefix(chat, "-") }

// Typing implements channels.Typer. Unlike a message, the action names the General topic of a forum. Channels and their direct messages
// have none, and in a group everybody would see what is for one member alone.
func (c *Channel) Typing(ctx context.Context, to channels.Address) error {
	const method = "sendChatAction"
	topic, direct, only := split(to.Thread)
	if to.Type == channels.Room || direct != "" || only != "" {
		return &channels.Error{Class: channels.Unsupported, Err: &apiError{Method: method, Description: "Telegram shows no typing in channels, in their direct messages or to a single group member"}}
	}
	if topic == "" && (to.Thread == general || c.topics.isForum(to.Chat)) {
		topic = general
	}
	params := tgbotapi.Params{"chat_id": string(to.Chat), "action": "typing"}
	params.AddNonEmpty(topicParam, topic)
	_, err := c.calls.toChat(ctx, method, to.Chat, params)
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
	raw, err := c.calls.toChat(ctx, "getMyCommands", menu, nil)
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
	_, err = c.calls.toChat(ctx, "setMyCommands", menu, tgbotapi.Params{"commands": string(list)})
	return err
}

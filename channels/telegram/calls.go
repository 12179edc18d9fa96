package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// calls makes the calls of one bot, and keeps to the waits that Telegram asked for.
type calls struct {
	api   api
	sends *http.Client
	holds *channels.BotHolds // by chat, or by method
}

// heeding makes a call unless the platform asked to wait with what the key names, and notes when it does now.
func (c calls) heeding(method, key string, call func() (json.RawMessage, error)) (json.RawMessage, error) {
	if err := c.held(method, key); err != nil {
		return nil, err
	}
	raw, err := call()
	if err != nil {
		c.hold(key, err)
	}
	if e, ok := errors.AsType[*channels.Error](err); ok && e.Moved != "" && !(isGroup(key) && isGroup(string(e.Moved))) {
		return raw, &channels.Error{Class: channels.Rejected, Err: e.Err} // only groups become supergroups
	}
	return raw, err
}

// ofBot makes a call about no chat.
func (c calls) ofBot(ctx context.Context, client *http.Client, limit time.Duration, method string, params tgbotapi.Params) (json.RawMessage, error) {
	return c.heeding(method, method, func() (json.RawMessage, error) { return c.api.call(ctx, client, limit, method, params) })
}

// toChat makes a call about a chat.
func (c calls) toChat(ctx context.Context, method string, chat channels.ChatID, params tgbotapi.Params) (json.RawMessage, error) {
	return c.heeding(method, string(chat), func() (json.RawMessage, error) { return c.api.call(ctx, c.sends, callTimeout, method, params) })
}

// uploadTo is toChat with files.
func (c calls) uploadTo(ctx context.Context, method string, chat channels.ChatID, params tgbotapi.Params, fields []string, files []channels.File) (json.RawMessage, error) {
	return c.heeding(method, string(chat), func() (json.RawMessage, error) { return c.api.upload(ctx, c.sends, method, params, fields, files) })
}

// hold keeps what a Limited error asks for, so that best-effort calls keep to it as well.
func (c calls) hold(key string, err error) {
	if e, ok := errors.AsType[*channels.Error](err); ok && e.Class == channels.Limited {
		c.holds.Set(e.RetryAfter, key)
	}
}

// held gives a Limited error while the platform wants no call of that key.
func (c calls) held(method, key string) error {
	left := c.holds.Left(key)
	if left <= 0 {
		return nil
	}
	return &channels.Error{Class: channels.Limited, RetryAfter: left, Err: &apiError{Method: method, Description: "not called: Telegram's rate limit has not passed"}}
}

package telegram

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"parley/channels"
)

// Identify implements channels.Identifier.
func (c *Channel) Identify(ctx context.Context) (string, error) {
	raw, err := c.calls.ofBot(ctx, c.calls.sends, callTimeout, "getMe", nil)
	if err != nil {
		return "", err
	}
	var me identity
	if err := json.Unmarshal(raw, &me); err != nil || me.ID == 0 {
		return "", &channels.Error{Class: channels.Transient, Err: &apiError{Method: "getMe", Description: "unexpected answer"}}
	}
	return "@" + me.Username, nil
}

// StartLink returns the address that opens the chat with a bot; its button Start sends "/start word".
//
// source: https://core.telegram.org/api/links#bot-links
func StartLink(bot, word string) string {
	return "https://t.me/" + url.PathEscape(strings.TrimPrefix(bot, "@")) + "?start=" + url.QueryEscape(word)
}

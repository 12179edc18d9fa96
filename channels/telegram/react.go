package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"parley/channels"
)

// React implements channels.Reactor. A chat that does not have the emoji is Unsupported: asking again is no use.
//
// Reactions are not paced. Telegram's limits (one a second in a chat, twenty a minute in a group, thirty a second in all) are for
// messages: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this. Should it ask to wait all the same,
// every call about the chat does (toChat).
func (c *Channel) React(ctx context.Context, to channels.Address, id channels.MessageID, emoji string) error {
	params, ephemeral := existing(to, id)
	if ephemeral {
		return &channels.Error{Class: channels.Unsupported, Err: &apiError{Method: "setMessageReaction", Description: "Telegram allows no reaction to a message that only one member sees"}}
	}
	type reaction struct {
		Type  string `json:"type"`
		Emoji string `json:"emoji"`
	}
	list := []reaction{}
	if emoji != "" {
		list = append(list, reaction{"emoji", strings.ReplaceAll(emoji, "\ufe0f", "")}) // Telegram writes ❤ without it, keyboards with
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return &channels.Error{Class: channels.Rejected, Err: err}
	}
	params["reaction"] = string(raw)
	_, err = c.calls.toChat(ctx, "setMessageReaction", to.Chat, params)
	if said, ok := errors.AsType[*apiError](err); ok && said.says("reaction_invalid") {
		return &channels.Error{Class: channels.Unsupported, Err: said}
	}
	return err
}

package telegram

import (
	"context"
	"encoding/json"

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
		return "", &channels.Error{Class: channels.Transient, Err: &apiError{Method: "getMe", Description: "the answer is not what was expected"}}
	}
	return "@" + me.Username, nil
}

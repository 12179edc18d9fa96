package discord

import (
	"context"
	"errors"

	"parley/channels"
)

var errLater = &channels.Error{Class: channels.Unsupported, Err: errors.New("comes with the next commit")}

// Run implements channels.Channel.
func (c *Channel) Run(context.Context, channels.Inbox) error { return errLater }

// Send implements channels.Channel.
func (c *Channel) Send(context.Context, channels.Outbound) (channels.Receipt, error) {
	return channels.Receipt{}, errLater
}

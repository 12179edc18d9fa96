package discord

import (
	"context"
	"net/http"
)

// Identify implements channels.Identifier.
func (c *Channel) Identify(ctx context.Context) (string, error) {
	var me struct {
		Username string `json:"username"`
	}
	err := c.rest.get(ctx, "/users/@me", route{path: "users/@me", verb: http.MethodGet}, &me)
	return me.Username, err
}

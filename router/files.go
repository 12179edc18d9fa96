package router

import (
	"context"
	"errors"

	"parley/channels"
	"parley/sessions"
)

// Attachment implements tools.Host.
func (r *Router) Attachment(ctx context.Context, with sessions.Message, m channels.Media, most int64) ([]byte, error) {
	if with.Provenance == nil || with.Provenance.Address.IsZero() {
		return nil, errors.New("it is not known where it came from")
	}
	from := with.Provenance.Address
	return r.media.get(ctx, from, m, most, r.gate.caps(from).Fetcher)
}

package router

import (
	"cmp"
	"context"

	"parley/channels"
	"parley/sessions"
)

// Names that moved, until the tests that use them do.
var sleep = channels.Sleep

func firstOf(names ...string) string { return cmp.Or(names...) }

func (r *Router) open(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	return sessions.OpenRuns(ctx, r.store, q)
}

func (r *Router) queued(ctx context.Context, key sessions.Key) ([]sessions.Run, error) {
	return sessions.QueuedRuns(ctx, r.store, key)
}

var isSubagent = sessions.IsSubagent

var originOf = sessions.OriginOf

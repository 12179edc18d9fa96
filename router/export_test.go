package router

import (
	"context"

	"parley/sessions"
)

// What the tests of package router_test open.

// Who is who wants a session's next run.
func (l waitingLane) Who() string { return l.who }

// WaitingLanes gives the lanes of the sessions that have work.
func (r *Router) WaitingLanes(ctx context.Context, keys []sessions.Key) (map[sessions.Key]waitingLane, error) {
	return r.waitingLanes(ctx, keys)
}

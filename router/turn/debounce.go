package turn

import (
	"context"
	"time"

	"parley/router/lane"
	"parley/sessions"
)

// maxDebounces bounds how long a collected turn is held back by messages that keep coming, as a multiple of the quiet time.
const maxDebounces = 10

// awaitDebounce waits, without the lane's slot, until it is quiet in a session whose messages are collected. Only messages that came while
// the session was busy wait, and those that the platform's app may have cut: any other begins at once. It is false when nothing waits, or no further run is to begin.
func (m *Merger) awaitDebounce(ctx context.Context, key sessions.Key) bool {
	since, parts := m.lanes.LastFinished(key)
	if since.IsZero() && !parts {
		return true
	}
	if !parts && m.holdsNothing(ctx, key) {
		open, err := m.store.CountOpen(ctx, key)
		return err != nil || open > 0 // claim insists
	}
	began := time.Now()
	for {
		head, err := m.store.ListRuns(ctx, sessions.RunQuery{Key: key, Status: sessions.Queued, Oldest: true, Limit: 1})
		if err != nil { // claim insists
			m.log.Error("cannot list queued runs", keySession, key, keyErr, err)
			return true
		}
		if len(head) == 0 {
			return false
		}
		left := max(m.untilRest(ctx, head[0], began), m.debounceRemaining(ctx, head[0], since, began))
		if left <= 0 {
			return true
		}
		on := false
		if lane.WithoutSlot(ctx, func() { on = m.lanes.Sleep(ctx, key, left) }); !on {
			return false
		}
	}
}

// holdsNothing reports whether no message of a session is held back for others, whichever waits: that is known without reading it.
func (m *Merger) holdsNothing(ctx context.Context, key sessions.Key) bool {
	if m.settings().HoldsBack() {
		return false
	}
	s, err := m.store.Get(ctx, key)
	return err == nil && !s.Settings.Queue.Mode.HoldsBack()
}

// debounceRemaining returns how long the waiting messages, head first, are still held back. since is when the session was last
// busy, began when the wait began.
func (m *Merger) debounceRemaining(ctx context.Context, head sessions.Run, since, began time.Time) time.Duration {
	if !sessions.IsFresh(head) || head.Exclusive || !head.Created.Before(since) {
		return 0
	}
	q, err := m.queueOf(ctx, head)
	if err != nil || !q.Mode.HoldsBack() {
		return 0 // an error shows again where the turn is composed
	}
	queued, err := sessions.QueuedRuns(ctx, m.store, head.Key)
	if err != nil {
		return 0
	}
	newest := head
	if more := mergeable(head, queued); len(more) > 0 {
		newest = more[len(more)-1]
	}
	until := newest.Created.Add(q.Quiet)
	if latest := since.Add(maxDebounces * q.Quiet); latest.Before(until) {
		until = latest
	}
	return min(until.Sub(m.ages.Now()), maxDebounces*q.Quiet-time.Since(began)) // the clock may have been set back
}

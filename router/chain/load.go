package chain

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"parley/sessions"
)

// find reads a session; found is false when there is none. ok is false when the store could not be asked before the host stopped.
func (a *Advancer) find(ctx context.Context, key sessions.Key) (s sessions.Session, found, ok bool) {
	ok = a.retry.Do(ctx, "get", func(ctx context.Context) (err error) {
		s, err = a.store.Get(ctx, key)
		if found = err == nil; errors.Is(err, sessions.ErrNotFound) {
			return nil
		}
		return err
	})
	return s, found, ok
}

// called reports whether the tool call that began a chain is over: what comes now is too late to be its result.
func (a *Advancer) called(ctx context.Context, source string) (bool, error) {
	asker, call, _ := strings.Cut(strings.TrimPrefix(source, "tool:"), ":")
	run, err := a.store.GetRun(ctx, sessions.RunID(asker))
	if errors.Is(err, sessions.ErrNotFound) || err == nil && run.Status.Final() {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	steps, err := a.store.Steps(ctx, run.ID)
	return slices.ContainsFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.ToolResult && m.ToolCallID == call }), err
}

// ByAgents counts the turns of a session that other agents caused within the last hour, up to most. Turns of a time that the clock did not
// show within the hour do not count, nor those of one that is still to come.
func (a *Advancer) ByAgents(ctx context.Context, key sessions.Key, most int) (n int, err error) {
	for _, x := range a.clock.Intervals(time.Hour) {
		later, err := a.store.CountByAgents(ctx, key, x.To, math.MaxInt32)
		if err != nil {
			return 0, err
		}
		all, err := a.store.CountByAgents(ctx, key, x.From, later+most)
		if err != nil {
			return 0, err
		}
		n += all - later
	}
	return min(n, most), nil
}

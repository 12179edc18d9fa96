package router

import (
	"context"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/sessions"
)

const (
	typingAfter = 250 * time.Millisecond // a fast answer shows no typing
	typingEvery = 5 * time.Second        // platforms forget it after about that long
	draftEvery  = 50 * time.Millisecond
)

// show lets the chat see that the agent is at work, where the platform can: typing, and the answer as it grows. Both pass the
// gate's policy like everything that leaves. The returned func ends it and returns when no call is under way any more, so that a
// draft never comes after the answer.
func (r *Router) show(ctx context.Context, run sessions.Run, t *agent.Turn) (end func()) {
	can := r.gate.caps(run.Reply)
	if can.Typer == nil && can.Drafter == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var latest atomic.Pointer[string]
	grew := make(chan struct{}, 1)
	if can.Drafter != nil {
		t.OnText = func(soFar string) {
			latest.Store(&soFar)
			select {
			case grew <- struct{}{}:
			default:
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		typing := time.NewTimer(typingAfter)
		defer typing.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-typing.C:
				r.gate.typing(ctx, run.Key, run.Reply)
				typing.Reset(typingEvery)
			case <-grew:
				r.gate.draft(ctx, run.Key, run.Reply, string(run.ID), *latest.Load())
				if !sleep(ctx, draftEvery) {
					return
				}
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

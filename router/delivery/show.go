package delivery

import (
	"context"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

const (
	typingAfter = 250 * time.Millisecond // a fast answer shows no typing
	typingEvery = 5 * time.Second        // platforms forget it after about that long
	draftEvery  = 50 * time.Millisecond
)

// Show lets the chat see that the agent is at work, where the platform can: typing, and the answer as it grows. All of it passes the
// gate's policy like everything that leaves. The returned func ends it and returns when no call is under way any more, so that
// nothing of it comes after the answer.
func (g *Dispatcher) Show(ctx context.Context, run sessions.Run, t *agent.Turn) (end func()) {
	stream := g.stream(run)
	if stream == channels.StreamOff && g.caps(run.Reply).Typer == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	v := &view{gate: g, run: run, stream: stream, grew: make(chan struct{}, 1), words: words{g: g, run: run}}
	if stream != channels.StreamOff {
		t.OnText = v.text
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.work(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// view is what a chat sees of a turn at work.
type view struct {
	gate   *Dispatcher
	run    sessions.Run
	stream channels.Stream
	latest atomic.Pointer[string]
	grew   chan struct{}
	words  words
}

// text is told the answer so far.
func (v *view) text(soFar string) {
	v.latest.Store(&soFar)
	select {
	case v.grew <- struct{}{}:
	default:
	}
}

func (v *view) work(ctx context.Context) {
	wait, every := time.Duration(0), draftEvery
	if v.stream == channels.StreamEdit {
		wait, every = previewAfter, previewDirect
		if v.run.Reply.Type.Several() {
			every = previewSeveral
		}
	}
	typing, next := time.NewTimer(typingAfter), time.NewTimer(wait)
	defer typing.Stop()
	defer next.Stop()
	grown, due := false, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-typing.C:
			v.gate.typing(ctx, v.run.Key, v.run.Reply)
			typing.Reset(typingEvery)
		case <-v.grew:
			grown = true
		case <-next.C:
			due = true
		}
		if !grown || !due || ctx.Err() != nil {
			continue
		}
		grown, due = false, false
		if text := *v.latest.Load(); v.stream == channels.StreamDraft {
			v.gate.draft(ctx, v.run.Key, v.run.Reply, string(v.run.ID), text)
		} else {
			grown = !v.words.show(ctx, text)
		}
		next.Reset(every)
	}
}

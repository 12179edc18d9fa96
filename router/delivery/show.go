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
	typingDelay    = 250 * time.Millisecond // a fast answer shows no typing
	typingInterval = 5 * time.Second        // platforms forget it after about that long
	draftInterval  = 50 * time.Millisecond
)

// showTurn has a chat see a running turn; Dispatcher.Show says how.
func showTurn(ctx context.Context, h *hints, p *previews, run sessions.Run, t *agent.Turn) (end func()) {
	stream := p.stream(run)
	if stream == channels.StreamOff && p.accounts.caps(run.Reply).Typer == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	v := &view{hints: h, moves: h.settings().Moved.StoredMoves(), stream: stream, grew: make(chan struct{}, 1), preview: preview{previews: p, run: run}}
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

// view is what a chat sees of a running turn.
type view struct {
	hints   *hints
	moves   int // of chats, when the preview's run was read
	stream  channels.Stream
	latest  atomic.Pointer[string]
	grew    chan struct{}
	preview preview
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
	wait, every := time.Duration(0), draftInterval
	if v.stream == channels.StreamEdit {
		wait, every = previewDelay, directEditInterval
		if v.preview.run.Reply.Type.Several() {
			every = groupEditInterval
		}
	}
	typing, next := time.NewTimer(typingDelay), time.NewTimer(wait)
	defer typing.Stop()
	defer next.Stop()
	grown, due := false, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-typing.C:
			if v.follow(ctx) {
				v.hints.typing(ctx, v.preview.run.Key, v.preview.run.Reply)
			}
			typing.Reset(typingInterval)
		case <-v.grew:
			grown = true
		case <-next.C:
			due = true
		}
		if !grown || !due || ctx.Err() != nil {
			continue
		}
		grown, due = false, false
		if text := *v.latest.Load(); !v.follow(ctx) {
			grown = true
		} else if v.stream == channels.StreamDraft {
			v.hints.draft(ctx, v.preview.run.Key, v.preview.run.Reply, v.preview.run.ID, text)
		} else {
			grown = !v.preview.show(ctx, text)
		}
		next.Reset(every)
	}
}

// follow finds the session whose send policy holds for the turn now: when two chats become one, the chat of the turn belongs to another session.
// false = it is not known, so nothing may be shown.
func (v *view) follow(ctx context.Context) bool {
	moves := v.hints.settings().Moved.StoredMoves()
	if moves == v.moves {
		return true
	}
	run, err := v.hints.store.GetRun(ctx, v.preview.run.ID)
	if err == nil {
		v.preview.run.Key, v.moves = run.Key, moves
	}
	return err == nil
}

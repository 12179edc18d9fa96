package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// hints makes the calls to a platform that nothing depends on: typing, drafts, reactions, receipts. Best effort, under the same policy as a
// delivery.
type hints struct {
	store      Store
	settings   func() *settings.Snapshot
	accounts   *accounts
	inFlight   *inFlight
	life       *lifetime
	log        *slog.Logger
	indicators indicators
	backoff    hintBackoff
	drafts     sync.Map // the ids of runs at work of which a chat may show a draft
}

// typing shows in a chat that a session's agent is working.
func (h *hints) typing(ctx context.Context, key sessions.Key, to channels.Address) {
	to = h.settings().Moved.Current(to) // a turn that was asked for under an old id
	if t := h.accounts.caps(to).Typer; t != nil {
		if h.repeat(ctx, key, hintPlace{"typing", to}, func(ctx context.Context) error { return t.Typing(ctx, to) }) {
			h.removeIndicatorLater(ctx, key, to, "")
		}
	}
}

// draft shows the answer of a run as far as it is written.
func (h *hints) draft(ctx context.Context, key sessions.Key, to channels.Address, id sessions.RunID, text string) {
	to = h.settings().Moved.Current(to)
	if d := h.accounts.caps(to).Drafter; d != nil {
		h.drafts.Store(id, struct{}{})
		h.repeat(ctx, key, hintPlace{"draft", to}, func(ctx context.Context) error { return d.Draft(ctx, to, string(id), text) })
	}
}

// endDraft is Dispatcher.EndDraft. Like every call it needs an allow: under a deny, the reader of the chat finds out by itself.
func (h *hints) endDraft(ctx context.Context, run sessions.Run, unanswered bool) {
	if _, shown := h.drafts.LoadAndDelete(run.ID); shown && unanswered {
		to := h.settings().Moved.Current(run.Reply)
		if d := h.accounts.caps(to).Drafter; d != nil {
			h.call(ctx, run.Key, to, func(ctx context.Context) error { return d.Draft(ctx, to, string(run.ID), "") })
		}
	}
}

// repeat makes one of the calls that come again and again while an answer is written: rarely where they fail.
func (h *hints) repeat(ctx context.Context, key sessions.Key, p hintPlace, call func(context.Context) error) bool {
	return !h.backoff.rests(p) && h.call(ctx, key, p.to, func(hint context.Context) error {
		err := call(hint)
		if ctx.Err() == nil { // else the answer was ready first
			h.backoff.note(p, err)
		}
		return err
	})
}

// call makes one of the calls. It reports whether the policy allowed that, and the call may have worked.
func (h *hints) call(ctx context.Context, key sessions.Key, to channels.Address, call func(context.Context) error) bool {
	defer h.inFlight.begin(key, to)()
	s, err := h.store.Get(ctx, key)
	if err != nil || !h.settings().SendPolicyTo(to)(s).Allowed() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	err = channels.CatchPanic(channels.Ambiguous, func() error { return call(ctx) })
	if err != nil && ctx.Err() == nil {
		h.log.Debug("typing indicator or reaction not delivered", keyAddress, to.String(), keyErr, err)
	}
	return err == nil || channels.Classify(err).Class == channels.Ambiguous
}

// hintTimeout bounds a hint: a policy flip waits for it.
const hintTimeout = 5 * time.Second

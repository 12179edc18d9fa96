package delivery

import (
	"context"
	"errors"
	"time"

	"parley/channels"
	"parley/sessions"
)

// promote makes the first part of an answer out of its preview.
func (t *transfer) promote(ctx context.Context, ch channels.Channel, d sessions.Delivery, out channels.Outbound, last bool, p sessions.Preview) (sessions.Delivery, bool, bool) {
	// giveUp has the answer sent as a message of its own. Only now may it be: a process that finds no preview need not look for one.
	giveUp := func(why string, end sessions.TryEnd) (sessions.Delivery, bool, bool) {
		if !t.previews.end(ctx, p.Run) {
			return d, false, false
		}
		return t.record.retryLater(ctx, d, 0, why, end)
	}
	if p.To != d.To {
		return giveUp("the chat has a new id, and the preview is in the old chat", sessions.UnknownMayRepeat)
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	defer t.life.afterStop(sendGrace, cancel)()
	p, err := t.previews.reconcilePreview(call, ch, p)
	switch {
	case errors.Is(err, errAbsent):
		return giveUp("the preview did not arrive", sessions.ConfirmedAbsent)
	case errors.Is(err, errAmbiguous):
		t.metrics.ambiguous()
		return giveUp("the preview may have arrived", sessions.UnknownMayRepeat)
	case err == nil:
		err = channels.CatchPanic(channels.Ambiguous, func() error {
			e := channels.Probe(ch).Editor
			if e == nil {
				return &channels.Error{Class: channels.Unsupported, Err: errors.New("the platform no longer allows edits of this message")}
			}
			return e.Edit(call, p.ID, out)
		})
	}
	if err == nil {
		next, final, ok := t.record.partArrived(ctx, d, channels.Receipt{ID: p.ID, At: time.Now()}, last)
		return next, final, ok && t.previews.end(ctx, p.Run)
	}
	switch e := channels.Classify(err); e.Class {
	case channels.Rejected, channels.Unsupported:
		switch gone, again := t.previews.remove(call, ch, p); {
		case again > 0:
			return t.record.retryLater(ctx, d, again, "cannot delete the preview yet: "+e.Error(), sessions.NotArrived)
		case gone:
			return giveUp("cannot turn the preview into the answer: "+e.Error(), sessions.ConfirmedAbsent)
		default:
			return giveUp("cannot turn the preview into the answer: "+e.Error(), sessions.UnknownMayRepeat)
		}
	case channels.Ambiguous: // the same edit twice is as good as once
		return t.record.retryLater(ctx, d, t.ages.Backoff(d.Attempt), e.Error(), sessions.UnknownIdempotent)
	default:
		return t.onError(ctx, ch, d, out, last, e)
	}
}

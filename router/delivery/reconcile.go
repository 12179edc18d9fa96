package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// reconciler asks platforms whether something has arrived, under the policy. It has no state.
type reconciler struct {
	store    Store
	settings func() *settings.Snapshot
	inFlight *inFlight
}

// denied reports whether the policy holds a delivery back as things stand. BeginSend decides; this only says what is worth
// waiting for.
func (r *reconciler) denied(ctx context.Context, d sessions.Delivery) (bool, error) {
	if d.PreAuthorized != nil {
		return false, nil
	}
	s := sessions.Session{Key: d.Session, Agent: d.Session.Agent()}
	if d.Session != "" {
		switch x, err := r.store.Get(ctx, d.Session); {
		case err == nil:
			s = x
		case !errors.Is(err, sessions.ErrNotFound):
			return false, err
		}
	}
	return !r.settings().SendPolicyTo(d.To)(s).Allowed(), nil
}

// queryArrived has an adapter find out whether a part arrived. A denied chat gets no query either: errDenied.
func (r *reconciler) queryArrived(ctx context.Context, rec channels.Reconciler, d sessions.Delivery, out channels.Outbound) (receipt channels.Receipt, there bool, err error) {
	defer r.inFlight.begin(d.Session, d.To)() // before the policy is looked at: a flip waits for it
	if denied, err := r.denied(ctx, d); err != nil {
		return receipt, false, fmt.Errorf("%w: %w", errPolicyUnavailable, err)
	} else if denied {
		return receipt, false, errDenied
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err = channels.CatchPanic(channels.Ambiguous, func() (err error) {
		receipt, there, err = rec.Arrived(ctx, out)
		return err
	})
	return receipt, there, err
}

// onAmbiguous reconciles a part that may have arrived, sends it again, or holds it for a person.
func (t *transfer) onAmbiguous(ctx context.Context, ch channels.Channel, d sessions.Delivery, out channels.Outbound, last bool, why string) (sessions.Delivery, bool, bool) {
	if ch.Limits(d.To).Idempotent {
		return t.record.retryLater(ctx, d, t.ages.Backoff(d.Attempt), why, sessions.UnknownIdempotent)
	}
	if rec := channels.Probe(ch).Reconciler; rec != nil {
		next, r, there, err := t.reconcileSend(ctx, rec, d, out)
		switch {
		case err == nil && next.State != sessions.Sending:
			return next, next.State.Final(), true
		case err == nil && there:
			return t.record.partArrived(ctx, next, r, last)
		case err == nil && next.AbsentTries()+1 >= maxAbsentTries:
			return t.record.finish(ctx, next, sessions.DeliveryFail, fmt.Sprintf("the message did not arrive after %d sends: %s", next.AbsentTries()+1, why))
		case err == nil:
			return t.record.retryLater(ctx, next, t.ages.Backoff(next.Attempt), why, sessions.ConfirmedAbsent)
		case ctx.Err() != nil, errors.Is(err, errIndeterminate):
			return next, false, false
		}
		d = next
	}
	t.metrics.ambiguous()
	if t.settings().Delivery.Hold {
		return t.record.finish(ctx, d, sessions.Held, "the message may have arrived, and delivery.ambiguous is hold: "+why)
	}
	if sent := d.AmbiguousTries + 1; sent >= maxAmbiguousTries {
		return t.record.finish(ctx, d, sessions.Held, fmt.Sprintf("the message may have arrived in each of %d sends: %s", sent, why))
	}
	return t.record.retryLater(ctx, d, max(t.ages.Backoff(d.Attempt), repeatDelay<<(4*d.AmbiguousTries)), "the message may have arrived and is sent again: "+why, sessions.UnknownMayRepeat)
}

// repeatDelay is how long it takes until a part that may have arrived is sent once more; each further time takes sixteen times as long. A
// server that fails, fails for longer than a moment, and each of these tries may be shown.
const repeatDelay = 4 * time.Second

// reconcileSend finds out whether a part arrived. In a chat that is denied meanwhile the host may not ask: the store decides then, so that the
// delivery ends there, or may be asked about after all; put back as one that did not arrive it would be sent twice. It waits as long as the
// policy cannot be read, and some minutes for a platform that asks to wait or is away: one query without an answer shows no message twice.
func (t *transfer) reconcileSend(ctx context.Context, rec channels.Reconciler, d sessions.Delivery, out channels.Outbound) (next sessions.Delivery, r channels.Receipt, there bool, err error) {
	patience := time.Now().Add(reconcileTimeout)
	for try := 0; ; try++ {
		r, there, err = t.reconciler.queryArrived(ctx, rec, d, out)
		wait := t.ages.Backoff(try)
		switch denied := errors.Is(err, errDenied); {
		case !denied && !errors.Is(err, errPolicyUnavailable):
			later, ok := retryQueryAfter(err)
			if wait = max(wait, later); !ok || time.Now().Add(wait).After(patience) || wait >= timeLeft(t.ages, d) {
				return d, r, there, err
			}
		case denied && ctx.Err() == nil:
			next, _, ok := t.record.begin(ctx, t.account, d)
			if !ok {
				return d, r, false, errIndeterminate
			}
			if d = next; d.State != sessions.Sending {
				return d, r, false, nil
			}
		}
		if !channels.Sleep(ctx, wait) {
			return d, r, false, ctx.Err()
		}
	}
}

// reconcileTimeout is how long the host asks whether a part arrived before that counts as unknown.
const reconcileTimeout = 5 * time.Minute

// retryQueryAfter is how long to wait before a query is repeated; false = it was answered, or never will be.
func retryQueryAfter(err error) (time.Duration, bool) {
	if err == nil {
		return 0, false
	}
	e := channels.Classify(err)
	return e.RetryAfter, e.Class == channels.Limited || e.Class == channels.Transient
}

var (
	errDenied            = errors.New("denied by the send policy")
	errPolicyUnavailable = errors.New("cannot read the send policy")
	// errIndeterminate: the store did not say, as when the host ends or the row is gone.
	errIndeterminate = errors.New("the store gave no answer")
)

// resumeInterrupted reconciles a delivery that was being sent when the last process ended.
func (t *transfer) resumeInterrupted(ctx context.Context, d sessions.Delivery) (next sessions.Delivery, final, ok bool) {
	d.NotBefore = time.Time{}
	ch, ok := t.ready(ctx, d)
	if !ok {
		return d, false, false
	}
	if ch == nil && timeLeft(t.ages, d) > 0 { // it was denied
		next, final, ok := t.record.begin(ctx, t.account, d)
		if !ok || next.State != sessions.Sending {
			return next, final, ok
		}
		return t.resumeInterrupted(ctx, next) // it is permitted by now
	}
	if ch == nil {
		return t.record.finish(ctx, d, sessions.Expired, "the message may have arrived; the account was not connected before the message expired")
	}
	if _, there := t.previews.of(d); there { // as long as there is one the answer is not sent as a message of its own
		return t.record.retryLater(ctx, d, 0, "the host stopped while it turned the preview into the answer", sessions.UnknownIdempotent)
	}
	limits := t.accounts.limits(t.account, ch, d.To)
	p, last, ok := t.splitter.next(d, limits)
	if !ok {
		return t.record.finish(ctx, d, sessions.DeliveryFail, "the host stopped during the send, and the message has fewer parts now")
	}
	next, final, ok = t.onAmbiguous(ctx, ch, d, t.outbound(d, t.dropMissingFiles(d, p, limits)), last, "the host stopped during the send")
	next.NotBefore = time.Time{}
	return next, final, ok
}

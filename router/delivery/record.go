package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/channels"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// recorder writes down what becomes of a delivery: in the store first, then for those who watch, the counters, its preview and its reactions. It
// has no state.
type recorder struct {
	store     Store
	settings  func() *settings.Snapshot
	ages      *clock.Steady
	retrier   *retrier
	previews  *previews
	reactions *reactions
	log       *slog.Logger
	metrics   *Metrics
	changed   func(sessions.Delivery)
}

// tell tells those who watch how a delivery stands.
func (r *recorder) tell(d sessions.Delivery) {
	if r.changed != nil {
		r.changed(d)
	}
}

// begin asks the store whether a part may leave now; if so, the part's state is sending.
func (r *recorder) begin(ctx context.Context, a *account, d sessions.Delivery) (next sessions.Delivery, final, ok bool) {
	var refused error
	ok = r.retrier.retry(ctx, "begin", d.ID, func(ctx context.Context) (err error) {
		next, err = r.store.BeginSend(ctx, d.ID, decisionTime(r.ages, d), r.settings().SendPolicyTo(d.To), r.settings().FirstContactQuota(a.ref, time.Now()))
		refused = err
		return err
	})
	switch {
	case !ok:
		return d, false, false
	case errors.Is(refused, sessions.ErrInvalid): // without a stored state the part is not sent
		return r.finish(ctx, d, sessions.DeliveryFail, "cannot store the state of the delivery: "+refused.Error())
	}
	r.tell(next)
	if final = next.State.Final(); final {
		r.onFinal(next)
	}
	return next, final, true
}

// tellUnsent tells the agent, with its session's next turn, which files the platform refused.
func (r *recorder) tellUnsent(ctx context.Context, d sessions.Delivery, receipt channels.Receipt) {
	keep := r.settings().ContextLimit()
	if receipt.Unsent == "" || d.Session == "" || keep == 0 {
		return
	}
	line := sessions.ContextLine{Key: d.Session, Event: sessions.Unsent, Text: channels.CutText(receipt.Unsent, settings.MaxContextLine), Time: time.Now(), Keep: keep}
	r.retrier.retry(ctx, "tell of refused files", d.ID, func(ctx context.Context) error {
		_, err := r.store.Submit(ctx, sessions.Change{IdempotencyKey: fmt.Sprintf("unsent:%s.%d", d.ID, d.Part), Ops: []sessions.Op{sessions.AppendContext(line)}})
		return err
	})
}

// partArrived writes the receipt of one part.
func (r *recorder) partArrived(ctx context.Context, d sessions.Delivery, receipt channels.Receipt, last bool) (sessions.Delivery, bool, bool) {
	r.tellUnsent(ctx, d, receipt)
	ok := r.retrier.retry(ctx, "receipt", d.ID, func(ctx context.Context) error { return r.store.PartSent(ctx, d.ID, receipt, last) })
	d.Part++
	d.Attempt, d.AmbiguousTries, d.Ambiguous = 0, 0, false
	if last {
		d.State = sessions.Sent
		r.tell(d)
		r.onFinal(d)
	}
	d.NotBefore = time.Time{}
	return d, last, ok
}

// retryLater puts a delivery back for a later try; end is that of the last one.
func (r *recorder) retryLater(ctx context.Context, d sessions.Delivery, wait time.Duration, why string, end sessions.TryEnd) (sessions.Delivery, bool, bool) {
	at := time.Now().Add(wait)
	ok := r.retrier.retry(ctx, "retry", d.ID, func(ctx context.Context) error { return r.store.Retry(ctx, d.ID, at, why, end) })
	d.State, d.NotBefore = sessions.Pending, at
	d.Tried(end)
	r.tell(d)
	r.metrics.retried()
	return d, false, ok
}

// finish makes a delivery final.
func (r *recorder) finish(ctx context.Context, d sessions.Delivery, state sessions.DeliveryState, why string) (sessions.Delivery, bool, bool) {
	ok := r.retrier.retry(ctx, "end", d.ID, func(ctx context.Context) error { return r.store.EndDelivery(ctx, d.ID, state, why) })
	d.State, d.Error = state, why
	r.tell(d)
	r.onFinal(d)
	return d, true, ok
}

// onFinal tells people and counters how a delivery ended.
func (r *recorder) onFinal(d sessions.Delivery) {
	r.metrics.ended(d.State)
	if d.State != sessions.Sent { // then it has become the answer
		r.previews.onAnswered(d)
	}
	r.reactions.removeAll(d.Run)
	switch d.State {
	case sessions.Sent:
		r.log.Debug("sent", keyDelivery, d.ID, keyAddress, d.To.String())
	case sessions.DeliveryStopped:
		r.log.Info("delivery stopped", keyDelivery, d.ID, keyAddress, d.To.String(), keyReason, d.Error)
	case sessions.Withheld:
		rule := ""
		if d.Verdict != nil {
			rule = d.Verdict.Rule
		}
		r.log.Info("withheld by policy", keyDelivery, d.ID, keyAddress, d.To.String(), keyRule, rule)
	default:
		r.log.Warn("not delivered", keyDelivery, d.ID, keyAddress, d.To.String(), keyState, d.State, keyReason, d.Error)
	}
}

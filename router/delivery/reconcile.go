package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
)

// unclear decides what becomes of a part that may have arrived.
func (g *Dispatcher) unclear(ctx context.Context, o *account, ch channels.Channel, d sessions.Delivery, out channels.Outbound, last bool, why string) (sessions.Delivery, bool, bool) {
	if ch.Limits(d.To).Idempotent {
		return g.again(ctx, d, g.ages.Backoff(d.Attempt), why, sessions.MayHave)
	}
	if rec := channels.Probe(ch).Reconciler; rec != nil {
		next, r, there, err := g.learn(ctx, o, rec, d, out)
		switch {
		case err == nil && next.State != sessions.Sending:
			return next, next.State.Final(), true
		case err == nil && there:
			return g.arrived(ctx, next, r, last)
		case err == nil && next.Absent()+1 >= maxAbsent:
			return g.end(ctx, next, sessions.DeliveryFail, fmt.Sprintf("it was sent %d times and did not arrive: %s", next.Absent()+1, why))
		case err == nil:
			return g.again(ctx, next, g.ages.Backoff(next.Attempt), why, sessions.Absent)
		case ctx.Err() != nil, errors.Is(err, errUndecided):
			return next, false, false
		}
		d = next
	}
	g.metrics.ambiguous()
	if g.settings().Delivery.Hold {
		return g.end(ctx, d, sessions.Held, "it may have arrived; delivery.ambiguous is hold: "+why)
	}
	if sent := d.Doubts + 1; sent >= maxUnclear {
		return g.end(ctx, d, sessions.Held, fmt.Sprintf("it was sent %d times and may have arrived each time: %s", sent, why))
	}
	return g.again(ctx, d, g.ages.Backoff(d.Attempt), "it may have arrived and is sent again: "+why, sessions.MayBeTwice)
}

// learn finds out whether a part arrived. In a chat that is denied meanwhile nobody may ask: the store decides then, so that the delivery ends there, or may be
// asked about after all; put back as one that did not arrive it would be sent twice. As long as the policy is not known it waits, and some
// minutes for a platform that asks to wait or is away: nobody is shown anything twice because one question got no answer.
func (g *Dispatcher) learn(ctx context.Context, o *account, rec channels.Reconciler, d sessions.Delivery, out channels.Outbound) (next sessions.Delivery, r channels.Receipt, there bool, err error) {
	patience := time.Now().Add(askPatience)
	for try := 0; ; try++ {
		r, there, err = g.ask(ctx, rec, d, out)
		wait := g.ages.Backoff(try)
		switch denied := errors.Is(err, errDenied); {
		case !denied && !errors.Is(err, errUnread):
			later, ok := asksLater(err)
			if wait = max(wait, later); !ok || time.Now().Add(wait).After(patience) || wait >= g.left(d) {
				return d, r, there, err
			}
		case denied && ctx.Err() == nil:
			next, _, ok := g.begin(ctx, o, d)
			if !ok {
				return d, r, false, errUndecided
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

// askPatience is how long it is asked whether a part arrived before that counts as unknown.
const askPatience = 5 * time.Minute

// asksLater is how long a question has to wait before it is asked again; false = it was answered, or never will be.
func asksLater(err error) (time.Duration, bool) {
	if err == nil {
		return 0, false
	}
	e := channels.Classify(err)
	return e.RetryAfter, e.Class == channels.Limited || e.Class == channels.Transient
}

var (
	errDenied = errors.New("the policy denies it")
	errUnread = errors.New("the policy is not known")
	// errUndecided: the store did not say, as when the host ends or the row is gone.
	errUndecided = errors.New("it is not decided")
)

// ask has an adapter find out whether a part arrived. Not even a question reaches a denied chat: errDenied.
func (g *Dispatcher) ask(ctx context.Context, rec channels.Reconciler, d sessions.Delivery, out channels.Outbound) (r channels.Receipt, there bool, err error) {
	defer g.inFlight.begin(d.Session)() // before the policy is looked at: a flip waits for it
	if denied, err := g.denied(ctx, d); err != nil {
		return r, false, fmt.Errorf("%w: %w", errUnread, err)
	} else if denied {
		return r, false, errDenied
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err = channels.CatchPanic(func() (err error) {
		r, there, err = rec.Arrived(ctx, out)
		return err
	})
	return r, there, err
}

// reconcile treats a delivery that was being sent when the last process ended.
func (g *Dispatcher) reconcile(ctx context.Context, o *account, d sessions.Delivery, c *cut) (next sessions.Delivery, final, ok bool) {
	d.NotBefore = time.Time{}
	ch, ok := g.ready(ctx, o, d)
	if !ok {
		return d, false, false
	}
	if ch == nil && g.left(d) > 0 { // it was denied
		next, final, ok := g.begin(ctx, o, d)
		if !ok || next.State != sessions.Sending {
			return next, final, ok
		}
		return g.reconcile(ctx, o, next, c) // it is permitted by now
	}
	if ch == nil {
		return g.end(ctx, d, sessions.Expired, "it may have arrived; its account was not connected before it expired")
	}
	if _, there := g.previewOf(d); there { // as long as there is one the answer is not sent as a message of its own
		return g.again(ctx, d, 0, "the host stopped while its preview became it", sessions.MayHave)
	}
	limits := g.limits(o, ch, d.To)
	p, last, ok := c.part(d, limits)
	if !ok {
		return g.end(ctx, d, sessions.DeliveryFail, "the host stopped while it was being sent, and it has fewer parts now")
	}
	next, final, ok = g.unclear(ctx, o, ch, d, g.outbound(d, g.withoutLost(d, p, limits)), last, "the host stopped while it was being sent")
	next.NotBefore = time.Time{}
	return next, final, ok
}

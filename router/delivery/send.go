package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/channels"
	"parley/router/clock"
	"parley/router/filestore"
	"parley/router/settings"
	"parley/sessions"
)

const (
	sendTimeout        = 30 * time.Second // one call to a platform
	sendBytesPerSecond = 512 << 10        // and a second for so many bytes of files
	sendGrace          = 6 * time.Second  // what a call under way gets at shutdown
	maxAmbiguousTries  = 3                // sends of one part that may each have arrived; then a person decides
	maxAbsentTries     = 50               // ambiguous sends of one part that the platform did not have afterwards: about an hour at clock.MaxBackoff
)

// sender sends deliveries to platforms. It has no state: that of one delivery on its way is a transfer.
type sender struct {
	store      Store
	settings   func() *settings.Snapshot
	accounts   *accounts
	queues     *queues
	inFlight   *inFlight
	previews   *previews
	record     *recorder
	reconciler *reconciler
	retrier    *retrier
	outbox     *filestore.Outbox
	ages       *clock.Steady
	life       *lifetime
	log        *slog.Logger
	metrics    *Metrics
}

// transfer is one delivery on its way: its account, its queue, and its parts. One goroutine has it, that of the
// queue.
type transfer struct {
	*sender
	account  *account
	q        *queue
	splitter splitter
}

// transfer begins to send a delivery, or continues with one that was paused.
func (s *sender) transfer(a *account, q *queue, id sessions.DeliveryID) *transfer {
	t := &transfer{sender: s, account: a, q: q}
	if q.paused.id == id {
		t.splitter, q.paused = q.paused.splitter, pausedParts{}
	}
	return t
}

// deliver brings one delivery to a final state. It returns false when ctx ended before that: the store then holds it as pending,
// or as sending when its fate is not known.
func (t *transfer) deliver(ctx context.Context, d sessions.Delivery) bool {
	if d.State.Final() {
		return t.sentBefore(ctx, d)
	}
	if _, ok := t.queues.waitAlone(ctx, t.account, t.q); !ok {
		return false
	}
	if d.State == sessions.Sending && d.Attempt > 0 { // 0 = the process ended between two parts
		next, final, ok := t.resumeInterrupted(ctx, d)
		if !ok || final {
			return ok
		}
		d = next
	}
	if d.PreAuthorized != nil {
		// The answer to a policy flip leaves only when nothing that began before the flip is still on its way.
		if t.inFlight.wait(ctx, d.Session) != nil {
			return false
		}
	}
	return t.parts(ctx, d)
}

// sendBegun sends a delivery that the commit that made it has begun; done ends its call in flight.
func (t *transfer) sendBegun(ctx context.Context, ch channels.Channel, d sessions.Delivery, done func()) bool {
	next, final, ok := t.part(ctx, ch, d, done)
	if done(); !ok || final {
		return ok
	}
	return t.parts(ctx, next)
}

// sentBefore reports a delivery that the previous process has sent, as this one found out at its start. It waits for its account, for a minute
// at most: there the indicators of a running turn are removed.
func (t *transfer) sentBefore(ctx context.Context, d sessions.Delivery) bool {
	ctx, cancel := context.WithTimeout(ctx, recheckInterval)
	defer cancel()
	for ch, changed := t.accounts.channel(t.account); ch == nil && ctx.Err() == nil; ch, changed = t.accounts.channel(t.account) {
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	t.record.tell(d)
	t.record.onFinal(d)
	return true
}

// parts sends what is left of a delivery, part by part. The answer to a command goes between two of them.
func (t *transfer) parts(ctx context.Context, d sessions.Delivery) bool {
	for {
		if t.q.looks.take() && t.stopped(ctx, d) {
			return true
		}
		if t.queues.giveWay(t.q, d) {
			t.q.paused = pausedParts{d.ID, t.splitter}
			return false
		}
		wait, end := t.q.looks.untilAsked(ctx)
		ch, ok := t.ready(wait, d)
		end()
		switch {
		case !ok && ctx.Err() != nil:
			return false
		case !ok: // a look was asked for
			continue
		}
		if waited, ok := t.queues.waitAlone(ctx, t.account, t.q); !ok {
			return false
		} else if waited {
			continue
		}
		next, final, ok := t.attempt(ctx, ch, d)
		if !ok || final {
			return ok
		}
		d = next
	}
}

// stopped reports whether a delivery has ended while it waited, and tells of that.
func (t *transfer) stopped(ctx context.Context, d sessions.Delivery) bool {
	now, err := t.store.GetDelivery(ctx, d.ID)
	if err != nil || !now.State.Final() { // where the store fails, the next step says so
		return false
	}
	t.record.tell(now)
	t.record.onFinal(now)
	return true
}

// ready waits until the delivery may be tried: its time has come, its account is attached, the pace allows it. ch is nil when it
// expired before that.
func (t *transfer) ready(ctx context.Context, d sessions.Delivery) (channels.Channel, bool) {
	if !t.wait(ctx, d) {
		return nil, false
	}
	for {
		ch, changed := t.accounts.channel(t.account)
		if ch != nil && t.account.pace.Free() {
			return ch, ctx.Err() == nil
		}
		if denied, err := t.reconciler.denied(ctx, d); err == nil && denied {
			return ch, true // it will not leave: it needs neither a turn nor a connection
		}
		if ch != nil {
			if t.account.pace.Wait(ctx, d.To) != nil {
				return nil, false
			}
			if now, _ := t.accounts.channel(t.account); now == ch {
				return ch, true
			}
			continue // the account was replaced meanwhile
		}
		left := timeLeft(t.ages, d)
		if left <= 0 {
			return nil, true
		}
		expired := time.NewTimer(left)
		select {
		case <-changed:
		case <-expired.C:
		case <-ctx.Done():
			expired.Stop()
			return nil, false
		}
		expired.Stop()
	}
}

// recheckInterval is how often a delivery that waits is looked at: a person may have asked for it, or a day have got more room.
const recheckInterval = time.Minute

// wait sleeps until a delivery's time has come or it expires; one that was never tried, because its day had no room, is tried again and
// again. It is false when ctx ended.
func (s *sender) wait(ctx context.Context, d sessions.Delivery) bool {
	for {
		left := time.Until(d.NotBefore)
		if d.Attempt == 0 {
			return channels.Sleep(ctx, min(left, recheckInterval))
		}
		if !d.Expires.IsZero() {
			left = min(left, timeLeft(s.ages, d))
		}
		if left <= recheckInterval {
			return channels.Sleep(ctx, left)
		}
		if !channels.Sleep(ctx, recheckInterval) {
			return false
		}
		if now, err := s.store.GetDelivery(ctx, d.ID); err == nil {
			if !now.NotBefore.IsZero() {
				now.NotBefore = d.NotBefore
			}
			if d = now; d.State.Final() {
				return true
			}
		}
	}
}

// attempt decides, sends the next part and writes down what became of it. ok is false when ctx ended.
func (t *transfer) attempt(ctx context.Context, ch channels.Channel, d sessions.Delivery) (next sessions.Delivery, final, ok bool) {
	done := sync.OnceFunc(t.inFlight.begin(d.Session, d.To))
	defer done()
	next, final, ok = t.record.begin(ctx, t.account, d)
	if !ok || next.State != sessions.Sending { // pending: too many new chats today
		return next, final, ok
	}
	return t.part(ctx, ch, next, done)
}

// part sends the next part of a delivery that may leave now; done ends its call in flight.
func (t *transfer) part(ctx context.Context, ch channels.Channel, d sessions.Delivery, done func()) (next sessions.Delivery, final, ok bool) {
	if ch == nil { // it expired while its account was away, and the clock went back since: wait on
		return t.record.retryLater(ctx, d, time.Second, "the account is not connected", sessions.NotArrived)
	}
	limits := t.accounts.limits(t.account, ch, d.To)
	p, last, ok := t.splitter.next(d, limits)
	if !ok {
		return t.record.finish(ctx, d, sessions.DeliveryFail, "nothing to send: the rendered text is empty")
	}
	out := t.outbound(d, t.dropMissingFiles(d, p, limits))
	if err := t.store.Calling(d); err != nil {
		return t.record.retryLater(ctx, d, t.ages.Backoff(d.Attempt), err.Error(), sessions.NotArrived)
	}
	if first, there := t.previews.of(d); there {
		return t.promote(ctx, ch, d, out, last, first)
	}
	began := time.Now()
	receipt, err := t.send(ctx, ch, out)
	t.metrics.sent(t.account.ref, began, err)
	if err != nil {
		done() // reconciling may take minutes, in which the policy may change: each query is a call in flight of its own
		return t.onError(ctx, ch, d, out, last, channels.Classify(err))
	}
	t.store.Answered(d, receipt, last)
	return t.record.partArrived(ctx, d, receipt, last)
}

// send calls the platform. At shutdown a call under way gets sendGrace to end, so that its receipt is written.
func (s *sender) send(ctx context.Context, ch channels.Channel, out channels.Outbound) (r channels.Receipt, err error) {
	limit := sendTimeout
	for _, f := range out.Files {
		limit += time.Duration(f.Size/sendBytesPerSecond) * time.Second
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	defer s.life.afterStop(sendGrace, cancel)()
	err = channels.CatchPanic(channels.Ambiguous, func() (err error) {
		r, err = ch.Send(call, out)
		return err
	})
	return r, err
}

// onError acts on an error's class.
func (t *transfer) onError(ctx context.Context, ch channels.Channel, d sessions.Delivery, out channels.Outbound, last bool, e *channels.Error) (sessions.Delivery, bool, bool) {
	t.log.Warn("message not sent", keyDelivery, d.ID, keyAddress, d.To.String(), keyClass, e.Class, keyErr, e.Err)
	if e.Moved != "" && e.Moved != d.To.Chat {
		to := d.To
		to.Chat = e.Moved
		if !t.retrier.retry(ctx, "readdress", d.ID, func(ctx context.Context) error { return t.store.Readdress(ctx, d.To, to) }) {
			return d, false, false
		}
		t.queues.move(t.account, d.To, to)
		wait := time.Duration(0)
		if d.Attempt > 1 { // it should move once
			wait = t.ages.Backoff(d.Attempt)
		}
		d.To = to
		return t.record.retryLater(ctx, d, wait, "the chat has a new id", sessions.NotArrived)
	}
	switch e.Class {
	case channels.Limited:
		wait := e.RetryAfter
		if wait <= 0 {
			wait = t.ages.Backoff(d.Attempt)
		}
		return t.record.retryLater(ctx, d, wait, e.Error(), sessions.NotArrived)
	case channels.Transient, channels.Unauthorized: // the account's own connection finds out whether its login has ended
		return t.record.retryLater(ctx, d, t.ages.Backoff(d.Attempt), e.Error(), sessions.NotArrived)
	case channels.Rejected, channels.Unsupported:
		return t.record.finish(ctx, d, sessions.DeliveryFail, e.Error())
	}
	return t.onAmbiguous(ctx, ch, d, out, last, e.Error())
}

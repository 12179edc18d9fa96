package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/channels"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

const (
	sendTimeout   = 30 * time.Second // one call to a platform
	sendPerSecond = 512 << 10        // and a second for so many bytes of files
	sendGrace     = 6 * time.Second  // what a call under way gets at shutdown
	maxUnfitTries = 5                // refusals of a state that the store cannot hold
	maxUnclear    = 3                // sends of one part that may each have arrived; then a person decides
	maxAbsent     = 50               // sends of one part that ended unclear, of which the platform then had none: about an hour at maxBackoff
)

// deliver brings one delivery to a final state. It returns false when ctx ended before that: the store then holds it as pending,
// or as sending when its fate is not known.
func (g *Dispatcher) deliver(ctx context.Context, o *account, q *queue, d sessions.Delivery) bool {
	if d.State.Final() {
		return g.sentBefore(ctx, o, d)
	}
	var c cut
	if _, ok := g.alone(ctx, o, q); !ok {
		return false
	}
	if d.State == sessions.Sending && d.Attempt > 0 { // 0 = the process ended between two parts
		next, final, ok := g.reconcile(ctx, o, d, &c)
		if !ok || final {
			return ok
		}
		d = next
	}
	if d.Granted != nil {
		// The answer to a policy flip leaves only when nothing that began before the flip is still on its way.
		if g.inFlight.settle(ctx, d.Session) != nil {
			return false
		}
	}
	return g.parts(ctx, o, q, d, &c)
}

// sentBefore tells of a delivery that the process before this one has sent, as this one found out at its start. It waits for its account, for a minute at most: there
// what stands for a turn at work is taken away.
func (g *Dispatcher) sentBefore(ctx context.Context, o *account, d sessions.Delivery) bool {
	ctx, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	for ch, changed := g.channel(o); ch == nil && ctx.Err() == nil; ch, changed = g.channel(o) {
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	g.tell(d)
	g.ended(d)
	return true
}

// parts sends what is left of a delivery, part by part.
func (g *Dispatcher) parts(ctx context.Context, o *account, q *queue, d sessions.Delivery, c *cut) bool {
	for {
		ch, ok := g.ready(ctx, o, d)
		if !ok {
			return false
		}
		if waited, ok := g.alone(ctx, o, q); !ok {
			return false
		} else if waited {
			continue
		}
		next, final, ok := g.attempt(ctx, o, ch, d, c)
		if !ok || final {
			return ok
		}
		d = next
	}
}

// ready waits until the delivery may be tried: its time has come, its account is attached, the pace allows it. ch is nil when it
// expired before that.
func (g *Dispatcher) ready(ctx context.Context, o *account, d sessions.Delivery) (channels.Channel, bool) {
	if !g.wait(ctx, d) {
		return nil, false
	}
	for {
		ch, changed := g.channel(o)
		if ch != nil && o.pace.free() {
			return ch, ctx.Err() == nil
		}
		if denied, err := g.denied(ctx, d); err == nil && denied {
			return ch, true // it will not leave: it needs neither a turn nor a connection
		}
		if ch != nil {
			if o.pace.wait(ctx, d.To) != nil {
				return nil, false
			}
			if now, _ := g.channel(o); now == ch {
				return ch, true
			}
			continue // the account was replaced meanwhile
		}
		left := g.left(d)
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

// left is how long a delivery may still wait, however the clock was set ahead since it was made.
func (g *Dispatcher) left(d sessions.Delivery) time.Duration {
	return d.Expires.Sub(d.Created) - g.ages.Age(d.Created)
}

// now is the time by which it is decided whether a delivery has expired.
func (g *Dispatcher) now(d sessions.Delivery) time.Time {
	if d.Expires.IsZero() {
		return time.Now()
	}
	return d.Expires.Add(-g.left(d))
}

// notBefore is a delivery's stored time of its next try as one that no setting of the clock moves, and no later than it was meant: the
// clock may have been set back since.
func (g *Dispatcher) notBefore(d sessions.Delivery) time.Time {
	if d.NotBefore.IsZero() {
		return d.NotBefore
	}
	meant := max(d.NotBefore.Sub(d.Updated), clock.MaxBackoff)
	return time.Now().Add(min(d.NotBefore.Sub(g.ages.Now()), meant))
}

// lookEvery is how often a delivery that waits is looked at: a person may have asked for it, or a day have got more room.
const lookEvery = time.Minute

// wait sleeps until a delivery's time has come or it expires; one that was never tried, because its day had no room, is tried again and
// again. It is false when ctx ended.
func (g *Dispatcher) wait(ctx context.Context, d sessions.Delivery) bool {
	for {
		left := time.Until(d.NotBefore)
		if d.Attempt == 0 {
			return channels.Sleep(ctx, min(left, lookEvery))
		}
		if !d.Expires.IsZero() {
			left = min(left, g.left(d))
		}
		if left <= lookEvery {
			return channels.Sleep(ctx, left)
		}
		if !channels.Sleep(ctx, lookEvery) {
			return false
		}
		if now, err := g.store.GetDelivery(ctx, d.ID); err == nil {
			if !now.NotBefore.IsZero() {
				now.NotBefore = d.NotBefore
			}
			if d = now; d.State.Final() {
				return true
			}
		}
	}
}

// channel gives an account's channel, nil when it is not attached, and what is closed when that changes.
func (g *Dispatcher) channel(o *account) (channels.Channel, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o.pace.set(g.settings().Accounts[o.ref].Pacing)
	return o.ch, o.ready
}

// denied reports whether the policy holds a delivery back as things stand. BeginSend decides; this only says what is worth
// waiting for.
func (g *Dispatcher) denied(ctx context.Context, d sessions.Delivery) (bool, error) {
	if d.Granted != nil {
		return false, nil
	}
	s := sessions.Session{Key: d.Session, Agent: d.Session.Agent()}
	if d.Session != "" {
		switch x, err := g.store.Get(ctx, d.Session); {
		case err == nil:
			s = x
		case !errors.Is(err, sessions.ErrNotFound):
			return false, err
		}
	}
	return !g.settings().Decide(d.To)(s).Allowed(), nil
}

// attempt decides, sends the next part and writes down what became of it. ok is false when ctx ended.
func (g *Dispatcher) attempt(ctx context.Context, o *account, ch channels.Channel, d sessions.Delivery, c *cut) (next sessions.Delivery, final, ok bool) {
	land := sync.OnceFunc(g.inFlight.begin(d.Session))
	defer land()
	next, final, ok = g.begin(ctx, o, d)
	if !ok || next.State != sessions.Sending { // pending: too many new chats today
		return next, final, ok
	}
	return g.part(ctx, o, ch, next, c, land)
}

// part sends the next part of a delivery that may leave now; land ends its flight.
func (g *Dispatcher) part(ctx context.Context, o *account, ch channels.Channel, d sessions.Delivery, c *cut, land func()) (next sessions.Delivery, final, ok bool) {
	if ch == nil { // it expired while its account was away, and the clock went back since: wait on
		return g.again(ctx, d, time.Second, "the account is not connected", sessions.NotArrived)
	}
	limits := g.limits(o, ch, d.To)
	p, last, ok := c.part(d, limits)
	if !ok {
		return g.end(ctx, d, sessions.DeliveryFail, "nothing to send: the text is empty once rendered")
	}
	out := g.outbound(d, g.withoutLost(d, p, limits))
	if err := g.store.Calling(d); err != nil {
		return g.again(ctx, d, g.ages.Backoff(d.Attempt), err.Error(), sessions.NotArrived)
	}
	if first, there := g.previewOf(d); there {
		return g.becomes(ctx, o, ch, d, out, last, first)
	}
	began := time.Now()
	receipt, err := g.send(ctx, ch, out)
	g.metrics.sent(o.ref, began, err)
	if err != nil {
		land() // to learn what became of it may take minutes, in which the policy may change: each question is a flight of its own
		return g.failed(ctx, o, ch, d, out, last, channels.Classify(err))
	}
	g.store.Answered(d, receipt, last)
	return g.arrived(ctx, d, receipt, last)
}

// begin has the store decide whether a part may leave now: it is sending then.
func (g *Dispatcher) begin(ctx context.Context, o *account, d sessions.Delivery) (next sessions.Delivery, final, ok bool) {
	var refused error
	ok = g.persist(ctx, "begin", d.ID, func(ctx context.Context) (err error) {
		next, err = g.store.BeginSend(ctx, d.ID, g.now(d), g.settings().Decide(d.To), g.settings().FirstContactQuota(o.ref, time.Now()))
		refused = err
		return err
	})
	switch {
	case !ok:
		return d, false, false
	case errors.Is(refused, sessions.ErrUnfit): // nothing says that it is being sent, so it is not
		return g.end(ctx, d, sessions.DeliveryFail, "its state cannot be stored: "+refused.Error())
	}
	g.tell(next)
	if final = next.State.Final(); final {
		g.ended(next)
	}
	return next, final, true
}

// send calls the platform. At shutdown a call under way gets sendGrace to end, so that its receipt is written.
func (g *Dispatcher) send(ctx context.Context, ch channels.Channel, out channels.Outbound) (r channels.Receipt, err error) {
	limit := sendTimeout
	for _, f := range out.Files {
		limit += time.Duration(f.Size/sendPerSecond) * time.Second
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	defer g.atShutdown(cancel)()
	err = channels.CatchPanic(func() (err error) {
		r, err = ch.Send(call, out)
		return err
	})
	return r, err
}

// atShutdown cuts a call that is still under way sendGrace after the host was stopped. That its queue ends is no reason: a call that is cut may
// have arrived, and is made again. The result gives the call free.
func (g *Dispatcher) atShutdown(cut func()) func() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return context.AfterFunc(g.life, func() { time.AfterFunc(sendGrace, cut) })
}

func (g *Dispatcher) limits(o *account, ch channels.Channel, to channels.Address) channels.Limits {
	l := ch.Limits(to)
	if c := g.settings().Accounts[o.ref].Chunk; c > 0 && (l.Text == 0 || c < l.Text) {
		l.Text = c
	}
	return l
}

// tellUnsent tells the agent, with its session's next turn, which files the platform refused.
func (g *Dispatcher) tellUnsent(ctx context.Context, d sessions.Delivery, r channels.Receipt) {
	keep := g.settings().ContextLimit()
	if r.Unsent == "" || d.Session == "" || keep == 0 {
		return
	}
	line := sessions.Overheard{Key: d.Session, Event: sessions.Unsent, Text: channels.CutText(r.Unsent, settings.MaxContextLine), Time: time.Now(), Keep: keep}
	g.persist(ctx, "tell of refused files", d.ID, func(ctx context.Context) error {
		_, err := g.store.Submit(ctx, sessions.Effects{Source: fmt.Sprintf("unsent:%s.%d", d.ID, d.Part), Overheard: &line})
		return err
	})
}

// arrived writes the receipt of one part.
func (g *Dispatcher) arrived(ctx context.Context, d sessions.Delivery, r channels.Receipt, last bool) (sessions.Delivery, bool, bool) {
	g.tellUnsent(ctx, d, r)
	ok := g.persist(ctx, "receipt", d.ID, func(ctx context.Context) error { return g.store.PartSent(ctx, d.ID, r, last) })
	d.Part++
	d.Attempt, d.Doubts, d.Unclear = 0, 0, false
	if last {
		d.State = sessions.Sent
		g.tell(d)
		g.ended(d)
	}
	d.NotBefore = time.Time{}
	return d, last, ok
}

// failed acts on an error's class.
func (g *Dispatcher) failed(ctx context.Context, o *account, ch channels.Channel, d sessions.Delivery, out channels.Outbound, last bool, e *channels.Error) (sessions.Delivery, bool, bool) {
	g.log.Warn("a message was not sent", keyDelivery, d.ID, keyAddress, d.To.String(), keyClass, e.Class, keyErr, e.Err)
	if e.Moved != "" && e.Moved != d.To.Chat {
		to := d.To
		to.Chat = e.Moved
		if !g.persist(ctx, "readdress", d.ID, func(ctx context.Context) error { return g.store.Readdress(ctx, d.To, to) }) {
			return d, false, false
		}
		g.moved(o, d.To, to)
		wait := time.Duration(0)
		if d.Attempt > 1 { // it should move once
			wait = g.ages.Backoff(d.Attempt)
		}
		d.To = to
		return g.again(ctx, d, wait, "the chat has a new id", sessions.NotArrived)
	}
	switch e.Class {
	case channels.Limited:
		wait := e.RetryAfter
		if wait <= 0 {
			wait = g.ages.Backoff(d.Attempt)
		}
		return g.again(ctx, d, wait, e.Error(), sessions.NotArrived)
	case channels.Transient, channels.Unauthorized: // the account's own connection finds out whether its login has ended
		return g.again(ctx, d, g.ages.Backoff(d.Attempt), e.Error(), sessions.NotArrived)
	case channels.Rejected, channels.Unsupported:
		return g.end(ctx, d, sessions.DeliveryFail, e.Error())
	}
	return g.unclear(ctx, o, ch, d, out, last, e.Error())
}

// again puts a delivery back for a later try; end is that of the last one.
func (g *Dispatcher) again(ctx context.Context, d sessions.Delivery, wait time.Duration, why string, end sessions.TryEnd) (sessions.Delivery, bool, bool) {
	at := time.Now().Add(wait)
	ok := g.persist(ctx, "retry", d.ID, func(ctx context.Context) error { return g.store.Retry(ctx, d.ID, at, why, end) })
	d.State, d.NotBefore = sessions.Pending, at
	d.Tried(end)
	g.tell(d)
	g.metrics.retried()
	return d, false, ok
}

// end makes a delivery final.
func (g *Dispatcher) end(ctx context.Context, d sessions.Delivery, state sessions.DeliveryState, why string) (sessions.Delivery, bool, bool) {
	ok := g.persist(ctx, "end", d.ID, func(ctx context.Context) error { return g.store.EndDelivery(ctx, d.ID, state, why) })
	d.State, d.Error = state, why
	g.tell(d)
	g.ended(d)
	return d, true, ok
}

// ended tells people and counters how a delivery ended.
func (g *Dispatcher) ended(d sessions.Delivery) {
	g.metrics.ended(d.State)
	if d.State != sessions.Sent { // then it has become the answer
		g.answered(d)
	}
	g.RemoveReactions(d.Run)
	switch d.State {
	case sessions.Sent:
		g.log.Debug("sent", keyDelivery, d.ID, keyAddress, d.To.String())
	case sessions.Withheld:
		rule := ""
		if d.Verdict != nil {
			rule = d.Verdict.Rule
		}
		g.log.Info("withheld by policy", keyDelivery, d.ID, keyAddress, d.To.String(), keyRule, rule)
	default:
		g.log.Warn("not delivered", keyDelivery, d.ID, keyAddress, d.To.String(), keyState, d.State, keyReason, d.Error)
	}
}

// persist writes to the store until it works or ctx ends, then once more on a short leash: what a platform took must be written
// down. A missing or changed row ends it, loudly: somebody else decided.
func (g *Dispatcher) persist(ctx context.Context, what string, id sessions.DeliveryID, write func(context.Context) error) bool {
	tries := 0
	return g.ages.Retry(ctx, ctx, func(ctx context.Context) (done bool) {
		err := write(ctx)
		if err == nil {
			return true
		}
		g.log.Error("the store refused a delivery's state", keyStep, what, keyDelivery, id, keyErr, err)
		if errors.Is(err, sessions.ErrNotFound) || errors.Is(err, sessions.ErrConflict) {
			return true
		}
		tries++
		return errors.Is(err, sessions.ErrUnfit) && tries >= maxUnfitTries // it would be refused for ever, and the chat goes on
	})
}

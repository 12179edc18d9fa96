package router

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/sessions"
)

// bookBelow is how many deliveries may be on their way while chats are booked: where many are, one commit begins several anyway.
const bookBelow = 16

// booking keeps a chat to which nothing is on its way for a delivery that a commit is about to make: the same commit begins to send it, and
// nobody waits for a second one. It takes the place of the delivery in the chat's queue until that is known. A nil booking is none.
type booking struct {
	gate *gate
	id   sessions.DeliveryID
	land func()                 // ends its flight, which begins before the policy is looked at
	made chan sessions.Delivery // what the commit has made; closed without one, nobody knows
}

// book has the one delivery of an outcome begin with its commit; nil when it has to wait for its turn, its account, its pace, or what came
// before it. end has to be called.
func (g *gate) book(out *sessions.Outcome) *booking {
	if len(out.Deliveries) != 1 || out.Deliveries[0].Granted != nil || !out.Deliveries[0].NotBefore.IsZero() {
		return nil
	}
	d := out.Deliveries[0]
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life == nil || g.life.Err() != nil || g.overflow || len(g.known) >= min(g.most, bookBelow) {
		return nil
	}
	o := g.outlet(Ref(d.To))
	chat := o.chat(d.To.Chat)
	if _, known := g.known[d.ID]; known || o.ch == nil || o.queues[chat] != nil || o.held[chat] != nil {
		return nil
	}
	if o.pace.set(g.settings().Accounts[o.ref].Pacing); !o.pace.try(d.To) {
		return nil
	}
	b := &booking{gate: g, id: d.ID, land: sync.OnceFunc(g.flights.begin(d.Session)), made: make(chan sessions.Delivery, 1)}
	q := &queue{chat: chat, waiting: []sessions.Delivery{d}, booked: b, done: make(chan struct{})}
	o.queues[chat], g.known[d.ID], g.booked[d.ID] = q, false, b
	out.Begin = &sessions.Beginning{Delivery: d.ID, Check: g.decide(d.To), Opening: g.settings().opening(o.ref, time.Now())}
	g.wg.Go(func() { g.drain(g.life, o, q) })
	return b
}

// end gives a chat free whose delivery was not made as far as anybody knows.
func (b *booking) end() {
	if b == nil {
		return
	}
	b.gate.mu.Lock()
	defer b.gate.mu.Unlock()
	if b.gate.booked[b.id] == b {
		delete(b.gate.booked, b.id)
		close(b.made)
	}
}

// take hands a delivery that was made to its booking; false when it has none. g.mu is held.
func (g *gate) take(d sessions.Delivery) bool {
	b := g.booked[d.ID]
	if b != nil {
		delete(g.booked, d.ID)
		b.made <- d
	}
	return b != nil
}

// collect brings a delivery that was booked to a final state, as deliver does. It is false as well when others come before it.
func (g *gate) collect(ctx context.Context, o *outlet, q *queue, b *booking) bool {
	defer b.land()
	d, made := <-b.made
	if !made {
		b.land()
		return g.lost(ctx, o, q, b.id)
	}
	switch {
	case d.State.Final():
		g.ended(d)
		return true
	case d.State == sessions.Pending:
		g.mu.Lock()
		defer g.mu.Unlock()
		d.NotBefore = g.notBefore(d)
		q.waiting[0] = d
		slices.SortStableFunc(q.waiting, func(a, b sessions.Delivery) int { return int(a.Seq - b.Seq) })
		return false
	}
	_, alone := g.alone(ctx, o, q) // as it was, unless a chat has become this one
	ch, _ := g.channel(o)
	if !alone || ch == nil {
		b.land()
		return g.notTried(ctx, o, q, d)
	}
	var c cut
	next, final, ok := g.part(ctx, o, ch, d, &c, b.land)
	if b.land(); !ok || final {
		return ok
	}
	return g.parts(ctx, o, q, next, &c)
}

// lost finds out whether a delivery was made by a commit whose answer did not come, and sees it to its end.
func (g *gate) lost(ctx context.Context, o *outlet, q *queue, id sessions.DeliveryID) bool {
	for try := 1; ; try++ {
		switch d, err := g.store.GetDelivery(ctx, id); {
		case errors.Is(err, sessions.ErrNotFound):
			return true
		case err == nil && d.State.Final():
			g.ended(d)
			return true
		case err == nil && d.State == sessions.Pending:
			return g.deliver(ctx, o, q, d)
		case err == nil:
			return g.notTried(ctx, o, q, d)
		default:
			g.log.Error("cannot see what became of an answer", keyDelivery, id, keyErr, err)
		}
		if !sleep(ctx, backoff(try)) {
			return false
		}
	}
}

// notTried puts a delivery back that the store has as being sent, although no platform was called for it.
func (g *gate) notTried(ctx context.Context, o *outlet, q *queue, d sessions.Delivery) bool {
	next, _, ok := g.again(ctx, d, 0, "it was not tried yet", sessions.NotArrived)
	return ok && ctx.Err() == nil && g.deliver(ctx, o, q, next)
}

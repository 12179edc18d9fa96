package delivery

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// MaxReservations is how many chats are booked at a time: where more turns end at once, one commit begins several anyway.
const maxReservations = 16

// Reservation keeps a chat to which nothing is on its way for a delivery that a commit is about to make: the same commit begins to send it, and
// nobody waits for a second one. It takes the place of the delivery in the chat's queue until that is known. A nil booking is none.
type Reservation struct {
	gate *Dispatcher
	o    *account
	id   sessions.DeliveryID
	land func()                 // ends its flight, which begins before the policy is looked at, and its part in mostBooked
	made chan sessions.Delivery // what the commit has made; closed without one, nobody knows
	gone chan struct{}          // closed when it is in no queue any more without that

	// Guarded by gate.mu.
	free  bool // the chat is free again
	taken bool // its delivery was handed over
}

// Reserve has the one delivery of an outcome begin with its commit; nil when it has to wait for its turn, its account, its pace, or what came
// before it. A flight of its session begins with it. end has to be called.
func (g *Dispatcher) Reserve(out *sessions.Outcome) *Reservation {
	if len(out.Deliveries) != 1 || out.Deliveries[0].Granted != nil || !out.Deliveries[0].NotBefore.IsZero() {
		return nil
	}
	out.Deliveries[0].To = g.settings().Moved.Current(out.Deliveries[0].To) // its chat may have moved while its turn was at work
	d := out.Deliveries[0]
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life == nil || g.life.Err() != nil || g.spilled || len(g.known) >= g.maxResident || g.flying >= maxReservations {
		return nil
	}
	o := g.accountOf(settings.Ref(d.To))
	chat := o.chat(d.To.Chat)
	if _, known := g.known[d.ID]; known || o.ch == nil || o.queues[chat] != nil || o.locked[chat] != nil {
		return nil
	}
	if o.pace.set(g.settings().Accounts[o.ref].Pacing); !o.pace.room(d.To, o.flying) {
		return nil
	}
	b := &Reservation{gate: g, o: o, id: d.ID, made: make(chan sessions.Delivery, 1), gone: make(chan struct{})}
	b.land = sync.OnceFunc(b.landing(g.inFlight.begin(d.Session)))
	q := &queue{chat: chat, waiting: []sessions.Delivery{d}, booking: b, done: make(chan struct{})}
	o.queues[chat], g.known[d.ID], g.reserved[d.ID] = q, false, b
	out.Begin = &sessions.Beginning{Delivery: d.ID, Opening: g.settings().FirstContactQuota(o.ref, time.Now()),
		Check: func(s sessions.Session) policy.Verdict { return g.settings().Decide(d.To)(s) }} // by the rules in force then
	g.work(g.life, o, q)
	return b
}

// landing counts a booking as one that flies until it has landed. g.mu is held.
func (b *Reservation) landing(land func()) func() {
	b.gate.flying++
	b.o.flying++
	return func() {
		b.gate.mu.Lock()
		b.gate.flying--
		b.o.flying--
		b.gate.mu.Unlock()
		land()
	}
}

// Release gives the chat free: the commit has failed, and the next try may be long in coming.
func (b *Reservation) Release() {
	if b == nil {
		return
	}
	b.gate.mu.Lock()
	defer b.gate.mu.Unlock()
	if !b.free && !b.taken {
		b.free = true
		close(b.made)
	}
}

// End ends a booking. A delivery that nobody was handed may have been made and begun all the same, by a commit whose answer was lost: it is put
// back then.
func (b *Reservation) End(ctx context.Context) {
	if b == nil {
		return
	}
	b.Release()
	b.gate.mu.Lock()
	delete(b.gate.reserved, b.id)
	taken := b.taken
	b.taken = true
	b.gate.mu.Unlock()
	if !taken {
		<-b.gone
		b.gate.lost(ctx, b.id)
	}
}

// fulfil hands a delivery that was made to its booking; false when it has none, or one that is not waited for any more. g.mu is held.
func (g *Dispatcher) fulfil(d sessions.Delivery) bool {
	b := g.reserved[d.ID]
	if b == nil || b.taken {
		return false
	}
	if b.taken = true; !b.free {
		b.made <- d
	}
	return !b.free
}

// sendReserved brings a delivery that was booked to its end. It is false when that is not the first one's any more: the queue goes on with what is.
func (g *Dispatcher) sendReserved(ctx context.Context, o *account, q *queue, b *Reservation) bool {
	defer b.land() // at the latest; before anything is waited for otherwise
	d, made := <-b.made
	switch {
	case !made: // end looks for it
		return true
	case d.State.Final():
		g.ended(d)
		return true
	case d.State == sessions.Pending:
		b.land()
		return g.behind(ctx, q, d)
	}
	ch, there := g.atOnce(o, q)
	if !there || !o.pace.take(d.To) { // nothing is waited for here: who denies its session waits for this one
		b.land()
		return g.notTried(ctx, q, d)
	}
	var c cut
	next, final, ok := g.part(ctx, o, ch, d, &c, b.land)
	if b.land(); !ok || final {
		return ok
	}
	return g.parts(ctx, o, q, next, &c)
}

// atOnce gives an account's channel when it is attached and a queue has its chat to itself.
func (g *Dispatcher) atOnce(o *account, q *queue) (ch channels.Channel, there bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return o.ch, o.ch != nil && len(q.ahead) == 0 && len(o.locked[q.chat]) == 0
}

// behind puts a delivery where it belongs in its queue, as others were made for the chat before it. Those that nobody has brought here yet are looked for.
func (g *Dispatcher) behind(ctx context.Context, q *queue, d sessions.Delivery) bool {
	if err := g.Refill(ctx); err != nil {
		g.log.Error("cannot list the deliveries that wait", keyErr, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	d.NotBefore = g.notBefore(d)
	q.waiting[0] = d
	slices.SortStableFunc(q.waiting, func(a, b sessions.Delivery) int { return cmp.Compare(a.Seq, b.Seq) })
	return false
}

// notTried puts a delivery back that the store has as being sent, although no platform was called for it.
func (g *Dispatcher) notTried(ctx context.Context, q *queue, d sessions.Delivery) bool {
	next, _, _ := g.again(ctx, d, 0, notYet, sessions.NotArrived)
	g.mu.Lock()
	defer g.mu.Unlock()
	q.waiting[0] = next
	return false
}

const notYet = "it was not tried yet"

// lost sees to a delivery of which nobody knows whether a commit has made it. When ctx, the host's, ends it is looked up once more. Until it is put back it counts as
// one in a queue: nobody else takes it up.
func (g *Dispatcher) lost(ctx context.Context, id sessions.DeliveryID) {
	g.mu.Lock()
	_, known := g.known[id]
	if !known {
		g.known[id] = false
	}
	g.mu.Unlock()
	if known { // somebody has looked for what waits meanwhile
		return
	}
	d, found := g.lookUp(ctx, id)
	put := found && !d.State.Final()
	if put && d.State == sessions.Sending {
		d, _, put = g.again(ctx, d, 0, notYet, sessions.NotArrived)
	}
	g.mu.Lock()
	delete(g.known, id)
	g.mu.Unlock()
	switch {
	case put:
		g.Enqueue(d)
	case found && d.State.Final():
		g.tell(d)
		g.ended(d)
	}
}

// lookUp finds a delivery, if there is one. It asks until the store answers, and once more when ctx ends.
func (g *Dispatcher) lookUp(ctx context.Context, id sessions.DeliveryID) (d sessions.Delivery, found bool) {
	g.ages.Retry(ctx, ctx, func(ctx context.Context) (done bool) {
		var err error
		if d, err = g.store.GetDelivery(ctx, id); err == nil || errors.Is(err, sessions.ErrNotFound) {
			found = err == nil
			return true
		}
		g.log.Error("cannot see what became of an answer", keyDelivery, id, keyErr, err)
		return false
	})
	return d, found
}

package delivery

import (
	"context"
	"sync"
	"time"

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
	land func()                 // ends its flight, which begins before the policy is looked at, and its part in maxReservations
	made chan sessions.Delivery // what the commit has made; closed without one, nobody knows
	gone chan struct{}          // closed when it is in no queue any more without that

	// Guarded by reservations.mu.
	free  bool // the chat is free again
	taken bool // its delivery was handed over
}

// reservations are those whose commits are under way, and counts those that have not landed. Its mutex is a leaf.
type reservations struct {
	mu     sync.Mutex
	open   map[sessions.DeliveryID]*Reservation
	flying int
	of     map[*account]int // of flying
}

func newReservations() *reservations {
	return &reservations{open: make(map[sessions.DeliveryID]*Reservation), of: make(map[*account]int)}
}

// room counts the reservations of an account that have not landed; free is false when there may be none besides all there are.
func (r *reservations) room(o *account) (own int, free bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[o], r.flying < maxReservations
}

// add counts a reservation until it has landed.
func (r *reservations) add(b *Reservation, land func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[b.id] = b
	r.flying++
	r.of[b.o]++
	b.land = sync.OnceFunc(func() {
		r.landed(b.o)
		land()
	})
}

func (r *reservations) landed(o *account) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flying--
	if r.of[o]--; r.of[o] == 0 {
		delete(r.of, o)
	}
}

// fulfil hands a delivery that was made to its booking; false when it has none, or one that is not waited for any more.
func (r *reservations) fulfil(d sessions.Delivery) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.open[d.ID]
	if b == nil || b.taken {
		return false
	}
	if b.taken = true; !b.free {
		b.made <- d
	}
	return !b.free
}

// release gives the chat of a reservation free.
func (r *reservations) release(b *Reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !b.free && !b.taken {
		b.free = true
		close(b.made)
	}
}

// remove forgets a reservation, and reports whether its delivery was handed over.
func (r *reservations) remove(b *Reservation) (taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, b.id)
	taken, b.taken = b.taken, true
	return taken
}

// left says that a reservation is in no queue any more.
func (r *reservations) left(b *Reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.free {
		close(b.gone)
	}
}

// Reserve has the one delivery of an outcome begin with its commit; nil when it has to wait for its turn, its account, its pace, or what came
// before it. A flight of its session begins with it. end has to be called.
func (g *Dispatcher) Reserve(out *sessions.Outcome) *Reservation {
	if len(out.Deliveries) != 1 || out.Deliveries[0].Granted != nil || !out.Deliveries[0].NotBefore.IsZero() {
		return nil
	}
	out.Deliveries[0].To = g.settings().Moved.Current(out.Deliveries[0].To) // its chat may have moved while its turn was at work
	d := out.Deliveries[0]
	o := g.accounts.of(settings.Ref(d.To))
	b := &Reservation{gate: g, o: o, id: d.ID, made: make(chan sessions.Delivery, 1), gone: make(chan struct{})}
	if !g.queues.reserve(b, d, &g.inFlight) {
		return nil
	}
	out.Begin = &sessions.Beginning{Delivery: d.ID, Opening: g.settings().FirstContactQuota(o.ref, time.Now()),
		Check: func(s sessions.Session) policy.Verdict { return g.settings().Decide(d.To)(s) }} // by the rules in force then
	return b
}

// Release gives the chat free: the commit has failed, and the next try may be long in coming.
func (b *Reservation) Release() {
	if b != nil {
		b.gate.reserved.release(b)
	}
}

// End ends a booking. A delivery that nobody was handed may have been made and begun all the same, by a commit whose answer was lost: it is put
// back then.
func (b *Reservation) End(ctx context.Context) {
	if b == nil {
		return
	}
	b.Release()
	if taken := b.gate.reserved.remove(b); !taken {
		<-b.gone
		b.gate.lost(ctx, b.id)
	}
}

// sendReserved brings a delivery that was booked to its end. It is false when that is not the first one's any more: the queue goes on with what is.
func (g *Dispatcher) sendReserved(ctx context.Context, o *account, q *queue, b *Reservation) bool {
	defer b.land() // at the latest; before anything is waited for otherwise
	d, made := <-b.made
	switch {
	case !made: // end looks for it
		return true
	case d.State.Final():
		g.record.ended(d)
		return true
	case d.State == sessions.Pending:
		b.land()
		return g.behind(ctx, q, d)
	}
	ch := g.accounts.attached(o)
	if ch == nil || !g.queues.isAlone(o, q) || !o.pace.take(d.To) { // nothing is waited for here: who denies its session waits for this one
		b.land()
		return g.notTried(ctx, q, d)
	}
	return g.sender.transfer(o, q).sendBegun(ctx, ch, d, b.land)
}

// behind puts a delivery where it belongs in its queue, as others were made for the chat before it. Those that nobody has brought here yet are looked for.
func (g *Dispatcher) behind(ctx context.Context, q *queue, d sessions.Delivery) bool {
	if err := g.Refill(ctx); err != nil {
		g.log.Error("cannot list the deliveries that wait", keyErr, err)
	}
	g.queues.reorder(q, d)
	return false
}

// notTried puts a delivery back that the store has as being sent, although no platform was called for it.
func (g *Dispatcher) notTried(ctx context.Context, q *queue, d sessions.Delivery) bool {
	next, _, _ := g.record.again(ctx, d, 0, notYet, sessions.NotArrived)
	g.queues.replace(q, next)
	return false
}

const notYet = "it was not tried yet"

// lost sees to a delivery of which nobody knows whether a commit has made it. When ctx, the host's, ends it is looked up once more. Until it is put back it counts as
// one in a queue: nobody else takes it up.
func (g *Dispatcher) lost(ctx context.Context, id sessions.DeliveryID) {
	if !g.queues.claim(id) { // somebody has looked for what waits meanwhile
		return
	}
	d, found := g.record.saver.lookUp(ctx, id)
	put := found && !d.State.Final()
	if put && d.State == sessions.Sending {
		d, _, put = g.record.again(ctx, d, 0, notYet, sessions.NotArrived)
	}
	g.queues.unclaim(id)
	switch {
	case put:
		g.Enqueue(d)
	case found && d.State.Final():
		g.record.tell(d)
		g.record.ended(d)
	}
}

package delivery

import (
	"context"
	"sync"
	"time"

	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// maxReservations is how many chats are reserved at a time: where more turns end at once, one commit begins several anyway.
const maxReservations = 16

// Reservation keeps a chat to which nothing is on its way for a delivery that a commit is about to make: the same commit begins to send it, and
// no second one is waited for. It takes the place of the delivery in the chat's queue until that is known. A nil Reservation is none.
type Reservation struct {
	dispatcher *Dispatcher
	account    *account
	id         sessions.DeliveryID
	done       func()                 // ends its call in flight, which begins before the policy is looked at, and its place in maxReservations
	made       chan sessions.Delivery // the delivery that the commit made; closed without one when that is unknown
	gone       chan struct{}          // closed when it is in no queue any more without that

	// Guarded by reservations.mu.
	free  bool // the chat is free again
	taken bool // its delivery was handed over
}

// reservations are those whose commits are under way, and counts those whose calls are in flight. Its mutex is a leaf.
type reservations struct {
	mu       sync.Mutex
	open     map[sessions.DeliveryID]*Reservation
	inFlight int
	of       map[*account]int // of inFlight
}

func newReservations() *reservations {
	return &reservations{open: make(map[sessions.DeliveryID]*Reservation), of: make(map[*account]int)}
}

// room counts the reservations of an account that are in flight; free is false when there may be no further one.
func (r *reservations) room(a *account) (own int, free bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[a], r.inFlight < maxReservations
}

// add keeps a reservation, and counts it as in flight until its func done is called.
func (r *reservations) add(b *Reservation, done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[b.id] = b
	r.inFlight++
	r.of[b.account]++
	b.done = sync.OnceFunc(func() {
		r.removeInFlight(b.account)
		done()
	})
}

func (r *reservations) removeInFlight(a *account) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight--
	if r.of[a]--; r.of[a] == 0 {
		delete(r.of, a)
	}
}

// fulfil hands a delivery that was made to its reservation; false when it has none, or one that is not waited for any more.
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
// before it. A call in flight of its session begins with it. End has to be called.
func (g *Dispatcher) Reserve(out *sessions.Outcome) *Reservation {
	if len(out.Deliveries) != 1 || out.Deliveries[0].PreAuthorized != nil || !out.Deliveries[0].NotBefore.IsZero() {
		return nil
	}
	out.Deliveries[0].MoveTo(g.settings().Moved.Current(out.Deliveries[0].To)) // its chat may have moved while its turn was running
	d, to := out.Deliveries[0], out.Deliveries[0].To
	a := g.accounts.of(settings.Ref(d.To))
	b := &Reservation{dispatcher: g, account: a, id: d.ID, made: make(chan sessions.Delivery, 1), gone: make(chan struct{})}
	if !g.queues.reserve(b, d, &g.inFlight) {
		return nil
	}
	out.Begin = &sessions.BeginSend{Delivery: d.ID, Quota: g.settings().FirstContactQuota(a.ref, time.Now()),
		Check: func(s sessions.Session) policy.Verdict { return g.settings().SendPolicyTo(to)(s) }} // by the rules in force then
	return b
}

// Release gives the chat free: the commit has failed, and the next try may be long in coming.
func (b *Reservation) Release() {
	if b != nil {
		b.dispatcher.reserved.release(b)
	}
}

// End ends a reservation. A delivery that was not handed over may have been made and begun all the same, by a commit whose answer was lost: it
// is put back then.
func (b *Reservation) End(ctx context.Context) {
	if b == nil {
		return
	}
	b.Release()
	if taken := b.dispatcher.reserved.remove(b); !taken {
		<-b.gone
		b.dispatcher.recoverLost(ctx, b.id)
	}
}

// sendReserved brings the delivery of a reservation to its end. It is false when that is not the first of its queue any more: the queue continues
// with the one that is.
func (g *Dispatcher) sendReserved(ctx context.Context, a *account, q *queue, b *Reservation) bool {
	defer b.done() // at the latest; before anything is waited for otherwise
	d, made := <-b.made
	switch {
	case !made: // End looks for it
		return true
	case d.State.Final():
		g.record.onFinal(d)
		return true
	case d.State == sessions.Pending:
		b.done()
		return g.putInOrder(ctx, q, d)
	}
	ch := g.accounts.attached(a)
	if ch == nil || !g.queues.isAlone(a, q) || !a.pace.Take(d.To) { // nothing is waited for here: who denies its session waits for this one
		b.done()
		return g.putBack(ctx, q, d)
	}
	return g.sender.transfer(a, q, d.ID).sendBegun(ctx, ch, d, b.done)
}

// putInOrder puts a delivery where it belongs in its queue, as others were made for the chat before it. It looks for
// those that are not in the queue yet.
func (g *Dispatcher) putInOrder(ctx context.Context, q *queue, d sessions.Delivery) bool {
	if err := g.Refill(ctx); err != nil {
		g.log.Error("cannot list pending deliveries", keyErr, err)
	}
	g.queues.reorder(q, d)
	return false
}

// putBack puts a delivery back that the store has as being sent, although no platform was called for it.
func (g *Dispatcher) putBack(ctx context.Context, q *queue, d sessions.Delivery) bool {
	next, _, _ := g.record.retryLater(ctx, d, 0, reasonNotTried, sessions.NotArrived)
	g.queues.replace(q, next)
	return false
}

const reasonNotTried = "not sent yet"

// recoverLost enqueues a delivery that a commit may have made, if it did. When ctx, the host's, ends it is looked up once more. Until it is put
// back it counts as one in a queue: no other goroutine enqueues it.
func (g *Dispatcher) recoverLost(ctx context.Context, id sessions.DeliveryID) {
	if !g.queues.claim(id) { // it was found by a refill meanwhile
		return
	}
	d, found := g.record.retrier.find(ctx, id)
	put := found && !d.State.Final()
	if put && d.State == sessions.Sending {
		d, _, put = g.record.retryLater(ctx, d, 0, reasonNotTried, sessions.NotArrived)
	}
	g.queues.unclaim(id)
	switch {
	case put:
		g.Enqueue(d)
	case found && d.State.Final():
		g.record.tell(d)
		g.record.onFinal(d)
	}
}

package delivery

import (
	"context"
	"slices"
	"sync"

	"parley/channels"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// queues orders what waits to be sent. Each chat has a queue of its own: order inside a chat is kept, a stuck chat delays no other. Its mutex
// guards the chats of all accounts; accounts.mu, the pacer's, reservations.mu, inFlight.mu and lifetime.mu may be taken under it.
type queues struct {
	accounts *accounts
	reserved *reservations
	life     *lifetime
	settings func() *settings.Snapshot
	ages     *clock.Steady
	drain    func(ctx context.Context, a *account, q *queue) // works off a queue

	mu          sync.Mutex
	resident    map[sessions.DeliveryID]bool // in some queue; true: look at it again when it leaves
	maxResident int                          // deliveries in memory
	spilled     bool                         // the store may hold pending deliveries that are in no queue: only fill brings in more
}

// defaultMaxResident bounds the deliveries held in memory; the rest waits in the store.
const defaultMaxResident = 20000

// start admits the deliveries that were being sent when the last process ended, whatever their number: Due does not list them.
func (x *queues) start(ctx context.Context, interrupted []sessions.Delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.life.start(ctx)
	for _, d := range interrupted {
		x.admit(d)
	}
}

// enqueue puts committed deliveries into their chats' queues, or hands them to their reservations.
func (x *queues) enqueue(ds ...sessions.Delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range ds {
		switch _, known := x.resident[d.ID]; {
		case x.reserved.fulfil(d):
		case known:
			x.resident[d.ID] = true // it may be ending just now
		case x.spilled:
			return // older ones wait in the store: fill brings them all, in order
		case len(x.resident) >= x.maxResident:
			x.spilled = true
			return
		default:
			x.admit(d)
		}
	}
}

// bound is how many deliveries are held in memory.
func (x *queues) bound() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.maxResident
}

// fill puts pending deliveries that are in no queue into one, as far as there is room.
func (x *queues) fill(due []sessions.Delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spilled = len(due) == x.maxResident
	for _, d := range due {
		if _, known := x.resident[d.ID]; known {
			continue
		}
		if len(x.resident) >= x.maxResident {
			x.spilled = true
			return
		}
		x.admit(d)
	}
}

// admit puts one delivery into its chat's queue; x.mu is held.
func (x *queues) admit(d sessions.Delivery) {
	if !x.life.isRunning() {
		return // it is in the store: start finds it
	}
	x.resident[d.ID] = false
	d.NotBefore = notBefore(x.ages, d)
	d.To = x.settings().Moved.Called(d.To)
	a := x.accounts.of(settings.Ref(d.To))
	chat := a.chats.current(d.To.Chat)
	q := a.chats.queues[chat]
	if q == nil {
		q = newQueue(chat)
		a.chats.queues[chat] = q
		x.work(a, q)
	}
	q.insert(d)
}

// work starts the goroutine that works off a chat's queue; x.mu is held.
func (x *queues) work(a *account, q *queue) {
	q.end = x.life.run(func(ctx context.Context) { x.drain(ctx, a, q) })
}

// reserve puts the delivery of a reservation into the queue of an idle chat; false when it has to wait for its turn, its account, its pace, or
// what came before it.
func (x *queues) reserve(b *Reservation, d sessions.Delivery, calls *inFlight) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	others, free := x.reserved.room(b.account)
	if !free || !x.life.isRunning() || x.spilled || len(x.resident) >= x.maxResident {
		return false
	}
	chat := b.account.chats.current(d.To.Chat)
	if _, known := x.resident[d.ID]; known || !b.account.chats.isIdle(chat) || x.accounts.attached(b.account) == nil {
		return false
	}
	if b.account.pace.Set(x.settings().Accounts[b.account.ref].Pacing); !b.account.pace.Room(d.To, others) {
		return false
	}
	x.reserved.add(b, calls.begin(d.Session, d.To))
	q := newQueue(chat, d)
	q.reservation = b
	b.account.chats.queues[chat], x.resident[d.ID] = q, false
	x.work(b.account, q)
	return true
}

// next gives the first delivery of a queue, and its reservation; ok is false when the queue ends.
func (x *queues) next(ctx context.Context, a *account, q *queue) (d sessions.Delivery, b *Reservation, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(q.waiting) == 0 || ctx.Err() != nil && q.reservation == nil {
		if a.chats.queues[q.chat] == q {
			delete(a.chats.queues, q.chat)
		}
		return d, nil, false
	}
	d, b = q.waiting[0], q.reservation
	q.reservation = nil
	return d, b, true
}

// pop removes the first delivery of a queue. again says that it may be pending once more, refill that there is room for what waits in the store.
func (x *queues) pop(q *queue, id sessions.DeliveryID) (again, refill bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	q.waiting = q.waiting[1:]
	again = x.resident[id]
	delete(x.resident, id)
	return again, x.spilled && len(x.resident) < x.maxResident/2
}

// replace puts a delivery into the place of the first one.
func (x *queues) replace(q *queue, d sessions.Delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	q.waiting[0] = d
}

// reorder puts the first delivery where it belongs by its age.
func (x *queues) reorder(q *queue, d sessions.Delivery) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d.NotBefore = notBefore(x.ages, d)
	q.waiting[0] = d
	slices.SortStableFunc(q.waiting, compareTurns)
}

// giveWay puts the answer to a command before the first delivery of a queue, d, when one waits and d is none itself.
func (x *queues) giveWay(q *queue, d sessions.Delivery) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(q.waiting) < 2 || answersCommand(d) || !answersCommand(q.waiting[1]) {
		return false
	}
	q.waiting[0], q.waiting[1] = q.waiting[1], d
	return true
}

// withdraw takes deliveries out of their queues, but those that come first there: who sends them looks whether they are still to be sent.
func (x *queues) withdraw(ids map[sessions.DeliveryID]bool) (first map[sessions.DeliveryID]bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	first = make(map[sessions.DeliveryID]bool)
	for _, a := range x.accounts.all() {
		for _, q := range a.chats.queues {
			if len(q.waiting) == 0 {
				continue
			}
			if at := q.waiting[0]; ids[at.ID] {
				first[at.ID] = true
				q.looks.ask()
			}
			rest := slices.DeleteFunc(q.waiting[1:], func(d sessions.Delivery) bool {
				if ids[d.ID] {
					delete(x.resident, d.ID)
				}
				return ids[d.ID]
			})
			q.waiting = q.waiting[:1+len(rest)]
		}
	}
	return first
}

// claim counts a delivery as one in a queue, so that no other goroutine enqueues it; false when it is in one.
func (x *queues) claim(id sessions.DeliveryID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, known := x.resident[id]; known {
		return false
	}
	x.resident[id] = false
	return true
}

func (x *queues) unclaim(id sessions.DeliveryID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.resident, id)
}

// lockChat has a chat to itself for a preview; free is false while a delivery waits there, or another one is at it.
func (x *queues) lockChat(a *account, chat channels.ChatID) (release func(), free bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	done, free := a.chats.lock(chat)
	if !free {
		return nil, false
	}
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		a.chats.unlock(chat, done)
	}, true
}

// isAlone reports whether a queue has its chat to itself.
func (x *queues) isAlone(a *account, q *queue) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return a.chats.inTheWay(q) == nil
}

// waitAlone waits until a queue has its chat to itself: no preview is on its way there, and nothing that went there under an old id. While
// there is a queue for a chat no preview begins. ok is false when ctx ended.
func (x *queues) waitAlone(ctx context.Context, a *account, q *queue) (waited, ok bool) {
	for ctx.Err() == nil {
		x.mu.Lock()
		until := a.chats.inTheWay(q)
		x.mu.Unlock()
		if until == nil {
			return waited, true
		}
		waited = true
		select {
		case <-until:
			x.mu.Lock()
			if len(q.predecessors) > 0 && q.predecessors[0].done == until {
				q.predecessors = q.predecessors[1:]
			}
			x.mu.Unlock()
		case <-ctx.Done():
		}
	}
	return waited, false
}

// move gives everything that waits for a chat the chat's new id.
func (x *queues) move(a *account, from, to channels.Address) {
	x.settings().Moved.Add(from, to)
	x.mu.Lock()
	defer x.mu.Unlock()
	a.chats.move(from.Chat, to.Chat)
}

// hasWork reports whether something waits for one of some accounts.
func (x *queues) hasWork(list []*account) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(list, func(a *account) bool { return len(a.chats.queues) > 0 })
}

// removeAccount forgets an account and ends its queues.
func (x *queues) removeAccount(ref settings.AccountRef) (ended []*queue) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.accounts.remove(ref)
	if a == nil {
		return nil
	}
	for _, q := range a.chats.queues {
		q.end()
		ended = append(ended, q)
	}
	return ended
}

// release waits until no call is under way for a queue that ended, and gives what is left in it free.
func (x *queues) release(q *queue) []sessions.Delivery {
	<-q.done
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range q.waiting {
		delete(x.resident, d.ID)
	}
	return q.waiting
}

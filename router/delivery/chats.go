package delivery

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"parley/channels"
	"parley/sessions"
)

// chats are those of an account to which something is on its way. The mutex of queues guards them.
type chats struct {
	queues map[channels.ChatID]*queue
	locked map[channels.ChatID][]chan struct{} // chats in which a preview is on its way; closed when it is not any more
	now    map[channels.ChatID]channels.ChatID // the new ids of chats that moved; the maps above know only those
}

func newChats() chats {
	return chats{queues: make(map[channels.ChatID]*queue), locked: make(map[channels.ChatID][]chan struct{}), now: make(map[channels.ChatID]channels.ChatID)}
}

// queue holds a chat's deliveries that are not final, oldest first. The first one is being worked on.
type queue struct {
	chat         channels.ChatID
	waiting      []sessions.Delivery
	reservation  *Reservation  // for the first one, until it is made
	predecessors []*queue      // what was on its way in the same chat under an old id goes first
	looks        looks         // the first one may have been withdrawn, or a command's answer waits behind it
	paused       pausedParts   // its goroutine's own
	end          func()        // ends the work on it; what waits stays in the store
	done         chan struct{} // closed when it is empty, or after end
}

func newQueue(chat channels.ChatID, waiting ...sessions.Delivery) *queue {
	return &queue{chat: chat, waiting: waiting, done: make(chan struct{})}
}

// pausedParts are those of a delivery that let the answer to a command go first, and is continued behind that.
type pausedParts struct {
	id sessions.DeliveryID
	splitter
}

// insert puts a delivery in its place: behind the one that is being worked on, answers to commands first, then by age.
func (q *queue) insert(d sessions.Delivery) {
	i := len(q.waiting)
	for i > 1 && compareTurns(q.waiting[i-1], d) > 0 {
		i--
	}
	q.waiting = slices.Insert(q.waiting, i, d)
	if answersCommand(d) {
		q.looks.ask()
	}
}

// looks has the goroutine of a queue look whether the first one is still to be sent now: at once where it waits, otherwise before it does.
type looks struct {
	mu    sync.Mutex
	asked bool
	end   context.CancelFunc // of the wait
}

// ask does not block.
func (l *looks) ask() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked = true; l.end != nil {
		l.end()
	}
}

// take reports whether a look was asked for since the last call.
func (l *looks) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := l.asked
	l.asked = false
	return asked
}

// untilAsked ends with ctx, with end, and when a look is or was asked for.
func (l *looks) untilAsked(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked {
		cancel()
	}
	l.end = cancel
	return ctx, func() {
		l.mu.Lock()
		l.end = nil
		l.mu.Unlock()
		cancel()
	}
}

// answersCommand reports whether a delivery is the host's own answer to a command: it does not wait behind the parts of what agents say.
func answersCommand(d sessions.Delivery) bool { return d.Kind == sessions.Notice && d.Run == "" }

// compareTurns orders what waits for a chat: answers to commands first, then by age.
func compareTurns(a, b sessions.Delivery) int {
	if x, y := answersCommand(a), answersCommand(b); x != y {
		if x {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// current gives the id that a chat has now.
func (c *chats) current(id channels.ChatID) channels.ChatID {
	for to, moved := c.now[id]; moved; to, moved = c.now[id] {
		id = to
	}
	return id
}

// isIdle reports whether nothing is on its way to a chat.
func (c *chats) isIdle(chat channels.ChatID) bool {
	return c.queues[chat] == nil && c.locked[chat] == nil
}

// lock has an idle chat to itself for a preview; unlock gives it free.
func (c *chats) lock(chat channels.ChatID) (done chan struct{}, free bool) {
	at := c.current(chat)
	if !c.isIdle(at) {
		return nil, false
	}
	done = make(chan struct{})
	c.locked[at] = []chan struct{}{done}
	return done, true
}

func (c *chats) unlock(chat channels.ChatID, done chan struct{}) {
	at := c.current(chat) // it may have moved
	if c.locked[at] = slices.DeleteFunc(c.locked[at], func(c chan struct{}) bool { return c == done }); len(c.locked[at]) == 0 {
		delete(c.locked, at)
	}
	close(done)
}

// inTheWay is closed when what has to come before a queue has come nearer its end; nil when the queue has its chat to itself.
func (c *chats) inTheWay(q *queue) chan struct{} {
	if len(q.predecessors) > 0 {
		return q.predecessors[0].done
	}
	if locks := c.locked[q.chat]; len(locks) > 0 {
		return locks[0]
	}
	return nil
}

// move gives everything that waits for a chat the chat's new id, and its place among what waits there: one chat has one queue.
func (c *chats) move(from, to channels.ChatID) {
	delete(c.now, to) // an id that is in use again; so there is no circle either
	was := c.current(from)
	q := c.queues[was]
	if q != nil {
		for i := range q.waiting {
			q.waiting[i].To.Chat = to
		}
	}
	if was == to {
		return
	}
	c.now[was] = to
	if locks := c.locked[was]; locks != nil {
		c.locked[to] = append(c.locked[to], locks...)
		delete(c.locked, was)
	}
	if q == nil {
		return
	}
	delete(c.queues, was)
	q.chat = to
	there := c.queues[to]
	if there == nil {
		c.queues[to] = q
		return
	}
	if len(q.waiting) > 1 { // the first one is on its way
		rest := q.waiting[1:]
		q.waiting = q.waiting[:1:1]
		for _, d := range rest {
			there.insert(d)
		}
	}
	there.predecessors = append(there.predecessors, q)
}

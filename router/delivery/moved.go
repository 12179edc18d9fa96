package delivery

import (
	"context"

	"parley/channels"
	"parley/router/settings"
)

// Relocate gives what waits for a chat the chat's new id.
func (g *Dispatcher) Relocate(from, to channels.Address) {
	g.mu.Lock()
	o := g.accounts[settings.Ref(from)]
	g.mu.Unlock()
	if o != nil {
		g.moved(o, from, to)
	}
}

// chat gives the id that a chat has now; gate.mu is held.
func (o *account) chat(id channels.ChatID) channels.ChatID {
	for to, moved := o.now[id]; moved; to, moved = o.now[id] {
		id = to
	}
	return id
}

// moved gives everything that waits for a chat the chat's new id, and its place among what waits there: one chat has one queue.
func (g *Dispatcher) moved(o *account, from, to channels.Address) {
	g.settings().Moved.Add(from, to)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(o.now, to.Chat) // an id that is in use again; so there is no circle either
	was := o.chat(from.Chat)
	q := o.queues[was]
	if q != nil {
		for i := range q.waiting {
			q.waiting[i].To.Chat = to.Chat
		}
	}
	if was == to.Chat {
		return
	}
	o.now[was] = to.Chat
	if held := o.locked[was]; held != nil {
		o.locked[to.Chat] = append(o.locked[to.Chat], held...)
		delete(o.locked, was)
	}
	if q == nil {
		return
	}
	delete(o.queues, was)
	q.chat = to.Chat
	there := o.queues[to.Chat]
	if there == nil {
		o.queues[to.Chat] = q
		return
	}
	if len(q.waiting) > 1 { // the first one is on its way
		rest := q.waiting[1:]
		q.waiting = q.waiting[:1:1]
		for _, d := range rest {
			there.insert(d)
		}
	}
	there.ahead = append(there.ahead, q)
}

// alone waits until a queue has its chat to itself: no preview is on its way there, and nothing that went there under an old id. While
// there is a queue for a chat no preview begins. ok is false when ctx ended.
func (g *Dispatcher) alone(ctx context.Context, o *account, q *queue) (waited, ok bool) {
	for ctx.Err() == nil {
		var until chan struct{}
		g.mu.Lock()
		if len(q.ahead) > 0 {
			until = q.ahead[0].done
		} else if held := o.locked[q.chat]; len(held) > 0 {
			until = held[0]
		}
		g.mu.Unlock()
		if until == nil {
			return waited, true
		}
		waited = true
		select {
		case <-until:
			g.mu.Lock()
			if len(q.ahead) > 0 && q.ahead[0].done == until {
				q.ahead = q.ahead[1:]
			}
			g.mu.Unlock()
		case <-ctx.Done():
		}
	}
	return waited, false
}

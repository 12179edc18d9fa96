package delivery

import (
	"context"

	"parley/channels"
	"parley/router/settings"
)

// Relocate gives what waits for a chat the chat's new id.
func (g *Dispatcher) Relocate(from, to channels.Address) {
	g.Mu.Lock()
	o := g.Outlets[settings.Ref(from)]
	g.Mu.Unlock()
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
	g.Mu.Lock()
	defer g.Mu.Unlock()
	delete(o.now, to.Chat) // an id that is in use again; so there is no circle either
	was := o.chat(from.Chat)
	q := o.Queues[was]
	if q != nil {
		for i := range q.waiting {
			q.waiting[i].To.Chat = to.Chat
		}
	}
	if was == to.Chat {
		return
	}
	o.now[was] = to.Chat
	if held := o.Held[was]; held != nil {
		o.Held[to.Chat] = append(o.Held[to.Chat], held...)
		delete(o.Held, was)
	}
	if q == nil {
		return
	}
	delete(o.Queues, was)
	q.chat = to.Chat
	there := o.Queues[to.Chat]
	if there == nil {
		o.Queues[to.Chat] = q
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
		g.Mu.Lock()
		if len(q.ahead) > 0 {
			until = q.ahead[0].done
		} else if held := o.Held[q.chat]; len(held) > 0 {
			until = held[0]
		}
		g.Mu.Unlock()
		if until == nil {
			return waited, true
		}
		waited = true
		select {
		case <-until:
			g.Mu.Lock()
			if len(q.ahead) > 0 && q.ahead[0].done == until {
				q.ahead = q.ahead[1:]
			}
			g.Mu.Unlock()
		case <-ctx.Done():
		}
	}
	return waited, false
}

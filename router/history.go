package router

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"

	"parley/sessions"
)

// historyBytes bounds the transcripts that are kept in memory, by their text.
const historyBytes = 4 << 20

// histories keeps the newest messages of the transcripts that were written last, so that a turn need not read what the turn
// before it wrote. A session's lane is the only writer of its transcript, and the store stays the truth: whatever is unclear is
// dropped and read again.
type histories struct {
	mu    sync.Mutex
	m     map[sessions.ID]*list.Element
	order *list.List // of *history, last used in front
	bytes int
}

type history struct {
	id   sessions.ID
	msgs []sessions.Message
	size int
}

func newHistories() *histories {
	return &histories{m: make(map[sessions.ID]*list.Element), order: list.New()}
}

// get gives a transcript's newest messages, oldest first.
func (h *histories) get(id sessions.ID) ([]sessions.Message, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.m[id]
	if e == nil {
		return nil, false
	}
	h.order.MoveToFront(e)
	return slices.Clip(e.Value.(*history).msgs), true
}

// put keeps a transcript that was read from the store.
func (h *histories) put(id sessions.ID, msgs []sessions.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(id)
	x := &history{id: id, msgs: slices.Clip(msgs), size: sizeOf(msgs)}
	h.m[id] = h.order.PushFront(x)
	h.bytes += x.size
	h.trim()
}

// add puts what was committed behind a transcript that is kept, of which the newest limit messages stay.
func (h *histories) add(id sessions.ID, limit int, msgs ...sessions.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.m[id]
	if e == nil {
		return
	}
	x := e.Value.(*history)
	added := 0
	for _, m := range msgs {
		if !x.has(m.ID) {
			x.msgs = append(x.msgs, m)
			added += sizeOf([]sessions.Message{m})
		}
	}
	if over := len(x.msgs) - limit; over > limit/2 { // now and then, not at every message
		added -= sizeOf(x.msgs[:over])
		x.msgs = slices.Clone(x.msgs[over:])
	}
	x.size += added
	h.bytes += added
	h.trim()
}

// has reports whether a message is among the newest ones: what is recorded a second time is there once.
func (x *history) has(id string) bool {
	return slices.ContainsFunc(x.msgs[max(0, len(x.msgs)-8):], func(m sessions.Message) bool { return m.ID == id })
}

// clear forgets everything.
func (h *histories) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.m)
	h.order.Init()
	h.bytes = 0
}

// drop forgets a transcript.
func (h *histories) drop(id sessions.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(id)
}

func (h *histories) remove(id sessions.ID) {
	if e := h.m[id]; e != nil {
		h.bytes -= e.Value.(*history).size
		h.order.Remove(e)
		delete(h.m, id)
	}
}

func (h *histories) trim() {
	for h.bytes > historyBytes && h.order.Len() > 0 {
		h.remove(h.order.Back().Value.(*history).id)
	}
}

func sizeOf(msgs []sessions.Message) int {
	n := 0
	for _, m := range msgs {
		n += 256
		for _, b := range m.Content {
			n += len(b.Text) + len(b.Data) + len(b.Arguments) + len(b.Signature)
		}
	}
	return n
}

// past is the transcript that a run's turn is shown, its own input last. What the run has recorded itself is not part of it.
func (r *Router) past(ctx context.Context, run sessions.Run, limit int) ([]sessions.Message, error) {
	if run.Attempt == 1 {
		if msgs, ok := r.histories.get(run.Session); ok { // process has put the input behind it
			return upToInput(newest(msgs, limit), run), nil
		}
	}
	msgs, err := r.store.Tail(ctx, run.Session, sessions.TailQuery{Limit: limit, IncludeTool: true})
	if err != nil {
		return nil, fmt.Errorf("reading the transcript: %w", err)
	}
	r.histories.put(run.Session, msgs)
	return upToInput(msgs, run), nil
}

func newest(msgs []sessions.Message, n int) []sessions.Message {
	return slices.Clip(msgs[max(0, len(msgs)-n):])
}

// upToInput leaves out what the run itself has recorded, and makes sure that its input is there.
func upToInput(msgs []sessions.Message, run sessions.Run) []sessions.Message {
	out := make([]sessions.Message, 0, len(msgs)+1)
	found := false
	for _, m := range msgs {
		if m.Run == run.ID && m.ID != run.Input.ID {
			continue // a step, or a message that the turn has taken up
		}
		found = found || m.ID == run.Input.ID
		out = append(out, m)
	}
	if !found {
		out = append(out, run.Input)
	}
	return out
}

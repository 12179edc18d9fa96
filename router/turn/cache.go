package turn

import (
	"container/list"
	"slices"
	"sync"

	"parley/sessions"
)

const (
	historyBytes  = 8 << 20
	historyItself = 512     // bytes that one takes besides its messages
	messageItself = 1 << 10 // bytes that a message takes besides its text: its ids, times, origin, and the room that lists leave for more
	opaqueItself  = 64      // bytes that a block's Opaque takes besides its data
)

// cache keeps the newest messages of the transcripts that were written last, so that a turn need not read what the turn
// before it wrote. A session's lane is the only writer of its transcript, and the store stays the truth: whatever is uncertain is
// dropped and read again.
type cache struct {
	mu    sync.Mutex
	m     map[sessions.ID]*list.Element
	order *list.List // of *history, last used in front
	bytes int
	clean map[sessions.ID]int64 // up to which message no provider has refused anything of a transcript, kept or not
}

// history is what a transcript is to a model: its newest summary, and the messages behind what that covers.
type history struct {
	id      sessions.ID
	Sum     sessions.Summary // its ID is empty where there is none
	Msgs    []sessions.Message
	size    int
	unsaved bool // the summary is not in the store: the end of the turn that made it keeps it
}

func newCache() *cache {
	return &cache{m: make(map[sessions.ID]*list.Element), order: list.New(), clean: make(map[sessions.ID]int64)}
}

// get gives what is kept of a transcript.
func (h *cache) get(id sessions.ID) (history, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.m[id]
	if e == nil {
		return history{}, false
	}
	h.order.MoveToFront(e)
	x := *e.Value.(*history)
	x.Msgs = slices.Clip(x.Msgs)
	return x, true
}

// put keeps what was read from the store.
func (h *cache) put(x history) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(x.id)
	x.Msgs, x.size = slices.Clip(x.Msgs), historyItself+SizeOf(x.Msgs)+len(x.Sum.Text)
	h.m[x.id] = h.order.PushFront(&x)
	h.bytes += x.size
	h.trim()
}

// add puts what was committed behind a transcript that is kept. One that has grown to more than most messages is forgotten.
func (h *cache) add(id sessions.ID, most int, msgs ...sessions.Message) {
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
			m, _ = m.BoundOpaque() // as the store keeps it
			x.Msgs = append(x.Msgs, m)
			added += SizeOf([]sessions.Message{m})
		}
	}
	x.size += added
	h.bytes += added
	if len(x.Msgs) > most {
		h.remove(id)
	}
	h.trim()
}

// has reports whether a message is among the newest ones: what is recorded a second time is there once.
func (x *history) has(id string) bool {
	return slices.ContainsFunc(x.Msgs[max(0, len(x.Msgs)-8):], func(m sessions.Message) bool { return m.ID == id })
}

// takePendingSummary gives the summary of a transcript to keep with the end of the turn, once; nil = none is.
func (h *cache) takePendingSummary(id sessions.ID) *sessions.Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.m[id]
	if e == nil {
		return nil
	}
	x := e.Value.(*history)
	if !x.unsaved {
		return nil
	}
	x.unsaved = false
	sum := x.Sum
	return &sum
}

// maxClean bounds the transcripts whose clean length is known.
const maxClean = 10_000

// checked says up to which message nothing of a transcript was refused; 0 = not looked at yet.
func (h *cache) checked(id sessions.ID) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clean[id]
}

// check notes up to which message nothing of a transcript was refused.
func (h *cache) check(id sessions.ID, upto int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clean) >= maxClean {
		clear(h.clean)
	}
	h.clean[id] = upto
}

// drop forgets a transcript.
func (h *cache) drop(id sessions.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(id)
}

// clear forgets everything.
func (h *cache) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.m)
	clear(h.clean)
	h.order.Init()
	h.bytes = 0
}

func (h *cache) remove(id sessions.ID) {
	if e := h.m[id]; e != nil {
		h.bytes -= e.Value.(*history).size
		h.order.Remove(e)
		delete(h.m, id)
	}
}

func (h *cache) trim() {
	for h.bytes > historyBytes && h.order.Len() > 0 {
		h.remove(h.order.Back().Value.(*history).id)
	}
}

// SizeOf returns about how many bytes messages take in memory.
func SizeOf(msgs []sessions.Message) int {
	n := 0
	for _, m := range msgs {
		n += messageItself
		for _, b := range m.Content {
			n += len(b.Text) + len(b.Data) + len(b.Arguments) + len(b.OldSignature())
			if b.Opaque != nil {
				n += opaqueItself + len(b.Opaque.From) + len(b.Opaque.Data)
			}
		}
	}
	return n
}

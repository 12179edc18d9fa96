package router

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"

	"parley/agent"
	"parley/sessions"
)

// The bounds of the transcripts that are kept in memory.
const (
	historyBytes  = 8 << 20
	historyItself = 512     // bytes that one takes besides its messages
	opaqueItself  = 64      // the same of what a provider wants back with a block
	messageItself = 1 << 10 // bytes that a message takes besides its text: its ids, times, origin, and the room that lists leave for more
)

// histories keeps the newest messages of the transcripts that were written last, so that a turn need not read what the turn
// before it wrote. A session's lane is the only writer of its transcript, and the store stays the truth: whatever is unclear is
// dropped and read again.
type histories struct {
	mu    sync.Mutex
	m     map[sessions.ID]*list.Element
	order *list.List // of *history, last used in front
	bytes int
	clean map[sessions.ID]int64 // up to which message no provider has refused anything of a transcript, kept or not
}

// mostClean bounds the transcripts of which that is known.
const mostClean = 10_000

// history is what a transcript is to a model: its newest summary, and the messages behind what that covers.
type history struct {
	id   sessions.ID
	sum  sessions.Summary // its ID is empty where there is none
	msgs []sessions.Message
	size int
	owed bool // the summary is not in the store: the end of the turn that made it keeps it
}

func newHistories() *histories {
	return &histories{m: make(map[sessions.ID]*list.Element), order: list.New(), clean: make(map[sessions.ID]int64)}
}

// get gives what is kept of a transcript.
func (h *histories) get(id sessions.ID) (history, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.m[id]
	if e == nil {
		return history{}, false
	}
	h.order.MoveToFront(e)
	x := *e.Value.(*history)
	x.msgs = slices.Clip(x.msgs)
	return x, true
}

// put keeps what was read from the store.
func (h *histories) put(x history) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(x.id)
	x.msgs, x.size = slices.Clip(x.msgs), historyItself+sizeOf(x.msgs)+len(x.sum.Text)
	h.m[x.id] = h.order.PushFront(&x)
	h.bytes += x.size
	h.trim()
}

// add puts what was committed behind a transcript that is kept. One that has grown to more than most messages is forgotten.
func (h *histories) add(id sessions.ID, most int, msgs ...sessions.Message) {
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
			x.msgs = append(x.msgs, m)
			added += sizeOf([]sessions.Message{m})
		}
	}
	x.size += added
	h.bytes += added
	if len(x.msgs) > most {
		h.remove(id)
	}
	h.trim()
}

// has reports whether a message is among the newest ones: what is recorded a second time is there once.
func (x *history) has(id string) bool {
	return slices.ContainsFunc(x.msgs[max(0, len(x.msgs)-8):], func(m sessions.Message) bool { return m.ID == id })
}

// takeOwed gives the summary of a transcript that is to be kept with the end of the turn, once; nil = none is.
func (h *histories) takeOwed(id sessions.ID) *sessions.Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.m[id]
	if e == nil {
		return nil
	}
	x := e.Value.(*history)
	if !x.owed {
		return nil
	}
	x.owed = false
	sum := x.sum
	return &sum
}

// checked says up to which message nothing of a transcript was refused; 0 = nobody has looked.
func (h *histories) checked(id sessions.ID) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clean[id]
}

// check says so.
func (h *histories) check(id sessions.ID, upto int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clean) >= mostClean {
		clear(h.clean)
	}
	h.clean[id] = upto
}

// clear forgets everything.
func (h *histories) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.m)
	clear(h.clean)
	h.order.Init()
	h.bytes = 0
}

// drop forgets a transcript.
func (h *histories) Drop(id sessions.ID) {
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
		n += messageItself
		for _, b := range m.Content {
			n += len(b.Text) + len(b.Data) + len(b.Arguments) + len(b.Signature)
			if b.Opaque != nil {
				n += opaqueItself + len(b.Opaque.From) + len(b.Opaque.Data)
			}
		}
	}
	return n
}

// past is what a run's session was until the run began, its own input last. What the run has recorded itself may be part of it.
func (r *Router) past(ctx context.Context, run sessions.Run) (history, error) {
	if run.Attempt == 1 {
		if x, ok := r.histories.get(run.Session); ok { // process has put the input behind it
			return x, nil
		}
	}
	x, err := r.stored(ctx, run.Session)
	if err == nil && run.Attempt > 0 { // in the session's lane
		r.histories.put(x)
	}
	return x, err
}

// stored reads the newest summary of a transcript, and the messages behind it, from the store.
func (r *Router) stored(ctx context.Context, id sessions.ID) (history, error) {
	sum, _, err := r.store.Summary(ctx, id)
	if err != nil {
		return history{}, fmt.Errorf("reading the summary: %w", err)
	}
	msgs, err := r.store.Tail(ctx, id, sessions.TailQuery{Limit: r.readMost(), After: sum.Upto, IncludeTool: true, Opaque: true})
	if err != nil {
		return history{}, fmt.Errorf("reading the transcript: %w", err)
	}
	return history{id: id, sum: sum, msgs: msgs}, nil
}

// readMost bounds what is read of a transcript: more than a turn is shown, so that what is to be summed up is there.
func (r *Router) readMost() int { return 2*r.historyLimit() + 1000 }

// view is what a run's turn with a model is shown before its own steps: the summary of the older part of the transcript, what came after that
// and was not refused, and the run's input last, also where the summary covers it already, then with the messages that the turn has taken up and the
// summary covers as well: they are to be answered. In front of the input is what is under way, as the turns that began it may be
// summed up. covered says how many of the run's own steps need not be shown any more.
func (r *Router) view(ctx context.Context, x history, model string, run sessions.Run, steps []sessions.Message) (msgs []sessions.Message, covered int, err error) {
	j := judge(x, model)
	msgs = upToInput(j.shown(), run)
	if x.sum.ID == "" || j.sum.state != partShown && len(steps) == 0 {
		return msgs, 0, nil
	}
	for covered < len(steps) && steps[covered].Seq > 0 && steps[covered].Seq <= x.sum.Upto {
		covered++
	}
	msgs = append(msgs, sessions.MergedMessages(run, steps[:covered])...)
	text, err := prompt("summary", promptFacts{Messages: x.sum.Messages, Before: x.sum.Text})
	if err != nil {
		return nil, 0, err
	}
	open, err := r.underWay(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	if open != "" {
		at := slices.IndexFunc(msgs, func(m sessions.Message) bool { return m.ID == run.Input.ID })
		msgs = slices.Insert(msgs, max(at, 0), agent.OpenMessage(x.sum, open))
	}
	return slices.Insert(msgs, 0, agent.SummaryMessage(x.sum, text)), covered, nil
}

// upToInput leaves out what the run itself has recorded, and makes sure that its input is there.
// What is given back cannot be appended to in place: it may be msgs itself.
func upToInput(msgs []sessions.Message, run sessions.Run) []sessions.Message {
	own := func(m sessions.Message) bool { return m.Run == run.ID && m.ID != run.Input.ID }
	if n := len(msgs); n > 0 && msgs[n-1].ID == run.Input.ID && !slices.ContainsFunc(msgs, own) { // a turn that begins
		return slices.Clip(msgs)
	}
	out := make([]sessions.Message, 0, len(msgs)+1)
	found := false
	for _, m := range msgs {
		if own(m) {
			continue // a step, or a message that the turn has taken up
		}
		found = found || m.ID == run.Input.ID
		out = append(out, m)
	}
	if !found {
		out = append(out, run.Input)
	}
	return slices.Clip(out)
}

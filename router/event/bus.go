package event

import (
	"slices"
	"sync"
	"time"

	"parley/channels"
	"parley/sessions"
)

// The kinds of events.
const (
	KindRun      = "run"      // Status: queued, running, and how it ended
	KindText     = "text"     // Text: the answer so far, of the model call under way; the next call begins again
	KindTool     = "tool"     // Phase: begin, progress, end, error
	KindMessage  = "message"  // recorded in the transcript
	KindDelivery = "delivery" // State
	KindSession  = "session"  // Phase: new, patched, reset, archived, deleted
	KindAccount  = "account"
	KindPairing  = "pairing" // Phase: asked, decided
	KindJob      = "job"     // Phase: fired, skipped, changed
	KindReload   = "reload"  // first, to one who watches since a Position: something has happened meanwhile, read the truth again
)

// The phases that the router itself names.
const (
	PhaseNew      = "new"
	PhasePatched  = "patched"
	PhaseReset    = "reset"
	PhaseArchived = "archived"
	PhaseDeleted  = "deleted"
	PhaseBegin    = "begin"
	PhaseProgress = "progress"
	PhaseEnd      = "end"
	PhaseError    = "error"
	PhaseAsked    = "asked"
	PhaseDecided  = "decided"
	PhaseChanged  = "changed"
	PhaseFired    = "fired"
	PhaseSkipped  = "skipped"
)

// Event says that something happened. The truth is in the store: an event says where to look again. Which fields it has follows from
// its Kind.
type Event struct {
	Kind     string
	Phase    string
	Time     time.Time
	Session  sessions.Key
	Run      sessions.RunID
	RunKind  sessions.RunKind
	Status   sessions.RunStatus
	Batch    sessions.RunID // run: the one that answered it as well
	Text     string
	Tool     string
	Call     string
	Message  string
	Delivery sessions.DeliveryID
	State    sessions.DeliveryState
	Rule     string
	Channel  channels.Kind
	Account  channels.AccountID
	Job      string
	At       Position // behind the event; a text has none: the next one has all of it
}

// Filter selects events; empty fields select all.
type Filter struct {
	Session sessions.Key
	Run     sessions.RunID
	Kinds   []string
	Since   Position // what happened from there until the watch begins is told by KindReload
}

func (w Filter) wants(e Event) bool {
	return (w.Session == "" || w.Session == e.Session) && (w.Run == "" || w.Run == e.Run) && (len(w.Kinds) == 0 || slices.Contains(w.Kinds, e.Kind))
}

// maxWaiting bounds the events that wait for one reader.
const maxWaiting = 1000

// Bus hands events to watchers. The zero value is ready.
type Bus struct {
	mu     sync.Mutex
	all    map[*watcher]bool
	past   past
	closed bool
}

// Watch gives the events from now on, until cancel or the end of the host; then the channel is closed. A slow reader delays no other: of the
// texts of a run that it has not read it gets the newest only. When too many events wait all the same, the texts are dropped, and then it
// is cut off: its channel is closed, and it has to read the store again and to watch again. cancel may be called more than once.
func (b *Bus) Watch(w Filter) (<-chan Event, func()) {
	x := &watcher{wants: w, out: make(chan Event), over: make(chan struct{}), more: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(x.out)
		return x.out, func() {}
	}
	if b.all == nil {
		b.all = make(map[*watcher]bool)
	}
	b.all[x] = true
	if b.past.missed(w) {
		x.put(Event{Kind: KindReload, Time: time.Now(), At: b.past.position()})
	}
	go x.pump()
	return x.out, func() { b.drop(x) }
}

func (b *Bus) drop(x *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[x] {
		delete(b.all, x)
		close(x.over)
	}
}

// Close ends every watch, also those to come.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for x := range b.all {
		close(x.over)
	}
	b.all = nil
}

// Publish hands an event to each watcher that wants it, and remembers that there was one. It never blocks.
func (b *Bus) Publish(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e.At = b.past.add(e)
	for x := range b.all {
		if x.wants.wants(e) && !x.put(e) {
			delete(b.all, x)
			close(x.over)
		}
	}
}

// watcher is one reader of events.
type watcher struct {
	wants Filter
	out   chan Event
	over  chan struct{} // closed: the reader has ended, or was cut off
	more  chan struct{}

	mu    sync.Mutex
	queue []Event
}

// put lets an event wait for the reader; false when too many do.
func (x *watcher) put(e Event) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	isText := func(q Event) bool { return q.Kind == KindText }
	if e.Kind == KindText {
		for i, q := range slices.Backward(x.queue) {
			if q.Run != e.Run {
				continue
			}
			if q.Kind == KindText {
				x.queue[i] = e
				return true
			}
			break // what happened in between keeps its place
		}
	}
	if len(x.queue) >= maxWaiting {
		if x.queue = slices.DeleteFunc(x.queue, isText); len(x.queue) >= maxWaiting {
			return isText(e) // the next one has all of it
		}
	}
	x.queue = append(x.queue, e)
	select {
	case x.more <- struct{}{}:
	default:
	}
	return true
}

// pump hands over what waits, in order.
func (x *watcher) pump() {
	defer close(x.out)
	for {
		x.mu.Lock()
		var next []Event
		if len(x.queue) > 0 {
			next = x.queue[:1:1]
			x.queue = x.queue[1:]
		}
		x.mu.Unlock()
		if next == nil {
			select {
			case <-x.more:
			case <-x.over:
				return
			}
			continue
		}
		select {
		case x.out <- next[0]:
		case <-x.over:
			return
		}
	}
}

package router

import (
	"context"
	"slices"
	"sync"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// The kinds of events.
const (
	EventRun      = "run"      // Status: queued, running, and how it ended
	EventText     = "text"     // Text: the answer so far, of the model call under way; the next call begins anew
	EventTool     = "tool"     // Phase: begin, progress, end, error
	EventMessage  = "message"  // recorded in the transcript
	EventDelivery = "delivery" // State
	EventSession  = "session"  // Phase: new, patched, reset, archived, deleted
	EventAccount  = "account"
	EventPairing  = "pairing" // Phase: asked, decided
	EventJob      = "job"     // Phase: fired, skipped, changed
	EventReload   = "reload"  // first, to one who watches since a Position: something has happened meanwhile, read the truth again
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

// Watching selects events; empty fields select all.
type Watching struct {
	Session sessions.Key
	Run     sessions.RunID
	Kinds   []string
	Since   Position // what happened from there until the watch begins is told by EventReload
}

func (w Watching) wants(e Event) bool {
	return (w.Session == "" || w.Session == e.Session) && (w.Run == "" || w.Run == e.Run) && (len(w.Kinds) == 0 || slices.Contains(w.Kinds, e.Kind))
}

// watchMost bounds the events that wait for one reader.
const watchMost = 1000

// watchers are those who watch. The zero value is ready.
type watchers struct {
	mu     sync.Mutex
	all    map[*watcher]bool
	past   past
	closed bool
}

// Watch gives what happens from now on, until cancel or the end of the host; then the channel is closed. Nobody waits for a slow reader:
// of the texts of a run that it has not read it gets the newest only, and when too much waits all the same, the texts go, and then it
// is cut off: its channel is closed, and it is to read the truth again and watch anew. cancel may be called more than once.
func (s *watchers) watch(w Watching) (<-chan Event, func()) {
	x := &watcher{wants: w, out: make(chan Event), over: make(chan struct{}), more: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(x.out)
		return x.out, func() {}
	}
	if s.all == nil {
		s.all = make(map[*watcher]bool)
	}
	s.all[x] = true
	if s.past.missed(w) {
		x.put(Event{Kind: EventReload, Time: time.Now(), At: s.past.position()})
	}
	go x.pump()
	return x.out, func() { s.drop(x) }
}

func (s *watchers) drop(x *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[x] {
		delete(s.all, x)
		close(x.over)
	}
}

// close ends every watch, also those to come.
func (s *watchers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for x := range s.all {
		close(x.over)
	}
	s.all = nil
}

// tell hands an event to everybody who wants it, and remembers that there was one. It blocks on nobody.
func (s *watchers) tell(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.At = s.past.add(e)
	for x := range s.all {
		if x.wants.wants(e) && !x.put(e) {
			delete(s.all, x)
			close(x.over)
		}
	}
}

// watcher is one who watches.
type watcher struct {
	wants Watching
	out   chan Event
	over  chan struct{} // closed: nobody reads any more, or it was cut off
	more  chan struct{}

	mu    sync.Mutex
	queue []Event
}

// put lets an event wait for the reader; false when too many do.
func (x *watcher) put(e Event) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	isText := func(q Event) bool { return q.Kind == EventText }
	if e.Kind == EventText {
		for i, q := range slices.Backward(x.queue) {
			if q.Run != e.Run {
				continue
			}
			if q.Kind == EventText {
				x.queue[i] = e
				return true
			}
			break // what happened in between keeps its place
		}
	}
	if len(x.queue) >= watchMost {
		if x.queue = slices.DeleteFunc(x.queue, isText); len(x.queue) >= watchMost {
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

// watchedTool tells of the calls of a tool. It stands around every tool of a turn.
type watchedTool struct {
	tools.Tool
	to *watchers
}

// Call implements tools.Tool.
func (t watchedTool) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	e := Event{Kind: EventTool, Phase: PhaseBegin, Session: c.Caller.Run.Key, Run: c.Caller.Run.ID, RunKind: c.Caller.Run.Kind, Tool: t.Spec().Name, Call: c.ID}
	t.to.tell(e)
	if tell := c.Progress; tell != nil {
		c.Progress = func(text string) {
			tell(text)
			p := e
			p.Phase, p.Text = PhaseProgress, channels.CutText(text, 300)
			t.to.tell(p)
		}
	}
	e.Phase = PhaseError // also when it panics
	defer func() { t.to.tell(e) }()
	res, err := t.Tool.Call(ctx, c)
	if err == nil && !res.IsError {
		e.Phase = PhaseEnd
	}
	return res, err
}

// watched puts those who watch around the tools of a turn.
func (r *Router) watched(kit []tools.Tool) []tools.Tool {
	out, all := make([]tools.Tool, len(kit)), make([]watchedTool, len(kit))
	for i, t := range kit {
		all[i] = watchedTool{t, r.watchers}
		out[i] = &all[i]
	}
	return out
}

// tellRun tells how a run stands.
func (b *watchers) tellRun(run sessions.Run, status sessions.RunStatus) {
	b.tell(Event{Kind: EventRun, Session: run.Key, Run: run.ID, RunKind: run.Kind, Status: status, Batch: run.Batch})
}

// tellMessages tells of messages that are in the transcript now.
func (b *watchers) tellMessages(run sessions.Run, msgs ...sessions.Message) {
	for _, m := range msgs {
		b.tell(Event{Kind: EventMessage, Session: run.Key, Run: run.ID, RunKind: run.Kind, Message: m.ID})
	}
}

// tellEnd tells how a run has ended; acc is what its end committed.
func (b *watchers) tellEnd(run sessions.Run, o sessions.Outcome, acc sessions.Accepted) {
	if o.Next != nil {
		b.tellEffects(*o.Next, acc)
	}
	b.tellMessages(run, o.Messages...)
	b.tellRun(run, o.Status)
}

// watchText has those who watch see the answer as it grows, whether or not a chat does.
func (r *Router) watchText(run sessions.Run, t *agent.Turn) {
	shown := t.OnText
	t.OnText = func(soFar string) {
		if shown != nil {
			shown(soFar)
		}
		r.watchers.tell(Event{Kind: EventText, Session: run.Key, Run: run.ID, RunKind: run.Kind, Text: soFar})
	}
}

// tellDelivery tells how a delivery stands.
func (s *watchers) tellDelivery(d sessions.Delivery) {
	e := Event{Kind: EventDelivery, Session: d.Session, Run: d.Run, Message: d.Message, Delivery: d.ID, State: d.State, Channel: d.To.Channel, Account: d.To.Account}
	if d.Verdict != nil {
		e.Rule = d.Verdict.Rule
	}
	s.tell(e)
}

// tellEffects tells what a commit did besides runs and deliveries.
func (b *watchers) tellEffects(e sessions.Effects, acc sessions.Accepted) {
	if acc.Duplicate {
		return
	}
	if s := acc.Session; s.Key != "" {
		for _, x := range []struct {
			did   bool
			phase string
		}{{!e.Quiet && s.Created.Equal(s.Updated), PhaseNew}, {e.Reset, PhaseReset}, {e.Patch != nil, PhasePatched}, {e.Archive, PhaseArchived}, {e.Delete, PhaseDeleted}} {
			if x.did {
				b.tell(Event{Kind: EventSession, Phase: x.phase, Session: s.Key})
			}
		}
	}
	if e.Pairing != nil {
		b.tell(Event{Kind: EventPairing, Phase: PhaseDecided, Channel: e.Pairing.Channel})
	}
	if e.Unpair != nil {
		b.tell(Event{Kind: EventPairing, Phase: PhaseDecided, Channel: e.Unpair.Channel, Account: e.Unpair.Account})
	}
	if e.Job != nil {
		b.tell(Event{Kind: EventJob, Phase: PhaseChanged, Session: e.Job.From, Job: e.Job.ID})
	}
	if e.DropJob != "" {
		b.tell(Event{Kind: EventJob, Phase: PhaseChanged, Job: e.DropJob})
	}
}

package delivery

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"parley/channels"
	"parley/router/clock"
	"parley/router/filestore"
	"parley/router/settings"
	"parley/sessions"
)

// Dispatcher is the one place where a delivery meets the policy and then the platform. Each chat has a queue of its own: order inside
// a chat is kept, a stuck chat delays no other.
type Dispatcher struct {
	store       sessions.Store
	settings    func() *settings.Snapshot
	maxResident int // deliveries in memory
	log         *slog.Logger
	metrics     *Metrics
	inFlight    inFlight
	previews    previews
	refusals    refusals
	signs       signs
	outbox      *filestore.Outbox
	acks        acks
	ages        *clock.Steady
	changed     func(sessions.Delivery) // told of each state of each delivery; must not block

	mu       sync.Mutex
	life     context.Context // of all queues, from start; ends at shutdown
	accounts map[settings.AccountRef]*account
	known    map[sessions.DeliveryID]bool // in some queue; true: look at it again when it leaves
	reserved map[sessions.DeliveryID]*Reservation
	flying   int  // bookings
	spilled  bool // the store may hold pending deliveries that are in no queue: only reload brings in more
	wg       sync.WaitGroup
}

// account is one account's way out. Its fields are guarded by gate.mu, but for pace.
type account struct {
	ref    settings.AccountRef
	ch     channels.Channel // nil: not attached (yet)
	caps   channels.Caps
	ready  chan struct{} // closed and replaced when ch changes
	pace   *pacer
	queues map[channels.ChatID]*queue
	locked map[channels.ChatID][]chan struct{} // chats in which a preview is on its way; closed when it is not any more
	flying int                                 // bookings
	now    map[channels.ChatID]channels.ChatID // the new ids of chats that moved; the maps above know only those
}

// queue holds a chat's deliveries that are not final, oldest first. The first one is being worked on.
type queue struct {
	chat    channels.ChatID
	waiting []sessions.Delivery
	booking *Reservation  // for the first one, until it is made
	ahead   []*queue      // what was on its way in the same chat under an old id goes first
	end     func()        // ends the work on it; what waits stays in the store
	done    chan struct{} // closed when it is empty, or after end
}

// insert puts a delivery in its place: behind the one that is being worked on, by age.
func (q *queue) insert(d sessions.Delivery) {
	i := len(q.waiting)
	for i > 1 && q.waiting[i-1].Seq > d.Seq {
		i--
	}
	q.waiting = slices.Insert(q.waiting, i, d)
}

// maxKnown bounds the deliveries held in memory; the rest waits in the store.
const maxKnown = 20000

// Config is what a gate is made of.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Outbox   *filestore.Outbox
	Ages     *clock.Steady
	Log      *slog.Logger
	Metrics  *Metrics                // nil counts nothing
	Changed  func(sessions.Delivery) // told of each state of each delivery; must not block
}

// New returns a dispatcher that sends nothing before Start.
func New(c Config) *Dispatcher {
	files := c.Outbox
	files.Clear = func(ctx context.Context) error { return files.Evict(ctx, c.Store, time.Now(), filestore.OutboxLeast) }
	return &Dispatcher{store: c.Store, settings: c.Settings, outbox: files, ages: c.Ages, maxResident: maxKnown, log: c.Log, metrics: c.Metrics, changed: c.Changed,
		accounts: make(map[settings.AccountRef]*account), known: make(map[sessions.DeliveryID]bool), reserved: make(map[sessions.DeliveryID]*Reservation)}
}

// Start loads what is waiting in the store. interrupted are the deliveries that were being sent when the last process ended.
func (g *Dispatcher) Start(ctx context.Context, interrupted []sessions.Delivery) error {
	g.acks.start(ctx)
	if err := g.loadPreviews(ctx); err != nil {
		return err
	}
	g.mu.Lock()
	g.life = ctx
	for _, d := range interrupted { // whatever their number: Due does not list them
		g.admit(d)
	}
	g.mu.Unlock()
	return g.Refill(ctx)
}

// Attach gives an account its channel; nil takes it away, and deliveries wait.
func (g *Dispatcher) Attach(ref settings.AccountRef, ch channels.Channel) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.accountOf(ref)
	o.ch, o.caps = ch, channels.Caps{}
	if ch != nil {
		o.caps = channels.Probe(ch)
	}
	close(o.ready)
	o.ready = make(chan struct{})
}

// accountOf finds or makes an account's outlet; g.mu is held.
func (g *Dispatcher) accountOf(ref settings.AccountRef) *account {
	o := g.accounts[ref]
	if o == nil {
		o = &account{ref: ref, ready: make(chan struct{}), queues: make(map[channels.ChatID]*queue), locked: make(map[channels.ChatID][]chan struct{}),
			now: make(map[channels.ChatID]channels.ChatID), pace: newPacer(g.settings().Accounts[ref].Pacing)}
		g.accounts[ref] = o
	}
	return o
}

// Enqueue puts committed deliveries into their chats' queues. It never blocks on a platform.
func (g *Dispatcher) Enqueue(ds ...sessions.Delivery) {
	for _, d := range ds { // before anybody can send them, and with no lock held
		g.tell(d)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range ds {
		switch _, known := g.known[d.ID]; {
		case g.fulfil(d):
		case known:
			g.known[d.ID] = true // it may be ending just now
		case g.spilled:
			return // older ones wait in the store: reload brings them all, in order
		case len(g.known) >= g.maxResident:
			g.spilled = true
			return
		default:
			g.admit(d)
		}
	}
}

// tell tells those who watch how a delivery stands.
func (g *Dispatcher) tell(d sessions.Delivery) {
	if g.changed != nil {
		g.changed(d)
	}
}

// admit puts one delivery into its chat's queue; g.mu is held.
func (g *Dispatcher) admit(d sessions.Delivery) {
	if g.life == nil || g.life.Err() != nil {
		return // it is in the store: start finds it
	}
	g.known[d.ID] = false
	d.NotBefore = g.notBefore(d)
	d.To = g.settings().Moved.Called(d.To)
	o := g.accountOf(settings.Ref(d.To))
	chat := o.chat(d.To.Chat)
	q := o.queues[chat]
	if q == nil {
		q = &queue{chat: chat, done: make(chan struct{})}
		o.queues[chat] = q
		g.work(g.life, o, q)
	}
	q.insert(d)
}

// work begins to work a chat's queue off; g.mu is held.
func (g *Dispatcher) work(life context.Context, o *account, q *queue) {
	ctx, end := context.WithCancel(life)
	q.end = end
	g.wg.Go(func() {
		defer end()
		g.drain(ctx, o, q)
	})
}

// drain works a chat's queue off and ends when it is empty.
func (g *Dispatcher) drain(ctx context.Context, o *account, q *queue) {
	defer close(q.done)
	for {
		g.mu.Lock()
		if len(q.waiting) == 0 || ctx.Err() != nil && q.booking == nil {
			if o.queues[q.chat] == q {
				delete(o.queues, q.chat)
			}
			g.mu.Unlock()
			return
		}
		d, b := q.waiting[0], q.booking
		q.booking = nil
		g.mu.Unlock()
		if b != nil && !g.sendReserved(ctx, o, q, b) || b == nil && !g.deliver(ctx, o, q, d) {
			continue // ctx ended, and the store knows where we are; or others come first
		}
		g.mu.Lock()
		q.waiting = q.waiting[1:]
		again := g.known[d.ID]
		delete(g.known, d.ID)
		if b != nil && b.free {
			close(b.gone)
		}
		reload := g.spilled && len(g.known) < g.maxResident/2
		g.mu.Unlock()
		if again {
			g.lookAgain(ctx, d.ID)
		}
		if reload {
			if err := g.Refill(ctx); err != nil {
				g.log.Error("cannot list the deliveries that wait", keyErr, err)
			}
		}
	}
}

// lookAgain takes up a delivery that somebody made pending again while it was ending.
func (g *Dispatcher) lookAgain(ctx context.Context, id sessions.DeliveryID) {
	if d, err := g.store.GetDelivery(ctx, id); err == nil && !d.State.Final() {
		g.Enqueue(d)
	}
}

// Refill brings in every pending delivery that is in no queue, oldest first, as far as there is room. Called at start, after an
// overflow, and now and then: whatever was missed for whatever reason is found.
func (g *Dispatcher) Refill(ctx context.Context) error {
	g.mu.Lock()
	most := g.maxResident
	g.mu.Unlock()
	due, err := g.store.Due(ctx, most, 0)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spilled = len(due) == g.maxResident
	for _, d := range due {
		if _, known := g.known[d.ID]; known {
			continue
		}
		if len(g.known) >= g.maxResident {
			g.spilled = true
			return nil
		}
		g.admit(d)
	}
	return nil
}

// typing shows in a chat that a session's agent is at work. Best effort, under the same policy as a delivery.
func (g *Dispatcher) typing(ctx context.Context, key sessions.Key, to channels.Address) {
	to = g.settings().Moved.Current(to) // a turn that was asked for under an old id
	if t := g.caps(to).Typer; t != nil {
		if g.hint(ctx, key, to, func(ctx context.Context) error { return t.Typing(ctx, to) }) {
			g.fadeLater(ctx, key, to, "")
		}
	}
}

// draft shows an answer as far as it is written. Best effort, under the same policy as a delivery.
func (g *Dispatcher) draft(ctx context.Context, key sessions.Key, to channels.Address, id, text string) {
	to = g.settings().Moved.Current(to)
	if d := g.caps(to).Drafter; d != nil {
		g.hint(ctx, key, to, func(ctx context.Context) error { return d.Draft(ctx, to, id, text) })
	}
}

// hint makes a call to a platform that nothing depends on. It reports whether the policy allowed that, and the call may have worked.
func (g *Dispatcher) hint(ctx context.Context, key sessions.Key, to channels.Address, call func(context.Context) error) bool {
	defer g.inFlight.begin(key)()
	s, err := g.store.Get(ctx, key)
	if err != nil || !g.settings().Decide(to)(s).Allowed() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	err = channels.CatchPanic(channels.Ambiguous, func() error { return call(ctx) })
	if err != nil && ctx.Err() == nil {
		g.log.Debug("a hint did not arrive", keyAddress, to.String(), keyErr, err)
	}
	return err == nil || channels.Classify(err).Class == channels.Ambiguous
}

// hintTimeout bounds a hint: a policy flip waits for it.
const hintTimeout = 5 * time.Second

// caps are the abilities of the account that an address belongs to; none when it is not attached.
func (g *Dispatcher) caps(to channels.Address) channels.Caps {
	to = g.settings().Moved.Called(to)
	g.mu.Lock()
	defer g.mu.Unlock()
	if o := g.accounts[settings.Ref(to)]; o != nil {
		return o.caps
	}
	return channels.Caps{}
}

// Fetcher is what fetches files from where an address is. At a start, and while an account is replaced, its channel is not there yet: it
// waits for that, for fetcherWait at most. nil = there is none.
func (g *Dispatcher) Fetcher(ctx context.Context, from channels.Address) channels.Fetcher {
	from = g.settings().Moved.Called(from)
	if _, there := g.settings().Accounts[settings.Ref(from)]; !there {
		return g.caps(from).Fetcher
	}
	ctx, cancel := context.WithTimeout(ctx, fetcherTimeout)
	defer cancel()
	for {
		g.mu.Lock()
		o := g.accountOf(settings.Ref(from))
		there, caps, changed := o.ch != nil, o.caps, o.ready
		g.mu.Unlock()
		if there {
			return caps.Fetcher
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// FetcherWait is how long a file waits for the account that it came from.
const fetcherTimeout = filestore.PictureTimeout / 2

// Stop waits for calls under way after the life context has ended.
func (g *Dispatcher) Stop() {
	g.wg.Wait()
	g.acks.wg.Wait()
}

// WaitAllInFlight waits until everything that is on its way now has landed.
func (g *Dispatcher) WaitAllInFlight(ctx context.Context) error {
	for _, key := range g.inFlight.keys() {
		if err := g.inFlight.settle(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// WaitInFlight waits until the calls that are on their way for a session have landed, or ctx ends: policy flips wait for it.
func (g *Dispatcher) WaitInFlight(ctx context.Context, key sessions.Key) error {
	return g.inFlight.settle(ctx, key)
}

// HasPreview reports whether a chat shows a preview of a run's answer.
func (g *Dispatcher) HasPreview(run sessions.RunID) bool {
	_, shown := g.previews.get(run)
	return shown
}

// Internal reports whether a chat is one of the host's own, which nobody outside reads.
func (g *Dispatcher) Internal(chat channels.Address) bool {
	g.mu.Lock()
	var ch channels.Channel
	if o := g.accounts[settings.Ref(chat)]; o != nil {
		ch = o.ch
	}
	g.mu.Unlock()
	return ch != nil && ch.Limits(chat).Inside
}

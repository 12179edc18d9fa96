package delivery

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/clock"
	"parley/router/filestore"
	"parley/router/settings"
	"parley/sessions"
)

// Dispatcher is the gate: the one place where a delivery meets the policy and then the platform. It works off the queues of all chats; its parts
// own the state.
type Dispatcher struct {
	settings func() *settings.Snapshot
	store    Store
	log      *slog.Logger
	outbox   *filestore.Outbox
	life     lifetime
	inFlight inFlight

	accounts  *accounts
	queues    *queues
	reserved  *reservations
	hints     *hints
	reactions *reactions
	previews  *previews
	record    *recorder
	sender    *sender
}

// Config holds the parts of a Dispatcher, for New.
type Config struct {
	Store    Store
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
	files.Clear = func(ctx context.Context) error { return files.Evict(ctx, c.Store, time.Now(), filestore.MinOutbox) }
	g := &Dispatcher{settings: c.Settings, store: c.Store, log: c.Log, outbox: files, accounts: newAccounts(c.Settings), reserved: newReservations()}
	retrier := &retrier{store: c.Store, ages: c.Ages, log: c.Log}
	g.queues = &queues{accounts: g.accounts, reserved: g.reserved, life: &g.life, settings: c.Settings, ages: c.Ages, drain: g.drain,
		resident: make(map[sessions.DeliveryID]bool), maxResident: defaultMaxResident}
	g.hints = &hints{store: c.Store, settings: c.Settings, accounts: g.accounts, inFlight: &g.inFlight, life: &g.life, log: c.Log}
	g.reactions = &reactions{store: c.Store, settings: c.Settings, accounts: g.accounts, hints: g.hints, log: c.Log, calls: newReactionQueue(&g.life)}
	g.previews = &previews{store: c.Store, settings: c.Settings, accounts: g.accounts, queues: g.queues, inFlight: &g.inFlight, life: &g.life, retrier: retrier, log: c.Log}
	g.record = &recorder{store: c.Store, settings: c.Settings, ages: c.Ages, retrier: retrier, previews: g.previews, reactions: g.reactions, log: c.Log,
		metrics: c.Metrics, changed: c.Changed}
	g.sender = &sender{store: c.Store, settings: c.Settings, accounts: g.accounts, queues: g.queues, inFlight: &g.inFlight, previews: g.previews, record: g.record,
		reconciler: &reconciler{store: c.Store, settings: c.Settings, inFlight: &g.inFlight}, retrier: retrier, outbox: files, ages: c.Ages, life: &g.life, log: c.Log, metrics: c.Metrics}
	return g
}

// Start loads what is waiting in the store. interrupted are the deliveries that were being sent when the last process ended.
func (g *Dispatcher) Start(ctx context.Context, interrupted []sessions.Delivery) error {
	if err := g.previews.load(ctx); err != nil {
		return err
	}
	g.queues.start(ctx, interrupted)
	return g.Refill(ctx)
}

// Stop waits for calls under way after the context of Start has ended.
func (g *Dispatcher) Stop() { g.life.wait() }

// Attach gives an account its channel; nil takes it away, and deliveries wait.
func (g *Dispatcher) Attach(ref settings.AccountRef, ch channels.Channel) { g.accounts.attach(ref, ch) }

// Enqueue puts committed deliveries into their chats' queues. It never blocks on a platform.
func (g *Dispatcher) Enqueue(ds ...sessions.Delivery) {
	for _, d := range ds { // before they can be sent, and with no lock held
		g.record.tell(d)
	}
	g.queues.enqueue(ds...)
}

// Withdraw takes deliveries that a commit has stopped out of their queues. A part under way is left to the platform. It never blocks on one.
func (g *Dispatcher) Withdraw(ds ...sessions.Delivery) {
	if len(ds) == 0 {
		return
	}
	ids := make(map[sessions.DeliveryID]bool, len(ds))
	for _, d := range ds {
		ids[d.ID] = true
	}
	first := g.queues.withdraw(ids)
	for _, d := range ds {
		if !first[d.ID] { // which is told of when nothing of it is under way any more
			g.record.tell(d)
			g.record.onFinal(d)
		}
	}
}

// Leaving counts the deliveries whose last part is under way: they have nothing left to stop.
func (g *Dispatcher) Leaving(ds []sessions.Delivery) (n int) {
	for _, d := range ds {
		limits, attached := g.Limits(d.To)
		if attached && d.State == sessions.Sending && d.Attempt > 0 && d.Part+1 >= len(splitDelivery(d, limits)) {
			n++
		}
	}
	return n
}

// drain sends the deliveries of a chat's queue and ends when the queue is empty.
func (g *Dispatcher) drain(ctx context.Context, a *account, q *queue) {
	defer close(q.done)
	for {
		d, b, ok := g.queues.next(ctx, a, q)
		if !ok {
			return
		}
		if b != nil && !g.sendReserved(ctx, a, q, b) || b == nil && !g.sender.transfer(a, q, d.ID).deliver(ctx, d) {
			continue // ctx ended, and the store knows where we are; or others come first
		}
		again, refill := g.queues.pop(q, d.ID)
		if b != nil {
			g.reserved.left(b)
		}
		if again {
			g.lookAgain(ctx, d.ID)
		}
		if refill {
			if err := g.Refill(ctx); err != nil {
				g.log.Error("cannot list pending deliveries", keyErr, err)
			}
		}
	}
}

// lookAgain enqueues a delivery that was made pending again while it was ending.
func (g *Dispatcher) lookAgain(ctx context.Context, id sessions.DeliveryID) {
	if d, err := g.store.GetDelivery(ctx, id); err == nil && !d.State.Final() {
		g.Enqueue(d)
	}
}

// Refill brings in every pending delivery that is in no queue, oldest first, as far as there is room. Called at start, after a
// spill, and now and then: it finds what was missed for any reason.
func (g *Dispatcher) Refill(ctx context.Context) error {
	due, err := g.store.Due(ctx, g.queues.bound(), 0)
	if err != nil {
		return err
	}
	g.queues.fill(due)
	return nil
}

// WaitInFlight waits until the calls that are in flight for a session and the threads of its chat have ended, or ctx ends: policy flips
// wait for it.
func (g *Dispatcher) WaitInFlight(ctx context.Context, key sessions.Key) error {
	for _, k := range g.inFlight.keys() {
		inside := k == key
		for outer, ok := k.Around(); ok && !inside; outer, ok = outer.Around() {
			inside = outer == key
		}
		// A call of before the move of its chat is of the session that the chat had.
		inside = inside || slices.ContainsFunc(g.inFlight.chats(k), g.settings().Moved.Involves)
		if !inside {
			continue
		}
		if err := g.inFlight.wait(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// WaitAllInFlight waits until all calls that are in flight now have ended.
func (g *Dispatcher) WaitAllInFlight(ctx context.Context) error {
	for _, key := range g.inFlight.keys() {
		if err := g.inFlight.wait(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// Fetcher returns what fetches files from an address, nil if there is none. At a start, and while an account is replaced, its channel is not
// attached yet: Fetcher waits for it, for fetcherTimeout at most.
func (g *Dispatcher) Fetcher(ctx context.Context, from channels.Address) channels.Fetcher {
	return g.accounts.fetcher(ctx, from)
}

// Internal reports whether a chat is one of the host's own, which people outside do not read.
func (g *Dispatcher) Internal(chat channels.Address) bool {
	l, _ := g.Limits(chat)
	return l.Inside
}

// LastChat gives the chat that wrote last to a session, pages of the host left out: a post there reaches no reader. Where only a page has
// written it is that one.
func (g *Dispatcher) LastChat(ctx context.Context, s sessions.Session) (channels.Address, error) {
	if s.Last.IsZero() || !g.Internal(s.Last) {
		return s.Last, nil
	}
	chats, err := g.store.Writers(ctx, s.Key)
	for _, chat := range chats {
		if !g.Internal(chat) {
			return chat, nil
		}
	}
	return s.Last, err
}

// Limits are the platform's for messages at an address; false when its account is not attached.
func (g *Dispatcher) Limits(at channels.Address) (l channels.Limits, attached bool) {
	a := g.accounts.get(settings.Ref(at))
	if a == nil {
		return l, false
	}
	ch := g.accounts.attached(a)
	if ch == nil {
		return l, false
	}
	return ch.Limits(at), true
}

// ReadReceipt shows the person who wrote that the message was taken: only when it caused something that is answered.
func (g *Dispatcher) ReadReceipt(in channels.Inbound, acc sessions.Accepted) {
	g.reactions.receipt(in, acc)
}

// AddReaction puts the reaction below a message that was taken: never below one that came twice.
func (g *Dispatcher) AddReaction(in channels.Inbound, acc sessions.Accepted) {
	g.reactions.add(in, acc)
}

// RemoveReactions removes the reactions from the messages that a run answered or ended without an answer (messages.removeAckAfterReply).
func (g *Dispatcher) RemoveReactions(id sessions.RunID) { g.reactions.removeAll(id) }

// Show lets the chat see that the agent is working, where the platform can: typing, and the answer as it grows. All of it passes the
// send policy like everything that leaves. The returned func ends it and returns when no call is under way any more, so that
// nothing of it comes after the answer.
func (g *Dispatcher) Show(ctx context.Context, run sessions.Run, t *agent.Turn) (end func()) {
	return showTurn(ctx, g.hints, g.previews, run, t)
}

// HasPreview reports whether a chat shows a preview of a run's answer.
func (g *Dispatcher) HasPreview(run sessions.RunID) bool {
	_, shown := g.previews.open.get(run)
	return shown
}

// Sweep retracts the previews whose runs are over and whose answers do not come; the others become their answers.
func (g *Dispatcher) Sweep(ctx context.Context) { g.previews.sweep(ctx) }

// EndDraft forgets the draft of a run that this process works on no longer. Where no answer replaces it, it is removed from its chat.
func (g *Dispatcher) EndDraft(ctx context.Context, run sessions.Run, unanswered bool) {
	g.hints.endDraft(ctx, run, unanswered)
}

// RetractPreview retracts the preview of a run that is over, unless its answer is to come, or has.
func (g *Dispatcher) RetractPreview(ctx context.Context, run sessions.RunID) {
	g.previews.retract(ctx, run)
}

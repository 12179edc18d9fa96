package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// RemoveTries bounds how often it is tried to take a preview back.
const removeTries = 5

// lockChat has a chat to itself for a preview; free is false while something is to be delivered there, or another one is at it.
func (g *Dispatcher) lockChat(o *account, chat channels.ChatID) (release func(), free bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := o.chat(chat)
	if o.queues[at] != nil || o.locked[at] != nil {
		return nil, false
	}
	done := make(chan struct{})
	o.locked[at] = []chan struct{}{done}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		at := o.chat(chat) // it may have moved
		if o.locked[at] = slices.DeleteFunc(o.locked[at], func(c chan struct{}) bool { return c == done }); len(o.locked[at]) == 0 {
			delete(o.locked, at)
		}
		close(done)
	}, true
}

// Account gives the outlet of an address, and its channel; nil when it is not attached.
func (g *Dispatcher) Account(to channels.Address) (*account, channels.Channel) { //nolint:revive // for tests
	g.mu.Lock()
	o := g.accountOf(settings.Ref(to))
	g.mu.Unlock()
	ch, _ := g.channel(o)
	return o, ch
}

// takeBack removes a preview, or, where nothing can be removed, makes it say nothing. gone is false when it stays; again says when
// to try once more.
func (g *Dispatcher) takeBack(ctx context.Context, ch channels.Channel, p sessions.Preview) (gone bool, again time.Duration) {
	can := channels.Probe(ch)
	err := channels.CatchPanic(channels.Ambiguous, func() (err error) {
		if p, err = g.resolve(ctx, ch, p); err != nil {
			return err
		}
		switch {
		case can.Remover != nil:
			return can.Remover.Remove(ctx, p.To, p.ID)
		case can.Editor != nil:
			return can.Editor.Edit(ctx, p.ID, channels.Outbound{Key: p.Key, To: p.To, Text: "…", Plain: "…"})
		}
		return &channels.Error{Class: channels.Unsupported, Err: errors.New("messages can neither be removed nor edited here")}
	})
	if err == nil || errors.Is(err, errAbsent) {
		return true, 0
	}
	switch e := channels.Classify(err); e.Class {
	case channels.Rejected, channels.Unsupported:
		g.log.Warn("the first words of an answer stay in the chat", keyRun, p.Run, keyAddress, p.To.String(), keyErr, e.Err)
		return false, 0
	default:
		return false, max(e.RetryAfter, time.Second)
	}
}

// unshow takes the preview of a run back whose answer does not come. It returns at once.
func (g *Dispatcher) unshow(run sessions.RunID) {
	p, ok := g.previews.leave(run)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life == nil || g.life.Err() != nil {
		return // it is in the store: the next process finds it
	}
	g.wg.Go(func() { g.leave(g.life, p) })
}

// leave takes a preview back, in several tries. When none works, a later sweep begins again.
func (g *Dispatcher) leave(ctx context.Context, p sessions.Preview) {
	for try := range removeTries {
		again, ok := g.removal(ctx, p)
		if !ok || again == 0 {
			return
		}
		if !channels.Sleep(ctx, max(again, time.Second<<try)) {
			return
		}
	}
	if _, there := g.previews.stay(p.Run); there {
		g.log.Warn("the first words of an answer are still in the chat; taking them back is tried again later", keyRun, p.Run, keyAddress, p.To.String())
	}
}

// removal takes a preview back under the policy, as soon as its account is attached, and forgets it: what may not be written to is left
// as it is (contract P7). Nothing is taken back when its answer came meanwhile. ok is false when ctx ended; again, when to try once more.
func (g *Dispatcher) removal(ctx context.Context, p sessions.Preview) (again time.Duration, ok bool) {
	o, release := g.turn(ctx, p.To)
	if release == nil {
		return 0, false
	}
	defer release()
	p, there := g.previews.leaves(p.Run) // only now it stays as it is: while the chat was not ours it may have become the answer
	if !there {
		return 0, true
	}
	defer g.inFlight.begin(p.Session)()
	s, err := g.store.Get(ctx, p.Session)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		s = sessions.Session{Key: p.Session, Agent: p.Session.Agent()}
	case err != nil:
		return time.Second, true
	}
	if !g.settings().Decide(p.To)(s).Allowed() {
		g.log.Info("the first words of an answer stay in the chat: the policy lets nothing out any more", keyRun, p.Run, keyAddress, p.To.String())
		return 0, g.endPreview(ctx, p.Run)
	}
	ch, _ := g.channel(o)
	if ch == nil {
		return time.Second, true // it was taken away meanwhile
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), previewTimeout)
	defer cancel()
	if _, again = g.takeBack(call, ch, p); again > 0 {
		return again, true
	}
	return 0, g.endPreview(ctx, p.Run)
}

// turn waits until a chat's account is attached, the pace allows a call, and nothing is to be delivered there. The chat is held then;
// release is nil when ctx ended.
func (g *Dispatcher) turn(ctx context.Context, to channels.Address) (o *account, release func()) {
	for {
		to = g.settings().Moved.Called(to) // its account may be renamed while it is waited for
		g.mu.Lock()
		o = g.accountOf(settings.Ref(to))
		g.mu.Unlock()
		ch, changed := g.channel(o)
		if ch != nil {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return o, nil
		}
	}
	if o.pace.wait(ctx, to) != nil {
		return o, nil
	}
	for {
		if release, free := g.lockChat(o, to.Chat); free {
			return o, release
		}
		if !channels.Sleep(ctx, time.Second) {
			return o, nil
		}
	}
}

// loadPreviews finds the previews that an earlier process left.
func (g *Dispatcher) loadPreviews(ctx context.Context) error {
	list, err := g.store.Previews(ctx)
	if err != nil {
		return fmt.Errorf("listing previews: %w", err)
	}
	for _, p := range list {
		g.previews.put(p)
	}
	return nil
}

// Sweep takes back the previews whose runs are over and whose answers do not come; those of others become them.
func (g *Dispatcher) Sweep(ctx context.Context) {
	for _, p := range g.previews.all() {
		run, err := g.store.GetRun(ctx, p.Run)
		if err == nil && run.Status.Final() || errors.Is(err, sessions.ErrNotFound) {
			g.RetractPreview(ctx, p.Run)
		}
	}
}

// RetractPreview takes back the preview of a run that is over, unless its answer is to come, or has.
func (g *Dispatcher) RetractPreview(ctx context.Context, run sessions.RunID) {
	if _, there := g.previews.get(run); !there {
		return
	}
	sent, err := g.store.ListDeliveries(ctx, sessions.DeliveryQuery{Run: run})
	if err != nil {
		g.log.Error("cannot see what became of an answer", keyRun, run, keyErr, err)
		return // it is looked at again
	}
	for _, d := range sent {
		if d.Kind == sessions.Reply {
			if d.State.Final() {
				g.answered(d)
			}
			return
		}
	}
	g.unshow(run)
}

// answered says what becomes of the preview of an answer that is final.
func (g *Dispatcher) answered(d sessions.Delivery) {
	if _, there := g.previews.get(d.Run); !there || d.Kind != sessions.Reply {
		return
	}
	if d.State != sessions.Withheld && d.State != sessions.Held && d.Part == 0 {
		g.unshow(d.Run)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life != nil && g.life.Err() == nil {
		g.wg.Go(func() { g.endPreview(g.life, d.Run) })
	}
}

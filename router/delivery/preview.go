package delivery

import (
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"parley/channels"
	"parley/sessions"
)

// How an answer is shown by edits of one message.
const (
	previewAfter   = time.Second      // a faster answer is sent whole
	previewLeast   = 40               // characters of the first words
	previewDirect  = time.Second      // between two edits
	previewSeveral = 3 * time.Second  // the same where several people read
	previewTimeout = 10 * time.Second // one call; a policy flip, and the answer, wait for it
)

// previews are those that the store holds.
type previews struct {
	mu   sync.Mutex
	open map[sessions.RunID]*preview
}

type preview struct {
	sessions.Preview
	leaving bool // somebody takes it back, as long as its answer does not come after all
}

func (x *previews) get(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil {
		return p.Preview, true
	}
	return sessions.Preview{}, false
}

func (x *previews) put(p sessions.Preview) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == nil {
		x.open = make(map[sessions.RunID]*preview)
	}
	if was := x.open[p.Run]; was != nil {
		was.Preview = p
		return
	}
	x.open[p.Run] = &preview{Preview: p}
}

func (x *previews) drop(run sessions.RunID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.open, run)
}

// leave says that a preview is to be taken back; false when somebody does already, or there is none.
func (x *previews) leave(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.open[run]
	if p == nil || p.leaving {
		return sessions.Preview{}, false
	}
	p.leaving = true
	return p.Preview, true
}

// leaves gives a preview that is still to be taken back.
func (x *previews) leaves(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil && p.leaving {
		return p.Preview, true
	}
	return sessions.Preview{}, false
}

// stay gives a preview that is not taken back, now.
func (x *previews) stay(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil {
		p.leaving = false
		return p.Preview, true
	}
	return sessions.Preview{}, false
}

// move gives the chats of all previews their new addresses.
func (x *previews) move(to func(channels.Address) channels.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.open {
		p.To = to(p.To)
	}
}

func (x *previews) all() (out []sessions.Preview) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.open {
		out = append(out, p.Preview)
	}
	return out
}

// stream says how the answer of a run is shown while it is being written. Only a turn that answers people is.
func (g *Dispatcher) stream(run sessions.Run) channels.Stream {
	if run.Kind != sessions.TurnRun {
		return channels.StreamOff
	}
	s, can := g.settings().Account(run.Reply).Streaming, g.caps(run.Reply)
	mode := s.Direct
	if run.Reply.Type.Several() {
		mode = s.Group
	} else if mode == "" {
		mode = channels.StreamDraft
	}
	switch {
	case mode == channels.StreamDraft && can.Drafter != nil && !run.Reply.Type.Several():
		return mode
	case mode == channels.StreamEdit && can.Editor != nil:
		return mode
	}
	return channels.StreamOff
}

// words shows an answer as far as it is written, by a message that is edited. It keeps to one run.
type words struct {
	g     *Dispatcher
	run   sessions.Run
	shown string // the newest text that arrived
	over  bool   // nothing more is shown
}

// show brings the message up to a text; false when that is to be tried again later. It never waits for its turn: what is to be
// delivered goes first.
func (w *words) show(ctx context.Context, text string) (done bool) {
	g := w.g
	to := g.settings().Moved.Called(w.run.Reply)
	was, begun := g.previews.get(w.run.ID)
	if w.over {
		return true
	}
	if !begun {
		to = g.settings().Moved.Current(to)
	}
	if w.shown == "" && utf8.RuneCountInString(text) < previewLeast {
		return false
	}
	o, ch := g.Account(to)
	if ch == nil {
		return false
	}
	parts := channels.Split(text, g.limits(o, ch, to))
	if len(parts) == 0 {
		return false
	}
	if parts[0].Text == w.shown {
		return true
	}
	release, free := g.lockChat(o, to.Chat)
	if !free {
		return false
	}
	defer release()
	defer g.inFlight.begin(w.run.Key)()
	if s, err := g.store.Get(ctx, w.run.Key); err != nil || !g.settings().Decide(to)(s).Allowed() || !o.pace.try(to) {
		return false
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), previewTimeout)
	defer cancel()
	out := channels.Outbound{Key: string(w.run.ID) + ".preview", To: to, Text: parts[0].Text, Plain: parts[0].Plain, ReplyTo: w.run.ReplyTo}
	var err error
	switch {
	case !begun:
		err = w.begin(call, o, ch, out)
	case was.State == sessions.PreviewSending:
		if _, err = g.resolve(call, ch, was); err == nil {
			return false // it says its first words: it is edited next
		}
		if errors.Is(err, errAbsent) {
			err = w.begin(call, o, ch, out)
		}
	default:
		err = channels.CatchPanic(func() error { return g.caps(to).Editor.Edit(call, was.ID, out) })
	}
	if err == nil {
		w.shown = out.Text
		return true
	}
	switch e := channels.Classify(err); {
	case e.Class == channels.Transient, e.Class == channels.Ambiguous && begun && was.State == sessions.PreviewShown:
		return false
	default:
		w.over = true
		g.log.Debug("an answer is not shown while it is written", keyRun, w.run.ID, keyClass, e.Class, keyErr, e.Err)
	}
	return true
}

// begin sends the first words. The store knows of them before they leave.
func (w *words) begin(ctx context.Context, o *account, ch channels.Channel, out channels.Outbound) error {
	g := w.g
	p := sessions.Preview{Run: w.run.ID, Session: w.run.Key, To: out.To, Key: out.Key, State: sessions.PreviewSending, Text: out.Text, ReplyTo: out.ReplyTo,
		Known: g.settings().Accounts[o.ref].Pacing.NewChatsPerDay > 0}
	if err := g.store.BeginPreview(ctx, p); err != nil {
		return &channels.Error{Class: channels.Rejected, Err: err}
	}
	g.previews.put(p)
	var r channels.Receipt
	err := channels.CatchPanic(func() (err error) {
		r, err = ch.Send(ctx, out)
		return err
	})
	switch {
	case err == nil:
		g.arrivedPreview(ctx, p, r.ID)
	case channels.Classify(err).Class != channels.Ambiguous: // it did not arrive
		g.endPreview(ctx, p.Run)
	}
	return err
}

// arrivedPreview notes the id of a preview.
func (g *Dispatcher) arrivedPreview(ctx context.Context, p sessions.Preview, id channels.MessageID) sessions.Preview {
	if err := g.store.ShowPreview(ctx, p.Run, id); err != nil { // the next process has to find out
		g.log.Error("the store refused a preview", keyRun, p.Run, keyErr, err)
	}
	p.State, p.ID = sessions.PreviewShown, id
	g.previews.put(p)
	return p
}

// endPreview forgets a preview. It is false when the host stops before that.
func (g *Dispatcher) endPreview(ctx context.Context, run sessions.RunID) bool {
	ok := g.persist(ctx, "end preview", sessions.DeliveryID(run), func(ctx context.Context) error { return g.store.EndPreview(ctx, run) })
	if ok {
		g.previews.drop(run)
	}
	return ok
}

// errUnclear says that nobody can find out whether a preview arrived; errAbsent that it did not.
var (
	errUnclear = &channels.Error{Class: channels.Rejected, Err: errors.New("it may have arrived, and the platform cannot be asked")}
	errAbsent  = &channels.Error{Class: channels.Rejected, Err: errors.New("it did not arrive")}
)

// resolve finds out the id of a preview that was being sent when its answer was lost. What is asked for, or sent once more
// under the same key, is what was sent then, whatever the answer says by now: platforms may compare it.
func (g *Dispatcher) resolve(ctx context.Context, ch channels.Channel, p sessions.Preview) (sessions.Preview, error) {
	if p.State == sessions.PreviewShown {
		return p, nil
	}
	out := channels.Outbound{Key: p.Key, To: p.To, Text: p.Text, Plain: p.Text, ReplyTo: p.ReplyTo}
	rec, idempotent := channels.Probe(ch).Reconciler, ch.Limits(p.To).Idempotent
	var r channels.Receipt
	there := true
	err := channels.CatchPanic(func() (err error) {
		switch {
		case rec != nil:
			r, there, err = rec.Arrived(ctx, out)
		case idempotent:
			r, err = ch.Send(ctx, out)
		default:
			err = errUnclear
		}
		return err
	})
	switch {
	case err != nil && !errors.Is(err, errUnclear) && idempotent && channels.Classify(err).Class == channels.Ambiguous:
		return p, &channels.Error{Class: channels.Transient, Err: err} // it may be asked again
	case err != nil:
		return p, err
	case !there:
		return p, errAbsent
	}
	return g.arrivedPreview(ctx, p, r.ID), nil
}

// previewOf gives the preview that the next part of a delivery is to be made of. Whoever was to take it back leaves it: the answer comes
// after all, and it has the chat to itself.
func (g *Dispatcher) previewOf(d sessions.Delivery) (sessions.Preview, bool) {
	if d.Kind != sessions.Reply || d.Part > 0 {
		return sessions.Preview{}, false
	}
	return g.previews.stay(d.Run)
}

// becomes makes the first part of an answer out of its preview.
func (g *Dispatcher) becomes(ctx context.Context, o *account, ch channels.Channel, d sessions.Delivery, out channels.Outbound, last bool, p sessions.Preview) (sessions.Delivery, bool, bool) {
	// giveUp has the answer sent as a message of its own. Only now may it be: a process that finds no preview need not look for one.
	giveUp := func(why string, end sessions.TryEnd) (sessions.Delivery, bool, bool) {
		if !g.endPreview(ctx, p.Run) {
			return d, false, false
		}
		return g.again(ctx, d, 0, why, end)
	}
	if p.To != d.To {
		return giveUp("the chat has a new id, and its preview is in the old one", sessions.MayBeTwice)
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	defer g.atShutdown(cancel)()
	p, err := g.resolve(call, ch, p)
	switch {
	case errors.Is(err, errAbsent):
		return giveUp("its preview did not arrive", sessions.Absent)
	case errors.Is(err, errUnclear):
		g.metrics.ambiguous()
		return giveUp("its preview may have arrived", sessions.MayBeTwice)
	case err == nil:
		err = channels.CatchPanic(func() error {
			e := channels.Probe(ch).Editor
			if e == nil {
				return &channels.Error{Class: channels.Unsupported, Err: errors.New("messages cannot be edited here any more")}
			}
			return e.Edit(call, p.ID, out)
		})
	}
	if err == nil {
		next, final, ok := g.arrived(ctx, d, channels.Receipt{ID: p.ID, At: time.Now()}, last)
		return next, final, ok && g.endPreview(ctx, p.Run)
	}
	switch e := channels.Classify(err); e.Class {
	case channels.Rejected, channels.Unsupported:
		switch gone, again := g.takeBack(call, ch, p); {
		case again > 0:
			return g.again(ctx, d, again, "its preview cannot be taken back yet: "+e.Error(), sessions.NotArrived)
		case gone:
			return giveUp("its preview could not become it: "+e.Error(), sessions.Absent)
		default:
			return giveUp("its preview could not become it: "+e.Error(), sessions.MayBeTwice)
		}
	case channels.Ambiguous: // the same edit twice is as good as once
		return g.again(ctx, d, g.ages.Backoff(d.Attempt), e.Error(), sessions.MayHave)
	default:
		return g.failed(ctx, o, ch, d, out, last, e)
	}
}

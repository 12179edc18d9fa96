package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// maxRetractTries bounds the tries to retract a preview; a later sweep begins again.
const maxRetractTries = 5

// account gives the account of an address, and its channel; nil when it is not attached.
func (x *previews) account(to channels.Address) (*account, channels.Channel) {
	a := x.accounts.of(settings.Ref(to))
	ch, _ := x.accounts.channel(a)
	return a, ch
}

// remove removes a preview, or, where nothing can be removed, makes it say nothing. gone is false when it stays; again says when
// to try once more.
func (x *previews) remove(ctx context.Context, ch channels.Channel, p sessions.Preview) (gone bool, again time.Duration) {
	can := channels.Probe(ch)
	err := channels.CatchPanic(channels.Ambiguous, func() (err error) {
		if p, err = x.reconcilePreview(ctx, ch, p); err != nil {
			return err
		}
		switch {
		case can.Remover != nil:
			return can.Remover.Remove(ctx, p.To, p.ID)
		case can.Editor != nil:
			return can.Editor.Edit(ctx, p.ID, channels.Outbound{Key: p.Key, To: p.To, Text: "…", Plain: "…"})
		}
		return &channels.Error{Class: channels.Unsupported, Err: errors.New("the platform allows neither deletes nor edits here")}
	})
	if err == nil || errors.Is(err, errAbsent) {
		return true, 0
	}
	switch e := channels.Classify(err); e.Class {
	case channels.Rejected, channels.Unsupported:
		x.log.Warn("partial answer stays in the chat", keyRun, p.Run, keyAddress, p.To.String(), keyErr, e.Err)
		return false, 0
	default:
		return false, max(e.RetryAfter, time.Second)
	}
}

// startRetract retracts the preview of a run whose answer does not come. It returns at once.
func (x *previews) startRetract(run sessions.RunID) {
	p, ok := x.open.startRetract(run)
	if !ok {
		return
	}
	x.life.begin(func(ctx context.Context) { x.retractWithRetries(ctx, p) }) // else it is in the store: the next process finds it
}

// retractWithRetries retracts a preview, in several tries. When none works, a later sweep begins again.
func (x *previews) retractWithRetries(ctx context.Context, p sessions.Preview) {
	for try := range maxRetractTries {
		again, ok := x.retractOnce(ctx, p)
		if !ok || again == 0 {
			return
		}
		if !channels.Sleep(ctx, max(again, time.Second<<try)) {
			return
		}
	}
	if _, there := x.open.keep(p.Run); there {
		x.log.Warn("cannot delete a partial answer; retrying later", keyRun, p.Run, keyAddress, p.To.String())
	}
}

// retractOnce retracts a preview under the policy, as soon as its account is attached, and forgets it: a chat that may not be written to is left
// as it is (contract P7). It does nothing when the answer came meanwhile. ok is false when ctx ended; again says when to try once more.
func (x *previews) retractOnce(ctx context.Context, p sessions.Preview) (again time.Duration, ok bool) {
	a, release := x.awaitChat(ctx, p.To)
	if release == nil {
		return 0, false
	}
	defer release()
	p, there := x.open.retracting(p.Run) // only now it stays as it is: while the chat was not ours it may have become the answer
	if !there {
		return 0, true
	}
	defer x.inFlight.begin(p.Session, p.To)()
	s, err := x.store.Get(ctx, p.Session)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		s = sessions.Session{Key: p.Session, Agent: p.Session.Agent()}
	case err != nil:
		return time.Second, true
	}
	if !x.settings().SendPolicyTo(p.To)(s).Allowed() {
		x.log.Info("partial answer stays; the send policy forbids edits", keyRun, p.Run, keyAddress, p.To.String())
		return 0, x.end(ctx, p.Run)
	}
	ch, _ := x.accounts.channel(a)
	if ch == nil {
		return time.Second, true // it was taken away meanwhile
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), previewTimeout)
	defer cancel()
	if _, again = x.remove(call, ch, p); again > 0 {
		return again, true
	}
	return 0, x.end(ctx, p.Run)
}

// awaitChat waits until a chat's account is attached, the pace allows a call, and nothing waits for delivery there. The chat is locked then;
// release is nil when ctx ended.
func (x *previews) awaitChat(ctx context.Context, to channels.Address) (a *account, release func()) {
	for {
		to = x.settings().Moved.Called(to) // its account may be renamed while it is waited for
		a = x.accounts.of(settings.Ref(to))
		ch, changed := x.accounts.channel(a)
		if ch != nil {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return a, nil
		}
	}
	if a.pace.Wait(ctx, to) != nil {
		return a, nil
	}
	for {
		if release, free := x.queues.lockChat(a, to.Chat); free {
			return a, release
		}
		if !channels.Sleep(ctx, time.Second) {
			return a, nil
		}
	}
}

// load finds the previews that an earlier process left.
func (x *previews) load(ctx context.Context) error {
	list, err := x.store.Previews(ctx)
	if err != nil {
		return fmt.Errorf("listing previews: %w", err)
	}
	for _, p := range list {
		x.open.put(p)
	}
	return nil
}

// sweep retracts the previews whose runs are over and whose answers do not come; the others become their answers.
func (x *previews) sweep(ctx context.Context) {
	for _, p := range x.open.all() {
		run, err := x.store.GetRun(ctx, p.Run)
		if err == nil && run.Status.Final() || errors.Is(err, sessions.ErrNotFound) {
			x.retract(ctx, p.Run)
		}
	}
}

// retract retracts the preview of a run that is over, unless its answer is to come, or has.
func (x *previews) retract(ctx context.Context, run sessions.RunID) {
	if _, there := x.open.get(run); !there {
		return
	}
	sent, err := x.store.ListDeliveries(ctx, sessions.DeliveryQuery{Run: run})
	if err != nil {
		x.log.Error("cannot read the state of an answer", keyRun, run, keyErr, err)
		return // the loop reads it again
	}
	for _, d := range sent {
		if d.Kind == sessions.Reply {
			if d.State.Final() {
				x.onAnswered(d)
			}
			return
		}
	}
	x.startRetract(run)
}

// onAnswered retracts or forgets the preview of an answer that is final and was not sent.
func (x *previews) onAnswered(d sessions.Delivery) {
	if _, there := x.open.get(d.Run); !there || d.Kind != sessions.Reply {
		return
	}
	if d.State != sessions.Withheld && d.State != sessions.Held && d.Part == 0 {
		x.startRetract(d.Run)
		return
	}
	x.life.begin(func(ctx context.Context) { x.end(ctx, d.Run) })
}

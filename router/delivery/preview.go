package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"
	"unicode/utf8"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// How an answer is shown by edits of one message.
const (
	previewDelay       = time.Second      // a faster answer is sent whole
	minPreviewLength   = 40               // characters of the first words
	directEditInterval = time.Second      // between two edits
	groupEditInterval  = 3 * time.Second  // the same where several people read
	previewTimeout     = 10 * time.Second // one call; a policy flip, and the answer, wait for it
)

// previews shows answers as far as they are written, by messages that are edited, and retracts those whose answer does not come. It has no
// lock of its own: openPreviews has its state.
type previews struct {
	store    Store
	settings func() *settings.Snapshot
	accounts *accounts
	queues   *queues
	inFlight *inFlight
	life     *lifetime
	retrier  *retrier
	log      *slog.Logger
	open     openPreviews
}

// stream says how the answer of a run is shown while it is being written. Only a turn that answers people is.
func (x *previews) stream(run sessions.Run) channels.Stream {
	if run.Kind != sessions.TurnRun {
		return channels.StreamOff
	}
	s, can := x.settings().Account(run.Reply).Streaming, x.accounts.caps(run.Reply)
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

// preview shows an answer as far as it is written, by a message that is edited. It keeps to one run.
type preview struct {
	previews *previews
	run      sessions.Run
	shown    string // the newest text that arrived
	over     bool   // nothing more is shown
}

// show brings the message up to a text; false when the caller should try again later. It never waits for its turn: deliveries go first.
func (w *preview) show(ctx context.Context, text string) (done bool) {
	x := w.previews
	to := x.settings().Moved.Called(w.run.Reply)
	was, begun := x.open.get(w.run.ID)
	if w.over {
		return true
	}
	if !begun {
		to = x.settings().Moved.Current(to)
	}
	if w.shown == "" && utf8.RuneCountInString(text) < minPreviewLength {
		return false
	}
	a, ch := x.account(to)
	if ch == nil {
		return false
	}
	parts := channels.Split(text, x.accounts.limits(a, ch, to))
	if len(parts) == 0 {
		return false
	}
	if parts[0].Text == w.shown {
		return true
	}
	release, free := x.queues.lockChat(a, to.Chat)
	if !free {
		return false
	}
	defer release()
	defer x.inFlight.begin(w.run.Key, to)()
	if s, err := x.store.Get(ctx, w.run.Key); err != nil || !x.settings().SendPolicyTo(to)(s).Allowed() || !a.pace.Try(to) {
		return false
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), previewTimeout)
	defer cancel()
	out := channels.Outbound{Key: string(w.run.ID) + ".preview", To: to, Text: parts[0].Text, Plain: parts[0].Plain, ReplyTo: w.run.ReplyTo.Moved(w.run.Reply, to)}
	var err error
	switch {
	case !begun:
		err = w.begin(call, a, ch, out)
	case was.State == sessions.PreviewSending:
		if _, err = x.reconcilePreview(call, ch, was); err == nil {
			return false // it says its first words: it is edited next
		}
		if errors.Is(err, errAbsent) {
			err = w.begin(call, a, ch, out)
		}
	default:
		err = channels.CatchPanic(channels.Ambiguous, func() error { return x.accounts.caps(to).Editor.Edit(call, was.ID, out) })
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
		x.log.Debug("answer has no live preview", keyRun, w.run.ID, keyClass, e.Class, keyErr, e.Err)
	}
	return true
}

// begin sends the first words. They are in the store before they leave.
func (w *preview) begin(ctx context.Context, a *account, ch channels.Channel, out channels.Outbound) error {
	x := w.previews
	p := sessions.Preview{Run: w.run.ID, Session: w.run.Key, To: out.To, Key: out.Key, State: sessions.PreviewSending, Text: out.Text, ReplyTo: out.ReplyTo,
		Known: x.settings().Accounts[a.ref].Pacing.NewChatsPerDay > 0}
	if err := x.store.BeginPreview(ctx, p); err != nil {
		return &channels.Error{Class: channels.Rejected, Err: err}
	}
	x.open.put(p)
	var r channels.Receipt
	err := channels.CatchPanic(channels.Ambiguous, func() (err error) {
		r, err = ch.Send(ctx, out)
		return err
	})
	switch {
	case err == nil:
		x.confirm(ctx, p, r.ID)
	case channels.Classify(err).Class != channels.Ambiguous: // it did not arrive
		x.end(ctx, p.Run)
	}
	return err
}

// confirm records the id of a preview.
func (x *previews) confirm(ctx context.Context, p sessions.Preview, id channels.MessageID) sessions.Preview {
	if err := x.store.ShowPreview(ctx, p.Run, id); err != nil { // the next process has to find out
		x.log.Error("cannot store a preview", keyRun, p.Run, keyErr, err)
	}
	p.State, p.ID = sessions.PreviewShown, id
	x.open.put(p)
	return p
}

// end forgets a preview. It is false when the host stops before that.
func (x *previews) end(ctx context.Context, run sessions.RunID) bool {
	ok := x.retrier.retry(ctx, "end preview", sessions.DeliveryID(run), func(ctx context.Context) error { return x.store.EndPreview(ctx, run) })
	if ok {
		x.open.drop(run)
	}
	return ok
}

// errAmbiguous says that the host cannot find out whether a preview arrived; errAbsent that it did not.
var (
	errAmbiguous = &channels.Error{Class: channels.Rejected, Err: errors.New("the preview may have arrived, and the platform cannot be asked")}
	errAbsent    = &channels.Error{Class: channels.Rejected, Err: errors.New("the preview did not arrive")}
)

// reconcilePreview finds out the id of a preview that was being sent when its answer was lost. What is asked for, or sent once more
// under the same key, is what was sent then, whatever the answer says by now: platforms may compare it.
func (x *previews) reconcilePreview(ctx context.Context, ch channels.Channel, p sessions.Preview) (sessions.Preview, error) {
	if p.State == sessions.PreviewShown {
		return p, nil
	}
	out := channels.Outbound{Key: p.Key, To: p.To, Text: p.Text, Plain: p.Text, ReplyTo: p.ReplyTo}
	rec, idempotent := channels.Probe(ch).Reconciler, ch.Limits(p.To).Idempotent
	var r channels.Receipt
	there := true
	err := channels.CatchPanic(channels.Ambiguous, func() (err error) {
		switch {
		case rec != nil:
			r, there, err = rec.Arrived(ctx, out)
		case idempotent:
			r, err = ch.Send(ctx, out)
		default:
			err = errAmbiguous
		}
		return err
	})
	switch {
	case err != nil && !errors.Is(err, errAmbiguous) && idempotent && channels.Classify(err).Class == channels.Ambiguous:
		return p, &channels.Error{Class: channels.Transient, Err: err} // it may be asked again
	case err != nil:
		return p, err
	case !there:
		return p, errAbsent
	}
	return x.confirm(ctx, p, r.ID), nil
}

// of gives the preview that the next part of a delivery is made of. It is not retracted any more: the answer comes after all, and has the chat
// to itself.
func (x *previews) of(d sessions.Delivery) (sessions.Preview, bool) {
	if d.Kind != sessions.Reply || d.Part > 0 {
		return sessions.Preview{}, false
	}
	return x.open.keep(d.Run)
}

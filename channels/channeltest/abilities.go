package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"parley/channels"
)

// Full is a Fake that can type, draft, edit, remove, react, publish commands and report its health.
type Full struct {
	*Fake
	channels.Typer
	channels.Drafter
	channels.Editor
	channels.Remover
	channels.Reactor
	channels.Commander
	channels.Reporter
}

// Full gives the fake with all abilities but reconciliation.
func (f *Fake) Full() *Full {
	return &Full{Fake: f, Typer: f.Typer(), Drafter: f.Drafter(), Editor: f.Editor(), Remover: f.Remover(), Reactor: f.Reactor(), Commander: f.Commander(), Reporter: f.Reporter()}
}

// Single abilities of a fake, for tests that need a channel with exactly these.
type (
	typer   struct{ f *Fake }
	drafter struct{ f *Fake }
	editor  struct{ f *Fake }
	remover struct{ f *Fake }
	reactor struct{ f *Fake }
	acker   struct{ f *Fake }
	fader   struct {
		f     *Fake
		after time.Duration
	}
	commander  struct{ f *Fake }
	reporter   struct{ f *Fake }
	reconciler struct{ f *Fake }
)

// Typer is the ability to show "typing…"; calls are recorded as OpTyping.
func (f *Fake) Typer() channels.Typer { return typer{f} }

// Drafter is the ability to show drafts; calls are recorded as OpDraft.
func (f *Fake) Drafter() channels.Drafter { return drafter{f} }

// Editor is the ability to edit shown messages; calls are recorded as OpEdit.
func (f *Fake) Editor() channels.Editor { return editor{f} }

// Remover is the ability to take shown messages back; calls are recorded as OpRemove.
func (f *Fake) Remover() channels.Remover { return remover{f} }

// Reactor is the ability to react to messages; calls are recorded as OpReact.
func (f *Fake) Reactor() channels.Reactor { return reactor{f} }

// Acknowledger is the ability to show that a message was taken; calls are recorded as OpAck.
func (f *Fake) Acknowledger() channels.Acknowledger { return acker{f} }

// Fader is the ability to take a sign away, after so long; calls are recorded as OpFade.
func (f *Fake) Fader(after time.Duration) channels.Fader { return fader{f, after} }

// Commander is the ability to publish commands; calls are recorded as OpPublish.
func (f *Fake) Commander() channels.Commander { return commander{f} }

// Reporter reports Connected while Run is under way and Stopped otherwise, unless SetHealth said something else.
func (f *Fake) Reporter() channels.Reporter { return reporter{f} }

// Reconciler finds messages by the key of their Outbound.
func (f *Fake) Reconciler() channels.Reconciler { return reconciler{f} }

func (t typer) Typing(ctx context.Context, to channels.Address) error {
	return t.f.record(ctx, Call{Op: OpTyping, To: to})
}

func (d drafter) Draft(ctx context.Context, to channels.Address, id, text string) error {
	return d.f.record(ctx, Call{Op: OpDraft, To: to, ID: channels.MessageID(id), Text: text})
}

func (r reactor) React(ctx context.Context, to channels.Address, id channels.MessageID, emoji string) error {
	return r.f.record(ctx, Call{Op: OpReact, To: to, ID: id, Text: emoji})
}

func (a acker) Acknowledge(ctx context.Context, to channels.Address, id channels.MessageID) error {
	return a.f.record(ctx, Call{Op: OpAck, To: to, ID: id})
}

func (x fader) FadeAfter(channels.Address, channels.MessageID) time.Duration { return x.after }

func (x fader) Fade(ctx context.Context, to channels.Address, id channels.MessageID) error {
	return x.f.record(ctx, Call{Op: OpFade, To: to, ID: id})
}

func (c commander) Publish(ctx context.Context, cmds []channels.Command) error {
	return c.f.record(ctx, Call{Op: OpPublish, Commands: slices.Clone(cmds)})
}

func (e editor) Edit(ctx context.Context, id channels.MessageID, out channels.Outbound) error {
	return e.f.record(ctx, Call{Op: OpEdit, To: out.To, ID: id, Out: out})
}

func (r remover) Remove(ctx context.Context, to channels.Address, id channels.MessageID) error {
	return r.f.record(ctx, Call{Op: OpRemove, To: to, ID: id})
}

func (r reporter) Health() channels.Health {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	h := r.f.state
	if h.State == channels.Connected {
		h.LastSeen = time.Now()
	}
	return h
}

func (r reconciler) Arrived(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	for _, c := range r.f.Shown(out.To) {
		if c.Out.Key == out.Key {
			return c.Receipt, true, nil
		}
	}
	return channels.Receipt{}, false, nil
}

// record plays the script for a call that shows no new message, applies an edit or a removal and keeps the call.
func (f *Fake) record(ctx context.Context, c Call) error {
	c.At = time.Now()
	arrives, _, err := f.play(ctx, c.Op, c.To.Chat)
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.shown, func(s Call) bool { return s.Receipt.ID == c.ID && s.To.Chat == c.To.Chat })
	if c.Op == OpRemove && arrives && i >= 0 {
		f.shown = slices.Delete(f.shown, i, i+1)
	}
	if n, fits := length(c.Out.Text, f.opts.Limits); c.Op == OpEdit && err == nil && (!fits || c.Out.Text == "") {
		arrives, err = false, &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("fake: an edit of %d", n)}
	}
	if c.Op == OpEdit && arrives {
		if i >= 0 {
			f.shown[i].Out.Text, f.shown[i].Out.Plain = c.Out.Text, c.Out.Plain
		} else if err == nil {
			err = &channels.Error{Class: channels.Rejected, Err: errors.New("fake: no such message to edit")}
		}
	}
	c.Err = err
	f.calls = append(f.calls, c)
	f.notify()
	return err
}

// length counts a text in the unit of the limits and reports whether it fits.
func length(text string, l channels.Limits) (int, bool) {
	n := Length(text, l.Unit)
	return n, l.Text == 0 || n <= l.Text
}

// Length counts a text in a unit.
func Length(text string, u channels.Unit) int {
	switch u {
	case channels.Bytes:
		return len(text)
	case channels.UTF16:
		n := 0
		for _, r := range text {
			n += utf16.RuneLen(r)
		}
		return n
	default:
		return utf8.RuneCountInString(text)
	}
}

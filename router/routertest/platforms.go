package routertest

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
)

// Platform is how a fake platform takes a message that is sent again.
type Platform struct {
	Name       string
	Limits     channels.Limits
	Reconciles bool // it can be asked what arrived
}

// Platforms that differ in what they do with a repeated send.
var (
	Repeats    = Platform{Name: "repeats"} // as Telegram
	Idempotent = Platform{Name: "idempotent", Limits: channels.Limits{Idempotent: true}}
	Reconciles = Platform{Name: "reconciles", Reconciles: true}
)

// Finder is a channel that can say whether a message arrived.
type Finder struct {
	*channeltest.Fake
	Asked *[]channels.Outbound
	There bool
	Err   func(asked int) error // nil = it always says
}

// Arrived implements channels.Reconciler.
func (f Finder) Arrived(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	*f.Asked = append(*f.Asked, out)
	if f.Err == nil {
		return channels.Receipt{ID: "found"}, f.There, nil
	}
	return channels.Receipt{ID: "found"}, f.There, f.Err(len(*f.Asked))
}

// Class is a scripted error of a class.
func Class(c channels.Class) error { return &channels.Error{Class: c, Err: errors.New("scripted")} }

// ShortLength is the length of a message that was cut to a line, in characters.
const ShortLength = 160

// Shortened is a text cut to a line.
func Shortened(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > ShortLength {
		line = append(line[:ShortLength-1], '…')
	}
	return string(line)
}

// ErrScripted is what scripted errors wrap.
var ErrScripted = errors.New("scripted")

// Failure is a scripted error of a class, which may say how long to wait.
func Failure(class channels.Class, after time.Duration) error {
	return &channels.Error{Class: class, RetryAfter: after, Err: ErrScripted}
}

// BadTyper is a channel that panics when it is to show that somebody types.
type BadTyper struct{ *channeltest.Fake }

// Typing implements channels.Typer.
func (BadTyper) Typing(context.Context, channels.Address) error { panic("in the adapter") }

package agent

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"
)

// The numbers of a Breaker.
const (
	BreakerFailures = 5                // failed calls in a row that open it
	BreakerPause    = 30 * time.Second // how long it then lets nothing through
)

// Breaker is a Model that leaves a provider alone for a while after it failed again and again: calls then fail at once, as Tripped,
// without a request. After the pause one call is let through, with one request; when it succeeds all are. It holds for all models of
// the provider.
type Breaker struct {
	model Model
	name  string
	log   *slog.Logger
	cb    *gobreaker.TwoStepCircuitBreaker[struct{}]
}

var _ Model = (*Breaker)(nil)

// NewBreaker puts a breaker before a provider. log may be nil.
func NewBreaker(provider string, m Model, log *slog.Logger) *Breaker {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Breaker{model: m, name: provider, log: log, cb: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: provider, Timeout: BreakerPause,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= BreakerFailures },
		IsSuccessful: func(err error) bool { return !failing(err) },
		IsExcluded:   func(err error) bool { return errors.Is(err, errNoVerdict) },
	})}
}

// errNoVerdict ends a call that says nothing about its provider: the caller left.
var errNoVerdict = errors.New("the caller left")

// failing reports whether an error speaks against the provider, and not against the request, the key or the caller's rate.
func failing(err error) bool {
	e, ok := errors.AsType[*ModelError](err)
	if !ok {
		return err != nil
	}
	switch e.Class {
	case Unreachable, Timeout, Overloaded, Broken:
		return true
	}
	return false
}

// State is "closed" when calls are let through, "open" when none is, "half-open" when one is.
func (b *Breaker) State() string { return b.cb.State().String() }

// Stream implements Model.
func (b *Breaker) Stream(ctx context.Context, p Prompt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		done, err := b.cb.Allow()
		if err != nil {
			yield(Delta{}, &ModelError{Class: Tripped, Provider: b.name, Err: err})
			return
		}
		if b.cb.State() == gobreaker.StateHalfOpen {
			p.Tries = 1
		}
		verdict := errNoVerdict
		defer func() { b.settle(ctx, done, verdict) }()
		for d, err := range b.model.Stream(ctx, p) {
			switch {
			case err != nil && ctx.Err() == nil:
				verdict = err
			case d.Final != nil:
				verdict = nil
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// settle tells the breaker how a call went.
func (b *Breaker) settle(ctx context.Context, done func(error), verdict error) {
	before := b.State()
	done(verdict)
	switch after := b.State(); {
	case before == after:
	case after == gobreaker.StateOpen.String():
		b.log.LogAttrs(ctx, slog.LevelWarn, "the model provider fails again and again and is left alone for a while",
			slog.String("provider", b.name), slog.Duration("for", BreakerPause), slog.Any("err", verdict))
	case after == gobreaker.StateClosed.String():
		b.log.LogAttrs(ctx, slog.LevelInfo, "the model provider works again", slog.String("provider", b.name))
	}
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"parley/sessions"
)

// ErrTooLarge is wrapped by a ModelError of class Broken whose answer was larger than what is kept: the next one would be as well.
var ErrTooLarge = errors.New("the answer is too large")

// ErrNoByte is wrapped by a ModelError of class Timeout when no byte of an answer had come, ErrStalled when an answer that had begun
// stopped coming: only such timeouts are tried again.
var (
	ErrNoByte  = errors.New("the provider sent no byte in time")
	ErrStalled = errors.New("the answer stalled")
)

// MaxRetryAfter is the longest wait that a provider may ask for. A longer one ends the call at once.
const MaxRetryAfter = 60 * time.Second

// Retry is how providers try again. Try is one request: it hands pieces to yield, the last one with Final set, and stops without
// an error when yield returns false. Its error is a *ModelError.
type Retry struct {
	Provider string
	Logger   *slog.Logger // nil = silent
	Tries    int          // at most; 0 = MaxTries
	Try      func(ctx context.Context, yield func(Delta) bool) error
	Requests func() int // how many requests were made so far, where one try may make several; nil = one each
}

// Stream runs Try at most Tries times: again only when the provider could not be reached, sent nothing in time, was busy, or its answer
// broke off. What a try had yielded was a draft: no tool of it has run, as calls come with Final. The next try begins with a Delta that
// has Restart set. The error of the last try has the longest part of all of them (ModelError.Part). Stream waits as long as the provider asked for, to the letter, when that is at most MaxRetryAfter and ends before ctx
// does; otherwise it gives up at once. Without such a wish it waits about 0.5 s, then about 1 s.
func (r Retry) Stream(ctx context.Context) iter.Seq2[Delta, error] {
	tries := r.Tries
	if tries <= 0 {
		tries = MaxTries
	}
	return func(yield func(Delta, error) bool) {
		var pause *backoff.ExponentialBackOff
		yielded, final, stopped := false, false, false
		var longest partial
		for try := 1; ; try++ {
			fresh := try > 1 && yielded // the draft is replaced once something comes in its place
			err := r.Try(ctx, func(d Delta) bool {
				if fresh {
					fresh = false
					if stopped = !yield(Delta{Restart: true}, nil); stopped {
						return false
					}
				}
				yielded, final = true, final || d.Final != nil
				stopped = !yield(d, nil)
				return !stopped
			})
			if stopped || err == nil {
				return
			}
			e, wait := r.modelError(ctx, err, try)
			longest.keep(e)
			if final || try >= tries || !again(e) || ctx.Err() != nil {
				yield(Delta{}, e)
				return
			}
			if pause == nil {
				pause = backoff.NewExponentialBackOff()
				pause.Multiplier = 2
			}
			if next := pause.NextBackOff(); wait == 0 {
				wait = next
			}
			wait = max(wait, 0)
			if end, ok := ctx.Deadline(); wait > MaxRetryAfter || ok && !time.Now().Add(wait).Before(end) {
				yield(Delta{}, e)
				return
			}
			if r.Logger != nil {
				r.Logger.LogAttrs(ctx, slog.LevelWarn, "retrying the model", slog.String("provider", r.Provider),
					slog.Duration("in", wait), slog.Any("why", e))
			}
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				yield(Delta{}, &ModelError{Class: e.Class, Provider: r.Provider, Status: e.Status, RetryAfter: e.RetryAfter, Tries: try, Requests: e.Requests,
					Err: fmt.Errorf("%w while waiting to retry after: %w", ctx.Err(), e.Err)})
				return
			}
		}
	}
}

// modelError gives err with the number of tries, and names ctx's end as the reason when that is what it was; and the wait that the
// provider asked for: 0 = none, negative = at once.
func (r Retry) modelError(ctx context.Context, err error, try int) (*ModelError, time.Duration) {
	e, ok := errors.AsType[*ModelError](err)
	if !ok {
		e = &ModelError{Class: Broken, Err: err}
	}
	out := *e
	out.Provider, out.Tries = r.Provider, try
	if r.Requests != nil {
		out.Requests = r.Requests()
	}
	if ctxErr := ctx.Err(); ctxErr != nil && !errors.Is(out.Err, ctxErr) {
		out.Err = fmt.Errorf("%w: %w", ctxErr, out.Err)
	}
	out.RetryAfter = max(0, e.RetryAfter)
	return &out, e.RetryAfter
}

// partial is the longest answer that may be complete of the tries so far: a stream that breaks off mostly breaks off elsewhere the next time.
type partial struct {
	answer *Answer
	isPaid bool // its usage was told to Prompt.Spent
	size   int  // bytes of its texts
}

// keep notes the part that an error has, or gives it the longest one so far.
func (p *partial) keep(e *ModelError) {
	size := 0
	if e.Part != nil {
		for _, b := range e.Part.Content {
			if b.Type == sessions.TextBlock {
				size += len(b.Text)
			}
		}
	}
	switch {
	case e.Part != nil && (p.answer == nil || size >= p.size):
		*p = partial{e.Part, e.PartSpent, size}
	case p.answer != nil && again(e):
		e.Part, e.PartSpent = p.answer, p.isPaid
	}
}

func again(e *ModelError) bool {
	switch e.Class {
	case Unreachable, RateLimited, Overloaded:
		return true
	case Broken:
		return !errors.Is(e.Err, ErrTooLarge)
	case Timeout:
		return errors.Is(e.Err, ErrNoByte) || errors.Is(e.Err, ErrStalled)
	default:
		return false
	}
}

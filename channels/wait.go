package channels

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Sleep waits and reports whether ctx is still alive.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// NewBackoff gives waits between tries that double up to the longest, with a jitter of one half either way.
func NewBackoff(first, longest time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = first, longest, 2
	b.Reset()
	return b
}

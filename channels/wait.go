package channels

import (
	"context"
	"math"
	"math/rand/v2"
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

const (
	// maxAsked is the longest wait of a platform that is kept to the letter. The bans of Discord's Cloudflare last about an hour;
	// Telegram has asked a bot for 10,072 s (https://github.com/tdlib/td/issues/1331, comment of 2024-05-03).
	maxAsked = 24 * time.Hour
	// askedAgain is the time to the next try when the platform asked for more: milliseconds in place of seconds look like days or weeks.
	askedAgain = 15 * time.Minute
)

// Asked returns how long to wait when a platform asked for a wait: to the letter up to a day. A longer wait is taken for an error of the
// platform, so the platform is asked again every quarter of an hour or so.
func Asked(wait time.Duration) time.Duration {
	if wait <= maxAsked {
		return max(wait, 0)
	}
	return askedAgain*3/4 + rand.N(askedAgain/4)
}

// AskedSeconds is Asked for a number of seconds, which may be out of the range of a duration. It is rounded up to milliseconds.
func AskedSeconds(seconds float64) time.Duration {
	switch {
	case math.IsNaN(seconds) || seconds <= 0:
		return 0
	case seconds > maxAsked.Seconds():
		return Asked(maxAsked + 1)
	}
	return time.Duration(math.Ceil(seconds*1000)) * time.Millisecond
}

// NewBackoff gives waits between tries that double up to the longest, with a jitter of one half either way.
func NewBackoff(first, longest time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = first, longest, 2
	b.Reset()
	return b
}

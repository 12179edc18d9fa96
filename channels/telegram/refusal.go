package telegram

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parley/channels"
)

const (
	refusedFor   = 3 * time.Minute // a token that is not accepted for less may be so again
	refusedTries = 4               // calls that say so, at least
	refusedFirst = 5 * time.Second // between two tries before that, growing
	refusedMost  = time.Minute
)

// refusal is how long Telegram has not accepted the token. One such answer is no verdict: servers that restart, and those behind apiUrl that
// have not logged in yet, give it too.
type refusal struct {
	mu    sync.Mutex
	since time.Time // zero = it is accepted, as far as is known
	tries int
	over  bool // it counts
}

// note counts one answer and reports whether there were enough of them.
func (r *refusal) note() (since time.Time, enough bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		r.since = time.Now()
	}
	r.tries++
	return r.since, r.over || r.tries >= refusedTries && time.Since(r.since) >= refusedFor
}

// counts notes that the token is not valid, until a call works.
func (r *refusal) counts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

func (r *refusal) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.tries, r.over = time.Time{}, 0, false
}

// refused handles an answer of Telegram that does not accept the token. It gives the error that ends Run once that was said again and again
// over some minutes and getMe says it too; before that it waits.
func (c *Channel) refused(ctx context.Context, failed *channels.Error) error {
	since, enough := c.refusal.note()
	if enough {
		_, err := c.calls.ofBot(ctx, c.calls.sends, callTimeout, "getMe", nil)
		if ctx.Err() != nil {
			return nil
		}
		if channels.Classify(err).Class == channels.Unauthorized && err != nil {
			c.refusal.counts()
			c.health.Set(ctx, channels.Revoked, fmt.Sprintf("Telegram has not accepted the bot token since %s (%v): get a new one from @BotFather and put it into the configuration. parley retries the old one about every 30 minutes",
				since.UTC().Format(time.RFC3339), failed.Err))
			return &channels.Error{Class: channels.Unauthorized, Err: failed.Err}
		}
	}
	c.health.Set(ctx, channels.Disconnected, fmt.Sprintf("Telegram rejects the bot token (%v); parley tries again before it stops the account", failed.Err))
	return nil
}

package clock

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/channels"
	"parley/sessions"
)

// MaxBackoff is the longest wait between two tries.
const MaxBackoff = time.Minute

// Backoff grows from one second to a minute, with jitter.
func (c *Steady) Backoff(try int) time.Duration {
	d := time.Second << min(max(try-1, 0), 6)
	return min(d, MaxBackoff)/2 + c.jitter(min(d, MaxBackoff)/2+1)
}

// retryTimeout bounds one try.
const retryTimeout = 5 * time.Second

// Retry calls f, with longer and longer waits in between, until f says that it is done, and then returns true, or until life has ended.
// A try that began before ctx or life ended is not cut short: what was paid for is kept if at all possible.
func (c *Steady) Retry(ctx, life context.Context, f func(context.Context) (done bool)) (done bool) {
	for try := 1; ; try++ {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), retryTimeout)
		done = f(call)
		cancel()
		if done || !channels.Sleep(life, c.Backoff(try)) {
			return done
		}
	}
}

// Retrier repeats operations of the store.
type Retrier struct {
	Ages *Steady
	Log  *slog.Logger
	Host func(context.Context) context.Context // gives the context that ends with the host
}

// Do repeats a store operation until it works or the host stops: a run that was stopped or is out of time has to end in the
// store as well. It tries once more when the host has stopped: what was paid for is kept if at all possible.
func (r *Retrier) Do(ctx context.Context, what string, f func(context.Context) error) bool {
	var err error
	r.Ages.Retry(ctx, r.Host(ctx), func(ctx context.Context) (done bool) {
		if err = f(ctx); err == nil {
			return true
		}
		r.Log.Error("cannot commit to the store", keyStep, what, keyErr, err)
		return errors.Is(err, sessions.ErrNotFound)
	})
	return err == nil
}

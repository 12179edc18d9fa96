package router

import (
	"context"
	"errors"
	"log/slog"

	"parley/sessions"
)

// retrier repeats operations of the store.
type retrier struct {
	ages *clock
	log  *slog.Logger
	host func(context.Context) context.Context // gives the context that ends with the host
}

// do repeats a store operation until it works or the host stops: a run that was stopped or is out of time has to end in the
// store as well. It tries once more when the host has stopped: what was paid for is kept if at all possible.
func (r *retrier) do(ctx context.Context, what string, f func(context.Context) error) bool {
	var err error
	r.ages.retry(ctx, r.host(ctx), func(ctx context.Context) (done bool) {
		if err = f(ctx); err == nil {
			return true
		}
		r.log.Error("the store refused", keyStep, what, keyErr, err)
		return errors.Is(err, sessions.ErrNotFound)
	})
	return err == nil
}

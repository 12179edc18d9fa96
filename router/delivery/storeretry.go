package delivery

import (
	"context"
	"errors"
	"log/slog"

	"parley/router/clock"
	"parley/sessions"
)

// retrier repeats operations of the store until they work. It has no state.
type retrier struct {
	store Store
	ages  *clock.Steady
	log   *slog.Logger
}

const maxUnfitRefusals = 5 // refusals of a state that the store cannot hold

// retry writes to the store until it works or ctx ends, then once more with a short timeout: what a platform took must be recorded. A missing or changed row ends it, with an error in the log: another goroutine or a person decided.
func (s *retrier) retry(ctx context.Context, what string, id sessions.DeliveryID, write func(context.Context) error) bool {
	refusals := 0
	return s.ages.Retry(ctx, ctx, func(ctx context.Context) (done bool) {
		err := write(ctx)
		if err == nil {
			return true
		}
		s.log.Error("cannot store the state of a delivery", keyStep, what, keyDelivery, id, keyErr, err)
		if errors.Is(err, sessions.ErrNotFound) || errors.Is(err, sessions.ErrConflict) {
			return true
		}
		if errors.Is(err, sessions.ErrInvalid) { // a lost connection, a timeout or an unknown end say nothing about the state
			refusals++
		}
		return refusals >= maxUnfitRefusals // the store would refuse it for ever, and the chat continues
	})
}

// find finds a delivery, if there is one. It asks until the store answers, and once more when ctx ends.
func (s *retrier) find(ctx context.Context, id sessions.DeliveryID) (d sessions.Delivery, found bool) {
	s.ages.Retry(ctx, ctx, func(ctx context.Context) (done bool) {
		var err error
		if d, err = s.store.GetDelivery(ctx, id); err == nil || errors.Is(err, sessions.ErrNotFound) {
			found = err == nil
			return true
		}
		s.log.Error("cannot read the state of an answer", keyDelivery, id, keyErr, err)
		return false
	})
	return d, found
}

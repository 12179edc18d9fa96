package router

import (
	"context"
	"fmt"
	"time"

	"parley/sessions"
)

// retryDelivery sends a failed, expired, held or dropped delivery again.
func (g *gate) retryDelivery(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	d, err := g.store.GetDelivery(ctx, id)
	if err != nil {
		return d, err
	}
	for _, f := range d.Files {
		if why := g.outbox.Check(f); why != "" && d.State.Final() {
			return d, fmt.Errorf("%w: %s", sessions.ErrConflict, why)
		}
	}
	d, err = g.store.Requeue(ctx, id, time.Now().Add(g.settings().Delivery.TTL(d.Kind)))
	if err == nil {
		g.enqueue(d)
	}
	return d, err
}

// dropDelivery gives up on a delivery.
func (g *gate) dropDelivery(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	if err := g.store.EndDelivery(ctx, id, sessions.Dropped, "dropped by a person"); err != nil {
		return sessions.Delivery{}, err
	}
	d, err := g.store.GetDelivery(ctx, id)
	if err == nil {
		g.tell(d)
	}
	return d, err
}

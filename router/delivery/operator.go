package delivery

import (
	"context"
	"fmt"
	"time"

	"parley/sessions"
)

// Retry sends a failed, expired, held or dropped delivery again.
func (g *Dispatcher) Retry(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
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
		g.Enqueue(d)
	}
	return d, err
}

// Drop gives up on a delivery.
func (g *Dispatcher) Drop(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	if err := g.store.EndDelivery(ctx, id, sessions.Dropped, "dropped by a person"); err != nil {
		return sessions.Delivery{}, err
	}
	d, err := g.store.GetDelivery(ctx, id)
	if err == nil {
		g.record.tell(d)
	}
	return d, err
}

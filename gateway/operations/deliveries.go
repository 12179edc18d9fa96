package operations

import (
	"context"

	"parley/gateway/api"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Deliveries are the operations on outbound messages.
type Deliveries struct {
	store  *sqlstore.Store
	router *router.Router
	names  *Resolver
}

// Table lists the operations.
func (o *Deliveries) Table() api.Table {
	return api.Table{
		api.Op("deliveries.list", "GET /api/deliveries", api.Read, "Deliveries, newest first.", o.listDeliveries),
		api.Op("deliveries.count", "GET /api/counts/deliveries", api.Read, "Number of deliveries by state.", o.countDeliveries),
		api.Op("deliveries.show", "GET /api/deliveries/{delivery}", api.Read, "One delivery.", o.getDelivery),
		api.Op("deliveries.retry", "POST /api/deliveries/{delivery}/retry", api.Write, "Send a failed, expired, held or dropped delivery again.", o.retryDelivery),
		api.Op("deliveries.drop", "POST /api/deliveries/{delivery}/drop", api.Write, "Give up on a delivery.", o.dropDelivery),
	}
}

func (o *Deliveries) listDeliveries(ctx context.Context, q api.DeliveriesQuery) (_ []sessions.Delivery, err error) {
	sq := sessions.DeliveryQuery{State: q.State, Before: q.Before, Limit: q.Limit}
	if sq.Run, err = o.names.wholeRun(ctx, q.Run); err != nil {
		return nil, err
	}
	if q.Session != "" {
		if sq.Session, err = o.names.sessionKey(ctx, q.Session); err != nil {
			return nil, err
		}
	}
	list, err := o.store.ListDeliveries(ctx, sq)
	return notNil(withoutCodes(ctx, list)), err
}

func (o *Deliveries) countDeliveries(ctx context.Context, q api.DeliveryCountQuery) (_ map[sessions.DeliveryState]int, err error) {
	var sq sessions.DeliveryQuery
	if sq.Run, err = o.names.wholeRun(ctx, q.Run); err != nil {
		return nil, err
	}
	if q.Session != "" {
		if sq.Session, err = o.names.sessionKey(ctx, q.Session); err != nil {
			return nil, err
		}
	}
	return o.store.CountDeliveries(ctx, sq)
}

// withoutCodes takes the pairing codes out of deliveries that have not gone out yet, for everybody but who may let people in. The store
// forgets them when they have.
func withoutCodes(ctx context.Context, list []sessions.Delivery) []sessions.Delivery {
	if api.Caller(ctx).Scope.Allows(api.Admin) {
		return list
	}
	for i := range list {
		if list[i].Kind == sessions.Invite {
			list[i].Text = "(an answer with a pairing code)"
		}
	}
	return list
}

func (o *Deliveries) getDelivery(ctx context.Context, c api.DeliveryCall) (sessions.Delivery, error) {
	id, err := o.names.wholeDelivery(ctx, c.ID)
	if err != nil {
		return sessions.Delivery{}, err
	}
	d, err := o.store.GetDelivery(ctx, id)
	return withoutCodes(ctx, []sessions.Delivery{d})[0], err
}

func (o *Deliveries) retryDelivery(ctx context.Context, c api.DeliveryCall) (sessions.Delivery, error) {
	id, err := o.names.wholeDelivery(ctx, c.ID)
	if err != nil {
		return sessions.Delivery{}, err
	}
	d, err := o.router.RetryDelivery(ctx, id)
	return withoutCodes(ctx, []sessions.Delivery{d})[0], err
}

func (o *Deliveries) dropDelivery(ctx context.Context, c api.DeliveryCall) (sessions.Delivery, error) {
	id, err := o.names.wholeDelivery(ctx, c.ID)
	if err != nil {
		return sessions.Delivery{}, err
	}
	d, err := o.router.DropDelivery(ctx, id)
	return withoutCodes(ctx, []sessions.Delivery{d})[0], err
}

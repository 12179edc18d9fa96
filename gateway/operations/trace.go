package operations

import (
	"context"
	"net/http"

	"parley/gateway/api"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Trace are the operations that say what became of a message.
type Trace struct {
	store *sqlstore.Store
	names *Resolver
}

// Table lists the operations.
func (o *Trace) Table() api.Table {
	return api.Table{
		api.Op("trace", "GET /api/trace/{id}", api.Read, "Trace a message through the host.", o.trace),
		api.Op("skipped.list", "GET /api/skipped", api.Read, "Skipped updates, newest first.", o.skipped),
	}
}

func (o *Trace) trace(ctx context.Context, c api.TraceCall) ([]sessions.Trace, error) {
	ts, err := o.store.Trace(ctx, c.ID)
	if err == nil && len(ts) == 0 {
		ts, err = o.names.traceShort(ctx, c.ID)
	}
	for i := range ts {
		ts[i].Deliveries = withoutCodes(ctx, ts[i].Deliveries)
	}
	if err == nil && len(ts) == 0 {
		err = api.Refuse(http.StatusNotFound, "unknown message, run or delivery %.200s", c.ID)
	}
	return ts, err
}

func (o *Trace) skipped(ctx context.Context, q api.Limit) ([]sessions.SkippedEvent, error) {
	list, err := o.store.Skipped(ctx, q.Limit)
	return notNil(list), err
}

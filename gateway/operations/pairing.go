package operations

import (
	"context"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Pairing are the operations that decide who may write to the host.
type Pairing struct {
	adapters []accounts.Adapter
	store    *sqlstore.Store
	router   *router.Router
	names    *Resolver
}

// Table lists the operations.
func (o *Pairing) Table() api.Table {
	return api.Table{
		api.Op("pairing.list", "GET /api/pairing", api.Read, "Pairing requests of strangers.", o.pairings),
		api.Op("pairing.approve", "POST /api/pairing/approve", api.Admin, "Approve a pairing request. The first person becomes the owner where the configuration names none.", o.approve),
		api.Op("pairing.reject", "POST /api/pairing/reject", api.Admin, "Reject a pairing request.", o.reject),
		api.Op("pairing.admitted", "GET /api/pairing/admitted", api.Read, "People who were approved by a code.", o.admitted),
		api.Op("pairing.remove", "POST /api/pairing/remove", api.Admin, "Undo an approval or a rejection.", o.unpair),
	}
}

func (o *Pairing) pairings(ctx context.Context, _ api.None) ([]sessions.Pairing, error) {
	list, err := o.store.Pairings(ctx, time.Now())
	for i := range list {
		list[i].Hash, list[i].Delivery = "", nil
	}
	return notNil(list), err
}

func (o *Pairing) approve(ctx context.Context, c api.PairingCall) (sessions.Approval, error) {
	owner := sessions.FirstOwner
	switch {
	case c.Owner != nil && *c.Owner:
		owner = sessions.AnyOwner
	case c.Owner != nil:
		owner = sessions.NoOwner
	}
	return o.router.Admission.LetIn(ctx, c.Channel, c.Code, owner)
}

func (o *Pairing) reject(ctx context.Context, c api.PairingCall) (api.None, error) {
	return api.None{}, o.router.Admission.TurnDown(ctx, c.Channel, c.Code)
}

func (o *Pairing) admitted(ctx context.Context, _ api.None) ([]sessions.Admitted, error) {
	list, err := o.store.Admitted(ctx)
	return notNil(list), err
}

func (o *Pairing) unpair(ctx context.Context, p api.PairedPerson) (sessions.Admitted, error) {
	user, err := accounts.Table(o.adapters).Person(p.Channel, p.User)
	if err != nil {
		user = channels.UserID(p.User)
	}
	if user, err = o.names.wholePerson(ctx, p.Channel, user); err != nil {
		return sessions.Admitted{}, err
	}
	return o.router.Admission.Unpair(ctx, p.Channel, p.Account, user)
}

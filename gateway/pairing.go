package gateway

import (
	"context"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

func (h *Host) peopleOperations() api.Table {
	return api.Table{
		api.Op("pairing.list", "GET /api/pairing", api.Read, "Strangers who ask to be let in.", h.pairings),
		api.Op("pairing.approve", "POST /api/pairing/approve", api.Admin, "Let a stranger in.", h.approve),
		api.Op("pairing.reject", "POST /api/pairing/reject", api.Admin, "Turn a stranger down.", h.reject),
		api.Op("pairing.admitted", "GET /api/pairing/admitted", api.Read, "Who was let in by a code.", h.admitted),
		api.Op("pairing.remove", "POST /api/pairing/remove", api.Admin, "Take back that somebody was let in or turned down.", h.unpair),
	}
}

func (h *Host) pairings(ctx context.Context, _ api.None) ([]sessions.Pairing, error) {
	list, err := h.store.Pairings(ctx, time.Now())
	for i := range list {
		list[i].Hash, list[i].Delivery = "", nil
	}
	return listed(list), err
}

func (h *Host) approve(ctx context.Context, c api.PairingCall) (sessions.Pairing, error) {
	p, err := h.router.LetIn(ctx, c.Channel, c.Code)
	p.Hash = ""
	return p, err
}

func (h *Host) reject(ctx context.Context, c api.PairingCall) (api.None, error) {
	return api.None{}, h.router.TurnDown(ctx, c.Channel, c.Code)
}

func (h *Host) admitted(ctx context.Context, _ api.None) ([]sessions.Admitted, error) {
	list, err := h.store.Admitted(ctx)
	return listed(list), err
}

func (h *Host) unpair(ctx context.Context, p api.PairedPerson) (sessions.Admitted, error) {
	user, err := Table(h.deps.Adapters).Person(p.Channel, p.User)
	if err != nil {
		user = channels.UserID(p.User)
	}
	if user, err = h.wholePerson(ctx, p.Channel, user); err != nil {
		return sessions.Admitted{}, err
	}
	return h.router.Unpair(ctx, p.Channel, p.Account, user)
}

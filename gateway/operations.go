package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/router"
	"parley/sessions"
)

// operations is the whole API of a host: the command line, the page and outside programs use nothing else.
func (h *Host) operations() api.Table {
	return slices.Concat(h.hostOperations(), h.factOperations(), h.modelOperations(), h.sessionOperations(), h.runOperations(), h.eventOperations(), h.deliveryOperations(), h.peopleOperations(), h.accountOperations(), h.jobOperations(), h.policyOperations(), h.careOperations(), h.pageOperations())
}

func (h *Host) hostOperations() api.Table {
	return api.Table{
		api.Op("status", "GET /api/status", api.Read, "How the host is.", h.getStatus),
		api.Op("page.link", "POST /api/link", api.Read, "A link that lets one browser in as whoever asks: it is good once, and for two minutes.", h.pageLink),
		api.Op("page.signOut", "POST /api/sign-out", api.Admin, "Sign every browser out: cookies and login links from before are good for nothing. Tokens stay.", h.signOut),
		api.Op("policy.explain", "GET /api/policy/explain", api.Read, "Which rule decides about sending to a chat, and why.", h.explain),
		api.Op("tools.explain", "GET /api/tools/explain", api.Read, "Which tools a turn would have, and which layer decides.", h.explainTools),
		api.Op("trace", "GET /api/trace/{id}", api.Read, "Follow a message through the host.", h.trace),
		api.Op("skipped.list", "GET /api/skipped", api.Read, "Updates that could not be read, newest first.", h.skipped),
	}
}

func (h *Host) getStatus(ctx context.Context, _ api.None) (api.HostStatus, error) {
	c := h.deps.Config.Config()
	working, waiting := h.router.Working() // before the deliveries: what a turn leaves behind is then counted
	counts, err := h.store.CountDeliveries(ctx, sessions.DeliveryQuery{})
	if err != nil {
		return api.HostStatus{}, err
	}
	aside, err := h.store.SetAside(ctx, time.Now().Add(-7*24*time.Hour))
	if err != nil {
		return api.HostStatus{}, err
	}
	why := h.notReady(ctx)
	return api.HostStatus{Version: h.deps.Version, Started: h.deps.Began, Ready: why == "", Why: why, State: c.State, Store: h.storeName(), Config: c.Path,
		Model: h.choice.Load().name, ModelWhy: h.choice.Load().why, ModelAt: h.modelAt(h.choice.Load().name), ModelNotes: h.modelNotes(ctx), Address: h.URL(), Accounts: h.statuses(), Working: working, Waiting: waiting, Deliveries: counts, SetAside: aside,
		Servers: h.servers.Status(), Sandbox: h.servers.Lacks(mcpSettings(c))}, nil
}

func (h *Host) pageLink(ctx context.Context, _ api.None) (api.PageLink, error) {
	inv, ok := h.door.Invite(api.Caller(ctx))
	if !ok {
		return api.PageLink{}, api.Refuse(http.StatusConflict, "the token %q opens nothing any more", api.Caller(ctx).Name)
	}
	return api.PageLink{Path: inv.Path, Expires: inv.Expires}, nil
}

func (h *Host) explain(ctx context.Context, q api.ExplainQuery) (x api.Explanation, err error) {
	to, err := channels.ParseAddress(q.To)
	if err != nil {
		return x, api.Bad("to: %v", err)
	}
	if q.Session != "" {
		if x.Session, err = h.sessionKey(ctx, q.Session); err != nil {
			return x, err
		}
	}
	if x.Session == "" && to.IsZero() {
		return x, api.Bad("name a session, an address (to), or both")
	}
	e, err := h.router.Explain(ctx, x.Session, to)
	return api.Explanation{Session: e.Session, To: e.To.String(), Verdict: e.Verdict, Steps: e.Steps}, err
}

func (h *Host) trace(ctx context.Context, c api.TraceCall) ([]sessions.Trace, error) {
	ts, err := h.store.Trace(ctx, c.ID)
	if err == nil && len(ts) == 0 {
		ts, err = h.traceShort(ctx, c.ID)
	}
	for i := range ts {
		ts[i].Deliveries = withoutCodes(ctx, ts[i].Deliveries)
	}
	if err == nil && len(ts) == 0 {
		err = api.Refuse(http.StatusNotFound, "%.200s is no message, run or delivery that is known here", c.ID)
	}
	return ts, err
}

func (h *Host) skipped(ctx context.Context, q api.Limit) ([]sessions.SkippedEvent, error) {
	list, err := h.store.Skipped(ctx, q.Limit)
	return listed(list), err
}

// listed is a list that is never null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (h *Host) deliveryOperations() api.Table {
	return api.Table{
		api.Op("deliveries.list", "GET /api/deliveries", api.Read, "Deliveries, newest first.", h.listDeliveries),
		api.Op("deliveries.count", "GET /api/counts/deliveries", api.Read, "How many deliveries there are, by state.", h.countDeliveries),
		api.Op("deliveries.show", "GET /api/deliveries/{delivery}", api.Read, "One delivery.", h.getDelivery),
		api.Op("deliveries.retry", "POST /api/deliveries/{delivery}/retry", api.Write, "Send a failed, expired, held or dropped delivery again.", h.retryDelivery),
		api.Op("deliveries.drop", "POST /api/deliveries/{delivery}/drop", api.Write, "Give up on a delivery.", h.dropDelivery),
	}
}

func (h *Host) listDeliveries(ctx context.Context, q api.DeliveriesQuery) (_ []sessions.Delivery, err error) {
	sq := sessions.DeliveryQuery{State: q.State, Before: q.Before, Limit: q.Limit}
	if sq.Run, err = h.wholeRun(ctx, q.Run); err != nil {
		return nil, err
	}
	if q.Session != "" {
		if sq.Session, err = h.sessionKey(ctx, q.Session); err != nil {
			return nil, err
		}
	}
	list, err := h.store.ListDeliveries(ctx, sq)
	return listed(withoutCodes(ctx, list)), err
}

func (h *Host) countDeliveries(ctx context.Context, q api.DeliveryCountQuery) (_ map[sessions.DeliveryState]int, err error) {
	var sq sessions.DeliveryQuery
	if sq.Run, err = h.wholeRun(ctx, q.Run); err != nil {
		return nil, err
	}
	if q.Session != "" {
		if sq.Session, err = h.sessionKey(ctx, q.Session); err != nil {
			return nil, err
		}
	}
	return h.store.CountDeliveries(ctx, sq)
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

func (h *Host) getDelivery(ctx context.Context, c api.DeliveryCall) (sessions.Delivery, error) {
	id, err := h.wholeDelivery(ctx, c.ID)
	if err != nil {
		return sessions.Delivery{}, err
	}
	d, err := h.store.GetDelivery(ctx, id)
	return withoutCodes(ctx, []sessions.Delivery{d})[0], err
}

func (h *Host) retryDelivery(ctx context.Context, c api.DeliveryCall) (sessions.Delivery, error) {
	id, err := h.wholeDelivery(ctx, c.ID)
	if err != nil {
		return sessions.Delivery{}, err
	}
	d, err := h.router.RetryDelivery(ctx, id)
	return withoutCodes(ctx, []sessions.Delivery{d})[0], err
}

func (h *Host) dropDelivery(ctx context.Context, c api.DeliveryCall) (sessions.Delivery, error) {
	id, err := h.wholeDelivery(ctx, c.ID)
	if err != nil {
		return sessions.Delivery{}, err
	}
	d, err := h.router.DropDelivery(ctx, id)
	return withoutCodes(ctx, []sessions.Delivery{d})[0], err
}

func (h *Host) explainTools(ctx context.Context, q api.ToolsQuery) (x router.ToolTable, err error) {
	t := router.ToolQuery{Tool: q.Tool, Agent: sessions.AgentID(q.Agent), ChatType: channels.ChatType(q.ChatType), Sender: q.Sender, Subagent: q.Subagent, Sandboxed: q.Sandboxed}
	if q.Session != "" {
		if t.Session, err = h.sessionKey(ctx, q.Session); err != nil {
			return x, err
		}
	}
	if x, err = h.router.ExplainTools(ctx, t); errors.Is(err, router.ErrQuery) {
		err = api.Bad("%v", err)
	}
	return x, err
}

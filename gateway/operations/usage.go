package operations

import (
	"context"
	"time"

	"parley/gateway/api"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Usage is the operation that says what model calls cost.
type Usage struct{ store *sqlstore.Store }

// Table lists the operations.
func (o *Usage) Table() api.Table {
	return api.Table{
		api.Op("usage", "GET /api/usage", api.Read, "Cost of model calls by day, agent and model.", o.usage),
	}
}

func (o *Usage) usage(ctx context.Context, q api.UsageQuery) (x api.Usage, err error) {
	now := time.Now()
	y, m, d := now.Date()
	since := time.Date(y, m, d-q.Days+1, 0, 0, 0, 0, time.Local)
	x = api.Usage{Zone: zoneOf(now), Days: []api.UsageRow{}}
	rows, err := o.store.Spending(ctx, sessions.SpentQuery{Agent: sessions.AgentID(q.Agent), Since: since}, time.Local)
	if err != nil {
		return x, err
	}
	for _, r := range rows {
		sum := api.UsageSum{Calls: r.Calls, Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite, Cost: r.Usage.Cost}
		x.Days = append(x.Days, api.UsageRow{Day: r.Day, Agent: r.Agent, Model: r.Model, UsageSum: sum})
		t := &x.Total
		t.Calls, t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Cost = t.Calls+sum.Calls, t.Input+sum.Input, t.Output+sum.Output, t.CacheRead+sum.CacheRead, t.CacheWrite+sum.CacheWrite, t.Cost+sum.Cost
	}
	lifts, err := o.store.Suspensions(ctx, now)
	for _, l := range lifts {
		x.Lifts = append(x.Lifts, l.Scope+" until "+l.Until.Format("2006-01-02 15:04"))
	}
	return x, err
}

// zoneOf names the host's time zone: as it is configured, or by its offset.
func zoneOf(now time.Time) string {
	if name := time.Local.String(); name != "Local" {
		return name
	}
	if name, off := now.Zone(); name == "UTC" && off == 0 {
		return name
	}
	return now.Format("MST, UTC-07:00")
}

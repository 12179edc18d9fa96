package gateway

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

func (h *Host) factOperations() api.Table {
	return api.Table{
		api.Op("health", "GET /api/health", api.Read, "Whether the host does its work, for monitors with a token.", h.health),
		api.Op("agents.list", "GET /api/agents", api.Read, "The agents, as configured.", h.listAgents),
		api.Op("usage", "GET /api/usage", api.Read, "What model calls cost, by day, agent and model.", h.usage),
	}
}

func (h *Host) health(ctx context.Context, _ api.None) (api.Health, error) {
	began := time.Now()
	why := h.notReady(ctx)
	x := api.Health{OK: why == "", Why: why, Accounts: h.statuses(), Agents: []api.Agent{}, Store: h.storeFiles()}
	totals, err := h.store.Totals(ctx)
	if err != nil { // Why says what is wrong with the store
		x.Took = time.Since(began).Milliseconds()
		return x, nil
	}
	x.Agents = h.agentRows(totals)
	for _, n := range totals.Sessions {
		x.Sessions += n
	}
	if !totals.Oldest.IsZero() {
		x.Oldest = int64(max(time.Since(totals.Oldest).Seconds(), 1))
	}
	x.Took = time.Since(began).Milliseconds()
	return x, nil
}

// storeFiles gives the sizes of the store's files; none where another server keeps it.
func (h *Host) storeFiles() map[string]int64 {
	files, _ := filepath.Glob(filepath.Join(h.deps.Config.Config().State, "parley.db*")) // the pattern is good
	sizes := make(map[string]int64, len(files))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			sizes[filepath.Base(f)] = info.Size()
		}
	}
	return sizes
}

func (h *Host) listAgents(ctx context.Context, _ api.None) ([]api.Agent, error) {
	totals, err := h.store.Totals(ctx)
	return h.agentRows(totals), err
}

func (h *Host) agentRows(totals sessions.Totals) []api.Agent {
	working, _ := h.router.Working()
	set := h.router.Settings()
	_, def := set.Agents.IDs()
	rows := []api.Agent{}
	for _, a := range h.router.Agents() {
		row := api.Agent{ID: a.ID, Name: a.Name, Default: a.ID == def, Model: set.ModelOf(sessions.Session{Agent: a.ID}), Sessions: totals.Sessions[a.ID], Spawns: set.AllowAgents(a.ID)}
		for _, key := range working {
			if key.Agent() == a.ID {
				row.Working++
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (h *Host) usage(ctx context.Context, q api.UsageQuery) (x api.Usage, err error) {
	now := time.Now()
	y, m, d := now.Date()
	since := time.Date(y, m, d-q.Days+1, 0, 0, 0, 0, time.Local)
	x = api.Usage{Zone: zoneOf(now), Days: []api.UsageRow{}}
	rows, err := h.store.Spending(ctx, sessions.SpentQuery{Agent: sessions.AgentID(q.Agent), Since: since}, time.Local)
	if err != nil {
		return x, err
	}
	for _, r := range rows {
		sum := api.UsageSum{Calls: r.Calls, Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite, Cost: r.Usage.Cost}
		x.Days = append(x.Days, api.UsageRow{Day: r.Day, Agent: r.Agent, Model: r.Model, UsageSum: sum})
		t := &x.Total
		t.Calls, t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Cost = t.Calls+sum.Calls, t.Input+sum.Input, t.Output+sum.Output, t.CacheRead+sum.CacheRead, t.CacheWrite+sum.CacheWrite, t.Cost+sum.Cost
	}
	lifts, err := h.store.Lifts(ctx, now)
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

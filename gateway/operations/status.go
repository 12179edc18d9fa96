package operations

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/server"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools/mcp"
)

// Status are the operations that say how the host is.
type Status struct {
	config   func() *config.Config
	store    *sqlstore.Store
	router   *router.Router
	models   *Models
	accounts *accounts.Supervisor
	servers  *mcp.Servers
	server   *server.Server
	health   *server.Health
	version  string
	began    time.Time // of the process
	process  api.Process
}

// Table lists the operations.
func (o *Status) Table() api.Table {
	return api.Table{
		api.Op("status", "GET /api/status", api.Read, "State of the host.", o.getStatus),
		api.Op("health", "GET /api/health", api.Read, "Health of the host, for monitors with a token.", o.getHealth),
	}
}

func (o *Status) getStatus(ctx context.Context, _ api.None) (api.HostStatus, error) {
	c := o.config()
	working, waiting := o.router.Working() // before the deliveries: what a turn leaves behind is then counted
	counts, err := o.store.CountDeliveries(ctx, sessions.DeliveryQuery{})
	if err != nil {
		return api.HostStatus{}, err
	}
	aside, err := o.store.CountQuarantined(ctx, time.Now().Add(-7*24*time.Hour))
	if err != nil {
		return api.HostStatus{}, err
	}
	why, chosen := o.health.NotReady(ctx), o.models.models.Chosen()
	return api.HostStatus{Version: o.version, Process: o.process, Started: o.began, Ready: why == "", Why: why, State: c.State, Store: c.Store.Name(), Config: c.Path,
		Model: chosen.Model, ModelWhy: chosen.Why, ModelAt: o.models.models.PlaceOf(chosen.Model), ModelNotes: o.models.notes(ctx), Address: o.server.URL(), Accounts: o.accounts.Statuses(), Working: working, Waiting: waiting, Deliveries: counts, SetAside: aside,
		Servers: o.servers.Status(), Sandbox: o.servers.Lacks(c.MCPSettings())}, nil
}

func (o *Status) getHealth(ctx context.Context, _ api.None) (api.Health, error) {
	began := time.Now()
	why := o.health.NotReady(ctx)
	x := api.Health{OK: why == "", Why: why, Accounts: o.accounts.Statuses(), Agents: []api.Agent{}, Store: o.storeFiles()}
	totals, err := o.store.Totals(ctx)
	if err != nil { // Why says what is wrong with the store
		x.Took = time.Since(began).Milliseconds()
		return x, nil
	}
	x.Agents = agentRows(o.router, totals)
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
func (o *Status) storeFiles() map[string]int64 {
	files, _ := filepath.Glob(filepath.Join(o.config().State, "parley.db*")) // the pattern is good
	sizes := make(map[string]int64, len(files))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			sizes[filepath.Base(f)] = info.Size()
		}
	}
	return sizes
}

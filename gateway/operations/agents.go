package operations

import (
	"context"

	"parley/gateway/api"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Agents is the operation that lists the agents.
type Agents struct {
	store  *sqlstore.Store
	router *router.Router
}

// Table lists the operations.
func (o *Agents) Table() api.Table {
	return api.Table{
		api.Op("agents.list", "GET /api/agents", api.Read, "The agents, as configured.", o.listAgents),
	}
}

func (o *Agents) listAgents(ctx context.Context, _ api.None) ([]api.Agent, error) {
	totals, err := o.store.Totals(ctx)
	return agentRows(o.router, totals), err
}

func agentRows(r *router.Router, totals sessions.Totals) []api.Agent {
	working, _ := r.Working()
	set := r.Settings()
	_, def := set.Agents.IDs()
	rows := []api.Agent{}
	for _, a := range r.ToolHost.Agents() {
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

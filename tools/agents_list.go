package tools

import (
	"context"
	_ "embed"

	"parley/sessions"
)

//go:embed agents_list.md
var agentsListText string

type agentsArgs struct{}

type agentsResult struct {
	Requester sessions.AgentID `json:"requester"`
	AllowAny  bool             `json:"allowAny"`
	Agents    []agentRow       `json:"agents"` // requester first
}

type agentRow struct {
	ID   sessions.AgentID `json:"id"`
	Name string           `json:"name,omitempty"`
}

type agentsList struct{ deps Deps }

// AgentsList is the tool agents_list (contract N1).
func AgentsList(d Deps) Tool { return agentsList{d} }

var agentsListSchema = schemaOf[agentsArgs](nil)

func (agentsList) Spec() Spec {
	return Spec{Name: "agents_list", Description: agentsListText, Schema: agentsListSchema}
}

func (t agentsList) Call(_ context.Context, c Call) (Result, error) {
	if _, bad := decode[agentsArgs](c.Args); bad != nil {
		return bad.result(), nil
	}
	from := c.Caller.Session.Agent
	ids, anyAgent := t.deps.allowed(from)
	r := agentsResult{Requester: from, AllowAny: anyAgent}
	for _, a := range ids {
		r.Agents = append(r.Agents, agentRow{ID: a.ID, Name: a.Name})
	}
	return reply(r), nil
}

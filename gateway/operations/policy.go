package operations

import (
	"context"
	"errors"

	"parley/channels"
	"parley/gateway/api"
	"parley/policy"
	"parley/router"
	"parley/router/rights"
	"parley/sessions"
)

// Explain are the operations that say what the policies decide, and why.
type Explain struct {
	router *router.Router
	names  *Resolver
}

// Table lists the operations.
func (o *Explain) Table() api.Table {
	return api.Table{
		api.Op("policy.explain", "GET /api/policy/explain", api.Read, "The rule that decides about sending to a chat, and the reason.", o.explain),
		api.Op("policy.rules", "GET /api/policy/rules", api.Read, "The send policy: its rules and its default.", o.sendRules),
		api.Op("tools.explain", "GET /api/tools/explain", api.Read, "Tools of a turn, and the layer that decides on each.", o.explainTools),
	}
}

func (o *Explain) explain(ctx context.Context, q api.ExplainQuery) (x api.Explanation, err error) {
	to, err := channels.ParseAddress(q.To)
	if err != nil {
		return x, api.Bad("to: %v", err)
	}
	if q.Session != "" {
		if x.Session, err = o.names.sessionKey(ctx, q.Session); err != nil {
			return x, err
		}
	}
	if x.Session == "" && to.IsZero() {
		return x, api.Bad("give a session, an address (to), or both")
	}
	e, err := o.router.Explain(ctx, x.Session, to)
	return api.Explanation{Session: e.Session, To: e.To.String(), Verdict: e.Verdict, Steps: e.Steps}, err
}

func (o *Explain) explainTools(ctx context.Context, q api.ToolsQuery) (x rights.ToolTable, err error) {
	t := rights.ToolQuery{Tool: q.Tool, Agent: sessions.AgentID(q.Agent), ChatType: channels.ChatType(q.ChatType), Sender: q.Sender, Subagent: q.Subagent, Sandboxed: q.Sandboxed}
	if q.Session != "" {
		if t.Session, err = o.names.sessionKey(ctx, q.Session); err != nil {
			return x, err
		}
	}
	if x, err = o.router.Rights.ExplainTools(ctx, t); errors.Is(err, rights.ErrQuery) {
		err = api.Bad("%v", err)
	}
	return x, err
}

// sendRules gives the rules that are in force, which may be older than the file: it counts from a reload on.
func (o *Explain) sendRules(context.Context, api.None) (api.SendRules, error) {
	return listRules(o.router.Settings().Session.SendPolicy), nil
}

func listRules(p policy.SendPolicy) api.SendRules {
	out := api.SendRules{Default: p.Default, Set: p.Default != "", Rules: make([]api.SendRule, len(p.Rules))}
	if !out.Set {
		out.Default = policy.Allow
	}
	steps := p.Explain(policy.Subject{}) // the override, then the rules
	for i, r := range p.Rules {
		out.Rules[i] = api.SendRule{Rule: steps[i+1].Rule, Action: r.Action, Match: r.Match, Applies: r.Match.String()}
	}
	return out
}

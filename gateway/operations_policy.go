package gateway

import (
	"context"

	"parley/gateway/api"
	"parley/policy"
)

func (h *Host) policyOperations() api.Table {
	return api.Table{
		api.Op("policy.rules", "GET /api/policy/rules", api.Read, "The send policy: its rules and what applies where none matches.", h.sendRules),
	}
}

// sendRules gives the rules that are in force, which may be older than the file: it counts from a reload on.
func (h *Host) sendRules(context.Context, api.None) (api.SendRules, error) {
	return listRules(h.router.Settings().Session.SendPolicy), nil
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

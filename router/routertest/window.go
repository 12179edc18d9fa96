package routertest

import (
	"context"
	"iter"
	"strings"

	"parley/agent"
	"parley/sessions"
)

// counting is a model that counts its prompts.
type counting struct{ agent.Model }

func (c counting) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		for d, err := range c.Model.Stream(ctx, p) {
			if d.Final != nil {
				d.Final.Usage = sessions.Usage{Input: agent.TextTokens(p.System) + agent.SpecTokens(p.Tools...) + agent.Tokens(p.Messages...), Output: 5}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// Narrow gives the script's model a window.
func Narrow(g *Rig, window int) {
	g.Models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: counting{g.Model}, Name: strings.TrimPrefix(name, "mock/"), Label: name, Facts: agent.ModelFacts{ContextWindow: window}}, nil
	}
}

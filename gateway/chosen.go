package gateway

import (
	"context"

	"parley/agent"
	"parley/gateway/config"
)

// Chosen says which model answers where no agent names one, as a host that is started now would find it.
type Chosen struct {
	Providers map[string]agent.Provider // with those that were found beside the configured ones
	Model     string                    // provider/model
	Why       string
	Offline   bool // it is the built-in one
}

// PromptSize estimates what instructions and tools take of every prompt, in tokens.
func PromptSize() int { return promptSize() }

// Choose looks for the model as the host does at its start.
func Choose(ctx context.Context, c *config.Config, table []Provider, getenv func(string) string) Chosen {
	all, ch := choose(ctx, c.Agents.Defaults.Model, c.Models.Providers, table, getenv)
	return Chosen{Providers: all, Model: ch.name, Why: ch.why, Offline: ch.offline()}
}

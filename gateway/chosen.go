package gateway

import (
	"context"
	"log/slog"
	"strings"

	"parley/agent"
	"parley/gateway/config"
	"parley/gateway/models"
)

// Chosen says which model answers where no agent names one, as a host that is started now would find it.
type Chosen struct {
	Providers map[string]agent.Provider // with those that were found beside the configured ones
	Model     string                    // provider/model
	Why       string
	Offline   bool // it is the built-in one
}

// ModelNotes says what may surprise about a model, named provider/model. Its server is asked now; nothing is said where it does not
// answer.
func ModelNotes(ctx context.Context, name string, p agent.Provider) []models.Note {
	provider, model, _ := strings.Cut(name, "/")
	f, err := models.NewBook(models.Asker{}, slog.New(slog.DiscardHandler)).AskNow(ctx, provider, p, model)
	if err != nil || p.API == offline {
		return nil
	}
	return f.Notes(name, p, promptSize())
}

// PromptSize estimates what instructions and tools take of every prompt, in tokens.
func PromptSize() int { return promptSize() }

// Choose looks for the model as the host does at its start.
func Choose(ctx context.Context, c *config.Config, table []Provider, getenv func(string) string) Chosen {
	all, ch := choose(ctx, c.Agents.Defaults.Model, c.Models.Providers, table, getenv)
	return Chosen{Providers: all, Model: ch.name, Why: ch.why, Offline: ch.offline()}
}

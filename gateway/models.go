package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/gateway/operations"
)

// Models is a set of models outside of a host, for commands.
type Models struct {
	set    *models.Set
	Chosen models.Choice
}

// OpenModels makes the models of a configuration, as a host that is started now would.
func OpenModels(ctx context.Context, c *config.Config, table []models.Provider, getenv func(string) string, log *slog.Logger) Models {
	m := Models{models.NewSet(table, getenv, log), models.Choose(ctx, c.Agents.Defaults.Model, c.Models.Providers, table, getenv)}
	m.set.Configure(m.Chosen.Providers)
	return m
}

// List says what is known of the models that a configuration names. Servers are asked now.
func (m Models) List(ctx context.Context, c agent.Config) []api.Model {
	rows := []api.Model{}
	for _, name := range m.set.Listed(c, m.Chosen.Model) {
		row := m.Facts(ctx, name)
		row.Default = name == m.Chosen.Model
		rows = append(rows, row)
	}
	return rows
}

// Facts says what is known of one model. Its server is asked now.
func (m Models) Facts(ctx context.Context, name string) api.Model {
	m.set.Ask(ctx, name)
	return operations.ModelRow(m.set, name, nil, models.PromptSize(nil))
}

// Test tests a model's real endpoint; "" = the one that answers where no agent names one.
func (m Models) Test(ctx context.Context, name string) (models.Trial, error) {
	who, err := m.set.Candidate(ctx, cmp.Or(name, m.Chosen.Model))
	if err != nil {
		return models.Trial{}, err
	}
	provider, _, _ := strings.Cut(cmp.Or(name, m.Chosen.Model), "/")
	hide := channels.Hide(m.Chosen.Providers[provider].Secrets()...)
	x := models.Test(ctx, who, m.set)
	for i := range x.Turns {
		x.Turns[i].What, x.Turns[i].Said = hide.Replace(x.Turns[i].What), hide.Replace(x.Turns[i].Said)
	}
	return x, nil
}

// Load has the server of a model load it, where that is an Ollama: then the window is known. It may take a minute.
func (m Models) Load(ctx context.Context, name string) error {
	provider, model, _ := strings.Cut(name, "/")
	return models.Asker{}.Load(ctx, m.Chosen.Providers[provider], model)
}

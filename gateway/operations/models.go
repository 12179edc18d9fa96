package operations

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"parley/gateway/api"
	"parley/gateway/models"
	"parley/router"
	"parley/sessions"
	"parley/tools/mcp"
)

// Models are the operations on the language models.
type Models struct {
	router     *router.Router
	models     *models.Set
	store      sessions.Store
	promptSize func(context.Context) int // what instructions and tools take of every prompt now, in tokens
	redact     func(string) string
}

// Table lists the operations.
func (o *Models) Table() api.Table {
	return api.Table{
		api.Op("models.list", "GET /api/models", api.Read, "Language models that can be named, with the known facts of each and their source.", o.listModels),
		api.Op("models.forget", "POST /api/models/forget", api.Admin, "Forget the refusals learned from model endpoints, so that the host tries again.", o.forgetLessons),
		api.Op("models.test", "POST /api/models/test", api.Admin, "Test a model's real endpoint with a plain, a tool, an image and a thinking turn. The provider charges for these calls.", o.testModel),
	}
}

// maxModelSessions bounds the sessions whose own models are listed, newest first.
const maxModelSessions = 1000

func (o *Models) listModels(ctx context.Context, _ api.None) ([]api.Model, error) {
	set := o.router.Settings()
	_, def := set.Agents.IDs()
	used, lessons := set.ModelOf(sessions.Session{Agent: def}), o.models.Known()
	names := o.models.Listed(set.Agents, o.models.Chosen().Model)
	for _, l := range lessons {
		if n := l.Provider + "/" + l.Model; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	chosen, err := o.store.List(ctx, sessions.Query{Limit: maxModelSessions})
	if err != nil {
		return nil, err
	}
	for _, s := range chosen { // by /model
		if n := set.ModelOf(s); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	rows, prompt := []api.Model{}, o.promptSize(ctx)
	for _, name := range names {
		row := ModelRow(o.models, name, lessons, prompt)
		row.Default, row.Trouble = name == used, o.models.Trouble(name)
		rows = append(rows, row)
	}
	return rows, nil
}

// notes says what may surprise about the models that agents use.
func (o *Models) notes(ctx context.Context) (out []models.Note) {
	set, lessons, prompt := o.router.Settings(), o.models.Known(), o.promptSize(ctx)
	names := []string{o.models.Chosen().Model}
	for _, a := range o.router.ToolHost.Agents() {
		if n := set.ModelOf(sessions.Session{Agent: a.ID}); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, name := range names {
		if p, f, _, ok := o.models.Facts(name, lessons); ok {
			out = append(out, f.Notes(name, p, prompt)...)
		}
	}
	return out
}

func (o *Models) forgetLessons(ctx context.Context, c api.ForgetCall) (api.Forgotten, error) {
	provider, model := c.Provider, c.Model
	if p, m, ok := strings.Cut(provider, "/"); ok && model == "" {
		provider, model = p, m
	}
	return api.Forgotten{Lessons: o.models.Forget(ctx, provider, model)}, nil
}

func (o *Models) testModel(ctx context.Context, c api.ModelTest) (models.Trial, error) {
	name := c.Model
	if name == "" {
		set := o.router.Settings()
		_, def := set.Agents.IDs()
		name = set.ModelOf(sessions.Session{Agent: def})
	}
	who, err := o.models.Candidate(ctx, name)
	if err != nil {
		return models.Trial{}, api.Refuse(http.StatusNotFound, "%v", err)
	}
	x := models.Test(ctx, who, o.models)
	for i := range x.Turns {
		x.Turns[i].What, x.Turns[i].Said = o.redact(x.Turns[i].What), o.redact(x.Turns[i].Said)
	}
	return x, nil
}

// ModelRow says what is known of a model. prompt is what instructions and tools take, in tokens.
func ModelRow(m *models.Set, name string, lessons []sessions.Lesson, prompt int) api.Model {
	row := api.Model{Name: name}
	provider, model, _ := strings.Cut(name, "/")
	for _, l := range lessons {
		if l.Provider == provider && l.Model == model {
			row.Lessons = append(row.Lessons, l)
		}
	}
	p, f, at, ok := m.Facts(name, lessons)
	if !ok {
		return row
	}
	row.Window, row.Images, row.Tools, row.Levels, row.From = f.ContextWindow, !f.NoImages, f.Tools != "off", f.Levels, f.From
	row.Input, row.Output, row.CacheRead, row.CacheWrite = f.Input, f.Output, f.CacheRead, f.CacheWrite
	row.Address, row.Program, row.Asked, row.Notes = models.Place(p), f.Program, at, f.Notes(name, p, prompt)
	return row
}

// PromptSize estimates what instructions and tools take of every prompt, in tokens, those of the MCP servers as they are now included.
func PromptSize(ctx context.Context, servers *mcp.Servers) int {
	now, cancel := context.WithCancel(ctx)
	cancel() // servers that are only starting are not waited for
	return models.PromptSize(servers.Tools(now, false))
}

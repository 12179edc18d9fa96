package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent"
	"parley/agent/lessons"
	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/sessions"
	"parley/tools"
)

func (h *Host) modelOperations() api.Table {
	return api.Table{
		api.Op("models.list", "GET /api/models", api.Read, "The language models that can be named, what is known of each, and from where.", h.listModels),
		api.Op("models.forget", "POST /api/models/forget", api.Admin, "Forget what the endpoints of models were seen to refuse, so that it is tried again.", h.forgetLessons),
		api.Op("models.test", "POST /api/models/test", api.Admin, "Test a model's real endpoint with a plain, a tool, an image and a thinking turn. The calls are paid for.", h.testModel),
	}
}

// maxModelSessions bounds the sessions whose own models are listed, newest first.
const maxModelSessions = 1000

func (h *Host) listModels(ctx context.Context, _ api.None) ([]api.Model, error) {
	set := h.router.Settings()
	_, def := set.Agents.IDs()
	used, lessons := set.ModelOf(sessions.Session{Agent: def}), h.knownLessons()
	names := h.models.listed(set.Agents, h.choice.Load().name)
	for _, l := range lessons {
		if n := l.Provider + "/" + l.Model; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	chosen, err := h.store.List(ctx, sessions.Query{Limit: maxModelSessions})
	if err != nil {
		return nil, err
	}
	for _, s := range chosen { // by /model
		if n := set.ModelOf(s); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	rows, prompt := []api.Model{}, h.promptSize(ctx)
	for _, name := range names {
		row := h.models.row(name, lessons, prompt)
		row.Default, row.Trouble = name == used, h.models.trouble(name)
		rows = append(rows, row)
	}
	return rows, nil
}

// row says what is known of a model. prompt is what instructions and tools take, in tokens.
func (m *modelSet) row(name string, lessons []sessions.Lesson, prompt int) api.Model {
	row := api.Model{Name: name}
	provider, model, _ := strings.Cut(name, "/")
	for _, l := range lessons {
		if l.Provider == provider && l.Model == model {
			row.Lessons = append(row.Lessons, l)
		}
	}
	p, f, at, ok := m.facts(name, lessons)
	if !ok {
		return row
	}
	row.Window, row.Images, row.Tools, row.Levels, row.From = f.ContextWindow, !f.NoImages, f.Tools != "off", f.Levels, f.From
	row.Input, row.Output, row.CacheRead, row.CacheWrite = f.Input, f.Output, f.CacheRead, f.CacheWrite
	row.Address, row.Program, row.Asked, row.Notes = models.Place(p), f.Program, at, f.Notes(name, p, prompt)
	return row
}

// trouble says why a model cannot be used at the moment; "" = it can.
func (m *modelSet) trouble(name string) string {
	if err := m.unknown(name); err != nil {
		return err.Error()
	}
	provider, model, _ := strings.Cut(name, "/")
	b := m.breakers()[provider]
	if b == nil {
		return ""
	}
	if models, all := b.Down(); all || slices.Contains(models, model) {
		return fmt.Sprintf("it failed again and again: it is left alone for %s at a time", agent.BreakerPause)
	}
	return ""
}

// facts gives what is known of a model, its provider, and when its server was asked. ok is false for one that cannot be named.
func (m *modelSet) facts(name string, known []sessions.Lesson) (p agent.Provider, f models.Facts, at time.Time, ok bool) {
	provider, model, ok := strings.Cut(name, "/")
	p, configured := m.providers()[provider]
	if !ok || model == "" || !configured {
		return p, f, at, false
	}
	f, at = m.book.Facts(provider, p, model)
	config := m.book.Fingerprint(provider)
	f.Learn(provider, model, slices.DeleteFunc(slices.Clone(known), func(l sessions.Lesson) bool { // those are tried again
		return !models.SameFingerprint(l.Config, config) || time.Since(l.At) > lessons.MaxAge
	}))
	return p, f, at, true
}

// promptSize estimates what instructions and tools take of every prompt, in tokens.
var promptSize = sync.OnceValue(func() int {
	const instructions = 1000 // without a workspace's own
	n := instructions
	for _, t := range tools.All(tools.Deps{}) {
		n += agent.SpecTokens(t.Spec())
	}
	return n
})

// promptSize estimates what instructions and tools take of every prompt, in tokens, those of the MCP servers as they are now included.
func (h *Host) promptSize(ctx context.Context) int {
	now, cancel := context.WithCancel(ctx)
	cancel() // servers that are only starting are not waited for
	return promptWith(h.servers.Tools(now, false))
}

// promptWith estimates what instructions, the host's own tools and those of MCP servers take, as far as a request has room for them.
func promptWith(theirs []tools.Tool) int {
	own := len(tools.All(tools.Deps{}))
	n := promptSize()
	for _, t := range theirs[:max(0, min(len(theirs), tools.ShownInRequest(own+len(theirs))-own))] {
		n += agent.SpecTokens(t.Spec())
	}
	return n
}

// modelAt gives the address of a model's server; "" = the provider's own.
func (h *Host) modelAt(name string) string {
	provider, _, _ := strings.Cut(name, "/")
	return models.Place(h.models.providers()[provider])
}

// modelNotes says what may surprise about the models that agents use.
func (h *Host) modelNotes(ctx context.Context) (out []models.Note) {
	set, lessons, prompt := h.router.Settings(), h.knownLessons(), h.promptSize(ctx)
	names := []string{h.choice.Load().name}
	for _, a := range h.router.Agents() {
		if n := set.ModelOf(sessions.Session{Agent: a.ID}); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, name := range names {
		if p, f, _, ok := h.models.facts(name, lessons); ok {
			out = append(out, f.Notes(name, p, prompt)...)
		}
	}
	return out
}

// knownLessons lists what was learned about endpoints.
func (h *Host) knownLessons() []sessions.Lesson {
	return h.lessons.Known()
}

func (h *Host) forgetLessons(ctx context.Context, c api.ForgetCall) (api.Forgotten, error) {
	provider, model := c.Provider, c.Model
	if p, m, ok := strings.Cut(provider, "/"); ok && model == "" {
		provider, model = p, m
	}
	return api.Forgotten{Lessons: h.lessons.Forget(ctx, provider, model)}, nil
}

func (h *Host) testModel(ctx context.Context, c api.ModelTest) (models.Trial, error) {
	name := c.Model
	if name == "" {
		set := h.router.Settings()
		_, def := set.Agents.IDs()
		name = set.ModelOf(sessions.Session{Agent: def})
	}
	who, err := h.models.candidate(ctx, name)
	if err != nil {
		return models.Trial{}, api.Refuse(http.StatusNotFound, "%v", err)
	}
	x := models.Test(ctx, who, h.lessons)
	for i := range x.Turns {
		x.Turns[i].What, x.Turns[i].Said = h.redact(x.Turns[i].What), h.redact(x.Turns[i].Said)
	}
	return x, nil
}

// candidate is find with what the model's server says now.
func (m *modelSet) candidate(ctx context.Context, name string) (agent.Candidate, error) {
	m.ask(ctx, name)
	return m.find(name)
}

// ask asks the server of a model, and waits for the answer.
func (m *modelSet) ask(ctx context.Context, name string) {
	if provider, model, ok := strings.Cut(name, "/"); ok {
		if p, known := m.providers()[provider]; known {
			if _, err := m.book.AskNow(ctx, provider, p, model); err != nil {
				m.log.Debug("a model server does not say what its models can", "provider", provider, "err", err)
			}
		}
	}
}

// Models is a set of models outside of a host, for commands.
type Models struct {
	set    *modelSet
	Chosen Chosen
}

// OpenModels makes the models of a configuration, as a host that is started now would.
func OpenModels(ctx context.Context, c *config.Config, table []Provider, getenv func(string) string, log *slog.Logger) Models {
	m := Models{newModels(table, log, nil), Choose(ctx, c, table, getenv)}
	m.set.configure(m.Chosen.Providers)
	return m
}

// List says what is known of the models that a configuration names. Servers are asked now.
func (m Models) List(ctx context.Context, c agent.Config) []api.Model {
	rows := []api.Model{}
	for _, name := range m.set.listed(c, m.Chosen.Model) {
		row := m.Facts(ctx, name)
		row.Default = name == m.Chosen.Model
		rows = append(rows, row)
	}
	return rows
}

// Facts says what is known of one model. Its server is asked now.
func (m Models) Facts(ctx context.Context, name string) api.Model {
	m.set.ask(ctx, name)
	return m.set.row(name, nil, promptSize())
}

// Test tests a model's real endpoint; "" = the one that answers where no agent names one.
func (m Models) Test(ctx context.Context, name string) (models.Trial, error) {
	who, err := m.set.candidate(ctx, firstOf(name, m.Chosen.Model))
	if err != nil {
		return models.Trial{}, err
	}
	provider, _, _ := strings.Cut(firstOf(name, m.Chosen.Model), "/")
	hide := channels.Hide(m.Chosen.Providers[provider].Secrets()...)
	x := models.Test(ctx, who, m.set.learn)
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

package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"parley/agent"
	"parley/gateway/models/catalogue"
)

// down is a provider that cannot be reached.
type down struct{}

func (down) Stream(context.Context, agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		yield(agent.Delta{}, &agent.ModelError{Class: agent.Unreachable, Tries: 1, Err: errors.New("refused")})
	}
}

// downModels has two configured providers, both down.
func downModels(opened *[]string) *Set {
	m := NewSet([]Provider{{API: "openai", Open: func(name string, _ agent.Provider, _ ProviderEnv) (agent.Model, error) {
		*opened = append(*opened, name)
		return down{}, nil
	}}}, nil, slog.New(slog.DiscardHandler))
	m.Configure(map[string]agent.Provider{
		"a": {API: "openai", ContextWindow: 32000, Models: map[string]agent.ModelFacts{"big/er": {ContextWindow: 200_000, Input: 3, NoImages: true}, "x": {Output: 1}}},
		"b": {API: "openai"},
		"c": {API: "nonsense"},
	})
	return m
}

// sameFacts compares what a test says about a model.
func sameFacts(a, b agent.ModelFacts) bool {
	return a.ContextWindow == b.ContextWindow && a.Input == b.Input && a.Output == b.Output && a.NoImages == b.NoImages
}

// A model is found with what is known about it: its own facts, else its provider's window, else the usual one.
func TestFindModel(t *testing.T) {
	t.Parallel()
	var opened []string
	m := downModels(&opened)
	for name, want := range map[string]agent.Candidate{
		"a/big/er": {Name: "big/er", Facts: agent.ModelFacts{ContextWindow: 200_000, Input: 3, NoImages: true}},
		"a/x":      {Name: "x", Facts: agent.ModelFacts{ContextWindow: 32000, Output: 1}},
		"a/other":  {Name: "other", Facts: agent.ModelFacts{ContextWindow: 32000}},
		"b/x":      {Name: "x", Facts: agent.ModelFacts{ContextWindow: agent.DefaultContextWindow}},
	} {
		got, err := m.Find(name)
		if err != nil || got.Name != want.Name || got.Label != name || !sameFacts(got.Facts, want.Facts) || got.Model == nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	slices.Sort(opened)
	if !slices.Equal(opened, []string{"a", "b"}) {
		t.Errorf("opened %q: each provider once, when it is first used", opened)
	}
	for _, bad := range []string{"", "a", "a/", "/x", "z/x", "c/x"} {
		if got, err := m.Find(bad); err == nil || got.Model != nil || bad != "c/x" && !strings.Contains(err.Error(), "a, b, c") {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
}

// The list of models has each one that the configuration names once, the one in force first.
func TestListedModels(t *testing.T) {
	t.Parallel()
	var opened []string
	got := downModels(&opened).Listed(agent.Config{
		Defaults: agent.Defaults{Model: "b/main", Fallbacks: []string{"a/x", "b/spare"}, Subagents: agent.Subagents{Model: "b/small"}},
		List:     []agent.Entry{{ID: "q", Model: "a/q", Fallbacks: []string{"b/main"}}},
	}, "b/main")
	want := []string{"b/main", "b/small", "a/x", "b/spare", "a/q", "a/big/er"}
	if !slices.Equal(got, want) || len(opened) != 0 {
		t.Errorf("%q, opened %q", got, opened)
	}
}

// A provider that fails again and again is left alone with all its models, is told about, and does not touch the others; a new
// configuration begins again.
func TestTroubles(t *testing.T) {
	t.Parallel()
	var opened []string
	m := downModels(&opened)
	reg := prometheus.NewRegistry()
	reg.MustRegister(m)
	call := func(name string) agent.ErrorClass {
		c, err := m.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = agent.ModelCall{Candidates: []agent.Candidate{c}}.Run(t.Context())
		e, _ := errors.AsType[*agent.ModelError](err)
		return e.Class
	}
	for i := range agent.BreakerFailures {
		if got := call(fmt.Sprint("a/model-", i)); got != agent.Unreachable || len(m.Troubles()) > 0 && i < agent.BreakerFailures-1 {
			t.Fatalf("call %d: %s, %q", i, got, m.Troubles())
		}
	}
	if a, b := call("a/x"), call("b/x"); a != agent.Tripped || b != agent.Unreachable {
		t.Errorf("a %s, b %s", a, b)
	}
	if got := m.Troubles(); len(got) != 1 || !strings.Contains(got[0], "provider a ") {
		t.Errorf("%q", got)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			states = append(states, fmt.Sprint(f.GetName(), " ", metric.GetLabel()[0].GetValue(), " ", metric.GetLabel()[1].GetValue(), " ", metric.GetGauge().GetValue()))
		}
	}
	if want := []string{"parley_model_breaker a open 1", "parley_model_breaker b closed 1"}; !slices.Equal(states, want) {
		t.Errorf("%q", states)
	}
	m.Configure(m.Providers())
	if got := call("a/x"); got != agent.Unreachable || m.Troubles() != nil {
		t.Errorf("after a new configuration: %s, %q", got, m.Troubles())
	}
}

// The only provider that models are named of answers where nothing else is named; a key in the environment goes first.
func TestChooseTheOnlyProvider(t *testing.T) {
	t.Parallel()
	slow := agent.Provider{API: "openai", Models: map[string]agent.ModelFacts{"slow-2": {}, "slow-1": {}}}
	for _, c := range []struct {
		conf      map[string]agent.Provider
		key, want string
	}{
		{map[string]agent.Provider{"slow": slow}, "", "slow/slow-1"},
		{map[string]agent.Provider{"slow": slow, "b": {API: "openai"}, "off": {API: "offline"}}, "", "slow/slow-1"},
		{map[string]agent.Provider{"slow": slow, "b": slow}, "", "offline/offline"},
		{map[string]agent.Provider{"b": {API: "openai"}}, "", "offline/offline"},
		{map[string]agent.Provider{"slow": slow}, "k", "openai/" + openAIModel},
	} {
		got := Choose(t.Context(), "", c.conf, nil, func(name string) string {
			if name == "OPENAI_API_KEY" {
				return c.key
			}
			return ""
		})
		if got.Model != c.want || got.Offline() != strings.Contains(got.Why, "agents.defaults.model is not set") {
			t.Errorf("%v, key %q: %+v", c.conf, c.key, got)
		}
	}
}

// The models that a key in the environment stands for are known to the catalogue: Anthropic's is its usual one, OpenAI's usual one costs
// several times as much as the one that is taken.
func TestDefaultModels(t *testing.T) {
	t.Parallel()
	if got := catalogue.Default("anthropic"); got != anthropicModel {
		t.Errorf("the catalogue's usual model of Anthropic is %s", got)
	}
	mine, ok := catalogue.Find("openai", agent.Provider{API: "openai"}, openAIModel)
	usual, _ := catalogue.Find("openai", agent.Provider{API: "openai"}, catalogue.Default("openai"))
	if !ok || usual.Input <= 2*mine.Input {
		t.Errorf("%s costs $%v, %s $%v: take the catalogue's", openAIModel, mine.Input, usual.ID, usual.Input)
	}
}

// Where no model is found, it is said where it was looked for.
func TestChooseSaysWhereItLooked(t *testing.T) {
	t.Parallel()
	table := []Provider{{API: "openai", List: func(context.Context, agent.Provider) ([]string, error) { return nil, nil }}}
	got := Choose(t.Context(), "", nil, table, func(name string) string { return map[string]string{"OLLAMA_HOST": "me:made-up-pass@127.0.0.1:1"}[name] })
	if !got.Offline() {
		t.Skip("a model server runs on this machine")
	}
	if !strings.Contains(got.Why, "no Ollama at http://127.0.0.1:1") || strings.Contains(got.Why, "made-up") {
		t.Errorf("%+v", got)
	}
}

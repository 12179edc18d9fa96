package models

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// spoken is a server without a network.
type spoken func(*http.Request) string

func (f spoken) RoundTrip(r *http.Request) (*http.Response, error) {
	text := f(r)
	if text == "" {
		return nil, fmt.Errorf("refused")
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{}, Request: r}, nil
}

// Each fact is from the first place that has it.
func TestFactsOf(t *testing.T) {
	t.Parallel()
	no, yes := false, true
	openRouter := agent.Provider{API: "openai", BaseURL: "https://openrouter.ai/api/v1"}
	unknown := agent.Provider{API: "openai", BaseURL: "http://127.0.0.1:9/v1"}
	set := func(p agent.Provider, f agent.ModelFacts) agent.Provider {
		p.Models = map[string]agent.ModelFacts{"openai/gpt-5": f}
		return p
	}
	said := Answer{Model: Served{Name: "openai/gpt-5", Window: 1000, Input: 7, Output: 8, Images: &no, Tools: &no, Levels: []string{}}}
	for name, c := range map[string]struct {
		p    agent.Provider
		said Answer
		want string // window price images tools levels, and their origins
	}{
		"nothing known":      {unknown, Answer{}, "128000 guess; 0 ; images guess; tools guess; [] "},
		"catalogue":          {openRouter, Answer{}, "400000 catalogue; 1.25 catalogue; images catalogue; tools guess; [low medium high] catalogue"},
		"asked":              {openRouter, said, "1000 asked; 7 asked; no images asked; no tools asked; [] asked"},
		"provider's window":  {agent.Provider{API: "openai", BaseURL: openRouter.BaseURL, ContextWindow: 2000}, said, "2000 configuration; 7 asked; no images asked; no tools asked; [] asked"},
		"configured":         {set(openRouter, agent.ModelFacts{ContextWindow: 3000, Output: 1, ModelSettings: agent.ModelSettings{Images: "on", Tools: "on", Reasoning: agent.Reasoning{Levels: []string{"max"}}}}), said, "3000 configuration; 0 configuration; images configuration; tools configuration; [max] configuration"},
		"switched off":       {set(openRouter, agent.ModelFacts{NoImages: true, ModelSettings: agent.ModelSettings{Tools: "off", Reasoning: agent.Reasoning{Levels: []string{}}}}), Answer{Model: Served{Images: &yes, Tools: &yes, Levels: []string{"low"}}}, "400000 catalogue; 1.25 catalogue; no images configuration; no tools configuration; [] configuration"},
		"small and unloaded": {unknown, Answer{Model: Served{Trained: 8192}}, "8192 guess; 0 ; images guess; tools guess; [] "},
		"offline":            {agent.Provider{API: "offline"}, Answer{}, "128000 built in; 0 built in; images built in; tools built in; [] "},
	} {
		f := FactsOf("x", c.p, "openai/gpt-5", c.said)
		got := fmt.Sprintf("%d %s; %v %s; %simages %s; %stools %s; %v %s", f.ContextWindow, f.From.Window, f.Input, f.From.Price, map[bool]string{true: "no "}[f.NoImages], f.From.Images,
			map[bool]string{true: "no "}[f.Tools == "off"], f.From.Tools, f.Levels, f.From.Levels)
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// What was learned counts, unless a setting says otherwise.
func TestFactsLearn(t *testing.T) {
	t.Parallel()
	p := agent.Provider{API: "openai", BaseURL: "http://127.0.0.1:9/v1", Models: map[string]agent.ModelFacts{"set": {ModelSettings: agent.ModelSettings{Tools: "on"}}}}
	lessons := []sessions.Lesson{{Provider: "x", Model: "m", Kind: "tools"}, {Provider: "x", Model: "m", Kind: "images"}, {Provider: "x", Model: "set", Kind: "tools"}, {Provider: "y", Model: "other", Kind: "tools"},
		{Provider: "x", Model: "one", Kind: "images", Name: "0123456789abcdef"}, {Provider: "x", Model: "one", Kind: "tool", Name: "look"},
		{Provider: "x", Model: "one", Kind: "window", Use: "4096"}, {Provider: "x", Model: "wide", Kind: "window", Use: "4096"}}
	wide := p.Models["wide"]
	wide.ContextWindow = 9000
	p.Models["wide"] = wide
	for model, want := range map[string]string{"m": "off learned true", "set": "on configuration false", "other": " guess false", "one": " guess false", "wide": " guess false"} {
		f := FactsOf("x", p, model, Answer{})
		f.Learn("x", model, lessons)
		if window := map[string]int{"one": 4096, "wide": 9000}[model]; window > 0 && (f.ContextWindow != window || f.Guessed) {
			t.Errorf("%s: window %d", model, f.ContextWindow)
		}
		if got := fmt.Sprint(f.Tools, " ", f.From.Tools, " ", f.NoImages); got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}

// A server is asked once in an hour, in the background; a lookup never waits. One that does not answer is asked again after a minute,
// and an Ollama that has not loaded the model after some seconds.
func TestBookAsksInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lists, fail, loaded atomic.Int64
		b := NewFactCache(Asker{Client: &http.Client{Transport: spoken(func(r *http.Request) string {
			switch {
			case fail.Load() > 0:
				return ""
			case strings.HasSuffix(r.URL.Path, "/models"):
				lists.Add(1)
				return `{"data":[{"id":"m","owned_by":"library"}]}`
			case strings.HasSuffix(r.URL.Path, "/ps") && loaded.Load() > 0:
				return `{"models":[{"name":"m","context_length":4096}]}`
			}
			return `{}`
		})}}, slog.New(slog.DiscardHandler))
		p := agent.Provider{API: "openai", BaseURL: "http://gpu:11434/v1"}
		b.Configure(map[string]agent.Provider{"o": p})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.Run(ctx) }()
		look := func(after time.Duration) Facts {
			time.Sleep(after)
			b.Facts("o", p, "m")
			synctest.Wait()
			f, _ := b.Facts("o", p, "m")
			return f
		}
		fail.Store(1)
		if f := look(0); f.From.Window != Guessed || lists.Load() != 0 {
			t.Errorf("%+v", f.From)
		}
		fail.Store(0)
		if look(30 * time.Second); lists.Load() != 0 {
			t.Error("a server that failed is asked again at once")
		}
		if f := look(failedInterval); f.From.Window != Guessed || lists.Load() != 1 {
			t.Errorf("%+v, asked %d times", f.From, lists.Load())
		}
		loaded.Store(1)
		if f := look(incompleteInterval); f.ContextWindow != 4096 || f.From.Window != Asked || lists.Load() != 2 {
			t.Errorf("%d %s, asked %d times", f.ContextWindow, f.From.Window, lists.Load())
		}
		if look(askInterval - time.Second); lists.Load() != 2 {
			t.Errorf("asked %d times within the hour", lists.Load())
		}
		fail.Store(1) // what is known stays known
		if f := look(2 * time.Second); f.ContextWindow != 4096 {
			t.Errorf("%+v", f)
		}
		stop()
		<-done
	})
}

// The fingerprint is another when the provider's configuration or its server's list of models changes, and not for the order of a list.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	list := `{"data":[{"id":"b"},{"id":"a"}]}`
	b := NewFactCache(Asker{Client: &http.Client{Transport: spoken(func(*http.Request) string { return list })}}, slog.New(slog.DiscardHandler))
	conf := func(p agent.Provider) string {
		b.Configure(map[string]agent.Provider{"x": p})
		if _, err := b.AskNow(t.Context(), "x", p, "a"); err != nil {
			t.Fatal(err)
		}
		return b.Fingerprint("x")
	}
	p := agent.Provider{API: "openai", BaseURL: "http://h/v1", APIKey: channels.NewSecret("made-up"), ModelSettings: agent.ModelSettings{Body: map[string]any{"b": 1, "a": 2}}}
	b.Configure(map[string]agent.Provider{"x": p})
	before := b.Fingerprint("x")
	first := conf(p)
	if before == first || !SameFingerprint(before, first) || !SameFingerprint(first, before) {
		t.Errorf("%s, then %s: a list that is not known yet is no other list", before, first)
	}
	// source: docs.vllm.ai (created is the time of the request)
	list = fmt.Sprintf(`{"data":[{"id":"a","created":%d},{"id":"b"}]}`, time.Now().Unix())
	if got := conf(p); got != first {
		t.Errorf("%s, want %s", got, first)
	}
	// source: docs.vllm.ai, openrouter.ai/docs/api-reference/list-available-models, github.com/ollama/ollama (the time of an image)
	for _, fields := range []string{`"created":1`, `"created":2`, `"root":"/models/v2"`, `"max_model_len":8192`, `"max_model_len":16384`, `"supported_parameters":["tools"]`, `"digest":"sha2"`} {
		before := b.Fingerprint("x")
		list = `{"data":[{"id":"a",` + fields + `},{"id":"b"}]}`
		if got := conf(p); SameFingerprint(got, before) {
			t.Errorf("%s: the model is the same", fields)
		}
	}
	list = `{"data":[{"id":"a"},{"id":"b"},{"id":"c"}]}`
	longer := conf(p)
	if SameFingerprint(longer, first) {
		t.Error("a longer list is the same")
	}
	secret := func(text string) map[string]channels.Secret {
		return map[string]channels.Secret{"X-Team": channels.NewSecret(text)}
	}
	seen := map[string]string{"": longer}
	for name, change := range map[string]func(*agent.Provider){
		"key":            func(p *agent.Provider) { p.APIKey = channels.NewSecret("another") },
		"no key":         func(p *agent.Provider) { p.APIKey = channels.Secret{} },
		"address":        func(p *agent.Provider) { p.BaseURL = "http://other/v1" },
		"password":       func(p *agent.Provider) { p.BaseURL = "http://user:pass@h/v1" },
		"header":         func(p *agent.Provider) { p.Headers = secret("bees") },
		"header's value": func(p *agent.Provider) { p.Headers = secret("ants") },
		"a model's header": func(p *agent.Provider) {
			p.Models = map[string]agent.ModelFacts{"a": {ModelSettings: agent.ModelSettings{Headers: secret("bees")}}}
		},
		"another model's": func(p *agent.Provider) {
			p.Models = map[string]agent.ModelFacts{"b": {ModelSettings: agent.ModelSettings{Headers: secret("bees")}}}
		},
		"query": func(p *agent.Provider) { p.Query = map[string]string{"tier": "standard"} },
		"body":  func(p *agent.Provider) { p.Body = map[string]any{"b": 1, "a": 3} },
		"time":  func(p *agent.Provider) { p.Total = 5 },
		"a setting of one model": func(p *agent.Provider) {
			p.Models = map[string]agent.ModelFacts{"a": {ModelSettings: agent.ModelSettings{Tools: "on"}}}
		},
	} {
		other := p
		change(&other)
		got := conf(other)
		for was, h := range seen {
			if SameFingerprint(got, h) {
				t.Errorf("%q and %q are the same", name, was)
			}
		}
		seen[name] = got
	}
}

func TestTells(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{"": false, "https://api.openai.com/v1": false, "https://eu.api.openai.com/v1": false, "https://api.anthropic.com": false,
		"https://x.openai.azure.com/openai/v1": false, "https://openrouter.ai/api/v1": true, "http://127.0.0.1:11434/v1": true} {
		if got := Tells(agent.Provider{API: "openai", BaseURL: base}); got != want {
			t.Errorf("%q: %v", base, got)
		}
	}
}

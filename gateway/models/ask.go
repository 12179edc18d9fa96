package models

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley/agent"
)

// The bounds of one question to a server: its time, the bytes that are read of the answer, and the redirects that are followed.
const (
	askTimeout   = 4 * time.Second
	maxAnswer    = 16 << 20
	maxRedirects = 5
)

// The programs that serve models and are asked in their own way.
const (
	Ollama   = "Ollama"
	LlamaCPP = "llama.cpp"
	LMStudio = "LM Studio"
	VLLM     = "vLLM"
	LiteLLM  = "LiteLLM"
	TGI      = "Hugging Face TGI"
)

// Answer is a server's description of itself and of one model.
type Answer struct {
	Program string   // Ollama, LlamaCPP, …; "" = not known
	List    []Served // its models, in its order
	Model   Served   // the one that was asked about; its Name is empty when the server does not have it
	Loaded  bool     // of Ollama: the model is in memory, so Window is the real one
}

// Asker asks model servers for facts. The zero value works.
type Asker struct {
	Client *http.Client // nil = one of its own, without redirects to other hosts
}

var plainClient = &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || len(via) >= maxRedirects {
		return http.ErrUseLastResponse // the key is for the first one
	}
	return nil
}}

// Ask asks a server for its models and what it knows about one of them, "" = none. It makes at most four requests, none of which costs
// anything, and waits for each at most as long as ctx and askTimeout allow. It is an error when the list cannot be read; what else
// cannot be read is left out.
func (a Asker) Ask(ctx context.Context, name string, p agent.Provider, model string) (Answer, error) {
	c := call{client: a.Client, p: p}
	if c.client == nil {
		c.client = plainClient
	}
	base := ServerOf(p)
	d, err := c.get(ctx, base+modelsPath(p, base))
	if err != nil {
		return Answer{}, err
	}
	x := Answer{List: listOf(d)}
	x.Model = x.pick(model)
	x.Program = program(name, base, x.List)
	root := strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/v1")
	switch {
	case model == "":
	case x.Program == Ollama:
		c.ollama(ctx, root, model, &x)
	case x.Program == LlamaCPP, x.Program == TGI:
		if x.Model.Name == "" && len(x.List) == 1 {
			x.Model = x.List[0] // it has one model, and takes any name for it
		}
		page := map[string]string{LlamaCPP: "/props", TGI: "/info"}[x.Program]
		if d, err := c.get(ctx, root+page); err == nil {
			if m, ok := d.(map[string]any); ok && m["role"] == "router" && x.Model.Name != "" { // each of its models has a page of its own
				d, _ = c.get(ctx, root+page+"?autoload=false&model="+url.QueryEscape(x.Model.Name)) // nothing is known of one that is not loaded
			}
			x.Model.props(d)
		}
	case x.Program == LMStudio:
		for _, page := range []string{"/api/v0/models", "/api/v1/models"} { // of older and newer versions
			if d, err := c.get(ctx, root+page); err == nil && len(listOf(d)) > 0 {
				x.more(listOf(d), model)
				break
			}
		}
	case x.Program == LiteLLM:
		if d, err := c.get(ctx, root+"/model/info"); err == nil {
			x.more(listOf(d), model)
		}
	}
	return x, nil
}

// ServerOf returns the base URL of a provider's server: without a configured one, that of the protocol's own provider.
func ServerOf(p agent.Provider) string {
	if p.API == agent.AnthropicAPI {
		return cmp.Or(p.Address(), "https://api.anthropic.com")
	}
	return cmp.Or(p.Address(), "https://api.openai.com/v1")
}

// modelsPath is where the list of models is below a base URL. That of Anthropic's protocol ends before /v1.
func modelsPath(p agent.Provider, base string) string {
	if p.API == agent.AnthropicAPI && !strings.HasSuffix(base, "/v1") {
		return "/v1/models"
	}
	return "/models"
}

// more takes over what a second list says.
func (x *Answer) more(list []Served, model string) {
	if len(list) == 0 {
		return
	}
	x.List = list
	if m := x.pick(model); m.Name != "" {
		x.Model = m
	}
}

// pick finds a model in the list: its own name first, then without tag and prefix.
func (x Answer) pick(model string) Served {
	if model == "" {
		return Served{}
	}
	plain := func(s string) string {
		return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(s), "models/"), ":latest")
	}
	for _, same := range []func(s Served) bool{
		func(s Served) bool { return s.Name == model },
		func(s Served) bool { return plain(s.Name) == plain(model) },
	} {
		if i := slices.IndexFunc(x.List, same); i >= 0 {
			return x.List[i]
		}
	}
	return Served{}
}

// program tells which program serves the models: by whom it says that they are owned, else by its port or its name.
func program(name, base string, list []Served) string {
	owned := func(by ...string) bool {
		return slices.ContainsFunc(list, func(s Served) bool { return slices.Contains(by, s.Owner) })
	}
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	named := func(word string) bool {
		return strings.Contains(strings.ToLower(name), word) || strings.Contains(strings.ToLower(u.Hostname()), word)
	}
	switch {
	case owned("llamacpp", "llama.cpp"):
		return LlamaCPP
	case owned("vllm"):
		return VLLM
	case owned("organization_owner", "organization-owner") || u.Port() == "1234" || named("lmstudio") || named("lm-studio"):
		return LMStudio
	case owned("library") || u.Port() == "11434" || named("ollama"):
		return Ollama
	case named("litellm"):
		return LiteLLM
	case slices.ContainsFunc(list, func(s Served) bool { return s.Owner == strings.ToLower(s.Name) }):
		return TGI
	}
	return ""
}

// HowToStart returns the program of a provider that serves models on a machine of one's own, and the command that starts the program; "" = not known.
// source: docs.ollama.com/faq, lmstudio.ai/docs/cli (lms server start)
func HowToStart(name string, p agent.Provider) (what, command string) {
	what = program(name, ServerOf(p), nil)
	return what, map[string]string{Ollama: "ollama serve", LMStudio: "lms server start"}[what]
}

// listOf reads the models of an answer: an object with data or models, or a list.
func listOf(v any) (out []Served) {
	if d, ok := v.(map[string]any); ok {
		for _, key := range []string{"data", "models"} {
			if l, ok := d[key].([]any); ok {
				v = l
				break
			}
			if byName, ok := d[key].(map[string]any); ok {
				v = named(byName)
				break
			}
		}
	}
	list, _ := v.([]any)
	for _, e := range list {
		switch x := e.(type) {
		case map[string]any:
			if s := servedOf(x); s.Name != "" {
				out = append(out, s)
			}
		case string:
			out = append(out, Served{Name: x})
		}
	}
	return out
}

// named makes a list of models that stand under their names.
func named(all map[string]any) (out []any) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if m, ok := all[name].(map[string]any); ok {
			entry := maps.Clone(m)
			if firstText(entry, "id", "name", "model") == "" {
				entry["id"] = name
			}
			out = append(out, entry)
		}
	}
	return out
}

// props reads llama.cpp's /props, the window of one of its slots and what it takes besides text; and TGI's /info, the window of prompt and
// answer together. source: github.com/huggingface/text-generation-inference/blob/main/docs/openapi.json (Info)
func (s *Served) props(v any) {
	m, _ := v.(map[string]any)
	d := doc(m)
	if n := cmp.Or(d.count("default_generation_settings", "n_ctx"), d.count("n_ctx"), d.count("max_total_tokens")); n > 0 {
		s.Window = n
	}
	if on, ok := truth(d.at("modalities", "vision")); ok {
		s.Images = &on
	}
	if on, ok := truth(d.at("chat_template_caps", "supports_tools")); ok {
		s.Tools = &on
	}
}

// call asks one server.
type call struct {
	client *http.Client
	p      agent.Provider
	slow   bool // wait as long as the context allows
}

func (c call) get(ctx context.Context, address string) (any, error) {
	return c.do(ctx, http.MethodGet, address, nil)
}

// do makes a request and reads JSON, numbers as they are written. The error names the address without user, password and query.
func (c call) do(ctx context.Context, method, address string, body any) (any, error) {
	if !c.slow {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, askTimeout)
		defer cancel()
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("ask a model server: %q is not a URL", c.p.Address())
	}
	s := c.p.Settings("")
	q := u.Query()
	for name, v := range s.Query {
		q.Set(name, v)
	}
	u.RawQuery = q.Encode()
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), r)
	if err != nil {
		return nil, fmt.Errorf("ask a model server: %w", err)
	}
	c.sign(req, s)
	resp, err := c.client.Do(req)
	plain := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	if err != nil {
		if e, ok := err.(*url.Error); ok { //nolint:errorlint // http.Client gives this very type
			err = e.Err
		}
		return nil, fmt.Errorf("ask %s: %w", plain, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask %s: %w", plain, OddAnswer{resp.StatusCode, resp.Status})
	}
	dec := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", plain, OddAnswer{resp.StatusCode, "no JSON: " + err.Error()})
	}
	return v, nil
}

// OddAnswer is what a server gave in the place of an answer.
type OddAnswer struct {
	Status int // HTTP status
	Text   string
}

func (a OddAnswer) Error() string { return a.Text }

// sign adds key and headers as the provider's protocol has them.
func (c call) sign(req *http.Request, s agent.ModelSettings) {
	if req.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key := c.p.APIKey.Reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
		switch {
		case c.p.API == agent.AnthropicAPI:
			req.Header.Set("X-Api-Key", key)
		case agent.AzureHost(req.URL.Hostname()):
			req.Header.Set("Api-Key", key)
		}
	}
	if c.p.API == agent.AnthropicAPI {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for name, v := range s.Headers {
		req.Header.Set(name, v.Reveal())
	}
}

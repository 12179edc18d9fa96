package responses

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/agent/modeltest/conform"
	"parley/channels"
	"parley/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	conform.Run(t, conform.Provider{Signatures: true, New: func(s conform.Setup) agent.Model {
		return New(Config{Name: "mock", BaseURL: s.URL + "/v1", APIKey: s.Key, Deadlines: s.Deadlines, HTTPClient: s.Client, Settings: s.Settings})
	}})
}

// got is what a call gave.
type got struct {
	text, thoughts string // as it was shown
	answer         *agent.Answer
	err            error
}

// ask makes one call.
func ask(t *testing.T, m agent.Model, p agent.Prompt) (g got) {
	t.Helper()
	if p.Model == "" {
		p.Model = "m"
	}
	if p.Messages == nil {
		p.Messages = []sessions.Message{user("hi")}
	}
	if p.Tries == 0 {
		p.Tries = 1
	}
	var text, thoughts strings.Builder
	for d, err := range m.Stream(t.Context(), p) {
		if d.Restart {
			text.Reset()
			thoughts.Reset()
		}
		text.WriteString(d.Text)
		thoughts.WriteString(d.Thinking)
		if d.Final != nil {
			g.answer = d.Final
		}
		if err != nil {
			g.err = err
		}
	}
	g.text, g.thoughts = text.String(), thoughts.String()
	return g
}

func user(text string) sessions.Message {
	return sessions.Message{Role: sessions.User, Content: sessions.TextContent(text)}
}

func assistant(blocks ...sessions.Block) sessions.Message {
	return sessions.Message{Role: sessions.Assistant, Content: blocks, Model: "mock/m"}
}

func result(id, text string) sessions.Message {
	return sessions.Message{Role: sessions.ToolResult, ToolCallID: id, Content: sessions.TextContent(text)}
}

// server answers requests one after the other, the last answer again and again, and keeps what it was sent.
type server struct {
	mu      sync.Mutex
	bodies  []map[string]any
	raw     []string
	headers []http.Header
	queries []string
	answers []reply
}

type reply struct {
	status int // 0 = 200
	body   string
	header map[string]string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var body map[string]any
	if err != nil || json.Unmarshal(raw, &body) != nil {
		http.Error(w, "no JSON", http.StatusTeapot)
		return
	}
	s.mu.Lock()
	s.bodies, s.raw = append(s.bodies, body), append(s.raw, string(raw))
	s.headers, s.queries = append(s.headers, r.Header.Clone()), append(s.queries, r.URL.Path+"?"+r.URL.RawQuery)
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body) // the client says what is missing
}

// against makes a provider that talks to a server with these answers.
func against(t *testing.T, c Config, answers ...reply) (*Model, *server) {
	t.Helper()
	s := &server{answers: answers}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	c.Name, c.BaseURL, c.HTTPClient = "mock", srv.URL+"/v1", srv.Client()
	return New(c), s
}

// events makes a stream of the data of events.
func events(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

// completed is the end of a stream with these items.
func completed(items ...string) string {
	return `{"type":"response.completed","response":{"status":"completed","model":"m-2","output":[` + strings.Join(items, ",") + `]}}`
}

const (
	hello    = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hello","annotations":[]}]}`
	weather  = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"at\":\"Berlin\"}","status":"completed"}`
	thinking = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAAA"}`
)

var fine = reply{body: events(completed(hello))}

func class(err error) agent.ErrorClass {
	if e, ok := errors.AsType[*agent.ModelError](err); ok {
		return e.Class
	}
	return ""
}

// TestHeaderAndAddress: where the key goes, what the configuration adds, and that the environment adds nothing.
func TestHeaderAndAddress(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_ORG_ID", "from-the-environment")
	set := agent.ModelSettings{
		Headers: map[string]channels.Secret{"x-title": channels.NewSecret("parley"), "accept": channels.NewSecret("text/plain")},
		Query:   map[string]string{"api-version": "preview"},
	}
	m, s := against(t, Config{APIKey: channels.NewSecret("secret"), Settings: func(string) agent.ModelSettings { return set }}, fine)
	if g := ask(t, m, agent.Prompt{}); g.err != nil {
		t.Fatal(g.err)
	}
	h := s.headers[0]
	if h.Get("Authorization") != "Bearer secret" || h.Get("X-Title") != "parley" || h.Get("Accept") != "text/plain" || h.Get("OpenAI-Organization") != "" {
		t.Errorf("header %v", h)
	}
	if s.queries[0] != "/v1/responses?api-version=preview" {
		t.Errorf("asked %s", s.queries[0])
	}

	for base, want := range map[string]string{ // an address may be that of the requests
		"https://model.test/v1/responses":  "https://model.test/v1/responses",
		"https://model.test/v1/responses/": "https://model.test/v1/responses",
		"https://model.test/v1/?a=b":       "https://model.test/v1/responses?a=b",
	} {
		if got := endpoint(base).String(); got != want {
			t.Errorf("%s: %s", base, got)
		}
	}

	// source: learn.microsoft.com/azure/foundry/openai/api-version-lifecycle (the v1 address, the key in api-key)
	var sent *http.Request
	azureModel := New(Config{Name: "azure", BaseURL: "https://house.openai.azure.com/openai/v1/?api-version=v1", APIKey: channels.NewSecret("secret"),
		HTTPClient: &http.Client{Transport: transport(func(r *http.Request) string { sent = r; return fine.body })}})
	if g := ask(t, azureModel, agent.Prompt{Session: "agent:main:main"}); g.err != nil {
		t.Fatal(g.err)
	}
	if sent.Header.Get("Api-Key") != "secret" || sent.Header.Get("Authorization") != "" || sent.URL.String() != "https://house.openai.azure.com/openai/v1/responses?api-version=v1" {
		t.Errorf("%s %v", sent.URL, sent.Header)
	}
}

// transport answers each request with the stream that it gives.
type transport func(*http.Request) string

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	_, err := rec.WriteString(f(r))
	return rec.Result(), err
}

// TestSecretsInErrors: what a server repeats of a configured header, also without its scheme, or of the query is in no error.
func TestSecretsInErrors(t *testing.T) {
	t.Parallel()
	set := agent.ModelSettings{Headers: map[string]channels.Secret{"Cf-Aig-Authorization": channels.NewSecret("Bearer hush-hush")}, Query: map[string]string{"subscription-key": "hush-query"}}
	for _, said := range []string{"Bearer hush-hush is no key", "Incorrect API key provided: hush-hush", "cannot serve /v1/responses?subscription-key=hush-query"} {
		m, _ := against(t, Config{Settings: func(string) agent.ModelSettings { return set }}, reply{status: 401, body: `{"error":{"message":"` + said + `"}}`})
		g := ask(t, m, agent.Prompt{})
		if class(g.err) != agent.BadKey || strings.Contains(g.err.Error(), "hush") {
			t.Errorf("%v", g.err)
		}
	}
}

// TestBody: what a request consists of, by the kind of server and the configuration.
func TestBody(t *testing.T) {
	t.Parallel()
	half := 0.5
	for _, c := range []struct {
		name   string
		base   string
		prompt agent.Prompt
		set    agent.ModelSettings
		max    int
		want   string // the fields behind the input
	}{
		{"OpenAI", "", agent.Prompt{System: "be kind", Session: "s", Thinking: "low", MaxTokens: 5}, agent.ModelSettings{}, 0,
			`"instructions":"be kind","model":"m","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"max_output_tokens":16,"prompt_cache_key":"043a718774c572bd8a25adbeb1bfcd5c","stream":true`},
		{"off", "", agent.Prompt{Thinking: "off", Levels: []string{"low", "high"}}, agent.ModelSettings{}, 0,
			`"model":"m","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"none"},"stream":true`},
		{"off, by the user's levels", "", agent.Prompt{Thinking: "off"}, agent.ModelSettings{Reasoning: agent.Reasoning{Levels: []string{"minimal", "high"}}}, 0,
			`"model":"m","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"minimal","summary":"auto"},"stream":true`},
		{"off, where the user's levels have none", "", agent.Prompt{Thinking: "off"}, agent.ModelSettings{Reasoning: agent.Reasoning{Levels: []string{"high", "max"}}}, 0,
			`"model":"m","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},"stream":true`},
		{"the nearest level", "", agent.Prompt{Thinking: "medium", Levels: []string{"none", "low", "high"}}, agent.ModelSettings{}, 0,
			`"model":"m","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"stream":true`},
		{"it cannot be told", "", agent.Prompt{Thinking: "high", Levels: []string{}}, agent.ModelSettings{}, 0,
			`"model":"m","store":false,"include":["reasoning.encrypted_content"],"stream":true`},
		{"another server", "http://127.0.0.1:8000/v1", agent.Prompt{Session: "s"}, agent.ModelSettings{}, 100,
			`"model":"m","store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":100,"stream":true`},
		{"another server, with an effort", "http://127.0.0.1:8000/v1", agent.Prompt{Thinking: "high"}, agent.ModelSettings{}, 0,
			`"model":"m","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"},"stream":true`},
		{"settings", "", agent.Prompt{Thinking: "high", System: "be kind"}, agent.ModelSettings{Temperature: &half, TopP: &half, Stream: "off", System: "off",
			Body: map[string]any{"verbosity": "low", "reasoning": map[string]any{"effort": "xhigh"}, "store": true, "model": "x", "input": "x", "tools": 1, "stream": true, "a": []any{1}}}, 0,
			`"model":"m","include":["reasoning.encrypted_content"],"temperature":0.5,"top_p":0.5,"a":[1],"reasoning":{"effort":"xhigh"},"store":true,"verbosity":"low"`},
	} {
		var body string
		m := New(Config{Name: "mock", BaseURL: c.base, MaxTokens: c.max, Settings: func(string) agent.ModelSettings { return c.set },
			HTTPClient: &http.Client{Transport: transport(func(r *http.Request) string {
				raw, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				body = string(raw)
				return fine.body
			})}})
		if g := ask(t, m, c.prompt); g.err != nil {
			t.Fatal(g.err)
		}
		input := `{"input":[{"type":"message","role":"user","content":"hi"}],`
		if c.set.System == "off" {
			input = `{"input":[{"type":"message","role":"user","content":"be kind\n\nhi"}],`
		}
		if want := input + c.want + "}"; body != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, body, want)
		}
	}
}

// kinds gives the types of the items of a request.
func kinds(body map[string]any) (out []string) {
	input, _ := body["input"].([]any)
	for _, x := range input {
		it, _ := x.(map[string]any)
		kind, _ := it["type"].(string)
		if role, ok := it["role"].(string); ok {
			kind += ":" + role
		}
		out = append(out, kind)
	}
	return out
}

func itemAt(body map[string]any, i int) map[string]any {
	input, _ := body["input"].([]any)
	if i >= len(input) {
		return nil
	}
	it, _ := input[i].(map[string]any)
	return it
}

func wantKinds(t *testing.T, body map[string]any, want ...string) {
	t.Helper()
	if got := kinds(body); !slices.Equal(got, want) {
		t.Errorf("items %q, want %q", got, want)
	}
}

// recorder answers each request well and keeps its body.
func recorder(t *testing.T, raw *string) *http.Client {
	return &http.Client{Transport: transport(func(r *http.Request) string {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*raw = string(body)
		return fine.body
	})}
}

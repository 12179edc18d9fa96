package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"parley/agent"
	"parley/agent/modeltest"
	"parley/agent/modeltest/conform"
	"parley/channels"
	"parley/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	conform.Run(t, conform.Provider{New: func(s conform.Setup) agent.Model {
		return New(Config{Name: "mock", BaseURL: s.URL + "/v1", APIKey: s.Key, Deadlines: s.Deadlines, HTTPClient: s.Client, Settings: s.Settings})
	}})
}

// answer asks m once.
func answer(t *testing.T, m agent.Model, p agent.Prompt) (*agent.Answer, error) {
	t.Helper()
	if p.Messages == nil {
		p.Messages = []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hi")}}
	}
	for d, err := range m.Stream(t.Context(), p) {
		if err != nil || d.Final != nil {
			return d.Final, err
		}
	}
	t.Fatal("the stream ended without an answer")
	return nil, nil
}

// against makes a provider that talks to h.
func against(t *testing.T, h http.HandlerFunc, c Config) *Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c.Name, c.BaseURL, c.HTTPClient = "mock", srv.URL, srv.Client()
	return New(c)
}

func events(lines ...string) string {
	return "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"
}

// TestDialects feeds what servers really send, and should not.
func TestDialects(t *testing.T) {
	t.Parallel()
	call := func(id, name, args string) sessions.Block {
		return sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	text := func(s string) sessions.Block { return sessions.Block{Type: sessions.TextBlock, Text: s} }
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	for _, c := range []struct {
		name, body string
		want       []sessions.Block // nil = Broken
		usage      sessions.Usage
	}{
		{"no end mark", events(`{"choices":[{"delta":{"content":"a"}}]}`, stop), []sessions.Block{text("a")}, sessions.Usage{}},
		{"no finish reason", events(`{"choices":[{"delta":{"content":"a"}}]}`, "[DONE]"), []sessions.Block{text("a")}, sessions.Usage{}},
		{"neither", events(`{"choices":[{"delta":{"content":"a"}}]}`), nil, sessions.Usage{}},
		{"comments, error: null, null content", ": PROCESSING\n\n" + events(`{"error":null,"choices":[{"delta":{"content":null}}]}`, `{"choices":[]}`, stop), []sessions.Block{}, sessions.Usage{}},
		{"running totals", events(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
			`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`, "[DONE]"),
			[]sessions.Block{text("a")}, sessions.Usage{Input: 5, Output: 2}},
		{"ids that change", events(`{"id":"1","choices":[{"delta":{"content":"a"}}]}`, `{"id":"2","choices":[{"delta":{"content":"b"}}]}`, stop), []sessions.Block{text("ab")}, sessions.Usage{}},
		{"a refusal", events(`{"choices":[{"delta":{"refusal":"I will not."}}]}`, stop), []sessions.Block{text("I will not.")}, sessions.Usage{}},
		{"all calls at index 0", events(
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"y","function":{"name":"f","arguments":"{\"a\":2}"}}]}}]}`, stop),
			[]sessions.Block{call("x", "f", `{"a":1}`), call("y", "f", `{"a":2}`)}, sessions.Usage{}},
		{"calls counted from 3", events(`{"choices":[{"delta":{"tool_calls":[{"index":3,"id":"x","function":{"name":"f","arguments":"{}"}}]}}]}`, stop),
			[]sessions.Block{call("x", "f", `{}`)}, sessions.Usage{}},
		{"the name in every piece", events(
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":":1}"}}]}}]}`, stop),
			[]sessions.Block{call("x", "f", `{"a":1}`)}, sessions.Usage{}},
		{"no arguments", events(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f"}}]}}]}`, stop),
			[]sessions.Block{call("x", "f", `{}`)}, sessions.Usage{}},
		{"cut off at the limit", events(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f"}}]},"finish_reason":"length"}]}`),
			[]sessions.Block{call("x", "f", ``)}, sessions.Usage{}},
		{"half a call, then the end mark", events(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a"}}]}}]}`, "[DONE]"), nil, sessions.Usage{}},
		{"an index out of this world", events(`{"choices":[{"index":999999999,"delta":{"tool_calls":[{"index":999999999,"id":"x"}]}}]}`, stop), []sessions.Block{}, sessions.Usage{}},
		{"calls without end", events(strings.Repeat(`{"choices":[{"delta":{"tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}}]}}]}`+"\n\ndata: ", 200) + stop), nil, sessions.Usage{}},
		{"failed", events(`{"choices":[{"delta":{"content":"a"},"finish_reason":"error"}]}`), nil, sessions.Usage{}},
		{"a web page", "<html><body>Welcome!</body></html>", nil, sessions.Usage{}},
		{"nothing", "", nil, sessions.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := against(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write([]byte(c.body)) // the client says what is missing
			}, Config{})
			a, err := answer(t, m, agent.Prompt{Model: "m", Tries: 1})
			if c.want == nil {
				class := agent.Broken
				if c.name == "a web page" {
					class = agent.BadAddress
				}
				if e, ok := errors.AsType[*agent.ModelError](err); !ok || e.Class != class || e.Tries != 1 {
					t.Fatalf("got %+v, %v", a, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, append([]sessions.Block{}, a.Content...)); diff != "" {
				t.Error(diff)
			}
			if a.Usage != c.usage {
				t.Errorf("usage %+v", a.Usage)
			}
		})
	}
}

func TestAnswersThatAreNoStream(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"choices":[{"message":{"content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`: "hi a b",
		`{"choices":[{"message":{"content":"hi"`: "broken",
		`{"choices":[]}`:                         "broken",
		`{"error":{"message":"no","code":400}}`:  "bad_request",
	} {
		m := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = w.Write([]byte(body)) // the client says what is missing
		}, Config{Deadlines: agent.Deadlines{Total: 5 * time.Second}})
		a, err := answer(t, m, agent.Prompt{Model: "m"})
		got := ""
		if e, ok := errors.AsType[*agent.ModelError](err); ok {
			got = string(e.Class)
		} else {
			msg := sessions.Message{Content: a.Content}
			got = msg.Text()
			for _, c := range msg.ToolCalls() {
				got += " " + c.ID
			}
		}
		if got != want {
			t.Errorf("%s: %s (%v)", body, got, err)
		}
	}
}

// TestLearns: what a server does not understand is left out, at once and for good, model by model.
func TestLearns(t *testing.T) {
	t.Parallel()
	srv, err := modeltest.New()
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { c.CloseIdleConnections(); _ = srv.Close() })
	srv.Script(func(r modeltest.Request) modeltest.Reply {
		for _, word := range []string{"stream_options", "reasoning_effort", "max_tokens"} {
			if strings.Contains(string(r.Raw), `"`+word+`"`) {
				return modeltest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported parameter: '` + word + `'. Use 'max_completion_tokens' instead."}}`}
			}
		}
		return modeltest.Echo(r)
	})
	m := New(Config{Name: "mock", BaseURL: srv.URL() + "/v1", HTTPClient: c})
	for want, p := range map[int]agent.Prompt{4: {Model: "old", Thinking: "off", MaxTokens: 100}} {
		if _, err := answer(t, m, p); err != nil || srv.Count() != want {
			t.Fatalf("%d requests, %v", srv.Count(), err)
		}
		if _, err := answer(t, m, p); err != nil || srv.Count() != want+1 {
			t.Errorf("it had to learn again: %d requests, %v", srv.Count(), err)
		}
		last := srv.Requests()[srv.Count()-1]
		if !strings.Contains(string(last.Raw), `"max_completion_tokens":100`) {
			t.Errorf("sent %s", last.Raw)
		}
	}
	srv.Script(modeltest.Echo)
	if _, err := answer(t, m, agent.Prompt{Model: "new", Thinking: "low"}); err != nil {
		t.Fatal(err)
	}
	if last := string(srv.Requests()[srv.Count()-1].Raw); !strings.Contains(last, `"reasoning_effort":"low"`) || !strings.Contains(last, "include_usage") {
		t.Errorf("what one model taught was held against another: %s", last)
	}
}

// TestCacheKey: OpenAI's own service is told which session a call belongs to, in 64 letters at most and not by its name. Others
// are not: they may refuse what they do not know.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	ask := func(base, session string) string {
		var sent []byte
		m := New(Config{Name: "mock", BaseURL: base, HTTPClient: &http.Client{Transport: sees{canned(events("[DONE]")), &sent}}})
		if _, err := answer(t, m, agent.Prompt{Model: "m", Session: session}); err != nil {
			t.Fatal(err)
		}
		var body struct {
			Key string `json:"prompt_cache_key"`
		}
		if err := json.Unmarshal(sent, &body); err != nil {
			t.Fatal(err)
		}
		return body.Key
	}
	const session = "agent:main:telegram:direct:491701234567"
	a, b := ask("", session), ask("", session+"1")
	if a == "" || a == b || len(a) > 64 || strings.Contains(a, "4917") || a != ask("", session) {
		t.Errorf("keys %q and %q", a, b)
	}
	if k := ask("", "") + ask("http://127.0.0.1:11434/v1", session); k != "" {
		t.Errorf("sent %q", k)
	}
}

// sees keeps what is sent.
type sees struct {
	next http.RoundTripper
	sent *[]byte
}

func (s sees) RoundTrip(r *http.Request) (res *http.Response, err error) {
	if *s.sent, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	return s.next.RoundTrip(r)
}

func TestKeyAndEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_ORG_ID", "from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	var seen []http.Header
	h := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Clone())
		_, _ = w.Write([]byte(events("[DONE]"))) // the client says what is missing
	}
	for _, key := range []string{"", "secret"} {
		if _, err := answer(t, against(t, h, Config{APIKey: channels.NewSecret(key)}), agent.Prompt{Model: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	if seen[0].Get("Authorization") != "" || seen[1].Get("Authorization") != "Bearer secret" || seen[1].Get("OpenAI-Organization") != "" {
		t.Errorf("headers %v", seen)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	srv, err := modeltest.New()
	if err != nil {
		t.Fatal(err)
	}
	srv.Models("llama3.2:3b", "qwen3")
	c := Config{Name: "ollama", BaseURL: srv.URL() + "/v1", Deadlines: ListDeadlines}
	names, err := List(t.Context(), c)
	if err != nil || !slices.Equal(names, []string{"llama3.2:3b", "qwen3"}) {
		t.Errorf("%q, %v", names, err)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = List(t.Context(), c)
	if e, ok := errors.AsType[*agent.ModelError](err); !ok || e.Class != agent.Unreachable {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = List(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(events(`{"choices":[{"delta":{"content":"a"}}]}`, "[DONE]"))
	f.Add(events(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}}]},"finish_reason":"length"}]}`))
	f.Add(events(`{"error":{"code":"429","message":3}}`) + ": c\n\nevent: x\ndata:{}\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		m := New(Config{Name: "mock", BaseURL: "http://model.test/v1", HTTPClient: &http.Client{Transport: canned(body)}})
		finals := 0
		for try, err := range m.Stream(canceledAfterFirst(t), agent.Prompt{Model: "m", Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hi")}}}) {
			if err != nil || try.Final == nil {
				continue
			}
			finals++
			for _, c := range (sessions.Message{Content: try.Final.Content}).ToolCalls() {
				if c.ID == "" {
					t.Fatal("a call without id")
				}
			}
		}
		if finals > 1 {
			t.Fatalf("%d answers", finals)
		}
	})
}

// canceledAfterFirst gives a context that leaves no time to try again.
func canceledAfterFirst(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// canned answers every request with the same stream.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "text/event-stream")
	_, err := rec.WriteString(string(c))
	return rec.Result(), err
}

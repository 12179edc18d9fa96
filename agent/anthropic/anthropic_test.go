package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/modeltest"
	"parley/agent/modeltest/conform"
	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	conform.Run(t, conform.Provider{Signatures: true, New: func(s conform.Setup) agent.Model {
		return New(Config{Name: "mock", BaseURL: s.URL, APIKey: s.Key, Deadlines: s.Deadlines, HTTPClient: s.Client, Settings: s.Settings})
	}})
}

func server(t *testing.T) (*modeltest.Server, *http.Client) {
	t.Helper()
	srv, err := modeltest.New()
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { c.CloseIdleConnections(); _ = srv.Close() })
	return srv, c
}

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

// TestCacheMarks: the stable prefixes end in marks, that of the call before too, and there are no more of them than the protocol allows.
func TestCacheMarks(t *testing.T) {
	t.Parallel()
	srv, c := server(t)
	m := New(Config{Name: "mock", BaseURL: srv.URL() + "/v1/", HTTPClient: c})
	call := sessions.Block{Type: sessions.ToolCallBlock, ID: "a", Name: "x", Arguments: json.RawMessage(`{}`)}
	if _, err := answer(t, m, agent.Prompt{Model: "m", System: "<sys> & \"quotes\"", Tools: []tools.Spec{{Name: "x"}, {Name: "y"}}, Messages: []sessions.Message{
		{Role: sessions.User, Content: sessions.TextContent("hi")},
		{Role: sessions.Assistant, Model: "mock/m", Content: []sessions.Block{call}},
		{Role: sessions.ToolResult, ToolCallID: "a", Content: sessions.TextContent("r"), IsError: true},
		{Role: sessions.User, Content: sessions.TextContent("and?")},
	}}); err != nil {
		t.Fatal(err)
	}
	got := string(srv.Requests()[0].Raw)
	want := `{"model":"m","system":[{"type":"text","cache_control":{"type":"ephemeral"},"text":"<sys> & \"quotes\""}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r","is_error":true},` +
		`{"type":"text","text":"and?","cache_control":{"type":"ephemeral"}}]}],` +
		`"tools":[{"name":"x","input_schema":{"type":"object","properties":{}}},{"name":"y","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],` +
		`"max_tokens":8192,"stream":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestStubs: without tools, those that the messages show are defined all the same, but may not be called.
func TestStubs(t *testing.T) {
	t.Parallel()
	srv, c := server(t)
	m := New(Config{Name: "mock", BaseURL: srv.URL(), HTTPClient: c})
	msgs := []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hi")}}
	for _, call := range [][2]string{{"1", "x"}, {"2", "y"}, {"3", "x"}} {
		msgs = append(msgs,
			sessions.Message{Role: sessions.Assistant, Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: call[0], Name: call[1], Arguments: json.RawMessage(`{}`)}}},
			sessions.Message{Role: sessions.ToolResult, ToolCallID: call[0], Content: sessions.TextContent("r")})
	}
	const stub = `"description":"Not available in this turn.","input_schema":{"type":"object","properties":{}}`
	const stubbed = `"tools":[{"name":"x",` + stub + `},{"name":"y",` + stub + `,"cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"none"},"max_tokens"`
	for _, x := range []struct {
		p    agent.Prompt
		want string
	}{
		{agent.Prompt{Messages: msgs}, stubbed},
		{agent.Prompt{Messages: msgs, Tools: []tools.Spec{{Name: "z"}}}, `"tools":[{"name":"z","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],"max_tokens"`},
		{agent.Prompt{Messages: msgs[:1]}, `"cache_control":{"type":"ephemeral"}}]}],"max_tokens"`},
	} {
		if _, err := answer(t, m, x.p); err != nil {
			t.Fatal(err)
		}
		if got := string(srv.Requests()[srv.Count()-1].Raw); !strings.Contains(got, x.want) {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
	}
}

// TestThinkingModes: models differ in how they want to be told to think.
func TestThinkingModes(t *testing.T) {
	t.Parallel()
	srv, c := server(t)
	m := New(Config{Name: "mock", BaseURL: srv.URL(), HTTPClient: c, MaxTokens: 1000})
	reject := func(words ...string) func(modeltest.Request) modeltest.Reply {
		return func(r modeltest.Request) modeltest.Reply {
			for _, w := range words {
				if strings.Contains(string(r.Raw), w) {
					return modeltest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"thinking: ` + w + ` is not supported"}}`}
				}
			}
			return modeltest.Echo(r)
		}
	}
	for _, x := range []struct {
		model, level string
		rejects      []string
		requests     int
		want         string
	}{
		{"new", "low", nil, 1, `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},"max_tokens":1000`},
		{"older", "medium", []string{"adaptive"}, 2, `"thinking":{"type":"enabled","budget_tokens":8192},"max_tokens":9192`},
		{"older", "high", []string{"adaptive"}, 1, `"budget_tokens":16384`},
		{"oldest", "high", []string{"adaptive", "enabled"}, 3, `]}],"max_tokens":1000`},
		{"oldest", "high", []string{"adaptive", "enabled"}, 1, `]}],"max_tokens":1000`},
		{"always", "off", []string{"disabled"}, 2, `]}],"max_tokens":1000`},
		{"new", "off", nil, 1, `"thinking":{"type":"disabled"}`},
		{"new", "", nil, 1, `"max_tokens":1000`},
	} {
		srv.Script(reject(x.rejects...))
		before := srv.Count()
		if _, err := answer(t, m, agent.Prompt{Model: x.model, Thinking: x.level}); err != nil {
			t.Fatal(err)
		}
		last := string(srv.Requests()[srv.Count()-1].Raw)
		if srv.Count()-before != x.requests || !strings.Contains(last, x.want) {
			t.Errorf("%s %q: %d requests, %s", x.model, x.level, srv.Count()-before, last)
		}
	}
}

// TestBudgetInAToolLoop: a model that is told to think may go on after tool calls only if it thought before them. It did not when
// another model made the calls.
func TestBudgetInAToolLoop(t *testing.T) {
	t.Parallel()
	call := sessions.Block{Type: sessions.ToolCallBlock, ID: "a", Name: "x", Arguments: json.RawMessage(`{}`)}
	thought := sessions.Block{Type: sessions.ThinkingBlock, Text: "hm", Signature: new("s")}
	said := func(role sessions.Role, blocks ...sessions.Block) sessions.Message {
		return sessions.Message{Role: role, Content: blocks, Model: "mock/m"}
	}
	result := sessions.Message{Role: sessions.ToolResult, ToolCallID: "a", Content: sessions.TextContent("r")}
	hi := said(sessions.User, sessions.TextContent("hi")...)
	srv, c := server(t)
	book := lessons.NewBook(lessons.Config{})
	book.Load([]sessions.Lesson{{Provider: "mock", Address: srv.URL(), Model: "m", Kind: lessons.Parameter, Name: "thinking", Value: "adaptive", Use: "enabled", At: time.Now()}})
	m := New(Config{Name: "mock", BaseURL: srv.URL(), HTTPClient: c, Lessons: book})
	for want, cases := range map[bool][][]sessions.Message{
		true:  {{hi}, {hi, said(sessions.Assistant, thought, call), result}, {hi, said(sessions.Assistant, call), result, hi}},
		false: {{hi, said(sessions.Assistant, call), result}},
	} {
		for i, msgs := range cases {
			if _, err := answer(t, m, agent.Prompt{Model: "m", Thinking: "low", Messages: msgs}); err != nil {
				t.Fatal(err)
			}
			if raw := string(srv.Requests()[srv.Count()-1].Raw); strings.Contains(raw, `"budget_tokens":2048`) != want {
				t.Errorf("case %t %d: %s", want, i, raw)
			}
		}
	}
}

// TestCutCall: a call that the length limit cut off must not become one without arguments.
func TestCutCall(t *testing.T) {
	t.Parallel()
	srv, c := server(t)
	m := New(Config{Name: "mock", BaseURL: srv.URL(), HTTPClient: c})
	for _, args := range []string{`{"path":"/`, ``} {
		srv.Script(func(modeltest.Request) modeltest.Reply {
			return modeltest.Reply{Stop: "max_tokens", ToolCalls: []modeltest.ToolCall{{ID: "a", Name: "delete", Arguments: args}}}
		})
		a, err := answer(t, m, agent.Prompt{Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(a.Content[0].Arguments); got != args || a.Stop != agent.StopLength {
			t.Errorf("%q became %q, stop %q", args, got, a.Stop)
		}
	}
}

func TestKeyAndEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	srv, c := server(t)
	for _, key := range []string{"", "secret"} {
		if _, err := answer(t, New(Config{Name: "mock", BaseURL: srv.URL(), HTTPClient: c, APIKey: channels.NewSecret(key)}), agent.Prompt{Model: "m"}); err != nil {
			t.Fatal(err)
		}
		h := srv.Requests()[srv.Count()-1].Header
		if h.Get("X-Api-Key") != key || h.Get("Authorization") != "" || h.Get("Anthropic-Version") == "" {
			t.Errorf("key %q: %v", key, h)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	srv, err := modeltest.New()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = srv.Close() })
	m := New(Config{Name: "mock", BaseURL: srv.URL(), APIKey: channels.NewSecret("k")})
	p := agent.Prompt{Model: "m", System: "be kind", Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent("hi")}}}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), p) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

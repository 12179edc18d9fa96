package anthropic

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// TestSettings: what is configured is sent, and wins over what is known otherwise.
func TestSettings(t *testing.T) {
	t.Parallel()
	half := 0.5
	low := toolTurn()
	low.Thinking = "low"
	shown := agent.Prompt{Messages: []sessions.Message{{Role: sessions.User, Content: []sessions.Block{{Type: sessions.TextBlock, Text: "look"}, {Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}}}}}
	off := low
	off.Thinking = "off"
	for _, c := range []struct {
		name     string
		set      agent.ModelSettings
		p        agent.Prompt
		has, not []string
	}{
		{"body", agent.ModelSettings{Body: map[string]any{"top_k": 5, "metadata": map[string]any{"user_id": "x"}, "model": "other", "messages": 1, "tools": 1, "stream": false, "system": 1}}, low,
			[]string{`"model":"m"`, `"metadata":{"user_id":"x"},"top_k":5,"stream":true}`, `"system":[{`}, []string{"other", `"messages":1`}},
		{"body wins", agent.ModelSettings{Body: map[string]any{"thinking": map[string]any{"type": "enabled"}, "max_tokens": 7, "temperature": 1}, Temperature: &half}, low,
			[]string{`"max_tokens":7`, `"thinking":{"type":"enabled"}`, `"temperature":1`}, []string{"adaptive", "output_config", "0.5", `"max_tokens":8192`}},
		{"temperature and topP", agent.ModelSettings{Temperature: &half, TopP: &half}, low, []string{`"temperature":0.5,"top_p":0.5`}, nil},
		{"tools off", agent.ModelSettings{Tools: "off"}, low, []string{"I called the tool look"}, []string{`"tools"`, "tool_use", "tool_result"}},
		{"images off", agent.ModelSettings{Images: "off"}, shown, []string{`"text":"look"`}, []string{"aGk=", `"image"`}},
		{"stream off", agent.ModelSettings{Stream: "off"}, low, nil, []string{`"stream"`}},
		{"system off", agent.ModelSettings{System: "off"}, low, []string{`"messages":[{"role":"user","content":[{"type":"text","text":"be kind"},`}, []string{`"system":`}},
		{"levels", agent.ModelSettings{Reasoning: agent.Reasoning{Levels: []string{"medium", "max"}}}, low, []string{`"effort":"medium"`}, nil},
		{"no levels", agent.ModelSettings{Reasoning: agent.Reasoning{Levels: []string{}}}, low, nil, []string{`"thinking":{`, "effort"}},
		{"off", agent.ModelSettings{}, off, []string{`"thinking":{"type":"disabled"}`}, []string{"effort"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &endpoint{answer: always(reply{body: hello})}
			if h := listen(t, e.at(elsewhere, func(conf *Config) { conf.Settings = func(string) agent.ModelSettings { return c.set } }), c.p); h.err != nil {
				t.Fatal(h.err)
			}
			for _, want := range c.has {
				if !strings.Contains(e.last(), want) {
					t.Errorf("no %s in %s", want, e.last())
				}
			}
			for _, no := range c.not {
				if strings.Contains(e.last(), no) {
					t.Errorf("%s in %s", no, e.last())
				}
			}
		})
	}
}

// TestOffWins: a lesson about thinking does not turn /think off into something else.
func TestOffWins(t *testing.T) {
	t.Parallel()
	e := &endpoint{answer: refuses(invalid("thinking is not supported"), `"adaptive"`, `"enabled"`)}
	m := e.at(elsewhere)
	listen(t, m, agent.Prompt{Thinking: "low"})
	listen(t, m, agent.Prompt{Thinking: "off"})
	if !strings.Contains(e.last(), `"thinking":{"type":"disabled"}`) {
		t.Errorf("sent %s", e.last())
	}
}

// TestAddressAndHeaders: the address may be written in several ways; headers replace those of the same name, and no secret of theirs gets
// into an error.
func TestAddressAndHeaders(t *testing.T) {
	t.Parallel()
	const token = "tok-very-secret-1"
	for _, c := range []struct {
		base, url string
		headers   map[string]channels.Secret
		query     map[string]string
		key, auth string
	}{
		{"", "https://api.anthropic.com/v1/messages", nil, nil, "sk-0123456789", ""},
		{"https://x.test/anthropic/", "https://x.test/anthropic/v1/messages", nil, nil, "sk-0123456789", ""},
		{"https://x.test/v1/messages", "https://x.test/v1/messages", nil, nil, "sk-0123456789", ""},
		{"https://x.test/v1?api-version=3", "https://x.test/v1/messages?api-version=3&beta=1", nil, map[string]string{"beta": "1"}, "sk-0123456789", ""},
		{"https://x.test", "https://x.test/v1/messages", map[string]channels.Secret{"authorization": channels.NewSecret("Bearer " + token)}, nil, "", "Bearer " + token},
		{"https://x.test", "https://x.test/v1/messages", map[string]channels.Secret{"X-API-Key": channels.NewSecret(token)}, nil, token, ""},
		{"https://x.test", "https://x.test/v1/messages", map[string]channels.Secret{"x-api-key": {}}, nil, "", ""},
	} {
		e := &endpoint{answer: always(reply{status: 401, body: `{"error":{"message":"no such key: ` + token + `"}}`})}
		m := e.at(c.base, func(conf *Config) {
			conf.Settings = func(string) agent.ModelSettings { return agent.ModelSettings{Headers: c.headers, Query: c.query} }
		})
		h := listen(t, m, agent.Prompt{})
		got := e.requests[0]
		if got.URL.String() != c.url || got.Header.Get("X-Api-Key") != c.key || got.Header.Get("Authorization") != c.auth || got.Header.Get("Anthropic-Version") == "" {
			t.Errorf("%s: %s %v", c.base, got.URL, got.Header)
		}
		if c.headers != nil && (c.key == token || c.auth != "") && strings.Contains(h.err.Error()+saidBy(h.err), token) {
			t.Errorf("the error has the secret in it: %v", h.err)
		}
	}
}

func saidBy(err error) string {
	if e, ok := errors.AsType[*agent.ModelError](err); ok {
		return e.Said
	}
	return ""
}

// TestStrict: a conversation that ends with the model's words ends with a person's all the same. source: anthropics/claude-code, "does
// not support assistant message prefill"
func TestStrict(t *testing.T) {
	t.Parallel()
	e := &endpoint{answer: always(reply{body: hello})}
	listen(t, e.at(DefaultBaseURL), agent.Prompt{Messages: turn(sessions.TextContent("well"), "mock/m")[:2]})
	if !strings.Contains(e.last(), `{"role":"assistant","content":[{"type":"text","text":"well"}]},{"role":"user",`) {
		t.Errorf("sent %s", e.last())
	}
}

// TestPictureInResult: a picture that a tool gave stays in its result.
func TestPictureInResult(t *testing.T) {
	t.Parallel()
	e := &endpoint{answer: always(reply{body: hello})}
	p := toolTurn()
	p.Messages[2].Content = append(p.Messages[2].Content, sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}, sessions.Block{Type: sessions.ImageBlock, MIME: "image/tiff", Data: "aGk="})
	listen(t, e.at(elsewhere), p)
	want := `{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"done"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"text","text":"[a picture of type image/tiff`
	if !strings.Contains(e.last(), want) {
		t.Errorf("sent %s", e.last())
	}
}

// TestEmptyResultAsList: where an endpoint takes the results of tools as lists only, an empty one is a list as well.
// source: docs.pydantic.dev/latest/errors/validation_errors (list_type)
func TestEmptyResultAsList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": `"content":[{"type":"text","text":"(nothing)"}]`, "done": `"content":[{"type":"text","text":"done"}]`} {
		e := &endpoint{answer: func(_ int, body string) reply {
			if strings.Contains(body, `"tool_use_id":"toolu_1","content":"`) {
				return reply{status: 400, kind: "application/json", body: invalid("messages.2.content.0.tool_result.content: Input should be a valid list")}
			}
			return reply{body: hello}
		}}
		p := toolTurn()
		p.Messages[2].Content = sessions.TextContent(text)
		if h := listen(t, e.at(elsewhere), p); h.err != nil || !strings.Contains(e.last(), `"tool_use_id":"toolu_1",`+want) {
			t.Errorf("%q: %v, sent %s", text, h.err, e.last())
		}
	}
}

// TestUnreadableIsLoggedOnce: with a sample of at most 200 bytes.
func TestUnreadableIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	e := &endpoint{answer: always(reply{body: strings.ReplaceAll(hello, `"index":0,`, `"index":{"a":"`+strings.Repeat("z", 400)+`"},`)})}
	m := e.at(elsewhere, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 3 {
		if h := listen(t, m, agent.Prompt{}); h.err != nil || h.text != "hello" {
			t.Fatal(h.err)
		}
	}
	if n := strings.Count(log.String(), "left out"); n != 1 || strings.Contains(log.String(), strings.Repeat("z", 201)) {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

package config

import (
	"reflect"
	"strings"
	"testing"

	"parley/agent"
)

// modelSettings is a file with every setting of how a model is spoken to.
const modelSettings = `models:
  providers:
    a:
      api: openai-completions
      baseUrl: https://models.example/v1?api-version=1
      headers: {X-Title: parley, api-key: "${KEY}"}
      query: {tier: 1}
      temperature: 0
      topP: ${TOP:-0.9}
      tools: off
      images: on
      body:
        seed: 7
        penalty: 0.5
        big: 12345678901
        on: true
        none: null
        "no": "no"
        text: "12"
        from: ${N}
        quoted: "${N}"
        joined: n${N}
        list: [1, a, {b: [true]}]
        chat_template_kwargs: {enable_thinking: false}
        empty: {}
      models:
        m: {temperature: 1.5, reasoning: {levels: [], sendBack: off}}
        n: {reasoning: {levels: [none, low, xhigh]}}
`

func TestModelSettings(t *testing.T) {
	t.Parallel()
	c, ps, err := load(modelSettings, "KEY", "made-up-key", "N", "3")
	if err != nil {
		t.Fatal(err, ps)
	}
	p := c.Models.Providers["a"]
	s := p.Settings("m")
	if s.Headers["Api-Key"].Reveal() != "made-up-key" || s.Headers["X-Title"].Reveal() != "parley" || s.Query["tier"] != "1" || s.Query["api-version"] != "1" {
		t.Errorf("%d headers, query %v", len(s.Headers), s.Query)
	}
	want := map[string]any{"seed": 7, "penalty": 0.5, "big": 12345678901, "on": true, "none": nil, "no": "no", "text": "12", "from": 3, "quoted": "3", "joined": "n3",
		"list": []any{1, "a", map[string]any{"b": []any{true}}}, "chat_template_kwargs": map[string]any{"enable_thinking": false}, "empty": map[string]any{}}
	for k := range want {
		if !reflect.DeepEqual(s.Body[k], want[k]) {
			t.Errorf("body.%s: %#v, want %#v", k, s.Body[k], want[k])
		}
	}
	if len(s.Body) != len(want) {
		t.Errorf("%d fields in the body", len(s.Body))
	}
	if *s.Temperature != 1.5 || *s.TopP != 0.9 || *p.Settings("other").Temperature != 0 || s.Tools != "off" || s.Images != "on" || s.Reasoning.SendBack != "off" {
		t.Errorf("%+v", s)
	}
	if s.Reasoning.Levels == nil || len(s.Reasoning.Levels) != 0 || p.Settings("other").Reasoning.Levels != nil || len(p.Settings("n").Reasoning.Levels) != 3 {
		t.Errorf("levels: %#v, %#v", s.Reasoning.Levels, p.Settings("other").Reasoning.Levels)
	}
	if p.ContextWindow != 0 || p.Protocol() != agent.CompletionsAPI {
		t.Errorf("window %d, protocol %s", p.ContextWindow, p.Protocol())
	}
}

func TestModelSettingsProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`tools: false`, `a.tools: must be text, is true or false (write off)`},
		{`tools: none`, `a.tools: "none" is not allowed (use one of: on, off`},
		{`temperature: 3`, `a.temperature: must be between 0 and 2, is "3"`},
		{`temperature: warm`, `a.temperature: must be a number, is "warm"`},
		{`topP: 1.01`, `a.topP: must be between 0 and 1`},
		{`models: {m: {contextWindow: 5}}`, `a.models.m.contextWindow: must be at least 1000, or 0`},
		{`headers: {}, apiKey: "sk-1 2345678"`, `a.apiKey: contains a space, a line break`},
		{`contextWindow: 12`, `a.contextWindow: must be at least 1000, or 0`},
		{`headers: {"a b": x}`, `a.headers: contains an invalid header`},
		{`headers: {X-A: "a\nb: c"}`, `a.headers: contains an invalid header`},
		{`headers: {X-A: "a\0"}`, `a.headers: contains an invalid header`},
		{`headers: {content-length: 1}`, `a.headers.content-length: cannot be set`},
		{`headers: {X-A: [1]}`, `a.headers.X-A: must be text, is a list`},
		{`query: {"": x}`, `a.query: contains a parameter without a name`},
		{`query: {a: {b: c}}`, `a.query.a: must be text, is a group of keys`},
		{`body: {model: x}`, `a.body.model: cannot be set: parley sends model itself`},
		{`body: {stream: false}`, `(set stream: off beside body)`},
		{`body: {messages: []}`, `a.body.messages: cannot be set`},
		{`body: {input: x}`, `a.body.input: cannot be set`},
		{`body: {tools: []}`, `a.body.tools: cannot be set`},
		{`models: {m: {body: {system: x}}}`, `a.models.m.body.system: cannot be set`},
		{`body: {x: .inf}`, `a.body.x: must be a number that JSON can hold`},
		{`body: {x: !!binary aGk=}`, `a.body.x: YAML tags are not supported`},
		{`body: {x: "${NOT_SET}"}`, `a.body.x: the environment variable NOT_SET is not set`},
		{`body: {x: {y: }}`, `a.body.x.y: has no value (write null`},
		{`body: {x: }`, `a.body.x: has no value`},
		{`body: [1]`, `a.body: must be a group of keys, is a list`},
		{`body: {x: ` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}`, `is nested too deeply`},
		{`reasoning: {levels: [hgih]}`, `a.reasoning.levels[0]: "hgih" is not an effort (efforts: none, minimal, low, medium, high, xhigh, max; did you mean "high"?)`},
		{`reasoning: {levels: [low, low]}`, `a.reasoning.levels[1]: is listed twice`},
		{`reasoning: {sendBack: maybe}`, `a.reasoning.sendBack: "maybe" is not allowed`},
		{`api: openai-chat`, `"openai-chat" is not allowed (use one of: openai, openai-completions, openai-responses, anthropic, offline`},
	} {
		text := "models: {providers: {a: {api: openai, apiKey: k, " + c.text + "}}}"
		if strings.Contains(c.text, "apiKey:") {
			text = "models: {providers: {a: {api: openai, " + c.text + "}}}"
		}
		if strings.HasPrefix(c.text, "api:") {
			text = "models: {providers: {a: {" + c.text + "}}}"
		}
		_, ps, err := load(text)
		var all []string
		for _, p := range ps {
			all = append(all, p.String())
		}
		if got := strings.Join(all, "\n"); err == nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v\n%s\nwant %s", c.text, err, got, c.want)
		}
	}
}

// A secret that a variable brought into the body is in no problem.
func TestBodyKeepsSecrets(t *testing.T) {
	t.Parallel()
	_, ps, err := load(`models: {providers: {a: {api: openai, apiKey: k, body: {x: {model: "${KEY}"}, model: "${KEY}", y: !t "${KEY}"}}}}`, "KEY", "made-up-body-secret")
	if err == nil || len(ps) == 0 {
		t.Fatal("no problem")
	}
	for _, p := range ps {
		if strings.Contains(p.String(), "made-up") {
			t.Errorf("%s", p)
		}
	}
}

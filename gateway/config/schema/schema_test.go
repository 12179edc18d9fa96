package schema

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"

	"parley/channels"
	"parley/gateway/config"
	"parley/policy"
)

// telegramLike has the shape of an adapter's struct.
type telegramLike struct {
	Token       channels.Secret `yaml:"token" required:"true" doc:"Token from @BotFather."`
	APIURL      string          `yaml:"apiUrl" default:"https://api.telegram.org" doc:"Where the API is."`
	PollSeconds int             `yaml:"pollSeconds" default:"50" min:"1" max:"50" doc:"Longest poll, in seconds."`
}

func table() config.Table {
	return config.Table{
		{Kind: "telegram", New: func() any { return new(telegramLike) }, Pacing: channels.Pacing{PerSecond: 30, PerChatPerSecond: 1, PerGroupPerMinute: 20}},
		{Kind: "webchat", Always: true, Access: &policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupDisabled}},
	}
}

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	b, err := JSON(table())
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The schema says yes and no where Load does. What only Load knows (names, addresses, variables) is not among the cases.
func TestSchemaAgreesWithLoad(t *testing.T) {
	t.Parallel()
	r := resolved(t)
	for _, x := range []struct {
		text string
		good bool
	}{
		{"{}", true},
		{"log: {level: debug}", true},
		{"log: {level: loud}", false},
		{"log: {level: '${LEVEL}'}", true},
		{"zebra: 1", false},
		{"gateway: {openai: {enabled: true, tools: ignore}}", true},
		{"gateway: {openai: {tools: call}}", false},
		{"log: {zebra: 1}", false},
		{"channels: {zebra: {}}", false},
		{"channels: {telegram: {token: x, zebra: 1}}", false},
		{"channels: {telegram: {}}", false},
		{"channels: {telegram: {token: ''}}", false},
		{"channels: {telegram: {token: x, allowFrom: [1001, '@a']}}", true},
		{"channels: {telegram: {token: x, allowFrom: 1001}}", false},
		{"channels: {telegram: {token: x, pacing: {perSecond: 0.5}}}", true},
		{"channels: {telegram: {token: x, pacing: {perSecond: -1}}}", false},
		{"channels: {telegram: {token: x, pollSeconds: 51}}", false},
		{"channels: {telegram: {enabled: false}}", true},
		{"channels: {telegram: {accounts: {a: {token: x}}}}", true},
		{"channels: {telegram: {accounts: {a: {token: x, zebra: 1}}}}", false},
		{"channels: {telegram: {token: x, groups: {'-1': {topics: {'7': {allowFrom: ['*'], enabled: false}}}}}}", true},
		{"channels: {telegram: {token: x, groups: {'-1': {topics: {'7': {zebra: 1}}}}}}", false},
		{"agents: {list: [{id: main}]}", true},
		{"agents: {list: [{id: Main!}]}", false},
		{"agents: {list: [{name: x}]}", false},
		{"session: {agentToAgent: {maxPingPongTurns: 6}}", false},
		{"tools: {agentToAgent: {enabled: 'yes'}}", false},
		{"models: {providers: {a: {}}}", false},
		{"models: {providers: {a: {api: offline}}}", true},
		{"delivery: {ttl: {replyMinutes: 1.5}}", false},
	} {
		var v any
		if err := yaml.Unmarshal([]byte(x.text), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != x.good {
			t.Errorf("schema, %s: %v", x.text, err)
		}
		if _, _, err := config.Parse("config.yaml", []byte(x.text), table(), func(name string) string { return map[string]string{"HOME": "/home/u", "LEVEL": "info"}[name] }); (err == nil) != x.good {
			t.Errorf("load, %s: %v", x.text, err)
		}
	}
}

// A key in the structs is a key in the schema, with words for people.
func TestSchemaDescribesEveryKey(t *testing.T) {
	t.Parallel()
	b, err := JSON(table())
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		props, _ := m["properties"].(map[string]any)
		for k, p := range props {
			if d, _ := p.(map[string]any)["description"].(string); d == "" {
				t.Errorf("%s/%s has no description", path, k)
			}
			walk(path+"/"+k, p)
		}
		for _, k := range []string{"items", "additionalProperties"} {
			walk(path+"/"+k, m[k])
		}
		if defs, ok := m["$defs"].(map[string]any); ok {
			for k, d := range defs {
				walk("$defs/"+k, d)
			}
		}
	}
	walk("", tree)
}

// Entry has the name of another package's struct.
type Entry struct {
	A string `yaml:"a"`
}

func TestSchemaRefusesWhatCannotBeConfigured(t *testing.T) {
	t.Parallel()
	for _, adapter := range []any{
		&struct {
			C chan int `yaml:"c"`
		}{},
		&struct {
			P string `yaml:"pacing"`
		}{},
		&struct {
			E []Entry `yaml:"entries"`
		}{},
	} {
		if _, err := JSON(config.Table{{Kind: "x", New: func() any { return adapter }}}); err == nil {
			t.Errorf("%T: no error", adapter)
		}
	}
}

// What holds for the rights of sub-agents alone is not said of every list of tools.
func TestRightsOfSubagentsAreDescribedOnce(t *testing.T) {
	t.Parallel()
	b, err := JSON(table())
	if n := strings.Count(string(b)+string(Reference(table())), "a session tool only if allow names it"); err != nil || n != 1 {
		t.Errorf("said %d times (%v)", n, err)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	page := string(Reference(table()))
	for _, want := range []string{
		"| `gateway.listen` | text | `127.0.0.1:18790` |",
		"| `session.sendPolicy.rules[].match.chatType` | `direct`, `group`, `channel` |",
		"| `models.providers.<id>.apiKey` | secret |",
		"| `channels.telegram.token` | secret, required |",
		"| `channels.telegram.pacing.perSecond` | number | `30` |",
		"| `channels.webchat.allowFrom` | list of text | `[\"*\"]` |",
		"| `channels.telegram.groups.<id>.topics` | map of groups |",
		"| `session.agentToAgent.maxPingPongTurns` | whole number, 0–5 | `5` |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("missing: %s", want)
		}
	}
}

// config.example.yaml is right by the schema.
func TestExample(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(b, &v); err != nil {
		t.Fatalf("for editors it must be YAML before variables are filled in: %v", err)
	}
	if err := resolved(t).Validate(v); err != nil {
		t.Error(err)
	}
}

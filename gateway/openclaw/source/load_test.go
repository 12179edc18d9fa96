package source

import (
	"slices"
	"strings"
	"testing"
)

// Providers that stand in the agent's own file count when the configuration does not describe them and a model of them is used.
func TestModelsOfTheAgent(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"openclaw.json":                 `{agents: {defaults: {model: {primary: "House/small"}, models: {"box/tiny": {}}}}, models: {providers: {box: {baseUrl: "http://a.example"}}}}`,
		"agents/main/agent/models.json": `{"providers": {"house": {"baseUrl": "https://b.example", "apiKey": "made-up-secret"}, "box": {"baseUrl": "http://c.example"}, "unused": {"baseUrl": "http://d.example"}}}`,
	}
	s, r := load(t, files, nil, nil)
	sameTree(t, s.Tree["models"], `{providers: {box: {baseUrl: "http://a.example"}, house: {baseUrl: "https://b.example", apiKey: "${HOUSE_API_KEY}"}}}`)
	noSecret(t, s, r)
	files["openclaw.json"] = `{agents: {defaults: {model: "house/small"}}, models: {mode: "replace"}}`
	s, _ = load(t, files, nil, nil)
	sameTree(t, s.Tree["models"], `{mode: "replace"}`)
}

// FuzzLoad: whatever a configuration is, loading it does not fail, gives no secret away, and what it gives is today's layout already.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{`{}`, `{agent: {model: "x"}, routing: {agents: {a: {}}}, identity: {}}`, `{channels: {telegram: {token: "made-up-secret", accounts: {b: {token: 1}}}}}`,
		`{telegram: {groups: {a: {toolsBySender: {"@x": {}}}}, streamMode: 1, dm: []}, bindings: [{match: 1}, 2]}`, `{mcp: {servers: {a: {args: ["--token", "made-up-secret"], disabled: 1, type: []}}}}`,
		`{models: {providers: {a: {apiKey: {source: "file", provider: "x", id: "/"}}}}, secrets: {providers: {x: {path: "openclaw.json"}}}}`, `{agents: {list: [{id: 1}, null], entries: {a: null}}}`,
		`{env: {vars: [], A: {}}, session: {idleMinutes: null, reset: []}, cron: {store: "openclaw.json"}}`, `{channels: {discord: {guilds: {g: {channels: {c: {groupPolicy: "x"}}}}}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, r := load(t, map[string]string{"openclaw.json": text}, nil, nil)
		if s.Tree == nil {
			return
		}
		if b, err := marshal(s.Tree); err == nil {
			again, _ := load(t, map[string]string{"openclaw.json": string(b)}, nil, nil)
			if c, _ := marshal(again.Tree); again.Tree != nil && !hasLine(r.NeedsYou, includeKey, "") && !strings.Contains(text, "$") && string(b) != string(c) {
				t.Errorf("%s\nbecame %s\nand then %s", text, b, c)
			}
		}
		if place := plainSecret(s.Tree, nil); place != nil {
			t.Errorf("%s: a secret is at %q: %v", text, place, s.Tree)
		}
		if len(r.OpenToMore) > 0 {
			t.Errorf("%+v", r)
		}
	})
}

// plainSecret returns the place of a secret that is not a reference.
func plainSecret(v any, place []string) []string {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if at := plainSecret(x, append(slices.Clone(place), k)); at != nil {
				return at
			}
		}
	case []any:
		for _, x := range v {
			if at := plainSecret(x, append(slices.Clone(place), "[0]")); at != nil {
				return at
			}
		}
	case string:
		if v != "" && isSecretPlace(place) && !strings.Contains(v, "${") {
			return place
		}
	}
	return nil
}

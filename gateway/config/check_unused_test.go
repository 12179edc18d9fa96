package config

import "testing"

// The only provider that models are named of is used without a word; where nothing uses one, that is said.
func TestUnusedProviders(t *testing.T) {
	t.Parallel()
	const key, url = "{api: openai, apiKey: x", "models: {providers: {a: "
	for text, want := range map[string][]string{
		url + key + "}}}\n":                  {":1: models.providers.a: warning: is configured, but no agent uses it (set agents.defaults.model: a/<model>)"},
		url + key + ", models: {m: {}}}}}\n": nil,
		url + key + ", models: {m: {}}}, b: " + key + ", models: {n: {}}}}}\n":           {":1: models.providers.a: warning: is configured, but no agent uses it (set agents.defaults.model: a/m)", ":1: models.providers.b: warning: is configured, but no agent uses it (set agents.defaults.model: b/n)"},
		url + key + "}}}\nagents: {defaults: {model: a/m}}\n":                            nil,
		url + key + "}}}\nagents: {list: [{id: main, model: a/m}]}\n":                    nil,
		url + "{api: offline}}}\n":                                                       nil,
		"gateway: {tls: {cert: /none/a.pem, key: b.pem}}\n" + url + "{api: offline}}}\n": {":1: gateway.tls: warning: cannot be used: open /none/a.pem: no such file or directory (cert and key must be files in PEM format that belong together)"},
	} {
		c, ps, err := load(text)
		t.Run(text, func(t *testing.T) { compare(t, ps, want) })
		if err != nil {
			t.Fatal(text, err)
		}
		if _, err := c.ForHost(); (err != nil) != (text[0] == 'g') {
			t.Errorf("%s: for the host: %v", text, err)
		}
	}
}

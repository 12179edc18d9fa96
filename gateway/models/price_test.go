package models

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"parley/agent"
)

// TestFindPriced: where a budget is in dollars, the first look-up of a model waits for its server, which may be the only one that knows the price;
// 0 is a price. source: https://openrouter.ai/docs/api/api-reference/models/get-models (prices are texts; those of free models are "0")
func TestFindPriced(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]struct {
		priced bool
		input  float64
	}{
		`"pricing":{"prompt":"0.000001","completion":"0.000002"}`: {true, 1},
		`"pricing":{"prompt":"0","completion":"0"}`:               {true, 0},
		`"input_cost_per_token":0,"output_cost_per_token":0`:      {true, 0},
		`"pricing":{"prompt":"-1","completion":"-1"}`:             {false, 0}, // of a router that asks several models
		`"owned_by":"x"`: {false, 0},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"m","object":"model",` + said + `}]}`)) // the client sees what is missing
		}))
		t.Cleanup(server.Close)
		m := NewSet([]Provider{{API: "openai", Open: func(string, agent.Provider, ProviderEnv) (agent.Model, error) { return down{}, nil }}}, nil, slog.New(slog.DiscardHandler))
		m.Configure(map[string]agent.Provider{"p": {API: "openai", BaseURL: server.URL + "/v1"}})
		go m.Run(t.Context())
		c, err := m.FindPriced("p/m")
		if err != nil || c.Facts.Priced() != want.priced || c.Facts.Input != want.input {
			t.Errorf("%s: %+v, %v", said, c.Facts, err)
		}
	}
}

// TestFreeInCatalogue: a proxy that says 0 for what has a price in the catalogue knows none.
// source: https://docs.litellm.ai/docs/proxy/custom_pricing
func TestFreeInCatalogue(t *testing.T) {
	t.Parallel()
	p := agent.Provider{API: "openai", BaseURL: "https://openrouter.ai/api/v1"}
	if f := FactsOf("x", p, "openai/gpt-5", Answer{Model: Served{Free: true}}); f.From.Price != Catalogued || f.Input == 0 {
		t.Errorf("%+v", f)
	}
}

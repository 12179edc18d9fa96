package responses

import (
	"testing"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/agent/modeltest/conform"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	conform.Run(t, conform.Provider{Signatures: true, New: func(s conform.Setup) agent.Model {
		return New(Config{Name: "mock", BaseURL: s.URL + "/v1", APIKey: s.Key, Deadlines: s.Deadlines, HTTPClient: s.Client})
	}})
}

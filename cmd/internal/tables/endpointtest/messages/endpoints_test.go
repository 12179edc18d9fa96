package messages_test

import (
	"testing"

	"parley/agent/modeltest/endpoints"
	"parley/cmd/internal/tables/endpointtest"
)

func TestMain(m *testing.M) { endpointtest.Main(m) }

// TestEndpoints plays every row of the table whose API is Anthropic's messages.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	endpointtest.Play(t, endpoints.Messages)
}

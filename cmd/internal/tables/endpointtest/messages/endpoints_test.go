package messages_test

import (
	"testing"

	"parley/cmd/internal/tables/endpointtest"
)

func TestMain(m *testing.M) { endpointtest.Main(m) }

// TestEndpoints plays the rows of the table that are about Anthropic's messages.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	endpointtest.Play(t, endpointtest.Messages)
}

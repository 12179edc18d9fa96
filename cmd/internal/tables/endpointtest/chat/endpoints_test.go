package chat_test

import (
	"testing"

	"parley/cmd/internal/tables/endpointtest"
)

func TestMain(m *testing.M) { endpointtest.Main(m) }

// TestEndpoints plays the rows of the table that are about chat completions that are answered.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	endpointtest.Play(t, endpointtest.Chat)
}

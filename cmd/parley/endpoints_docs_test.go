package main

import (
	"testing"

	"parley/agent/modeltest/endpoints"
)

// docs/models.md shows the table of endpoint behaviours as it is.
func TestGeneratedEndpoints(t *testing.T) {
	t.Parallel()
	holdToDoc(t, "models.md", "endpoint behaviours", endpoints.Markdown())
}

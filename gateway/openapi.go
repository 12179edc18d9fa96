package gateway

import "parley/gateway/operations"

// OpenAPI writes the document of the whole API, as GET /api/openapi.json has it.
func OpenAPI(version string) ([]byte, error) {
	return operations.Table(operations.Deps{}).WithDocument(version).OpenAPI(version)
}

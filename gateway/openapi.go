package gateway

// OpenAPI writes the document of the whole API, as GET /api/openapi.json has it.
func OpenAPI(version string) ([]byte, error) {
	return new(Host).operations().WithDocument(version).OpenAPI(version)
}

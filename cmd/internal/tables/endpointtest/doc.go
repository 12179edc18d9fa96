// Package endpointtest plays the table of endpoint behaviours (agent/modeltest/endpoints) against whole hosts with the program's own providers. The packages
// below it have the test, TestEndpoints, one for each Part of the table, so that none of them takes long:
//
//	go test ./cmd/internal/tables/... -run 'TestEndpoints/^(a-row|another)$'
//
// A host has a chat without a platform and a database on disk, which waits for no disk. Main goes before the tests: it runs more rows at once than there are
// processors, and it makes the binary the MCP server of a row where the host starts one. For each turn that a host holds there is a goroutine here that copies
// its files, as a kill would leave them; it ends with the turn. Errors are those of the test.
package endpointtest

// Package api has the types of requests and answers of the host's HTTP API, and the machinery that serves an operation: typed, closed parameters, the scope that
// each needs, idempotency keys, and the OpenAPI document.
//
// All JSON names are here, by resource: sessions.go, cron.go, models.go, backup.go, policy.go; runs.go also has agents, usage, events and health, hosts.go accounts,
// deliveries, pairing, status, tools and traces. A new field is here, is filled in operations and printed in cmd/parley. It stands left of operations, which says what each operation does, and of
// web and chatclient, which call them. A Table lists operations (table.go, operation.go); plan.go says how their parameters are read; openapi.go describes all. The
// command line, the page and programs outside use the same table.
//
// It owns the answers to requests with an idempotency key, in memory (replay.go); their mutex is a leaf and is not held during a call. It starts no goroutine.
//
// Errors of package sessions become HTTP statuses in one place (errors.go); one that has none is an internal error, whose text stays in the log.
package api

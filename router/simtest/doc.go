// Package simtest is the deterministic simulation of the router: each seed is one world of people, agents, platforms and faults on virtual time.
//
// It stands right of router and routertest, and is tests alone. A plan is drawn from the seed, lived by a real router, and judged against the contract in the end.
// `go run ./cmd/proof simulate` lives many seeds. A rule of the contract that people can see gets its judge here.
//
// A world owns all that is in it and runs in one bubble of testing/synctest. The same seed gives the same faults.
package simtest

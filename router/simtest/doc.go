// Package simtest is the deterministic simulation of the router: each seed is one world of people, agents, platforms and faults on
// virtual time, judged against the contract in the end. It is tests alone; `parley`'s proof lives many seeds: `go run ./cmd/proof
// simulate`.
package simtest

//go:build race

package routertest

// Racing reports whether the race detector is on.
const Racing = true

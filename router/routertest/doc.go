// Package routertest runs a whole router for tests: a Rig is a router between a fake channel and a scripted model, on a real store.
//
// It sees public names of the router only. What a test has to set, such as clocks, jitter or a store that is slow, it hands in by
// router.Deps, so that tests prove the whole while the inside is rebuilt. A test that needs private names is in an external test package
// beside an export_test.go, or inside its package and without the rig: package router cannot import routertest, which imports it.
package routertest

// Package filestore stores inbound and outbound files by content hash.
//
// It imports none of the router's packages. A Cache holds files that were fetched from platforms or given by tools; an Outbox holds the
// files of deliveries until they are sent; Misses remembers for a while which files could not be fetched.
//
// Outbox.mu is held over file operations on purpose: they must not overlap with an eviction. All mutexes are leaves. A fetch runs in a
// goroutine of its own, which outlives its caller when the adapter ignores the end of its context.
package filestore

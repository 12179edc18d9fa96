// Package event publishes events to watchers without waiting for slow ones.
//
// It imports none of the router's packages. An Event says that something happened; the truth is in the store. A Bus keeps the newest
// thousand positions, so that a reader that takes a Position first misses nothing.
//
// Lock order: Bus.mu, then watcher.mu. Each watcher has one goroutine, which ends with its watch or when the Bus is closed.
package event

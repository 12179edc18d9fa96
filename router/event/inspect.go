package event

// What the tests of package router look at, until they are tests of this package.

// All are those who watch.
func (b *Bus) All() map[*watcher]bool { return b.all } //nolint:revive // for tests

// The bounds that tests name.
const (
	PastMost  = pastMost
	WatchMost = watchMost
)

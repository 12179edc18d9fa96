package filestore

import (
	"sync"
	"time"
)

// Misses are the pictures that could not be had lately: the calls of a turn need not wait for each of them again.
type Misses struct {
	mu sync.Mutex
	m  map[string]miss
}

type miss struct {
	err   error
	until time.Time
}

// Get gives the error of a picture that is not to be fetched again yet.
func (x *Misses) Get(id string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if was := x.m[id]; time.Now().Before(was.until) {
		return was.err
	}
	return nil
}

// Put keeps the error of a picture for a while.
func (x *Misses) Put(id string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.m) >= maxMisses || x.m == nil {
		x.m = make(map[string]miss)
	}
	x.m[id] = miss{err, time.Now().Add(missTTL)}
}

const (
	missTTL   = 5 * time.Minute // until one that could not be had is tried again
	maxMisses = 256             // that are remembered
)

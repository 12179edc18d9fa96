package delivery

import (
	"context"
	"maps"
	"slices"
	"sync"

	"parley/sessions"
)

// inFlight counts what is on its way to a platform, per session. A policy flip is acknowledged only after the flights that began
// before it have landed (contract P7): whatever begins later sees the flip, because it reads the session after begin.
type inFlight struct {
	mu   sync.Mutex
	open map[sessions.Key]*flight
}

type flight struct {
	n      int
	landed chan struct{} // closed when n reaches zero
}

// begin marks one call to a platform for the session; the returned func ends it.
func (f *inFlight) begin(key sessions.Key) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = make(map[sessions.Key]*flight)
	}
	fl := f.open[key]
	if fl == nil {
		fl = &flight{landed: make(chan struct{})}
		f.open[key] = fl
	}
	fl.n++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if fl.n--; fl.n == 0 {
			delete(f.open, key)
			close(fl.landed)
		}
	}
}

// settle waits until the calls that are on their way for the session have landed, or ctx ends.
func (f *inFlight) settle(ctx context.Context, key sessions.Key) error {
	f.mu.Lock()
	fl := f.open[key]
	f.mu.Unlock()
	if fl == nil {
		return nil
	}
	select {
	case <-fl.landed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keys lists the sessions that have something on its way.
func (f *inFlight) keys() []sessions.Key {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.open))
}

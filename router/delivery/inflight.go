package delivery

import (
	"context"
	"maps"
	"slices"
	"sync"

	"parley/channels"
	"parley/sessions"
)

// inFlight counts what is on its way to a platform, per session. A policy flip is acknowledged only after the calls that began
// before it have ended (contract P7): a call that begins later sees the flip, because it reads the session after begin.
type inFlight struct {
	mu   sync.Mutex
	open map[sessions.Key]*sessionCalls
}

type sessionCalls struct {
	n     int
	chats map[channels.Address]bool // that the calls are for
	done  chan struct{}             // closed when n reaches zero
}

// begin marks one call to a platform for the session and its chat; the returned func ends it.
func (f *inFlight) begin(key sessions.Key, to channels.Address) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = make(map[sessions.Key]*sessionCalls)
	}
	c := f.open[key]
	if c == nil {
		c = &sessionCalls{done: make(chan struct{}), chats: map[channels.Address]bool{}}
		f.open[key] = c
	}
	c.n++
	c.chats[to] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if c.n--; c.n == 0 {
			delete(f.open, key)
			close(c.done)
		}
	}
}

// wait waits until the calls that are in flight for the session have ended, or ctx ends.
func (f *inFlight) wait(ctx context.Context, key sessions.Key) error {
	f.mu.Lock()
	c := f.open[key]
	f.mu.Unlock()
	if c == nil {
		return nil
	}
	select {
	case <-c.done:
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

// chats lists the chats that something of a session is on its way to.
func (f *inFlight) chats(key sessions.Key) []channels.Address {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.open[key]; c != nil {
		return slices.Collect(maps.Keys(c.chats))
	}
	return nil
}

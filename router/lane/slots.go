package lane

import (
	"context"
	"slices"
	"sync"
	"time"

	"parley/router/settings"
)

// slots is a counting semaphore that can be resized. People share it: of the people who wait, the one with the fewest slots is served first,
// and among equals the one who waited longest. Owners come before all others, and have an eighth more slots than there are for others.
type slots struct {
	mu    sync.Mutex
	size  int
	used  int
	by    map[string]int // how many slots each person uses; none is 0
	queue []waiter
}

// waiter is a place among those who wait for a slot.
type waiter struct {
	of  *slotShare
	got chan struct{} // closed when the slot is granted
}

func (s *slots) resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = n
	s.grant()
}

// maxPerPerson is how many slots a person may use: half of them, where there are enough to share.
func (s *slots) maxPerPerson() int {
	if s.size < 4 {
		return s.size
	}
	return s.size / 2
}

// free reports whether a person may have one more slot; s.mu is held.
func (s *slots) free(who string) bool {
	if who == settings.OfOwners {
		return s.used < s.size+s.size/8
	}
	return s.used < s.size && s.by[who] < s.maxPerPerson()
}

// use counts a slot for a person, or with -1 its end; s.mu is held.
func (s *slots) use(who string, n int) {
	s.used += n
	if s.by == nil {
		s.by = make(map[string]int)
	}
	if s.by[who] += n; s.by[who] == 0 {
		delete(s.by, who)
	}
}

// grant hands free slots to those who wait; s.mu is held.
func (s *slots) grant() {
	for {
		next := -1
		for i, w := range s.queue {
			if s.free(w.of.who) && (next < 0 || s.before(w.of.who, s.queue[next].of.who)) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := s.queue[next]
		s.queue = slices.Delete(s.queue, next, next+1)
		s.use(w.of.who, 1)
		close(w.got)
	}
}

// before reports whether one person is served before another who has waited longer; s.mu is held.
func (s *slots) before(who, other string) bool {
	if who == settings.OfOwners || other == settings.OfOwners {
		return other != settings.OfOwners
	}
	return s.by[who] < s.by[other]
}

// slotShare is a lane's place among the slots: it waits for one, uses one, or neither.
type slotShare struct {
	*slots
	who string // the person for whom it counts
}

// handTo has the slot in use count for another person.
func (s *slotShare) handTo(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who != s.who {
		s.use(s.who, -1)
		s.who = who
		s.use(who, 1)
		s.grant()
	}
}

// moveUp has a lane that waits for a slot wait as another person, if that one is served before.
func (s *slotShare) moveUp(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before(who, s.who) && slices.ContainsFunc(s.queue, func(w waiter) bool { return w.of == s }) {
		s.who = who
		s.grant()
	}
}

// enterAs is enter for another person.
func (s *slotShare) enterAs(who string) <-chan struct{} {
	s.mu.Lock()
	s.who = who
	s.mu.Unlock()
	return s.enter()
}

// enter takes a place among those who wait for a slot: the channel is closed when it has one. acquire waits for that.
func (s *slotShare) enter() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := waiter{of: s, got: make(chan struct{})}
	s.queue = append(s.queue, w)
	s.grant()
	return w.got
}

// try takes a slot if one is free, and no other lane waits that may have it.
func (s *slotShare) try() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.free(s.who) || slices.ContainsFunc(s.queue, func(w waiter) bool { return s.free(w.of.who) || w.of.who == s.who }) {
		return false
	}
	s.use(s.who, 1)
	return true
}

// acquire waits at a place for its slot; false when it was over first.
func (s *slotShare) acquire(turn <-chan struct{}, over <-chan struct{}) bool {
	select {
	case <-turn:
		return true
	case <-over:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := len(s.queue)
	s.queue = slices.DeleteFunc(s.queue, func(w waiter) bool { return w.got == turn })
	return len(s.queue) == waiting // it was granted at the same time
}

// acquireBy is acquire that takes a slot at a time even when all are in use; false when ctx ended first.
func (s *slotShare) acquireBy(ctx context.Context, turn <-chan struct{}, at time.Time) bool {
	if at.IsZero() {
		return s.acquire(turn, ctx.Done())
	}
	wait, cancel := context.WithDeadline(ctx, at)
	defer cancel()
	if s.acquire(turn, wait.Done()) {
		return true
	}
	if ctx.Err() == nil {
		s.take()
	}
	return ctx.Err() == nil
}

// take takes a slot even when all are in use.
func (s *slotShare) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(s.who, 1)
}

func (s *slotShare) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(s.who, -1)
	s.grant()
}

// slot is what a lane at work holds; it travels in the context so that a waiting tool can give it back.
type slot struct {
	pool *slotShare
	over <-chan struct{} // closed when the run is over: aborted, out of time, or the host stops
}

type slotKey struct{}

// WithEnd tells the slot in a run's context that the run is over when ctx ends.
func WithEnd(ctx context.Context) context.Context {
	if s, ok := ctx.Value(slotKey{}).(*slot); ok {
		return context.WithValue(ctx, slotKey{}, &slot{pool: s.pool, over: ctx.Done()})
	}
	return ctx
}

// RegainSlot waits for a slot of the person for whom the lane's slot counts now, if they have more than their share with it.
func RegainSlot(ctx context.Context) {
	if s, ok := ctx.Value(slotKey{}).(*slot); ok && s.pool.isOver() {
		WithoutSlot(ctx, func() {})
	}
}

// isOver reports whether the person has more slots than their share.
func (s *slotShare) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.who != settings.OfOwners && s.by[s.who] > s.maxPerPerson()
}

// WithoutSlot runs wait without the lane's slot. The slot is taken again before it returns, whether or not ctx has ended. A run that
// is over does not wait for others to give theirs back: it only has to end (contract N9).
func WithoutSlot(ctx context.Context, wait func()) {
	s, ok := ctx.Value(slotKey{}).(*slot)
	if !ok {
		wait()
		return
	}
	s.pool.release()
	wait()
	if !s.pool.acquire(s.pool.enter(), s.over) {
		s.pool.take()
	}
}

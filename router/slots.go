package router

import (
	"context"
	"sync"
	"time"
)

// slots is a counting semaphore that can be resized, first come first served.
type slots struct {
	mu    sync.Mutex
	size  int
	used  int
	queue []chan struct{}
}

func (s *slots) resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = n
	s.grant()
}

// grant hands free slots to those who wait; s.mu is held.
func (s *slots) grant() {
	for s.used < s.size && len(s.queue) > 0 {
		close(s.queue[0])
		s.queue = s.queue[1:]
		s.used++
	}
}

// enter takes a place among those who wait for a slot: the channel is closed when it has one. acquire waits for that.
func (s *slots) enter() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	s.grant()
	return turn
}

// try takes a slot if one is free and nobody waits for one.
func (s *slots) try() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used >= s.size || len(s.queue) > 0 {
		return false
	}
	s.used++
	return true
}

// acquire waits at a place for its slot; false when it was over first.
func (s *slots) acquire(turn <-chan struct{}, over <-chan struct{}) bool {
	select {
	case <-turn:
		return true
	case <-over:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.queue {
		if c == turn {
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
			return false
		}
	}
	return true // it was granted at the same time
}

// acquireBy is acquire that takes a slot at a time even when all are in use; false when ctx ended first.
func (s *slots) acquireBy(ctx context.Context, turn <-chan struct{}, at time.Time) bool {
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
func (s *slots) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.grant()
}

// slot is what a lane at work holds; it travels in the context so that a waiting tool can give it back.
type slot struct {
	pool *slots
	over <-chan struct{} // closed when the run is over: aborted, out of time, or the host stops
}

type slotKey struct{}

// timed tells the slot in a run's context that the run is over when ctx ends.
func timed(ctx context.Context) context.Context {
	if s, ok := ctx.Value(slotKey{}).(*slot); ok {
		return context.WithValue(ctx, slotKey{}, &slot{pool: s.pool, over: ctx.Done()})
	}
	return ctx
}

// unslotted runs wait without the lane's slot. The slot is taken again before it returns, whether or not ctx has ended. A run that
// is over does not wait for others to give theirs back: it only has to end (contract N9).
func unslotted(ctx context.Context, wait func()) {
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

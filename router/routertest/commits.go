package routertest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"parley/sessions"
)

// Commits notes what a store commits, for NewWith.
type Commits struct {
	mu  sync.Mutex
	ops []string
}

// Trace notes a commit.
func (c *Commits) Trace(op, phase string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if phase == "after-commit" {
		c.ops = append(c.ops, op)
	}
}

// Of gives the commits whose names begin in one of these ways, in order.
func (c *Commits) Of(names ...string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.ops {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(op, name) }) {
			out = append(out, op)
		}
	}
	return out
}

// Slow is a store that lets a test act within a call.
type Slow struct {
	sessions.Store
	OnAccept func(a sessions.Arrival)
	OnFinish func()
	OnEnd    func(sessions.DeliveryID)
}

// Accept implements sessions.Store.
func (s Slow) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	acc, err := s.Store.Accept(ctx, a)
	if s.OnAccept != nil {
		s.OnAccept(a)
	}
	return acc, err
}

// Finish implements sessions.Store.
func (s Slow) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	acc, err := s.Store.Finish(ctx, id, o)
	if s.OnFinish != nil {
		s.OnFinish()
	}
	return acc, err
}

// EndDelivery implements sessions.Store.
func (s Slow) EndDelivery(ctx context.Context, id sessions.DeliveryID, st sessions.DeliveryState, why string) error {
	err := s.Store.EndDelivery(ctx, id, st, why)
	if s.OnEnd != nil {
		s.OnEnd(id)
	}
	return err
}

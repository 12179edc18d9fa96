package commit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/router/lane"
	"parley/sessions"
	"parley/tools"
)

// Waiters wakes those who wait for a run to end, by its id, or for something to be queued in a session, by its key. The truth is in
// the store: a wake-up only says "look again".
type Waiters struct {
	mu   sync.Mutex
	wait map[string][]chan struct{}
}

// Subscribe returns a channel that says when Notify was called for an id; cancel ends that.
func (w *Waiters) Subscribe(id string) (ended <-chan struct{}, cancel func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait == nil {
		w.wait = make(map[string][]chan struct{})
	}
	w.wait[id] = append(w.wait[id], ch)
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wait[id] = slices.DeleteFunc(w.wait[id], func(c chan struct{}) bool { return c == ch })
		if len(w.wait[id]) == 0 {
			delete(w.wait, id)
		}
	}
}

// Notify wakes those who subscribed to an id. It does not block.
func (w *Waiters) Notify(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.wait[id] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// RecheckInterval is the interval at which waiters read the store without a notification, for ends that were not notified.
const RecheckInterval = 30 * time.Second

// Idle implements tools.Host.
func (c *Committer) Idle(ctx context.Context, by tools.Caller) error {
	queued, cancel := c.Waiters.Subscribe(string(by.Run.Key))
	defer cancel()
	for {
		if waits, err := c.Waiting(ctx, by.Run); err != nil || waits {
			return err
		}
		open, err := sessions.OpenChildren(ctx, c.store, by.Run.Key, 1)
		if err != nil || len(open) == 0 {
			return err
		}
		if err := c.idleFor(ctx, queued, open[0].ID); err != nil {
			return err
		}
	}
}

// idleFor waits until something is queued, a child's run may have ended, or ctx ends (then ctx's error).
func (c *Committer) idleFor(ctx context.Context, queued <-chan struct{}, child sessions.RunID) error {
	ended, cancel := c.Waiters.Subscribe(string(child))
	defer cancel()
	if now, err := c.store.GetRun(ctx, child); errors.Is(err, sessions.ErrNotFound) {
		return nil // deleted with its session
	} else if err != nil || now.Status.Final() {
		return err
	}
	return c.pause(ctx, queued, ended)
}

// pause waits for a wake-up without holding the caller's slot.
func (c *Committer) pause(ctx context.Context, wake ...<-chan struct{}) (err error) {
	lane.WithoutSlot(ctx, func() {
		again := time.NewTimer(RecheckInterval)
		defer again.Stop()
		select {
		case <-wake[0]:
		case <-wake[len(wake)-1]:
		case <-again.C:
		case <-ctx.Done():
		}
	})
	return ctx.Err()
}

// Waiting reports whether there is something that a sub-agent's turn at work takes up: a result of a sub-agent of its own, a
// further message.
func (c *Committer) Waiting(ctx context.Context, run sessions.Run) (bool, error) {
	queued, err := c.store.ListRuns(ctx, sessions.RunQuery{Key: run.Key, Status: sessions.Queued, Limit: 100})
	return slices.ContainsFunc(queued, func(q sessions.Run) bool {
		return q.Kind == sessions.ChildRun && q.Session == run.Session && q.Attempt == 0 // what MergeQueued takes
	}), err
}

// Wait implements tools.Host: it blocks until a run is final, without holding the caller's slot (contract S6).
func (c *Committer) Wait(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	ended, cancel := c.Waiters.Subscribe(string(id))
	defer cancel()
	for {
		run, err := c.store.GetRun(ctx, id)
		if err != nil || run.Status.Final() {
			return run, err
		}
		if err := c.pause(ctx, ended); err != nil {
			if now, unread := c.store.GetRun(context.WithoutCancel(ctx), id); unread == nil && now.Status.Final() { // in the last moment
				return now, nil
			}
			return run, err
		}
	}
}

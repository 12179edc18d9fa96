package turn_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// awayStore is away for a minute at each kind of read of a turn that waits for it.
type awayStore struct {
	sessions.Store
	get, summary, tail, open *atomic.Bool
}

func (s awayStore) away(ctx context.Context, met *atomic.Bool) {
	if sessions.WaitsForStore(ctx) && !met.Swap(true) {
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
	}
}

func (s awayStore) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	s.away(ctx, s.get)
	return s.Store.Get(ctx, key)
}

func (s awayStore) Summary(ctx context.Context, id sessions.ID) (sessions.Summary, bool, error) {
	s.away(ctx, s.summary)
	return s.Store.Summary(ctx, id)
}

func (s awayStore) Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) ([]sessions.Message, error) {
	s.away(ctx, s.tail)
	return s.Store.Tail(ctx, id, q)
}

func (s awayStore) CountOpen(ctx context.Context, key sessions.Key) (int, error) {
	s.away(ctx, s.open)
	return s.Store.CountOpen(ctx, key)
}

// A turn waits for a store that is away at its reads, for as long as the turn may take.
func TestFaultTurnWaitsForTheStore(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var s awayStore
		s.get, s.summary, s.tail, s.open = &atomic.Bool{}, &atomic.Bool{}, &atomic.Bool{}, &atomic.Bool{}
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(store sessions.Store) sessions.Store { s.Store = store; return s }, func(*settings.Snapshot) {})
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Shown(1)
		if !s.get.Load() || !s.summary.Load() || !s.tail.Load() || !s.open.Load() {
			t.Errorf("not waited for: session %v, summary %v, transcript %v, what waits %v", s.get.Load(), s.summary.Load(), s.tail.Load(), s.open.Load())
		}
	})
}

package router

import (
	"context"
	"time"

	"parley/channels"
	"parley/router/event"
	"parley/router/filestore"
)

// expireEvery is how often stored deadlines are looked at.
const expireEvery = 30 * time.Second

// dedupeKeep is how long a platform message is recognised as a repeat.
const dedupeKeep = 35 * 24 * time.Hour

// leapDoubt is for how long after the clock was set ahead nothing is archived or forgotten by it: it may have been a mistake.
const leapDoubt = 24 * time.Hour

func (r *Router) expire(ctx context.Context) {
	for n := 0; channels.Sleep(ctx, expireEvery); n++ {
		if n%int(time.Hour/expireEvery) == 0 {
			r.media.Evict(r.ages.Earliest(leapDoubt))
			if err := r.outbox.Evict(ctx, r.store, r.ages.Earliest(leapDoubt), filestore.OutboxKept); err != nil && ctx.Err() == nil {
				r.log.Error("cannot see which files wait to be sent", keyErr, err)
			}
		}
		_ = r.Committer.Rescue(ctx) // it says what fails
		r.gate.Sweep(ctx)
		keys, err := r.store.Expire(ctx, r.ages.Earliest(leapDoubt), dedupeKeep)
		if err != nil && ctx.Err() == nil {
			r.log.Error("cannot expire old sessions", keyErr, err)
		}
		for _, k := range keys {
			r.watchers.Publish(event.Event{Kind: event.KindSession, Phase: event.PhaseArchived, Session: k})
			r.log.Info("archived", keySession, k)
		}
	}
}

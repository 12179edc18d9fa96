package router

import (
	"context"
	"time"

	"parley/channels"
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
			r.media.tidy(r.ages.behind(leapDoubt))
			if err := r.gate.outbox.tidy(ctx, r.store, r.ages.behind(leapDoubt), outboxKept); err != nil && ctx.Err() == nil {
				r.log.Error("cannot see which files wait to be sent", keyErr, err)
			}
		}
		_ = r.heal(ctx) // it says what fails
		r.gate.sweep(ctx)
		keys, err := r.store.Expire(ctx, r.ages.behind(leapDoubt), dedupeKeep)
		if err != nil && ctx.Err() == nil {
			r.log.Error("cannot expire old sessions", keyErr, err)
		}
		for _, k := range keys {
			r.watchers.tell(Event{Kind: EventSession, Phase: PhaseArchived, Session: k})
			r.log.Info("archived", keySession, k)
		}
	}
}

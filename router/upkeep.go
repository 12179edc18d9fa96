package router

import (
	"context"
	"time"

	"parley/channels"
	"parley/router/event"
	"parley/router/filestore"
	"parley/router/settings"
	"parley/sessions"
)

// waitingLanes gives the lanes of the sessions that have work: who asked for it, and when the run that an earlier process was at has to end.
func (r *Router) waitingLanes(ctx context.Context, keys []sessions.Key) (map[sessions.Key]waitingLane, error) {
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Status: sessions.Queued, Limit: 10_000})
	begun, set := make(map[sessions.Key]waitingLane), r.settings.Load()
	for _, key := range keys {
		begun[key] = waitingLane{who: set.AskerOf(key, nil)} // unless it is known better
	}
	for _, run := range runs {
		x := begun[run.Key]
		if who := set.Asker(run.Key, &run); who == settings.OfOwners || x.who != settings.OfOwners {
			x.who = who
		}
		if run.Attempt > 0 && !run.Deadline.IsZero() {
			x.by = run.Deadline
		}
		begun[run.Key] = x
	}
	return begun, err
}

// waitingLane is who wants a session's next run, and by when it begins without a slot.
type waitingLane struct {
	who string
	by  time.Time
}

// expireInterval is how often stored deadlines are looked at.
const expireInterval = 30 * time.Second

// dedupeRetention is how long a platform message is recognised as a repeat.
const dedupeRetention = 35 * 24 * time.Hour

// minDoubtedLeap is for how long after the clock was set ahead nothing is archived or forgotten by it: it may have been a mistake.
const minDoubtedLeap = 24 * time.Hour

func (r *Router) expire(ctx context.Context) {
	for n := 0; channels.Sleep(ctx, expireInterval); n++ {
		if n%int(time.Hour/expireInterval) == 0 {
			r.Media.Evict(r.Ages.Earliest(minDoubtedLeap))
			if err := r.Outbox.Evict(ctx, r.store, r.Ages.Earliest(minDoubtedLeap), filestore.OutboxTTL); err != nil && ctx.Err() == nil {
				r.log.Error("cannot list files that wait to be sent", keyErr, err)
			}
		}
		_ = r.Committer.Rescue(ctx) // it says what fails
		r.Gate.Sweep(ctx)
		if err := r.reports.look(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("cannot tell an owner of a failed report", keyErr, err)
		}
		keys, err := r.store.Expire(ctx, r.Ages.Earliest(minDoubtedLeap), dedupeRetention)
		if err != nil && ctx.Err() == nil {
			r.log.Error("cannot expire old sessions", keyErr, err)
		}
		for _, k := range keys {
			r.Events.Publish(event.Event{Kind: event.KindSession, Phase: event.PhaseArchived, Session: k})
			r.log.Info("archived", keySession, k)
		}
	}
}

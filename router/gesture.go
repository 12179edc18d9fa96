package router

import (
	"context"
	"slices"
	"time"

	"parley/channels"
	"parley/sessions"
)

// How what a person sends with one gesture is told from two messages.
const (
	gestureWithin = time.Second     // between a comment and what it was forwarded with, by the platform's clock, which often counts seconds
	partWithin    = 2 * time.Second // between the parts of a text that the platform's app has cut
	partWait      = time.Second     // for the next part
	maxPartWait   = 5 * time.Second // for all of them
	minCut        = 1000            // bytes of a text that may have been cut
	gestureBack   = 20              // runs of a session that are looked at
)

// belongs reports whether a message was sent with the same gesture as the one before it of the same sender: a comment and what is forwarded
// with it, in either order, the next part of a text that the platform's app has cut, or of an album.
func belongs(before, m sessions.Message) bool {
	a, b := before.Provenance, m.Provenance
	if a == nil || b == nil || a.Kind != sessions.ExternalUser || a.Sender == "" || a.Sender != b.Sender || a.Address != b.Address {
		return false
	}
	apart := m.Time.Sub(before.Time).Abs()
	return (a.Forwarded || b.Forwarded) && apart <= gestureWithin || a.Cut && apart <= partWithin || a.Album != "" && a.Album == b.Album
}

// atLimit reports whether a text is as long as the platform's apps send in one message, so that the rest of it may come in another. They cut
// where a line or a word ends, which is well before the limit.
func (r *Router) atLimit(in channels.Inbound) bool {
	if len(in.Text) < minCut {
		return false
	}
	_, ch := r.gate.Account(in.Address)
	if ch == nil {
		return false
	}
	l := ch.Limits(in.Address)
	most := l.Received
	if most == 0 {
		most = l.Text
	}
	return most > 0 && channels.Measure(in.Text, l.Unit) >= most*3500/4096
}

// before finds the message right before one that its sender sent with the same gesture, as long as its turn is open: its run, and the run
// that answers it, or will. Both are "" when there is none.
func (r *Router) before(ctx context.Context, run sessions.Run) (last, by sessions.RunID, err error) {
	if _, parts := r.lanes.LastFinished(run.Key); !parts && !run.Input.Provenance.Forwarded || !r.lanes.Busy(run.Key) {
		return "", "", nil // as it is of nearly every message: nothing is read for it
	}
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: run.Key, Limit: gestureBack})
	if err != nil {
		return "", "", err
	}
	of := func(id sessions.RunID) *sessions.Run {
		if i := slices.IndexFunc(runs, func(x sessions.Run) bool { return x.ID == id }); i >= 0 {
			return &runs[i]
		}
		return nil
	}
	i := slices.IndexFunc(runs, func(x sessions.Run) bool {
		return x.ID != run.ID && x.Kind == sessions.TurnRun && x.Input.Provenance != nil && x.Input.Provenance.Sender == run.Input.Provenance.Sender
	})
	if i < 0 || !belongs(runs[i].Input, run.Input) {
		return "", "", nil
	}
	at := &runs[i]
	for range runs { // what is merged, or will be, has the turn of another
		next := at.Batch
		if at.Status == sessions.Queued && at.Attempt == 0 {
			next = at.With
		}
		up := of(next)
		if next == "" || up == nil || up.Status.Final() && up.Batch == "" {
			break
		}
		at = up
	}
	if at.Status.Final() {
		return "", "", nil
	}
	return runs[i].ID, at.ID, nil
}

// gesture gives those of the runs that wait, oldest first, that belong to a turn, because their senders sent them with what it answers.
func gesture(taken []sessions.RunID, queued []sessions.Run) (out []sessions.Run) {
	for _, q := range queued {
		if q.With == "" || !slices.Contains(taken, q.With) {
			return out
		}
		out, taken = append(out, q), append(taken, q.ID)
	}
	return out
}

// untilRest says how long a message that waits is held back for the rest of its text, because the platform's app has cut it.
func (r *Router) untilRest(ctx context.Context, head sessions.Run, began time.Time) time.Duration {
	if p := head.Input.Provenance; !sessions.IsFresh(head) || head.Alone || !p.AwaitsRest() {
		return 0
	}
	queued, err := sessions.QueuedRuns(ctx, r.store, head.Key)
	if err != nil { // it shows again where the turn is composed
		return 0
	}
	newest := head
	if more := gesture([]sessions.RunID{head.ID}, batch(head, queued)); len(more) > 0 {
		newest = more[len(more)-1]
	}
	if !newest.Input.Provenance.AwaitsRest() {
		return 0
	}
	return min(newest.Created.Add(partWait).Sub(r.ages.Now()), maxPartWait-time.Since(began))
}

// gestureOf gives those of the runs that wait that belong to a turn, which may have taken some up before.
func (r *Router) gestureOf(ctx context.Context, run sessions.Run, queued []sessions.Run) ([]sessions.Run, error) {
	if queued[0].With == "" {
		return nil, nil
	}
	before, err := r.takenUp(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	return gesture(append(idsOf(before), run.ID), queued), nil
}

package turn

import (
	"context"
	"slices"
	"time"

	"parley/sessions"
)

// How what a person sends with one gesture is told from two messages.
const (
	maxGestureGap = time.Second     // between a comment and what it was forwarded with, by the platform's clock, which often counts seconds
	maxPartGap    = 2 * time.Second // between the parts of a text that the platform's app has cut
	PartTimeout   = time.Second     // for the next part, and for the comment on what is forwarded
	maxPartWait   = 5 * time.Second // for all of them
	MinCut        = 1000            // bytes of a text that may have been cut
	GestureBack   = 20              // runs of a session that are looked at
)

// Belongs reports whether a message was sent with the same gesture as the one before it of the same sender: a comment and what is forwarded
// with it, in either order, the next part of a text that the platform's app has cut, or of an album.
func Belongs(before, m sessions.Message) bool {
	a, b := before.Provenance, m.Provenance
	if a == nil || b == nil || a.Kind != sessions.ExternalUser || a.Sender == "" || a.Sender != b.Sender || a.Address != b.Address {
		return false
	}
	apart := m.Time.Sub(before.Time).Abs()
	return (a.Forwarded || b.Forwarded) && apart <= maxGestureGap || a.Cut && apart <= maxPartGap || a.Album != "" && a.Album == b.Album
}

// Before finds the message right before one that its sender sent with the same gesture, as long as its turn is open: its run, and the run
// that answers it, or will. Both are "" when there is none.
func (m *Merger) Before(ctx context.Context, run sessions.Run) (last, by sessions.RunID, err error) {
	if _, parts := m.lanes.LastFinished(run.Key); !parts && !run.Input.Provenance.Forwarded || !m.lanes.Busy(run.Key) {
		return "", "", nil // as it is of nearly every message: nothing is read for it
	}
	runs, err := m.store.ListRuns(ctx, sessions.RunQuery{Key: run.Key, Limit: GestureBack})
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
	if i < 0 || !Belongs(runs[i].Input, run.Input) {
		return "", "", nil
	}
	at := &runs[i]
	for range runs { // what is merged, or will be, has the turn of another
		next := at.MergedInto
		if at.Status == sessions.Queued && at.Attempt == 0 {
			next = at.With()
		}
		up := of(next)
		if next == "" || up == nil || up.Status.Final() && up.MergedInto == "" {
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
		if q.With() == "" || !slices.Contains(taken, q.With()) {
			return out
		}
		out, taken = append(out, q), append(taken, q.ID)
	}
	return out
}

// untilRest says how long a message that waits is held back for the rest of what its sender sends: of a text that the platform's app has
// cut, or for the comment on what is forwarded.
func (m *Merger) untilRest(ctx context.Context, head sessions.Run, began time.Time) time.Duration {
	if p := head.Input.Provenance; !sessions.IsFresh(head) || head.Exclusive || !p.AwaitsRest() {
		return 0
	}
	queued, err := sessions.QueuedRuns(ctx, m.store, head.Key)
	if err != nil { // it shows again where the turn is composed
		return 0
	}
	sent := append([]sessions.Run{head}, gesture([]sessions.RunID{head.ID}, mergeable(head, queued))...)
	newest := sent[len(sent)-1]
	isCommented := slices.ContainsFunc(sent, func(r sessions.Run) bool { return !r.Input.Provenance.Forwarded })
	if p := newest.Input.Provenance; !p.Cut && !p.More && isCommented {
		return 0
	}
	return min(newest.Created.Add(PartTimeout).Sub(m.ages.Now()), maxPartWait-time.Since(began))
}

// gestureOf gives those of the runs that wait that belong to a turn, which may have taken some up before.
func (m *Merger) gestureOf(ctx context.Context, run sessions.Run, queued []sessions.Run) ([]sessions.Run, error) {
	if queued[0].With() == "" {
		return nil, nil
	}
	before, err := m.rights.MergedRuns(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	return gesture(append(idsOf(before), run.ID), queued), nil
}

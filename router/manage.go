package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"parley/policy"
	"parley/router/chain"
	"parley/sessions"
)

// deleteTimeout is how long the deletion of a session waits for what is running there.
const deleteTimeout = 15 * time.Second

// Outcome waits for the end of a run and gives the one whose turn answered its message: it may have been merged into another.
func (r *Router) Outcome(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	run, err := r.Committer.Wait(ctx, id)
	for range 1000 { // each of them came later
		if err != nil || run.MergedInto == "" {
			break
		}
		next, gone := r.Committer.Wait(ctx, run.MergedInto)
		if errors.Is(gone, sessions.ErrNotFound) {
			break
		}
		run, err = next, gone
	}
	return run, err
}

// CancelRun stops one run of any kind, what it has made and not sent, and, when it is running, what the sub-agents below its session are at; what
// else waits in the session continues. A run that has ended stays as it is, and only what has not left is stopped.
func (r *Router) CancelRun(ctx context.Context, source string, id sessions.RunID) (stopped []sessions.RunID, deliveries int, err error) {
	acc, err := r.Committer.Submit(ctx, sessions.Change{IdempotencyKey: source, Ops: []sessions.Op{sessions.StopRun{ID: id, By: sessions.ByOperator}}})
	return stoppedIDs(acc), len(acc.Withdrawn), err
}

// StopSession stops what a session takes part in, and the jobs that it made, as /stop does, and counts what it ended.
func (r *Router) StopSession(ctx context.Context, source string, key sessions.Key) (stopped []sessions.RunID, n sessions.Ended, err error) {
	keys, err := r.stopKeys(ctx, key)
	if err != nil {
		return nil, n, err
	}
	open, err := r.store.Stoppable(ctx, keys...)
	if err != nil {
		return nil, n, err
	}
	acc, err := r.Committer.Submit(ctx, sessions.Change{IdempotencyKey: source, Ops: []sessions.Op{sessions.StopSessions{Keys: keys}}})
	if err == nil && !acc.Duplicate {
		n = chain.Ended(open, r.Gate.Leaving(open.Deliveries), keys...)
	}
	return stoppedIDs(acc), n, err
}

// stopKeys are a session and those of the jobs at work that it made or that post into its chats.
func (r *Router) stopKeys(ctx context.Context, key sessions.Key) ([]sessions.Key, error) {
	jobs, err := r.Scheduler.KeysAtWork(ctx, key)
	return append([]sessions.Key{key}, jobs...), err
}

func stoppedIDs(acc sessions.Accepted) (ids []sessions.RunID) {
	for _, s := range acc.Stopped {
		ids = append(ids, s.ID)
	}
	return ids
}

// aimed is a change of a session that is there, and is not refreshed by it.
func aimed(source string, key sessions.Key, ops ...sessions.SessionOp) sessions.Change {
	return sessions.Change{IdempotencyKey: source, Session: &sessions.Target{Session: sessions.Session{Key: key}, Mode: sessions.Reference, Ops: ops}}
}

// PatchOnce is Patch for a request that may come again: with its source it changes the settings once.
func (r *Router) PatchOnce(ctx context.Context, source string, key sessions.Key, p sessions.Patch) (sessions.Session, error) {
	acc, err := r.Committer.Submit(ctx, aimed(source, key, sessions.PatchSession(p)))
	if err == nil && p.SendPolicy != nil {
		err = r.Gate.WaitInFlight(ctx, acc.Session.Key)
	}
	return acc.Session, err
}

// Reset starts a session over: what StopSession would end ends, and is named; its settings stay, its transcript so far stays readable by its id.
func (r *Router) Reset(ctx context.Context, source string, key sessions.Key) (s sessions.Session, stopped []sessions.RunID, err error) {
	keys, err := r.stopKeys(ctx, key)
	if err != nil {
		return s, nil, err
	}
	c := aimed(source, key, sessions.ResetSession{})
	c.Ops = []sessions.Op{sessions.StopSessions{Keys: keys}}
	acc, err := r.Committer.Submit(ctx, c)
	return acc.Session, stoppedIDs(acc), err
}

// Archive takes a session out of the lists until a person writes to it again. Its runs continue.
func (r *Router) Archive(ctx context.Context, source string, key sessions.Key) (sessions.Session, error) {
	acc, err := r.Committer.Submit(ctx, aimed(source, key, sessions.ArchiveSession{}))
	if err != nil {
		return acc.Session, err
	}
	return r.store.Get(ctx, acc.Session.Key)
}

// Delete removes a session, its transcripts and its runs for good; deliveries stay. What is running there is stopped first and
// waited for. An agent's main session is not deleted: Reset starts it over.
func (r *Router) Delete(ctx context.Context, source string, key sessions.Key) error {
	if key.Kind() == sessions.KindMain {
		return fmt.Errorf("%w: %s is the main session of its agent and cannot be deleted: reset it", sessions.ErrBadRequest, key)
	}
	s, err := r.store.Get(ctx, key)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return err
	}
	if err == nil {
		key = s.Key
	}
	c := aimed(source, key, sessions.DeleteSession{})
	wait, cancel := context.WithTimeout(ctx, deleteTimeout)
	defer cancel()
	for idle := false; ; {
		_, err := r.Committer.Submit(ctx, c)
		if err == nil {
			r.Worker.Transcripts.Forget(s.ID)
		}
		if !errors.Is(err, sessions.ErrConflict) || idle { // idle: not because something is running there
			return err
		}
		// Without a source: this request has not deleted anything yet, and what came since it was first sent is stopped as well.
		acc, err := r.Committer.Submit(ctx, sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{key}, By: sessions.ByDeletion}}})
		if err != nil {
			return err
		}
		open, look := sessions.OpenRuns(ctx, r.store, sessions.RunQuery{Key: key, Limit: 1})
		if look != nil {
			return look
		}
		for _, s := range acc.Stopped { // in the queue of the session that has its chat now
			if s.Home == key {
				open = append(open, sessions.Run{ID: s.ID})
			}
		}
		if idle = len(open) == 0; idle {
			continue
		}
		if _, late := r.Committer.Wait(wait, open[0].ID); late != nil && !errors.Is(late, sessions.ErrNotFound) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: session %s was stopped, and its run has not ended within %s (run %s): try again later", sessions.ErrConflict, key, deleteTimeout, open[0].ID)
		}
	}
}

// Compact queues the summing up of the older part of a session behind what it is at; instructions say what to look at. The result is
// that of the run.
func (r *Router) Compact(ctx context.Context, source string, key sessions.Key, instructions string) (sessions.Run, error) {
	s, err := r.store.Get(ctx, key)
	if err != nil {
		return sessions.Run{}, err
	}
	id := sessions.RunID(sessions.IDFor(source, "run"))
	c := aimed(source, s.Key)
	c.Run = &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: sessions.CompactRun, Key: s.Key, Agent: s.Agent, Source: source,
		Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(instructions), Time: time.Now(), Run: id}}}
	acc, err := r.Committer.Submit(ctx, c)
	if err == nil && acc.Run.ID == "" { // a repeat; the session was deleted since
		acc.Run = sessions.Run{ID: id, Key: s.Key}
	}
	return acc.Run, err
}

// SendVerdict says what the send policy says about a session and its own chat, as things stand.
func (r *Router) SendVerdict(s sessions.Session) policy.Verdict {
	return r.settings.Load().SendPolicyTo(s.Last)(s)
}

// QueueWords says how the queue of a session was set for it; "" = as configured.
func (r *Router) QueueWords(s sessions.Session) string {
	if s.Settings.Queue == (sessions.Queue{}) {
		return ""
	}
	return r.settings.Load().Queue(s, s.Last.Channel).String()
}

// Waiting counts the runs that are queued in a session.
func (r *Router) Waiting(ctx context.Context, key sessions.Key) (int, error) {
	queued, err := sessions.QueuedRuns(ctx, r.store, key)
	return len(queued), err
}

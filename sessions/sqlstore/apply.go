package sqlstore

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/job"
	"parley/sessions/sqlstore/ledger"
	"parley/sessions/sqlstore/move"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/search"
	"parley/sessions/sqlstore/session"
	"parley/sessions/sqlstore/transcript"
)

// changes executes what events, requests, turns and jobs change, across all tables.
type changes struct {
	repository

	ledger      *ledger.Rows
	transcripts *transcript.Rows
	sessions    *session.Rows
	lines       *session.ContextLines
	jobs        *job.Rows
	notes       *search.Notes
	chats       *chats
	inbox       *inbox
	moves       *move.Rows
	deliveries  *deliveries
	people      *people
	runs        *runs
}

// applyOnce carries out a change unless the event was seen before, and remembers it.
func (s *changes) applyOnce(t *tx, at dedupeKey, c *preparedChange) (acc sessions.Accepted, err error) {
	if at.msg != "" {
		var run string
		found, err := t.One("SELECT run FROM seen WHERE msg = ? AND address IN (?, "+move.Before+") AND event = ?", []any{at.msg, at.address, at.before, at.event},
			func(r engine.Row) error { run = r.Str(0); return nil })
		if err != nil {
			return acc, err
		}
		if found {
			return s.duplicate(t, c, sessions.RunID(run))
		}
	}
	if c.run != nil {
		found, err := t.Exists("SELECT 1 FROM runs WHERE id = ?", string(c.run.ID))
		if err != nil {
			return acc, err
		}
		if found {
			return s.duplicate(t, c, c.run.ID)
		}
	}
	if c.requestedBy != "" {
		if err := s.runs.goesOn(t, c.requestedBy); err != nil {
			return acc, err
		}
	}
	if acc, err = s.apply(t, c); err != nil || at.msg == "" {
		return acc, err
	}
	return acc, s.inbox.recordSeen(t, at, acc.Run.ID, acc.Deliveries)
}

// duplicate says what the first one made, as far as it is still there.
func (s *changes) duplicate(t *tx, c *preparedChange, run sessions.RunID) (acc sessions.Accepted, err error) {
	acc.Duplicate = true
	// A commit is visible before a standby has it when its connection broke while it waited for that one. An answer that was only read may
	// therefore be undone by a failover, and a platform takes this one for an acknowledgement: it waits behind a commit that writes.
	// source: PostgreSQL documentation, 27.2.8 Synchronous Replication
	t.WaitDurable()
	if run != "" {
		if acc.Run, _, err = s.runs.run(t, run); err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return acc, err
		}
	}
	if c.target != nil {
		at, err := s.sessions.Get(t, c.target.Key)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return acc, err
		}
		acc.Session = at.Session
	}
	return acc, nil
}

// preparedChange is a sessions.Change that is checked, in order and encoded, so that the writer only has to write.
type preparedChange struct {
	key           string // the idempotency key
	requestedBy   sessions.RunID
	target        *sessions.Target
	run           *queuedRun // &queued; nil = no run
	queued        queuedRun
	before, after []any // operations around the run's queueing; a delivery is a *row.Delivery or sessions.Delivery, a job an encodedJob
	startsOver    bool  // one of them resets the session
}

// queuedRun is a run to be queued, with its encoded body.
type queuedRun struct {
	sessions.Enqueue
	body string
}

// encodedJob is a scheduled job with its encoded body.
type encodedJob struct {
	sessions.Job
	body string
}

// prepare checks a change and encodes what will be stored. It copies what the store fills in.
func prepare(c sessions.Change) (*preparedChange, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &preparedChange{key: c.IdempotencyKey, requestedBy: c.RequestedBy, target: c.Session}
	if c.Run != nil {
		p.queued.Enqueue, p.run = *c.Run, &p.queued
		if err := p.queued.encode(c.Session); err != nil {
			return nil, err
		}
	}
	p.before, p.after = c.Ordered()
	for _, op := range p.before {
		if _, reset := op.(sessions.ResetSession); reset {
			p.startsOver = true
		}
	}
	for i, op := range p.after {
		var err error
		switch op := op.(type) {
		case sessions.EnqueueDelivery:
			p.after[i], err = row.EncodeDelivery(sessions.Delivery(op))
		case sessions.PutJob:
			j := encodedJob{Job: sessions.Job(op)}
			j.body, err = job.Encode(j.Job)
			p.after[i] = j
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// encode fills in what a run does not say, and encodes it.
func (q *queuedRun) encode(target *sessions.Target) (err error) {
	r := &q.Run
	if target != nil {
		r.Key, r.Agent = cmp.Or(r.Key, target.Key), cmp.Or(r.Agent, target.Agent)
	}
	if r.ID == "" {
		r.ID = sessions.RunID(uuid.Must(uuid.NewV7()).String())
	}
	if r.Input.ID == "" && len(r.Input.Content) > 0 {
		r.Input.ID = uuid.Must(uuid.NewV7()).String()
	}
	r.Input.Time = engine.ClampTime(r.Input.Time)
	if q.body, err = row.EncodeRun(*r); err != nil {
		return fmt.Errorf("run %s: %w", r.ID, err)
	}
	return nil
}

// apply carries a change out in the order of sessions.Change.
func (s *changes) apply(t *tx, c *preparedChange) (acc sessions.Accepted, err error) {
	var at session.Row
	if c.target != nil {
		if c.target.From != "" {
			moved, err := s.moves.HandOver(t, sessions.Handover{From: c.target.From, To: c.target.Key})
			if err != nil {
				return acc, err
			}
			acc.Adopted = moved == sessions.MovedNow
		}
		if at, err = s.resolveSession(t, c); err != nil {
			return acc, err
		}
	}
	run, isNew := c.run, at.NewChat
	for _, op := range c.before {
		if err = s.begin(t, c, op, &at, &acc); err != nil {
			return acc, err
		}
	}
	acc.Session = at.Session
	if isNew && !c.startsOver {
		if run, err = s.introduce(t, run, at); err != nil {
			return acc, err
		}
	}
	if run != nil {
		if err = s.queue(t, run, at, &acc); err != nil {
			return acc, err
		}
	}
	for _, op := range c.after {
		if err = s.complete(t, c, op, &acc); err != nil {
			return acc, err
		}
	}
	if c.run == nil || !c.run.Claim || acc.Run.Key != c.run.Key {
		return acc, nil
	}
	claimed, ok, err := s.runs.claim(t, acc.Run.Key)
	if ok {
		acc.Claimed = &claimed
	}
	return acc, err
}

// resolveSession finds or makes the session of a change.
func (s *changes) resolveSession(t *tx, c *preparedChange) (at session.Row, err error) {
	if c.target.Mode != sessions.Upsert {
		if at, err = s.sessions.Get(t, c.target.Key); err != nil || c.target.Mode == sessions.Reference {
			return at, err
		}
	}
	x := c.target.Session
	if c.run != nil && c.run.Kind == sessions.TurnRun {
		x.LastInput = t.Now
	}
	return s.sessions.Upsert(t, x)
}

// begin carries out an operation that comes before the run is queued. at is the session of the change.
func (s *changes) begin(t *tx, c *preparedChange, op any, at *session.Row, acc *sessions.Accepted) error {
	switch op := op.(type) {
	case sessions.PatchSession:
		t.Label(true, "patch")
		return s.sessions.Patch(t, at, sessions.Patch(op))
	case sessions.ResetSession:
		if op.IfID != "" && op.IfID != at.ID {
			return nil
		}
		t.Label(true, "reset")
		return s.sessions.Reset(t, at)
	}
	var err error
	switch op := op.(type) {
	case sessions.StopSessions:
		err = s.runs.stopSessions(t, op, c.startsOver, acc)
	case sessions.StopRun:
		err = s.runs.stopRun(t, op, acc)
	default:
		err = fmt.Errorf("%w: an operation of type %T", sessions.ErrInvalid, op)
	}
	if err == nil && at.Key != "" { // it may be one of them
		*at, err = s.sessions.Get(t, at.Key)
	}
	return err
}

// queue queues the run of a change, and ends what gives way to it. at is the session of the change.
func (s *changes) queue(t *tx, q *queuedRun, at session.Row, acc *sessions.Accepted) (err error) {
	if q.Interrupt {
		ended, err := s.runs.interrupt(t, at.Key, q.Run)
		if err != nil {
			return err
		}
		t.Label(len(ended) > 0, "interrupt")
		acc.Stopped = append(acc.Stopped, ended...)
	}
	if q.DropOldest > 0 {
		ended, err := s.runs.drop(t, at.Key, q.Run, q.DropOldest)
		if err != nil {
			return err
		}
		t.Label(len(ended) > 0, "drop")
		acc.Stopped = append(acc.Stopped, ended...)
	}
	if at.Key != q.Run.Key {
		if at, err = s.sessions.Get(t, q.Run.Key); err != nil {
			return err
		}
	}
	acc.Run, err = s.runs.enqueue(t, at, q.Run, q.body)
	return err
}

// complete carries out an operation that comes after the run is queued.
func (s *changes) complete(t *tx, c *preparedChange, op any, acc *sessions.Accepted) error {
	switch op := op.(type) {
	case *row.Delivery:
		return s.post(t, c, op, acc)
	case sessions.AddNote:
		t.Label(true, "note")
		return s.notes.Add(t, op)
	case sessions.AppendContext:
		t.Label(true, "overheard")
		return s.lines.Append(t, sessions.ContextLine(op))
	case sessions.ConsumeContext:
		t.Label(true, "heard")
		return s.lines.Consume(t, acc.Session.Key, op.UpTo)
	case sessions.SuspendBudget:
		t.Label(true, "lift")
		return s.ledger.Suspend(t, sessions.BudgetSuspension(op))
	case encodedJob:
		t.Label(true, "job")
		return s.jobs.Put(t, op.Job, op.body)
	case sessions.DeleteJob:
		t.Label(true, "dropjob")
		return s.jobs.Drop(t, op.ID)
	case sessions.DecidePairing:
		t.Label(true, "pairing")
		return s.decide(t, acc, op.Handover, func() (bool, error) { return s.people.endPairing(t, op) })
	case sessions.GrantOwner:
		t.Label(true, "grant")
		return s.decide(t, acc, op.Handover, func() (bool, error) { return true, s.people.grant(t, op) })
	case sessions.RevokePairing:
		t.Label(true, "unpair")
		return s.decide(t, acc, sessions.Handover{}, func() (bool, error) { return false, s.people.unpair(t, op) })
	case sessions.ArchiveSession:
		t.Label(true, "archive")
		return s.sessions.ArchiveOrDelete(t, acc.Session.Key, false)
	case sessions.DeleteSession:
		t.Label(true, "delete")
		return s.sessions.ArchiveOrDelete(t, acc.Session.Key, true)
	}
	return fmt.Errorf("%w: an operation of type %T", sessions.ErrInvalid, op)
}

// decide decides about a person, and hands the conversation over to the session of one who became an owner.
func (s *changes) decide(t *tx, acc *sessions.Accepted, h sessions.Handover, do func() (owner bool, err error)) (err error) {
	acc.Decided = &sessions.Decided{}
	if acc.Decided.Owner, err = do(); err == nil && acc.Decided.Owner {
		acc.Decided.Moved, err = s.moves.HandOver(t, h)
	}
	return err
}

// post posts a delivery of a change.
func (s *changes) post(t *tx, c *preparedChange, d *row.Delivery, acc *sessions.Accepted) error {
	if c.target != nil && d.Session == c.target.Key { // which may be another name of it
		d.Session = acc.Session.Key
	}
	made, err := s.deliveries.post(t, d)
	if err == nil {
		acc.Deliveries = append(acc.Deliveries, made)
	}
	return err
}

package sqlstore

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/ledger"
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
	jobs        *jobs
	notes       *search.Notes
	chats       *chats
	inbox       *inbox
	moves       *moves
	deliveries  *deliveries
	people      *people
	runs        *runs
}

// once applies effects unless the event was seen before, and remembers it.
func (s *changes) once(t *tx, at sight, e *effects) (acc sessions.Accepted, err error) {
	if at.msg != "" {
		var run string
		found, err := t.One("SELECT run FROM seen WHERE msg = ? AND address IN (?, "+before+") AND event = ?", []any{at.msg, at.address, at.before, at.event},
			func(r engine.Row) error { run = r.Str(0); return nil })
		if err != nil {
			return acc, err
		}
		if found {
			return s.duplicate(t, e, sessions.RunID(run))
		}
	}
	if e.Run != nil {
		found, err := t.Exists("SELECT 1 FROM runs WHERE id = ?", string(e.Run.ID))
		if err != nil {
			return acc, err
		}
		if found {
			return s.duplicate(t, e, e.Run.ID)
		}
	}
	if e.By != "" {
		if err := s.runs.goesOn(t, e.By); err != nil {
			return acc, err
		}
	}
	if acc, err = s.apply(t, e); err != nil {
		return acc, err
	}
	if s.alsoEffects(t, e, acc); at.msg == "" {
		return acc, nil
	}
	return acc, s.inbox.saw(t, at, acc.Run.ID, acc.Deliveries)
}

// duplicate says what the first one made, as far as it is still there.
func (s *changes) duplicate(t *tx, e *effects, run sessions.RunID) (acc sessions.Accepted, err error) {
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
	if e.Session != nil {
		at, err := s.sessions.Get(t, e.Session.Key)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return acc, err
		}
		acc.Session = at.Session
	}
	return acc, nil
}

// effects are checked and encoded effects, so that the writer only has to write.
type effects struct {
	sessions.Effects
	runBody    string
	jobBody    string
	deliveries []*parcel
}

// prepare checks effects and encodes what will be stored. It copies what the store fills in.
func prepare(e sessions.Effects) (*effects, error) {
	p := &effects{Effects: e}
	if e.Session == nil && (e.Patch != nil || e.Reset || e.Heard > 0 || e.Interrupt || e.Drop > 0 || e.Archive || e.Delete) {
		return nil, errors.New("what is done to a session needs the session")
	}
	if e.Quiet && !e.Existing {
		return nil, errors.New("a session that is only named must be there")
	}
	if e.Run == nil && (e.Interrupt || e.Drop > 0) {
		return nil, errors.New("turns give way to a run, not to nothing")
	}
	if e.Run == nil && e.Claim {
		return nil, errors.New("nothing is queued that could be claimed")
	}
	if e.Session != nil && e.Session.Key == "" {
		return nil, errors.New("a session needs its key")
	}
	if e.Run != nil {
		r := *e.Run
		p.Run = &r
		if r.Key == "" && e.Session != nil {
			r.Key = e.Session.Key
		}
		if r.ID == "" {
			r.ID = sessions.RunID(uuid.Must(uuid.NewV7()).String())
		}
		if r.Input.ID == "" && len(r.Input.Content) > 0 {
			r.Input.ID = uuid.Must(uuid.NewV7()).String()
		}
		if r.Agent == "" && e.Session != nil {
			r.Agent = e.Session.Agent
		}
		r.Input.Time = engine.ClampTime(r.Input.Time)
		body, err := column.JSON(requestOf(r))
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.ID, err)
		}
		*p.Run, p.runBody = r, body
	}
	for _, d := range e.Deliveries {
		x, err := wrap(d)
		if err != nil {
			return nil, err
		}
		p.deliveries = append(p.deliveries, x)
	}
	if e.Job != nil {
		var err error
		if p.jobBody, err = encodeJob(*e.Job); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// apply commits effects in their order: session, patch, reset, stop, interrupt, drop, run, deliveries, and the rest.
func (s *changes) apply(t *tx, e *effects) (acc sessions.Accepted, err error) {
	var at session.Row
	if e.Session != nil {
		if at, err = s.meant(t, e); err != nil {
			return acc, err
		}
		if e.Patch != nil {
			if err = s.sessions.Patch(t, &at, *e.Patch); err != nil {
				return acc, err
			}
		}
		if e.Reset && (e.ResetOf == "" || e.ResetOf == at.ID) {
			if err = s.sessions.Reset(t, &at); err != nil {
				return acc, err
			}
		}
	}
	if len(e.Stop) > 0 || e.StopRun != "" {
		if acc.Stopped, err = s.runs.stop(t, e); err != nil {
			return acc, err
		}
		if at.Key != "" { // it may be one of them
			if at, err = s.sessions.Get(t, at.Key); err != nil {
				return acc, err
			}
		}
	}
	acc.Session = at.Session
	if err = s.makeRoom(t, e, &acc); err != nil {
		return acc, err
	}
	if e.Run != nil {
		if at.Key != e.Run.Key {
			if at, err = s.sessions.Get(t, e.Run.Key); err != nil {
				return acc, err
			}
		}
		if acc.Run, err = s.runs.enqueue(t, at, *e.Run, e.runBody); err != nil {
			return acc, err
		}
	}
	for _, d := range e.deliveries {
		if e.Session != nil && d.Session == e.Session.Key { // which may be another name of it
			d.Session = acc.Session.Key
		}
		made, err := s.deliveries.post(t, d)
		if err != nil {
			return acc, err
		}
		acc.Deliveries = append(acc.Deliveries, made)
	}
	if err = s.rest(t, e, acc.Session.Key); err != nil || !e.Claim || acc.Run.Key != e.Run.Key {
		return acc, err
	}
	run, ok, err := s.runs.claim(t, e.Run.Key)
	if ok {
		acc.Claimed = &run
	}
	return acc, err
}

// meant finds or makes the session of the effects.
func (s *changes) meant(t *tx, e *effects) (at session.Row, err error) {
	if e.Existing {
		if at, err = s.sessions.Get(t, e.Session.Key); err != nil || e.Quiet {
			return at, err
		}
	}
	x := *e.Session
	if e.Run != nil && e.Run.Kind == sessions.TurnRun {
		x.Heard = t.Now
	}
	return s.sessions.Upsert(t, x)
}

// makeRoom ends what gives way to the run of the effects.
func (s *changes) makeRoom(t *tx, e *effects, acc *sessions.Accepted) error {
	if e.Interrupt {
		ended, err := s.runs.interrupt(t, acc.Session.Key, *e.Run)
		if err != nil {
			return err
		}
		acc.Stopped = append(acc.Stopped, ended...)
	}
	if e.Drop > 0 {
		ended, err := s.runs.drop(t, acc.Session.Key, *e.Run, e.Drop)
		if err != nil {
			return err
		}
		acc.Stopped = append(acc.Stopped, ended...)
	}
	return nil
}

// rest writes what effects do besides sessions, runs and deliveries. key is that of their session.
func (s *changes) rest(t *tx, e *effects, key sessions.Key) error {
	if e.Note != nil {
		if err := s.notes.Add(t, *e.Note); err != nil {
			return err
		}
	}
	if e.Overheard != nil {
		if err := s.lines.Overhear(t, *e.Overheard); err != nil {
			return err
		}
	}
	if e.Heard > 0 {
		if err := s.lines.Told(t, key, e.Heard); err != nil {
			return err
		}
	}
	if e.Lift != nil {
		if err := s.ledger.Lift(t, *e.Lift); err != nil {
			return err
		}
	}
	if e.Job != nil {
		if err := s.jobs.putJob(t, *e.Job, e.jobBody); err != nil {
			return err
		}
	}
	if e.DropJob != "" {
		if err := s.jobs.dropJob(t, e.DropJob); err != nil {
			return err
		}
	}
	if e.Pairing != nil {
		if err := s.people.endPairing(t, *e.Pairing); err != nil {
			return err
		}
	}
	if e.Unpair != nil {
		if err := s.people.unpair(t, *e.Unpair); err != nil {
			return err
		}
	}
	if e.Archive || e.Delete {
		return s.sessions.PutAway(t, key, e.Delete)
	}
	return nil
}

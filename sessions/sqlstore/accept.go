package sqlstore

import (
	"context"
	"fmt"
	"reflect"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// Accept commits one platform event and everything that it causes.
func (s *changes) Accept(ctx context.Context, a sessions.Arrival) (acc sessions.Accepted, err error) {
	more := a.Effects
	if more.Deliveries = nil; a.Skip != "" && !reflect.ValueOf(more).IsZero() {
		return acc, fmt.Errorf("accepting message %q: a skipped event has no effects but what is told of it", a.In.ID)
	}
	if a.Skip == "" && (a.Overheard != nil || a.Amend != nil || a.Title != nil || !a.Moved.IsZero()) {
		return acc, fmt.Errorf("accepting message %q: what is overheard or happens besides messages is not answered", a.In.ID)
	}
	e, err := prepare(a.Effects)
	if err != nil {
		return acc, err
	}
	at := a.In.Address
	thread := at.Thread
	at.Thread = ""
	seen := sight{msg: column.Key(string(a.In.ID)), address: column.Key(at.String()), before: beforeOf(at), event: string(a.In.Event), thread: string(thread), skip: a.Skip, digest: a.Digest}
	err = s.write(ctx, "Accept", func(t *tx) (err error) {
		if acc, err = s.once(t, seen, e); err != nil || acc.Duplicate {
			return err
		}
		if a.Skip != "" {
			if err := s.aside(t, a, &acc); err != nil {
				return err
			}
		}
		if err := s.chats.reached(t, a.In); err != nil || a.In.Cursor == "" {
			return err
		}
		_, err = t.Exec("INSERT INTO cursors (account, position) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET position = excluded.position",
			account(at.Channel, at.Account), a.In.Cursor)
		return err
	})
	return acc, err
}

// aside does what an event causes that nobody answers.
func (s *changes) aside(t *tx, a sessions.Arrival, acc *sessions.Accepted) (err error) {
	if a.Listed {
		if err := s.inbox.list(t, a); err != nil {
			return err
		}
	}
	done := false
	if a.Amend != nil {
		if acc.Stopped, done, err = s.runs.amend(t, *a.Amend); err == nil && !done && a.Amend.By != "" && !a.Amend.Gone {
			done, err = s.runs.revise(t, *a.Amend)
			acc.Revised = done
		}
		if err != nil {
			return err
		}
	}
	s.alsoAside(t, a, done, acc.Revised)
	if a.Overheard != nil && !done {
		if err := s.lines.Overhear(t, *a.Overheard); err != nil {
			return err
		}
	}
	if done || a.Overheard != nil {
		if err := s.inbox.says(t, a); err != nil {
			return err
		}
	}
	if a.Title != nil {
		if err := s.sessions.Rename(t, *a.Title); err != nil {
			return err
		}
	}
	if !a.Moved.IsZero() {
		return s.moves.readdress(t, relocationOf(a))
	}
	return nil
}

// Submit commits work that does not come from a platform.
func (s *changes) Submit(ctx context.Context, e sessions.Effects) (acc sessions.Accepted, err error) {
	p, err := prepare(e)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Submit", func(t *tx) (err error) {
		acc, err = s.once(t, sight{msg: column.Key(e.Source), event: submitEvent}, p)
		return err
	})
	return acc, err
}

// Fire commits that a job's time has come.
func (s *changes) Fire(ctx context.Context, f sessions.Firing) (acc sessions.Accepted, err error) {
	p, err := prepare(f.Effects)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Fire", func(t *tx) (err error) {
		acc = sessions.Accepted{}
		var j sessions.Job
		found, err := t.One(jobColumns+" WHERE id = ?", []any{f.Job}, func(r engine.Row) error { return scanJob(r, &j) })
		switch {
		case err != nil:
			return err
		case !found && f.Due.IsZero():
			return engine.NotFound("job", f.Job)
		case !found || !f.Due.IsZero() && engine.Ms(j.Next) != engine.Ms(f.Due):
			return engine.Conflict("job %s is not due at that time any more", f.Job)
		}
		if acc, err = s.once(t, sight{msg: f.Effects.Source, event: submitEvent}, p); err != nil {
			return err
		}
		if f.At.IsZero() {
			f.At = t.Now
		}
		if !acc.Duplicate {
			if err := s.jobs.remember(t, j, f.At, f.Times); err != nil {
				return err
			}
		}
		return s.jobs.fired(t, j, f)
	})
	return acc, err
}

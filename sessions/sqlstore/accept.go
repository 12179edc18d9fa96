package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// Accept commits one platform event and everything that it causes.
func (s *changes) Accept(ctx context.Context, a sessions.Arrival) (acc sessions.Accepted, err error) {
	c, k, err := causes(a)
	if err != nil {
		return acc, fmt.Errorf("accepting message %q: %w", a.In.ID, err)
	}
	p, err := prepare(c)
	if err != nil {
		return acc, err
	}
	at := a.In.Address
	thread := at.Thread
	at.Thread = ""
	seen := sight{msg: column.Key(string(a.In.ID)), address: column.Key(at.String()), before: beforeOf(at), event: string(a.In.Event), thread: string(thread), digest: a.Digest}
	if k != nil {
		seen.skip = k.Reason
	}
	err = s.write(ctx, "Accept", func(t *tx) (err error) {
		if acc, err = s.once(t, seen, p); err != nil || acc.Duplicate {
			return err
		}
		if k != nil {
			if err := s.skip(t, a.In, a.Digest, *k, &acc); err != nil {
				return err
			}
		}
		if err := s.chats.reached(t, a.In); err != nil || a.In.Cursor == "" {
			return err
		}
		_, err = t.Exec("INSERT INTO cursors (account, position) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET position = excluded.position",
			account(a.In.Address.Channel, a.In.Address.Account), a.In.Cursor)
		return err
	})
	return acc, err
}

// causes gives what an arrival causes: a change, or that of its notices and why it is skipped.
func causes(a sessions.Arrival) (c sessions.Change, k *sessions.Skip, err error) {
	if k = a.Skipped(); k == nil {
		if a.Overheard != nil || a.Amend != nil || a.Title != nil || !a.Moved.IsZero() {
			return c, nil, errors.New("what is overheard or happens besides messages is not answered")
		}
		c, err = a.Effects.Change()
		return c, nil, err
	}
	more := a.Effects
	if more.Deliveries = nil; !reflect.ValueOf(more).IsZero() {
		return c, nil, errors.New("a skipped event has no effects but what is told of it")
	}
	for _, d := range k.Notices {
		c.Ops = append(c.Ops, sessions.EnqueueDelivery(d))
	}
	return c, k, nil
}

// skip does what an event causes that is not answered.
func (s *changes) skip(t *tx, in channels.Inbound, digest string, k sessions.Skip, acc *sessions.Accepted) (err error) {
	if k.Listed {
		t.Label(true, "listed")
		if err := s.inbox.list(t, in, k.Reason); err != nil {
			return err
		}
	}
	amended := false
	for _, e := range k.Ordered() {
		switch e := e.(type) {
		case sessions.AmendRun:
			if amended, err = s.amend(t, e, acc); err == nil && amended {
				err = s.inbox.says(t, in, digest)
			}
		case sessions.AppendContext:
			if amended {
				continue
			}
			t.Label(true, "overheard")
			if err = s.lines.Append(t, sessions.Overheard(e)); err == nil {
				err = s.inbox.says(t, in, digest)
			}
		case sessions.RenameSession:
			t.Label(true, "title")
			err = s.sessions.Rename(t, e)
		case sessions.MoveChat:
			t.Label(true, "moved")
			err = s.moves.readdress(t, relocationOf(in, e))
		default:
			err = fmt.Errorf("%w: an event of type %T", sessions.ErrUnfit, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// amend changes the message that an event is about, while its turn has not begun or has shown nothing.
func (s *changes) amend(t *tx, e sessions.AmendRun, acc *sessions.Accepted) (done bool, err error) {
	if acc.Stopped, done, err = s.runs.amend(t, e); err == nil && !done && e.By != "" && !e.Gone {
		done, err = s.runs.revise(t, e)
		acc.Revised = done
	}
	t.Label(done && !acc.Revised, "amend")
	t.Label(acc.Revised, "revise")
	return done, err
}

// Submit commits work that does not come from a platform.
func (s *changes) Submit(ctx context.Context, e sessions.Effects) (acc sessions.Accepted, err error) {
	c, err := e.Change()
	if err != nil {
		return acc, err
	}
	p, err := prepare(c)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Submit", func(t *tx) (err error) {
		acc, err = s.once(t, sight{msg: column.Key(c.IdempotencyKey), event: submitEvent}, p)
		return err
	})
	return acc, err
}

// Fire commits that a job's time has come.
func (s *changes) Fire(ctx context.Context, f sessions.Firing) (acc sessions.Accepted, err error) {
	c, err := f.Effects.Change()
	if err != nil {
		return acc, err
	}
	p, err := prepare(c)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Fire", func(t *tx) (err error) {
		acc = sessions.Accepted{}
		var j sessions.Job
		found, err := t.One(jobColumns+" WHERE id = ?", []any{f.Job}, func(r engine.Row) (err error) { j, err = scanJob(r); return err })
		switch {
		case err != nil:
			return err
		case !found && f.Due.IsZero():
			return engine.NotFound("job", f.Job)
		case !found || !f.Due.IsZero() && engine.Ms(j.Next) != engine.Ms(f.Due):
			return engine.Conflict("job %s is not due at that time any more", f.Job)
		}
		if acc, err = s.once(t, sight{msg: c.IdempotencyKey, event: submitEvent}, p); err != nil {
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

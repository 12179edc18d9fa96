package sqlstore

import (
	"context"
	"fmt"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/move"
)

// Accept commits one platform event and everything that it causes.
func (s *changes) Accept(ctx context.Context, a sessions.Arrival) (acc sessions.Accepted, err error) {
	if (a.Change == nil) == (a.Skip == nil) {
		return acc, fmt.Errorf("accepting message %q: either it causes something or it is skipped", a.In.ID)
	}
	var c sessions.Change
	if a.Change != nil {
		c = *a.Change
	} else {
		c.Ops = sessions.EnqueueDeliveries(a.Skip.Notices...)
	}
	p, err := prepare(c)
	if err != nil {
		return acc, err
	}
	at := a.In.Address
	thread := at.Thread
	at.Thread = ""
	seen := dedupeKey{msg: column.Key(string(a.In.ID)), address: column.Key(at.String()), before: move.BeforeOf(at), event: string(a.In.Event), thread: string(thread), digest: a.Digest}
	if a.Skip != nil {
		seen.skip = a.Skip.Reason
	}
	err = s.write(ctx, "Accept", func(t *tx) (err error) {
		if acc, err = s.applyOnce(t, seen, p); err != nil || acc.Duplicate {
			return err
		}
		if a.Skip != nil {
			if err := s.skip(t, a.In, a.Digest, *a.Skip, &acc); err != nil {
				return err
			}
		}
		if err := s.chats.reached(t, a.In, acc.Session.Key); err != nil || a.In.Cursor == "" {
			return err
		}
		_, err = t.Exec("INSERT INTO cursors (account, position) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET position = excluded.position",
			column.Account(a.In.Address.Channel, a.In.Address.Account), a.In.Cursor)
		return err
	})
	return acc, err
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
			if err = s.lines.Append(t, sessions.ContextLine(e)); err == nil {
				err = s.inbox.says(t, in, digest)
			}
		case sessions.RenameSession:
			t.Label(true, "title")
			err = s.sessions.Rename(t, e)
		case sessions.MoveChat:
			t.Label(true, "moved")
			err = s.moves.MoveChat(t, in, e)
		default:
			err = fmt.Errorf("%w: an event of type %T", sessions.ErrInvalid, e)
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
func (s *changes) Submit(ctx context.Context, c sessions.Change) (acc sessions.Accepted, err error) {
	p, err := prepare(c)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Submit", func(t *tx) (err error) {
		acc, err = s.applyOnce(t, dedupeKey{msg: column.Key(p.key), event: submitEvent}, p)
		return err
	})
	return acc, err
}

// Fire commits that a job's time has come.
func (s *changes) Fire(ctx context.Context, f sessions.Firing) (acc sessions.Accepted, err error) {
	p, err := prepare(f.Change)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Fire", func(t *tx) (err error) {
		acc = sessions.Accepted{}
		j, err := s.jobs.Due(t, f)
		if err != nil {
			return err
		}
		if err := s.runs.checkExclusive(t, f); err != nil {
			return err
		}
		if acc, err = s.applyOnce(t, dedupeKey{msg: p.key, event: submitEvent}, p); err != nil {
			return err
		}
		if f.At.IsZero() {
			f.At = t.Now
		}
		if !acc.Duplicate {
			if err := s.jobs.Remember(t, j, f.At, f.Times); err != nil {
				return err
			}
		}
		return s.jobs.Fired(t, j, f)
	})
	return acc, err
}

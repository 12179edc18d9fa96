package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// The events of seen rows that stand for no event of a platform: for a Source, and for what a stranger wrote who was told a code.
const (
	submitEvent = "submit"
	pairEvent   = "pair"
)

// The bounds of what is kept of unreadable events: how many for people to look at, how many bytes of each.
const (
	maxListed = 1000
	maxRaw    = 4096
)

// keepSkipped is how long events are listed that could not be read or taken: what was set aside has people's words.
const keepSkipped = 30 * 24 * time.Hour

// sight is a seen row: one event or source, and what came of it.
type sight struct{ msg, address, before, event, thread, skip, digest string }

// Accept commits one platform event and everything that it causes.
func (s *Store) Accept(ctx context.Context, a sessions.Arrival) (acc sessions.Accepted, err error) {
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
	seen := sight{msg: fitKey(string(a.In.ID)), address: fitKey(at.String()), before: beforeOf(at), event: string(a.In.Event), thread: string(thread), skip: a.Skip, digest: a.Digest}
	err = s.write(ctx, "Accept", func(t *tx) (err error) {
		if acc, err = t.once(seen, e); err != nil || acc.Duplicate {
			return err
		}
		if a.Skip != "" {
			if err := t.aside(a, &acc); err != nil {
				return err
			}
		}
		if err := t.reached(a.In); err != nil || a.In.Cursor == "" {
			return err
		}
		_, err = t.Exec("INSERT INTO cursors (account, position) VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET position = excluded.position",
			account(at.Channel, at.Account), a.In.Cursor)
		return err
	})
	return acc, err
}

// aside does what an event causes that nobody answers.
func (t *tx) aside(a sessions.Arrival, acc *sessions.Accepted) (err error) {
	if a.Listed {
		if err := t.list(a); err != nil {
			return err
		}
	}
	done := false
	if a.Amend != nil {
		if acc.Stopped, done, err = t.amend(*a.Amend); err == nil && !done && a.Amend.By != "" && !a.Amend.Gone {
			done, err = t.revise(*a.Amend)
			acc.Revised = done
		}
		if err != nil {
			return err
		}
	}
	t.alsoAside(a, done, acc.Revised)
	if a.Overheard != nil && !done {
		if err := t.overhear(*a.Overheard); err != nil {
			return err
		}
	}
	if done || a.Overheard != nil {
		if err := t.says(a); err != nil {
			return err
		}
	}
	if a.Title != nil {
		if err := t.rename(*a.Title); err != nil {
			return err
		}
	}
	if !a.Moved.IsZero() {
		return t.readdress(relocationOf(a))
	}
	return nil
}

// says keeps what a message says since it was changed, of which the agent is told. An edit that counts for nothing leaves what the agent knows.
func (t *tx) says(a sessions.Arrival) error {
	if a.In.Event != channels.Edited || a.Digest == "" {
		return nil
	}
	_, err := t.Exec("UPDATE seen SET digest = ? WHERE msg = ? AND address IN (?, "+before+") AND event = ?", a.Digest, fitKey(string(a.In.Target)), fitKey(whole(a.In.Address).String()), beforeOf(a.In.Address), string(channels.Message))
	return err
}

// Submit commits work that does not come from a platform.
func (s *Store) Submit(ctx context.Context, e sessions.Effects) (acc sessions.Accepted, err error) {
	p, err := prepare(e)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Submit", func(t *tx) (err error) {
		acc, err = t.once(sight{msg: fitKey(e.Source), event: submitEvent}, p)
		return err
	})
	return acc, err
}

// once applies effects unless the event was seen before, and remembers it.
func (t *tx) once(at sight, e *effects) (acc sessions.Accepted, err error) {
	if at.msg != "" {
		var run string
		found, err := t.One("SELECT run FROM seen WHERE msg = ? AND address IN (?, "+before+") AND event = ?", []any{at.msg, at.address, at.before, at.event},
			func(r engine.Row) error { run = r.Str(0); return nil })
		if err != nil {
			return acc, err
		}
		if found {
			return t.duplicate(e, sessions.RunID(run))
		}
	}
	if e.Run != nil {
		found, err := t.One("SELECT 1 FROM runs WHERE id = ?", []any{string(e.Run.ID)}, func(engine.Row) error { return nil })
		if err != nil {
			return acc, err
		}
		if found {
			return t.duplicate(e, e.Run.ID)
		}
	}
	if e.By != "" {
		if err := t.goesOn(e.By); err != nil {
			return acc, err
		}
	}
	if acc, err = t.apply(e); err != nil {
		return acc, err
	}
	if t.alsoEffects(e, acc); at.msg == "" {
		return acc, nil
	}
	return acc, t.saw(at, acc.Run.ID, acc.Deliveries)
}

// saw remembers an event or a source, and what it made in this commit.
func (t *tx) saw(at sight, run sessions.RunID, made []sessions.Delivery) error {
	first := int64(0)
	if len(made) > 0 {
		first = made[0].Seq
	}
	t.n.seen++
	_, err := t.Exec("INSERT INTO seen (num, msg, address, event, thread, at, skip, run, delivery, delivered, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		t.n.seen, at.msg, at.address, at.event, at.thread, engine.Ms(t.Now), at.skip, string(run), first, len(made), at.digest)
	return err
}

// duplicate says what the first one made, as far as it is still there.
func (t *tx) duplicate(e *effects, run sessions.RunID) (acc sessions.Accepted, err error) {
	acc.Duplicate = true
	// A commit is visible before a standby has it when its connection broke while it waited for that one. An answer that was only read may
	// therefore be undone by a failover, and a platform takes this one for an acknowledgement: it waits behind a commit that writes.
	// source: PostgreSQL documentation, 27.2.8 Synchronous Replication
	t.WaitDurable()
	if run != "" {
		if acc.Run, _, err = t.run(run); err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return acc, err
		}
	}
	if e.Session != nil {
		at, err := t.session(e.Session.Key)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return acc, err
		}
		acc.Session = at.Session
	}
	return acc, nil
}

// list keeps an unreadable event for people, and lets the oldest go. Those that were set aside are whole, and let go only for others of their kind.
func (t *tx) list(a sessions.Arrival) error {
	raw, like := string(a.In.Raw), "NOT LIKE"
	if strings.HasPrefix(a.Skip, sessions.SetAside) {
		like = "LIKE"
	} else if len(raw) > maxRaw {
		raw = strings.ToValidUTF8(raw[:maxRaw], "")
	}
	t.n.skipped++
	if _, err := t.Exec("INSERT INTO skipped (num, at, address, msg, reason, raw) VALUES (?, ?, ?, ?, ?, ?)",
		t.n.skipped, engine.Ms(t.Now), a.In.Address.String(), string(a.In.ID), a.Skip, raw); err != nil {
		return err
	}
	kind := sessions.SetAside + "%"
	_, err := t.Exec("DELETE FROM skipped WHERE reason "+like+" ? AND num <= (SELECT num FROM skipped WHERE reason "+like+" ? ORDER BY num DESC LIMIT 1 OFFSET ?)", kind, kind, maxListed)
	return err
}

// account is the key of an account in the store.
func account(kind channels.Kind, id channels.AccountID) string {
	return string(kind) + "/" + string(id)
}

// Said gives the digest of what a message says.
func (s *Store) Said(ctx context.Context, chat channels.Address, id channels.MessageID) (digest string, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		_, err := c.One(ctx, "SELECT digest FROM seen WHERE msg = ? AND address IN (?, "+before+") AND event = ?", []any{fitKey(string(id)), fitKey(whole(chat).String()), beforeOf(chat), string(channels.Message)},
			func(r engine.Row) error { digest = r.Str(0); return nil })
		return err
	})
	return digest, err
}

// Cursor gives the cursor that was committed last for an account.
func (s *Store) Cursor(ctx context.Context, kind channels.Kind, id channels.AccountID) (cursor string, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		_, err := c.One(ctx, "SELECT position FROM cursors WHERE account = ?", []any{account(kind, id)}, func(r engine.Row) error { cursor = r.Str(0); return nil })
		return err
	})
	return cursor, err
}

// Skipped lists the newest unreadable events. The newest 1,000 are kept, and the newest 1,000 that were set aside, for 30 days.
func (s *Store) Skipped(ctx context.Context, limit int) (out []sessions.SkippedEvent, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		return c.Each(ctx, "SELECT at, address, msg, reason, raw FROM skipped ORDER BY num DESC LIMIT ?", []any{orDefault(limit, 50)}, func(r engine.Row) error {
			out = append(out, sessions.SkippedEvent{Time: r.Time(0), Address: address(r.Str(1)), ID: channels.MessageID(r.Str(2)), Reason: r.Str(3), Raw: r.Str(4)})
			return nil
		})
	})
	return out, err
}

// SetAside counts the events that were set aside since a time.
func (s *Store) SetAside(ctx context.Context, since time.Time) (n int, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		_, err := c.One(ctx, "SELECT count(*) FROM skipped WHERE reason LIKE ? AND at >= ?", []any{sessions.SetAside + "%", engine.Ms(since)}, func(r engine.Row) error { n = int(r.Int(0)); return nil })
		return err
	})
	return n, err
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
		body, err := marshal(requestOf(r))
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
func (t *tx) apply(e *effects) (acc sessions.Accepted, err error) {
	var at known
	if e.Session != nil {
		if at, err = t.meant(e); err != nil {
			return acc, err
		}
		if e.Patch != nil {
			if err = t.patch(&at, *e.Patch); err != nil {
				return acc, err
			}
		}
		if e.Reset && (e.ResetOf == "" || e.ResetOf == at.ID) {
			if err = t.reset(&at); err != nil {
				return acc, err
			}
		}
	}
	if len(e.Stop) > 0 || e.StopRun != "" {
		if acc.Stopped, err = t.stop(e); err != nil {
			return acc, err
		}
		if at.Key != "" { // it may be one of them
			if at, err = t.session(at.Key); err != nil {
				return acc, err
			}
		}
	}
	acc.Session = at.Session
	if err = t.makeRoom(e, &acc); err != nil {
		return acc, err
	}
	if e.Run != nil {
		if at.Key != e.Run.Key {
			if at, err = t.session(e.Run.Key); err != nil {
				return acc, err
			}
		}
		if acc.Run, err = t.enqueue(at, *e.Run, e.runBody); err != nil {
			return acc, err
		}
	}
	for _, d := range e.deliveries {
		if e.Session != nil && d.Session == e.Session.Key { // which may be another name of it
			d.Session = acc.Session.Key
		}
		made, err := t.post(d)
		if err != nil {
			return acc, err
		}
		acc.Deliveries = append(acc.Deliveries, made)
	}
	if err = t.rest(e, acc.Session.Key); err != nil || !e.Claim || acc.Run.Key != e.Run.Key {
		return acc, err
	}
	run, ok, err := t.claim(e.Run.Key)
	if ok {
		acc.Claimed = &run
	}
	return acc, err
}

// meant finds or makes the session of the effects.
func (t *tx) meant(e *effects) (at known, err error) {
	if e.Existing {
		if at, err = t.session(e.Session.Key); err != nil || e.Quiet {
			return at, err
		}
	}
	s := *e.Session
	if e.Run != nil && e.Run.Kind == sessions.TurnRun {
		s.Heard = t.Now
	}
	return t.upsert(s)
}

// makeRoom ends what gives way to the run of the effects.
func (t *tx) makeRoom(e *effects, acc *sessions.Accepted) error {
	if e.Interrupt {
		ended, err := t.interrupt(acc.Session.Key, *e.Run)
		if err != nil {
			return err
		}
		acc.Stopped = append(acc.Stopped, ended...)
	}
	if e.Drop > 0 {
		ended, err := t.drop(acc.Session.Key, *e.Run, e.Drop)
		if err != nil {
			return err
		}
		acc.Stopped = append(acc.Stopped, ended...)
	}
	return nil
}

// rest writes what effects do besides sessions, runs and deliveries. key is that of their session.
func (t *tx) rest(e *effects, key sessions.Key) error {
	if e.Note != nil {
		if err := t.keepNote(*e.Note); err != nil {
			return err
		}
	}
	if e.Overheard != nil {
		if err := t.overhear(*e.Overheard); err != nil {
			return err
		}
	}
	if e.Heard > 0 {
		if err := t.told(key, e.Heard); err != nil {
			return err
		}
	}
	if e.Lift != nil {
		if err := t.lift(*e.Lift); err != nil {
			return err
		}
	}
	if e.Job != nil {
		if err := t.putJob(*e.Job, e.jobBody); err != nil {
			return err
		}
	}
	if e.DropJob != "" {
		if err := t.dropJob(e.DropJob); err != nil {
			return err
		}
	}
	if e.Pairing != nil {
		if err := t.endPairing(*e.Pairing); err != nil {
			return err
		}
	}
	if e.Unpair != nil {
		if err := t.unpair(*e.Unpair); err != nil {
			return err
		}
	}
	if e.Archive || e.Delete {
		return t.putAway(key, e.Delete)
	}
	return nil
}

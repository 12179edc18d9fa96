package job

import (
	"context"
	"fmt"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// HistoryRetention is how long the history of jobs stays.
const HistoryRetention = 90 * 24 * time.Hour

// Rows writes jobs and their history, in transactions of others.
type Rows struct{ occurrences *engine.Sequence }

// NewRows returns the rows of a database.
func NewRows(db *engine.DB) *Rows { return &Rows{db.Sequence("SELECT max(num) FROM occurrences")} }

// Store implements the methods of sessions.Store that read jobs.
type Store struct{ db *engine.DB }

// New returns a store over a database.
func New(db *engine.DB) *Store { return &Store{db} }

// Put adds or replaces a scheduled job. Last never goes back: the caller that replaces a job may have read it before its newest time came.
func (s *Rows) Put(t *engine.Tx, j sessions.Job, body string) error {
	_, err := t.Exec("INSERT INTO jobs (id, agent, next, last, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, next = excluded.next, last = CASE WHEN excluded.last > jobs.last THEN excluded.last ELSE jobs.last END, body = excluded.body",
		j.ID, string(j.Agent), engine.Ms(j.Next), engine.Ms(j.Last), body)
	return err
}

// Drop deletes a job, which need not exist.
func (s *Rows) Drop(t *engine.Tx, id string) error {
	_, err := t.Exec("DELETE FROM jobs WHERE id = ?", id)
	return err
}

// Encode returns the body of a job as Put takes it.
func Encode(j sessions.Job) (string, error) {
	if j.ID == "" {
		return "", fmt.Errorf("a scheduled job needs its id")
	}
	for _, t := range []*time.Time{&j.At, &j.Next, &j.Last, &j.Created} {
		*t = engine.ClampTime(*t)
	}
	b, err := column.JSON(j)
	if err != nil {
		return "", fmt.Errorf("job %s: %w", j.ID, err)
	}
	return b, nil
}

// selectJobs reads what scan takes.
const selectJobs = "SELECT body, next, last FROM jobs"

func scan(r engine.Row) (j sessions.Job, err error) {
	if err := column.Decode(r.Str(0), &j); err != nil {
		return j, fmt.Errorf("a scheduled job: %w", err)
	}
	j.Next, j.Last = r.Time(1), r.Time(2)
	return j, nil
}

// ListJobs gives jobs, next first.
func (s *Store) ListJobs(ctx context.Context, agent sessions.AgentID) ([]sessions.Job, error) {
	var where engine.Where
	if agent != "" {
		where.And("agent = ?", string(agent))
	}
	return engine.ReadList(ctx, s.db, selectJobs+where.String()+" ORDER BY next, id", where.Args(), scan)
}

// GetJob finds a job.
func (s *Store) GetJob(ctx context.Context, id string) (j sessions.Job, err error) {
	found, err := engine.ReadOne(ctx, s.db, selectJobs+" WHERE id = ?", []any{id}, func(r engine.Row) (err error) { j, err = scan(r); return err })
	if err == nil && !found {
		err = engine.NotFound("job", id)
	}
	return j, err
}

// Due returns the job of a firing. The error wraps ErrNotFound when the job does not exist, and ErrConflict when the time of the firing is not the job's next.
func (s *Rows) Due(t *engine.Tx, f sessions.Firing) (j sessions.Job, err error) {
	found, err := t.One(selectJobs+" WHERE id = ?", []any{f.Job}, func(r engine.Row) (err error) { j, err = scan(r); return err })
	switch {
	case err != nil:
		return j, err
	case !found && f.Due.IsZero():
		return j, engine.NotFound("job", f.Job)
	case !found || !f.Due.IsZero() && engine.Ms(j.Next) != engine.Ms(f.Due):
		return j, engine.Conflict("job %s is no longer due at that time", f.Job)
	}
	return j, nil
}

// Fired moves a job on.
func (s *Rows) Fired(t *engine.Tx, j sessions.Job, f sessions.Firing) error {
	switch {
	case f.Due.IsZero():
		return nil
	case f.Off:
		j.Off, j.Next, j.Last = true, time.Time{}, f.At
		body, err := Encode(j)
		if err != nil {
			return err
		}
		return s.Put(t, j, body)
	case f.Next.IsZero():
		return s.Drop(t, j.ID)
	}
	_, err := t.Exec("UPDATE jobs SET next = ?, last = ? WHERE id = ?", engine.Ms(f.Next), engine.Ms(f.At), j.ID)
	return err
}

// Change writes the jobs that change says it has changed. A row that cannot be read stays as it is: it holds no chat up.
func (s *Rows) Change(t *engine.Tx, change func(*sessions.Job) bool) error {
	var changed []sessions.Job
	err := t.Each(selectJobs, nil, func(r engine.Row) error {
		if j, err := scan(r); err == nil && change(&j) {
			changed = append(changed, j)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, j := range changed {
		body, err := Encode(j)
		if err != nil {
			return err
		}
		if err := s.Put(t, j, body); err != nil {
			return err
		}
	}
	return nil
}

// Remember puts what became of a job's times into its history.
func (s *Rows) Remember(t *engine.Tx, j sessions.Job, at time.Time, times []sessions.Occurrence) error {
	for _, o := range times {
		if _, err := t.Exec("INSERT INTO occurrences (num, job, name, agent, due, at, forced, skipped, run) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			s.occurrences.Next(), j.ID, j.Name, string(j.Agent), engine.Ms(o.Due), engine.Ms(at), o.Forced, o.Skipped, string(o.Run)); err != nil {
			return err
		}
	}
	return nil
}

// Occurrences gives the history of a job, or of all.
func (s *Store) Occurrences(ctx context.Context, job string, limit int) ([]sessions.Occurrence, error) {
	var where engine.Where
	if job != "" {
		where.And("job = ?", job)
	}
	return engine.ReadList(ctx, s.db, "SELECT job, name, agent, due, at, forced, skipped, run FROM occurrences"+where.String()+" ORDER BY num DESC LIMIT ?", where.Args(engine.Limit(limit, 50)), func(r engine.Row) (sessions.Occurrence, error) {
		return sessions.Occurrence{Job: r.Str(0), Name: r.Str(1), Agent: sessions.AgentID(r.Str(2)), Due: r.Time(3), At: r.Time(4), Forced: r.Bool(5), Skipped: r.Str(6), Run: sessions.RunID(r.Str(7))}, nil
	})
}

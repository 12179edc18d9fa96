package sqlstore

import (
	"context"
	"fmt"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// occurrenceRetention is how long the history of jobs stays.
const occurrenceRetention = 90 * 24 * time.Hour

// jobs keeps scheduled jobs and what became of their times.
type jobs struct {
	repository

	occurrences *engine.Sequence
}

// putJob adds or replaces a scheduled job. Last never goes back: the caller that replaces a job may have read it before its newest time came.
func (s *jobs) putJob(t *tx, j sessions.Job, body string) error {
	_, err := t.Exec("INSERT INTO jobs (id, agent, next, last, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, next = excluded.next, last = CASE WHEN excluded.last > jobs.last THEN excluded.last ELSE jobs.last END, body = excluded.body",
		j.ID, string(j.Agent), engine.Ms(j.Next), engine.Ms(j.Last), body)
	return err
}

func (s *jobs) dropJob(t *tx, id string) error {
	_, err := t.Exec("DELETE FROM jobs WHERE id = ?", id)
	return err
}

func encodeJob(j sessions.Job) (string, error) {
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

// jobColumns are what scanJob reads.
const jobColumns = "SELECT body, next, last FROM jobs"

func scanJob(r engine.Row) (j sessions.Job, err error) {
	if err := column.Decode(r.Str(0), &j); err != nil {
		return j, fmt.Errorf("a scheduled job: %w", err)
	}
	j.Next, j.Last = r.Time(1), r.Time(2)
	return j, nil
}

// ListJobs gives jobs, next first.
func (s *jobs) ListJobs(ctx context.Context, agent sessions.AgentID) ([]sessions.Job, error) {
	var where engine.Where
	if agent != "" {
		where.And("agent = ?", string(agent))
	}
	return engine.ReadList(ctx, s.db, jobColumns+where.String()+" ORDER BY next, id", where.Args(), scanJob)
}

// GetJob finds a job.
func (s *jobs) GetJob(ctx context.Context, id string) (j sessions.Job, err error) {
	found, err := engine.ReadOne(ctx, s.db, jobColumns+" WHERE id = ?", []any{id}, func(r engine.Row) (err error) { j, err = scanJob(r); return err })
	if err == nil && !found {
		err = engine.NotFound("job", id)
	}
	return j, err
}

// fired moves a job on.
func (s *jobs) fired(t *tx, j sessions.Job, f sessions.Firing) error {
	switch {
	case f.Due.IsZero():
		return nil
	case f.Off:
		j.Off, j.Next, j.Last = true, time.Time{}, f.At
		body, err := encodeJob(j)
		if err != nil {
			return err
		}
		return s.putJob(t, j, body)
	case f.Next.IsZero():
		return s.dropJob(t, j.ID)
	}
	_, err := t.Exec("UPDATE jobs SET next = ?, last = ? WHERE id = ?", engine.Ms(f.Next), engine.Ms(f.At), j.ID)
	return err
}

// remember puts what became of a job's times into its history.
func (s *jobs) remember(t *tx, j sessions.Job, at time.Time, times []sessions.Occurrence) error {
	for _, o := range times {
		if _, err := t.Exec("INSERT INTO occurrences (num, job, name, agent, due, at, forced, skipped, run) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			s.occurrences.Next(), j.ID, j.Name, string(j.Agent), engine.Ms(o.Due), engine.Ms(at), o.Forced, o.Skipped, string(o.Run)); err != nil {
			return err
		}
	}
	return nil
}

// Occurrences gives the history of a job, or of all.
func (s *jobs) Occurrences(ctx context.Context, job string, limit int) ([]sessions.Occurrence, error) {
	var where engine.Where
	if job != "" {
		where.And("job = ?", job)
	}
	return engine.ReadList(ctx, s.db, "SELECT job, name, agent, due, at, forced, skipped, run FROM occurrences"+where.String()+" ORDER BY num DESC LIMIT ?", where.Args(engine.Limit(limit, 50)), func(r engine.Row) (sessions.Occurrence, error) {
		return sessions.Occurrence{Job: r.Str(0), Name: r.Str(1), Agent: sessions.AgentID(r.Str(2)), Due: r.Time(3), At: r.Time(4), Forced: r.Bool(5), Skipped: r.Str(6), Run: sessions.RunID(r.Str(7))}, nil
	})
}

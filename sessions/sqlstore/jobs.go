package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/sessions"
)

// putJob adds or replaces a scheduled job.
func (t *tx) putJob(j sessions.Job, body string) error {
	_, err := t.exec("INSERT INTO jobs (id, agent, next, last, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, next = excluded.next, last = excluded.last, body = excluded.body",
		j.ID, string(j.Agent), ms(j.Next), ms(j.Last), body)
	return err
}

func (t *tx) dropJob(id string) error {
	_, err := t.exec("DELETE FROM jobs WHERE id = ?", id)
	return err
}

func encodeJob(j sessions.Job) (string, error) {
	if j.ID == "" {
		return "", fmt.Errorf("a scheduled job needs its id")
	}
	b, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("job %s: %w", j.ID, err)
	}
	return string(b), nil
}

// ListJobs gives jobs, next first.
func (s *Store) ListJobs(ctx context.Context, agent sessions.AgentID) (out []sessions.Job, err error) {
	query, args := "SELECT body, next, last FROM jobs", []any{}
	if agent != "" {
		query, args = query+" WHERE agent = ?", append(args, string(agent))
	}
	err = s.read(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, query+" ORDER BY next, id", args, func(r row) error {
			var j sessions.Job
			if err := decode(r.str(0), &j); err != nil {
				return fmt.Errorf("a scheduled job: %w", err)
			}
			j.Next, j.Last = r.time(1), r.time(2)
			out = append(out, j)
			return nil
		})
	})
	return out, err
}

// Fire commits that a job's time has come.
func (s *Store) Fire(ctx context.Context, id string, due, next time.Time, e sessions.Effects) (acc sessions.Accepted, err error) {
	p, err := prepare(e)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Fire", func(t *tx) (err error) {
		acc = sessions.Accepted{}
		at := int64(0)
		found, err := t.one("SELECT next FROM jobs WHERE id = ?", []any{id}, func(r row) error { at = r.int(0); return nil })
		if err != nil {
			return err
		}
		if !found || at != ms(due) {
			return wrong("job %s is not due at that time any more", id)
		}
		if next.IsZero() {
			err = t.dropJob(id)
		} else {
			_, err = t.exec("UPDATE jobs SET next = ?, last = ? WHERE id = ?", ms(next), ms(t.now), id)
		}
		if err != nil {
			return err
		}
		acc, err = t.once(sight{msg: e.Source, event: submitEvent}, p)
		return err
	})
	return acc, err
}

package sqlstore

import (
	"context"
	"fmt"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
)

// Recover puts running runs back in the queue, those that a person stopped excepted, and finds the deliveries that were being sent.
func (s *runs) Recover(ctx context.Context) (keys []sessions.Key, sending []sessions.Delivery, err error) {
	err = s.write(ctx, "Recover", func(t *tx) error {
		keys, sending = nil, nil
		if err := s.noteStopped(t); err != nil {
			return err
		}
		// Not by the index of batches, which has all that there ever were. One that a person stopped has the words of that on its row, unless an
		// earlier version marked it.
		if _, err := t.Exec("UPDATE runs SET status = 'aborted', ended = ? WHERE status IN ('queued', 'running') AND status = 'running' AND stop = 1 AND batch = '' AND outcome <> ''", engine.Ms(t.Now)); err != nil {
			return err
		}
		for _, why := range []struct{ words, cond string }{{sessions.ByPerson.Words(), "batch = ''"}, {byNewer, "length(batch) > 0"}} {
			if err := s.endStopped(t, why.words, "status IN ('queued', 'running') AND status = 'running' AND stop = 1 AND "+why.cond); err != nil {
				return err
			}
		}
		if _, err := t.Exec("UPDATE runs SET status = 'queued' WHERE status IN ('queued', 'running') AND status = 'running'"); err != nil {
			return err
		}
		err := t.Each("SELECT key FROM runs WHERE status IN ('queued', 'running') GROUP BY key ORDER BY min(seq)", nil, func(r engine.Row) error {
			keys = append(keys, sessions.Key(r.Str(0)))
			return nil
		})
		if err != nil {
			return err
		}
		sending, err = s.deliveries.interrupted(t)
		return err
	})
	return keys, sending, err
}

// noteStopped puts a line into the transcripts of the running runs that a person stopped: their owner died before it could.
func (s *runs) noteStopped(t *tx) error {
	type stopped struct {
		run sessions.Run
		at  row.Run
	}
	var all []stopped
	err := t.Each("SELECT "+row.RunColumns+" FROM runs WHERE status IN ('queued', 'running') AND status = 'running' AND stop = 1 AND batch = ''", nil, func(r engine.Row) error {
		run, at, err := row.ScanRun(r)
		if run.Kind != sessions.CompactRun { // whose input is no message
			all = append(all, stopped{run, at})
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, x := range all {
		note, err := s.transcripts.Encode(x.run.ID, sessions.StoppedMessage(x.run.ID, t.Now))
		if err == nil {
			err = s.transcripts.Append(t, row.Slot(x.run, x.at), note, map[string]int64{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CountByAgents counts the runs of a session that other agents caused.
func (s *runs) CountByAgents(ctx context.Context, key sessions.Key, since time.Time, most int) (int, error) {
	n, err := engine.ReadNumber(ctx, s.db, "SELECT count(*) FROM (SELECT 1 FROM runs WHERE key = ? AND by_agent = 1 AND created > ? LIMIT ?) AS newest", string(key), engine.Ms(since), most)
	return int(n), err
}

// GetRun finds a run.
func (s *runs) GetRun(ctx context.Context, id sessions.RunID) (run sessions.Run, err error) {
	err = s.read(ctx, func(c *engine.Conn) (err error) {
		run, _, err = row.GetRun(ctx, c, id)
		return err
	})
	return run, err
}

// Totals counts sessions that live, and says how long the oldest run has waited.
func (s *runs) Totals(ctx context.Context) (x sessions.Totals, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		x = sessions.Totals{Sessions: map[sessions.AgentID]int{}}
		if err := c.Each(ctx, "SELECT agent, count(*) FROM sessions WHERE archived = ? GROUP BY agent", []any{false}, func(r engine.Row) error {
			x.Sessions[sessions.AgentID(r.Str(0))] = int(r.Int(1))
			return nil
		}); err != nil {
			return err
		}
		_, err := c.One(ctx, "SELECT created FROM runs WHERE status = 'queued' AND status IN ('queued', 'running') ORDER BY created LIMIT 1", nil, func(r engine.Row) error {
			x.Oldest = r.Time(0)
			return nil
		})
		return err
	})
	return x, err
}

// CountOpen counts the runs of a session that wait or are running: an index alone has the answer.
func (s *runs) CountOpen(ctx context.Context, key sessions.Key) (int, error) {
	n, err := engine.ReadNumber(ctx, s.db, "SELECT count(*) FROM runs WHERE key = ? AND status IN ('queued', 'running')", string(key))
	return int(n), err
}

// checkExclusive reports ErrBusy where the run of a firing must begin alone, and another one of its session waits or is running.
func (s *runs) checkExclusive(t *tx, f sessions.Firing) error {
	if !f.Exclusive || f.Change.Run == nil {
		return nil
	}
	open, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM runs WHERE key = ? AND status IN ('queued', 'running') AND id <> ?", string(f.Change.Run.Key), string(f.Change.Run.ID))
	if err == nil && open > 0 {
		err = fmt.Errorf("job %s: %w", f.Job, sessions.ErrBusy)
	}
	return err
}

// ListRuns gives runs, newest first unless the oldest are asked for.
func (s *runs) ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	var where engine.Where
	for _, x := range []struct{ column, is string }{{"parent", string(q.Parent)}, {"root", string(q.Root)}, {"batch", string(q.MergedInto)}} {
		if x.is != "" {
			where.And(x.column+" = ? AND "+x.column+" <> ''", x.is)
		}
	}
	if q.Key != "" {
		where.And("key = ?", string(q.Key))
	}
	if q.Status != "" {
		cond := "status = ?"
		if !q.Status.Final() {
			cond += " AND status IN ('queued', 'running')" // names the index
		}
		where.And(cond, string(q.Status))
	}
	if q.Kind != "" { // the first field of what it was asked for
		where.And("body LIKE ? ESCAPE '!'", `{"kind":"`+engine.Like(string(q.Kind))+`",%`)
	}
	if !q.Since.IsZero() {
		where.And("created >= ?", engine.Ms(q.Since))
	}
	order := "seq"
	if q.Key == "" && q.Status != "" && !q.Status.Final() { // with a key, the index of open runs has them in order
		order = "+seq" // those few are sorted: by the bare column all runs that ever were would be walked through for them
	}
	if !q.Oldest {
		order += " DESC"
	}
	return engine.ReadList(ctx, s.db, "SELECT "+row.RunColumns+" FROM runs"+where.String()+" ORDER BY "+order+" LIMIT ?", where.Args(engine.Limit(q.Limit, 50)), row.ScanOnlyRun)
}

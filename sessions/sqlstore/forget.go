package sqlstore

import (
	"context"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcriptfile"
)

// Delete removes the session, all its transcripts and its runs. Deleting what is not there succeeds: it may have been done before.
func (s *Store) Delete(ctx context.Context, key sessions.Key) error {
	return s.write(ctx, "Delete", func(t *tx) error { return t.remove(key) })
}

// putAway archives or deletes a session because a person asked for it.
func (t *tx) putAway(key sessions.Key, forGood bool) error {
	k, err := t.session(key)
	if err != nil {
		return err
	}
	if !forGood {
		return t.archive(&k)
	}
	open, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM runs WHERE key = ? AND status IN ('queued', 'running')", string(k.Key))
	if err == nil && open > 0 {
		err = engine.Conflict("session %s has %d runs that are queued or at work", k.Key, open)
	}
	if err != nil {
		return err
	}
	return t.remove(k.Key)
}

// remove takes the session and its runs away at once. Its transcripts are only marked: nobody sees them any more, and their
// messages are swept in small steps, so that a long transcript does not hold up the writer.
func (t *tx) remove(key sessions.Key) error {
	if _, err := t.Exec("DELETE FROM sessions WHERE key = ?", string(key)); err != nil {
		return err
	}
	if _, err := t.Exec("DELETE FROM aliases WHERE target = ?", string(key)); err != nil {
		return err
	}
	for _, table := range []string{"runs", "heard", "overheard"} {
		if _, err := t.Exec("DELETE FROM "+table+" WHERE key = ?", string(key)); err != nil {
			return err
		}
	}
	err := t.Each("SELECT num, id, agent FROM transcripts WHERE key = ? AND gone = 0", []any{string(key)}, func(r engine.Row) error {
		t.mirror = append(t.mirror, t.s.mirror.Remove(r.Int(0), sessions.AgentID(r.Str(2)), sessions.ID(r.Str(1))))
		return nil
	})
	if err != nil {
		return err
	}
	t.swept = true
	_, err = t.Exec("UPDATE transcripts SET gone = 1 WHERE key = ?", string(key))
	return err
}

// Expire archives what is due and deletes old dedupe rows, a few hundred in a transaction.
func (s *Store) Expire(ctx context.Context, now time.Time, keep time.Duration) (keys []sessions.Key, err error) {
	err = s.write(ctx, "Expire", func(t *tx) error {
		keys = nil
		const due = "archive_at > 0 AND archived = 0 AND archive_at <= ? AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.key = sessions.key AND runs.status IN ('queued', 'running'))"
		err := t.Each("SELECT key FROM sessions WHERE "+due+" ORDER BY archive_at, num", []any{engine.Ms(now)}, func(r engine.Row) error {
			keys = append(keys, sessions.Key(r.Str(0)))
			return nil
		})
		if t.Label(len(keys) > 0, "archive"); err != nil || len(keys) == 0 {
			return err
		}
		_, err = t.Exec("UPDATE sessions SET archived = 1 WHERE "+due, engine.Ms(now))
		return err
	})
	if err != nil {
		return nil, err
	}
	for more := true; more; {
		if err := s.write(ctx, "Forget", func(t *tx) (err error) {
			more, err = t.forget(now, now.Add(-keep))
			return err
		}); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// forget deletes a few dedupe rows and receipts older than limit, previews that nobody ended, and pairing requests, events that were listed,
// and rows of the ledger and of the history of jobs that are past their time.
func (t *tx) forget(now, limit time.Time) (more bool, err error) {
	for _, x := range []struct {
		table string
		limit time.Time
	}{{"seen", limit}, {"receipts", limit}, {"occurrences", now.Add(-keepOccurrences)}, {"skipped", now.Add(-keepSkipped)}} {
		if more, err = t.forgetOld(x.table, x.limit); err != nil || more {
			return more, err
		}
	}
	for _, x := range []struct {
		where string
		at    time.Time
	}{{"pairings WHERE expires <= ?", now}, {"previews WHERE at <= ?", limit}} {
		old, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM "+x.where, engine.Ms(x.at))
		if err == nil && old > 0 {
			_, err = t.Exec("DELETE FROM "+x.where, engine.Ms(x.at))
		}
		if err != nil {
			return false, err
		}
	}
	return t.forgetSpending(now)
}

// forgetOld deletes a few rows of a table whose rows are in order of time.
func (t *tx) forgetOld(table string, limit time.Time) (more bool, err error) {
	const step = 300
	last, n, young := int64(0), 0, false
	err = t.Each("SELECT num, at FROM "+table+" ORDER BY num LIMIT ?", []any{step}, func(r engine.Row) error {
		if young = young || r.Int(1) >= engine.Ms(limit); !young {
			last, n = r.Int(0), n+1
		}
		return nil
	})
	if err != nil || n == 0 {
		return false, err
	}
	_, err = t.Exec("DELETE FROM "+table+" WHERE num <= ?", last)
	return n == step, err
}

// purge deletes a few messages of sessions that were deleted. It reports whether there may be more.
func (t *tx) purge() (more bool, err error) {
	const step = 200
	if err := t.flushIndex(); err != nil {
		return false, err
	}
	num, err := t.Conn.Number(t.Ctx, "SELECT num FROM transcripts WHERE gone = 1 ORDER BY num LIMIT 1")
	if err != nil || num == 0 {
		return false, err
	}
	var seqs []int64
	if err := t.Each("SELECT seq FROM messages WHERE transcript = ? ORDER BY seq LIMIT ?", []any{num, step}, func(r engine.Row) error {
		seqs = append(seqs, r.Int(0))
		return nil
	}); err != nil {
		return false, err
	}
	for _, seq := range seqs {
		if !t.Dialect.Postgres {
			if _, err := t.Exec("DELETE FROM words WHERE rowid = ?", seq); err != nil {
				return false, err
			}
		}
		if _, err := t.Exec("DELETE FROM messages WHERE seq = ?", seq); err != nil {
			return false, err
		}
	}
	if len(seqs) < step {
		var file transcriptfile.Line
		if _, err := t.One("SELECT id, agent FROM transcripts WHERE num = ?", []any{num}, func(r engine.Row) error {
			file = t.s.mirror.Remove(num, sessions.AgentID(r.Str(1)), sessions.ID(r.Str(0)))
			return nil
		}); err != nil {
			return false, err
		}
		t.mirror = append(t.mirror, file)
		if _, err := t.Exec("DELETE FROM summaries WHERE transcript = ?", num); err != nil {
			return false, err
		}
		_, err = t.Exec("DELETE FROM transcripts WHERE num = ?", num)
	}
	return true, err
}

package sqlstore

import (
	"context"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/job"
	"parley/sessions/sqlstore/ledger"
)

// retention deletes what is past its time.
type retention struct {
	repository

	ledger *ledger.Rows
}

// Expire archives what is due and deletes old dedupe rows, a few hundred in a transaction.
func (s *retention) Expire(ctx context.Context, now time.Time, keep time.Duration) (keys []sessions.Key, err error) {
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
			more, err = s.forget(t, now, now.Add(-keep))
			return err
		}); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// forget deletes a few dedupe rows and receipts older than limit, previews that nobody ended, and pairing requests, events that were listed,
// and rows of the ledger and of the history of jobs that are past their time.
func (s *retention) forget(t *tx, now, limit time.Time) (more bool, err error) {
	for _, x := range []struct {
		table string
		limit time.Time
	}{{"seen", limit}, {"receipts", limit}, {"occurrences", now.Add(-job.HistoryRetention)}, {"skipped", now.Add(-skippedRetention)}} {
		if more, err = s.forgetOld(t, x.table, x.limit); err != nil || more {
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
	return s.ledger.Forget(t, now)
}

// forgetOld deletes a few rows of a table whose rows are in order of time.
func (s *retention) forgetOld(t *tx, table string, limit time.Time) (more bool, err error) {
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

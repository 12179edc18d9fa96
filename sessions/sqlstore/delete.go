package sqlstore

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Delete removes the session, all its transcripts and its runs. Deleting what is not there succeeds: it may have been done before.
func (s *sessionRows) Delete(ctx context.Context, key sessions.Key) error {
	return s.write(ctx, "Delete", func(t *tx) error { return s.remove(t, key) })
}

// putAway archives or deletes a session because a person asked for it.
func (s *sessionRows) putAway(t *tx, key sessions.Key, forGood bool) error {
	k, err := s.session(t, key)
	if err != nil {
		return err
	}
	if !forGood {
		return s.archive(t, &k)
	}
	open, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM runs WHERE key = ? AND status IN ('queued', 'running')", string(k.Key))
	if err == nil && open > 0 {
		err = engine.Conflict("session %s has %d runs that are queued or at work", k.Key, open)
	}
	if err != nil {
		return err
	}
	return s.remove(t, k.Key)
}

// remove takes the session and its runs away at once. Its transcripts are only marked: nobody sees them any more, and their
// messages are swept in small steps, so that a long transcript does not hold up the writer.
func (s *sessionRows) remove(t *tx, key sessions.Key) error {
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
		t.lines = append(t.lines, s.files.Remove(r.Int(0), sessions.AgentID(r.Str(2)), sessions.ID(r.Str(1))))
		return nil
	})
	if err != nil {
		return err
	}
	t.swept = true
	_, err = t.Exec("UPDATE transcripts SET gone = 1 WHERE key = ?", string(key))
	return err
}

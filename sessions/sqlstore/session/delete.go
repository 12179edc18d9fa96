package session

import (
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// ArchiveOrDelete archives or deletes a session because a person asked for it.
func (s *Rows) ArchiveOrDelete(t *engine.Tx, key sessions.Key, forGood bool) error {
	k, err := s.Get(t, key)
	if err != nil {
		return err
	}
	if !forGood {
		return s.Archive(t, &k)
	}
	// Of other sessions are turns that began here: see StoppedRun.Home.
	open, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM runs WHERE (key = ? OR transcript = ?) AND status IN ('queued', 'running')", string(k.Key), k.Transcript)
	if err == nil && open > 0 {
		err = engine.Conflict("session %s has %d runs that are queued or running", k.Key, open)
	}
	if err != nil {
		return err
	}
	return s.Remove(t, k.Key)
}

// Remove takes the session and its runs away at once. Its transcripts are discarded.
func (s *Rows) Remove(t *engine.Tx, key sessions.Key) error {
	if _, err := t.Exec("DELETE FROM sessions WHERE key = ?", string(key)); err != nil {
		return err
	}
	if _, err := t.Exec("DELETE FROM aliases WHERE target = ? OR key = ?", string(key), string(key)); err != nil {
		return err
	}
	for _, table := range []string{"runs", "heard", "overheard"} {
		if _, err := t.Exec("DELETE FROM "+table+" WHERE key = ?", string(key)); err != nil {
			return err
		}
	}
	return s.transcripts.Discard(t, key)
}

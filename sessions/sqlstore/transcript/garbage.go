package transcript

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// garbage counts towards the collection of deleted transcripts. It implements engine.State.
type garbage struct {
	left    bool // a deleted transcript may have messages left
	batches int  // of the writer since the last collection, or since there is one to make

	collecting
	saved collecting // before the current operation
}

// collecting is what one transaction changed.
type collecting struct {
	discarded bool // a transcript was deleted
	collected bool // no deleted transcript has messages left
}

// Load implements engine.State. What is left is known from the start on.
func (g *garbage) Load(context.Context, *engine.Conn) error { return nil }

// Begin implements engine.State.
func (g *garbage) Begin() { g.collecting = collecting{} }

// Save implements engine.State.
func (g *garbage) Save() { g.saved = g.collecting }

// Restore implements engine.State.
func (g *garbage) Restore() { g.collecting = g.saved }

// Rollback implements engine.State.
func (g *garbage) Rollback() {}

// Committed implements engine.State.
func (g *garbage) Committed() {
	g.left = g.left && !g.collected
	if g.discarded && !g.left {
		g.left, g.batches = true, 0
	}
}

// CatchUp reads whether sessions that were deleted before the start have messages left.
func (s *Rows) CatchUp(ctx context.Context, c *engine.Conn) error {
	gone, err := c.Number(ctx, "SELECT num FROM transcripts WHERE gone = 1 LIMIT 1")
	s.garbage.left = gone != 0
	return err
}

// Discard marks the transcripts of a session as deleted. No query returns them then; Collect removes their messages in small steps, so that
// a long transcript does not block the writer.
func (s *Rows) Discard(t *engine.Tx, key sessions.Key) error {
	err := t.Each("SELECT num, id, agent FROM transcripts WHERE key = ? AND gone = 0", []any{string(key)}, func(r engine.Row) error {
		s.files.Remove(r.Int(0), sessions.AgentID(r.Str(2)), sessions.ID(r.Str(1)))
		return nil
	})
	if err != nil {
		return err
	}
	s.garbage.discarded = true
	_, err = t.Exec("UPDATE transcripts SET gone = 1 WHERE key = ?", string(key))
	return err
}

// Collect deletes a few messages of transcripts that were discarded.
func (s *Rows) Collect(t *engine.Tx) error { // a little at a time
	more, err := s.collect(t)
	s.garbage.collected = !more
	return err
}

// collect reports whether there may be more.
func (s *Rows) collect(t *engine.Tx) (more bool, err error) {
	const step = 200
	if err := s.index.Flush(t); err != nil {
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
		if err := s.index.Remove(t, seq); err != nil {
			return false, err
		}
		if _, err := t.Exec("DELETE FROM messages WHERE seq = ?", seq); err != nil {
			return false, err
		}
	}
	if len(seqs) < step {
		if _, err := t.One("SELECT id, agent FROM transcripts WHERE num = ?", []any{num}, func(r engine.Row) error {
			s.files.Remove(num, sessions.AgentID(r.Str(1)), sessions.ID(r.Str(0)))
			return nil
		}); err != nil {
			return false, err
		}
		if _, err := t.Exec("DELETE FROM summaries WHERE transcript = ?", num); err != nil {
			return false, err
		}
		_, err = t.Exec("DELETE FROM transcripts WHERE num = ?", num)
	}
	return true, err
}

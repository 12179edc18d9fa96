package sqlstore

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Transcripts gives the conversations of a session that have messages, newest first: the current one and those that resets ended.
func (s *transcripts) Transcripts(ctx context.Context, key sessions.Key, limit int) (out []sessions.Transcript, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		out = nil
		return c.Each(ctx, "SELECT t.id, t.created FROM transcripts t WHERE t.key = ? AND t.gone = 0 AND EXISTS (SELECT 1 FROM messages m WHERE m.transcript = t.num) ORDER BY t.num DESC LIMIT ?",
			[]any{string(key), orDefault(limit, 50)}, func(r engine.Row) error {
				out = append(out, sessions.Transcript{ID: sessions.ID(r.Str(0)), Began: r.Time(1)})
				return nil
			})
	})
	return out, err
}

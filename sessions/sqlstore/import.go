package sqlstore

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcript"
)

// Import commits a session of another program with its transcript, all at once: no work comes with it, nothing is sent, and what its
// turns cost is not charged. The session's ID and Updated are kept. ErrConflict when there is a session with its key or its ID.
func (s *changes) Import(ctx context.Context, x sessions.Session, msgs []sessions.Message) error {
	bodies, err := s.transcripts.Encode("", msgs...)
	if err != nil {
		return err
	}
	for i := range bodies {
		bodies[i].Usage = nil
	}
	return s.write(ctx, "Import", func(t *tx) error {
		taken, err := t.One("SELECT 1 FROM sessions WHERE key = ? UNION SELECT 1 FROM aliases WHERE key = ? UNION SELECT 1 FROM transcripts WHERE id = ?",
			[]any{string(x.Key), string(x.Key), string(x.ID)}, func(engine.Row) error { return nil })
		if err != nil {
			return err
		}
		if taken {
			return engine.Conflict("there is a session %s already", x.Key)
		}
		k, err := s.sessions.Create(t, x)
		if err != nil {
			return err
		}
		return s.transcripts.Append(t, transcript.Slot{Transcript: k.Transcript, Key: k.Key, Agent: k.Agent, Session: k.ID}, bodies, nil)
	})
}

package transcript

import (
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/search"
)

// HasMessages reports whether any transcript of a session has messages, also one before a reset.
func (s *Rows) HasMessages(t *engine.Tx, key sessions.Key) (bool, error) {
	return t.Exists("SELECT 1 FROM transcripts t WHERE t.key = ? AND t.gone = 0 AND EXISTS (SELECT 1 FROM messages m WHERE m.transcript = t.num)", string(key))
}

// HandOver gives the transcripts of one session to another session of the same agent. Their messages are found by a search there.
func (s *Rows) HandOver(t *engine.Tx, from, to sessions.Key, agent sessions.AgentID) error {
	words := map[int64][]string{}
	err := t.Each("SELECT m.seq, m.body FROM messages m JOIN transcripts t ON t.num = m.transcript WHERE t.key = ? AND t.gone = 0 AND m.role <> 'toolResult'", []any{string(from)}, func(r engine.Row) error {
		m, err := column.Message(r.Int(0), r.Str(1))
		if err == nil {
			words[m.Seq] = search.Scoped(search.Words(m.Readable().Text()), to, agent)
		}
		return err
	})
	if err != nil {
		return err
	}
	for seq, w := range words {
		if t.Dialect.Postgres {
			_, err = t.Exec("UPDATE messages SET words = array_to_tsvector(?) WHERE seq = ?", w, seq)
		} else {
			err = s.index.Replace(t, seq, w)
		}
		if err != nil {
			return err
		}
	}
	if err := t.Each("SELECT num, id, agent FROM transcripts WHERE key = ? AND gone = 0", []any{string(from)}, func(r engine.Row) error {
		s.files.Remove(r.Int(0), sessions.AgentID(r.Str(2)), sessions.ID(r.Str(1))) // written again, with the new key, with the next line
		return nil
	}); err != nil {
		return err
	}
	_, err = t.Exec("UPDATE transcripts SET key = ? WHERE key = ? AND gone = 0", string(to), string(from))
	return err
}

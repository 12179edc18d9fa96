package sqlstore

import (
	"context"
	"errors"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/session"
	"parley/sessions/sqlstore/transcript"
)

// Import commits sessions of another program with their histories, all at once: no work comes with them, nothing is sent, and the turns are
// not charged. A durable commit costs more than a session: callers hand over many, as much as memory should hold.
//
// A second import adds what is new. A session whose messages are the beginning of the imported history gets the rest; one that has other
// messages is left as it was. The outcomes are in the order of list.
func (s *changes) Import(ctx context.Context, list []sessions.Import) ([]sessions.ImportOutcome, error) {
	bodies := make([][]transcript.Encoded, len(list))
	for i, x := range list {
		var err error
		if bodies[i], err = s.transcripts.Encode("", x.Messages...); err != nil {
			return nil, err
		}
		for j := range bodies[i] {
			bodies[i][j].Usage = nil
		}
	}
	out := make([]sessions.ImportOutcome, len(list))
	err := s.write(ctx, "Import", func(t *tx) (err error) {
		for i, x := range list {
			if out[i], err = s.importOne(t, x, bodies[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func (s *changes) importOne(t *tx, x sessions.Import, bodies []transcript.Encoded) (out sessions.ImportOutcome, err error) {
	k, err := s.sessions.Get(t, x.Session.Key)
	switch {
	case err == nil:
		return s.extend(t, k, x, bodies)
	case !errors.Is(err, sessions.ErrNotFound):
		return out, err
	}
	taken, err := t.Exists("SELECT 1 FROM transcripts WHERE id = ?", string(x.Session.ID))
	if err != nil || taken { // its history is that of a session that has another key now
		return sessions.ImportOutcome{State: sessions.ImportLeft}, err
	}
	if k, err = s.sessions.Create(t, x.Session); err != nil {
		return out, err
	}
	return sessions.ImportOutcome{State: sessions.ImportNew, Added: len(bodies)}, s.transcripts.Append(t, slot(k), bodies, nil)
}

// extend puts what is new behind the messages of a session that is there.
func (s *changes) extend(t *tx, k session.Row, x sessions.Import, bodies []transcript.Encoded) (out sessions.ImportOutcome, err error) {
	have, begins := 0, true
	err = t.Each("SELECT id FROM messages WHERE transcript = ? ORDER BY seq", []any{k.Transcript}, func(r engine.Row) error {
		begins = begins && have < len(x.Messages) && r.Str(0) == x.Messages[have].ID
		have++
		return nil
	})
	if err != nil {
		return out, err
	}
	if begins && have == 0 { // it was started over, perhaps after an import
		var before bool
		before, err = t.Exists("SELECT 1 FROM transcripts WHERE key = ? AND num <> ?", string(k.Key), k.Transcript)
		begins = !before
	}
	switch {
	case err != nil:
		return out, err
	case !begins:
		return sessions.ImportOutcome{State: sessions.ImportLeft}, nil
	case have == len(bodies):
		return sessions.ImportOutcome{State: sessions.ImportSame}, nil
	}
	if x.Session.Updated.After(k.Updated) {
		k.Updated = x.Session.Updated
		if err := s.sessions.Save(t, k); err != nil {
			return out, err
		}
	}
	return sessions.ImportOutcome{State: sessions.ImportExtended, Added: len(bodies) - have}, s.transcripts.Append(t, slot(k), bodies[have:], nil)
}

func slot(k session.Row) transcript.Slot {
	return transcript.Slot{Transcript: k.Transcript, Key: k.Key, Agent: k.Agent, Session: k.ID}
}

package session

import (
	"context"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Store implements the methods of sessions.Store that are about sessions.
type Store struct {
	db   *engine.DB
	rows *Rows
}

// New returns a store over rows of the same database.
func New(db *engine.DB, rows *Rows) *Store { return &Store{db, rows} }

// Get finds a session by key, archived or not.
func (s *Store) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	var k Row
	err := s.db.Read(ctx, func(c *engine.Conn) (err error) {
		if k, err = get(ctx, c, key); err == nil {
			k.ChatDeny, err = chatDenies(ctx, c, k.Key)
		}
		return err
	})
	return k.Session, err
}

// GetByID finds a session that is not archived by its current id.
func (s *Store) GetByID(ctx context.Context, id sessions.ID) (sessions.Session, error) {
	var k Row
	err := s.db.Read(ctx, func(c *engine.Conn) error {
		found, err := c.One(ctx, "SELECT "+sessionColumns+" FROM sessions WHERE id = ? AND archived = 0", []any{string(id)}, func(r engine.Row) (err error) {
			k, err = scanSession(r)
			return err
		})
		if err == nil && !found {
			err = engine.NotFound("session", id)
		}
		if err == nil {
			k.ChatDeny, err = chatDenies(ctx, c, k.Key)
		}
		return err
	})
	return k.Session, err
}

// onSession runs a change of a session that exists.
func (s *Store) onSession(ctx context.Context, name string, key sessions.Key, change func(*engine.Tx, *Row) error) (sessions.Session, error) {
	var k Row
	err := s.db.Write(ctx, name, func(t *engine.Tx) (err error) {
		if k, err = s.rows.Get(t, key); err != nil {
			return err
		}
		if err := change(t, &k); err != nil {
			return err
		}
		k.ChatDeny, err = chatDenies(t.Ctx, t.Conn, k.Key)
		return err
	})
	return k.Session, err
}

// Patch changes settings of a session that exists.
func (s *Store) Patch(ctx context.Context, key sessions.Key, p sessions.Patch) (sessions.Session, error) {
	return s.onSession(ctx, "Patch", key, func(t *engine.Tx, k *Row) error { return s.rows.Patch(t, k, p) })
}

// Reset gives the session a new id and an empty transcript.
func (s *Store) Reset(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	return s.onSession(ctx, "Reset", key, s.rows.Reset)
}

// Archive takes the session out of the lists; a new message brings it back.
func (s *Store) Archive(ctx context.Context, key sessions.Key) error {
	_, err := s.onSession(ctx, "Archive", key, s.rows.Archive)
	return err
}

// Delete removes the session, all its transcripts and its runs. Deleting what is not there succeeds: it may have been done before.
func (s *Store) Delete(ctx context.Context, key sessions.Key) error {
	return s.db.Write(ctx, "Delete", func(t *engine.Tx) error { return s.rows.Remove(t, key) })
}

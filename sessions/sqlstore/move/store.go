package move

import (
	"context"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/job"
	"parley/sessions/sqlstore/session"
	"parley/sessions/sqlstore/transcript"
)

// Rows hands over what chats, people and accounts had, in transactions of others.
type Rows struct {
	sessions    *session.Rows
	jobs        *job.Rows
	transcripts *transcript.Rows
}

// NewRows returns the rows of a database.
func NewRows(at *session.Rows, jobs *job.Rows, transcripts *transcript.Rows) *Rows {
	return &Rows{sessions: at, jobs: jobs, transcripts: transcripts}
}

// Store implements the methods of sessions.Store about what chats, people and accounts were before.
type Store struct {
	db   *engine.DB
	rows *Rows
}

// New returns a store over a database.
func New(db *engine.DB, rows *Rows) *Store { return &Store{db: db, rows: rows} }

// Readdress changes the chat of what is not final and of the sessions that wrote there last. Threads stay.
func (s *Store) Readdress(ctx context.Context, from, to channels.Address) error {
	x := relocation{from: from, to: to, was: string(from.Chat), now: string(to.Chat)}
	return s.db.Write(ctx, "Readdress", func(t *engine.Tx) error { return s.rows.readdress(t, x) })
}

// Moves gives what chats were before.
func (s *Store) Moves(ctx context.Context) (was map[channels.Address]channels.Address, err error) {
	err = s.db.Read(ctx, func(c *engine.Conn) error {
		was = map[channels.Address]channels.Address{}
		return c.Each(ctx, "SELECT chat, was FROM moves", nil, func(r engine.Row) error {
			was[column.Address(r.Str(0))] = column.Address(r.Str(1))
			return nil
		})
	})
	return was, err
}

// Identities gives the ids that people had before.
func (s *Store) Identities(ctx context.Context) ([]sessions.Identity, error) {
	return engine.ReadList(ctx, s.db, "SELECT channel, was, now FROM identities ORDER BY channel, was", nil, func(r engine.Row) (sessions.Identity, error) {
		return sessions.Identity{Channel: channels.Kind(r.Str(0)), Was: channels.UserID(r.Str(1)), Now: channels.UserID(r.Str(2))}, nil
	})
}

// Renames gives the accounts that another one replaced.
func (s *Store) Renames(ctx context.Context) ([]sessions.Rename, error) {
	return engine.ReadList(ctx, s.db, "SELECT channel, account, became FROM logins WHERE became <> '' ORDER BY channel, account", nil, func(r engine.Row) (sessions.Rename, error) {
		return sessions.Rename{Channel: channels.Kind(r.Str(0)), Was: channels.AccountID(r.Str(1)), Now: channels.AccountID(r.Str(2))}, nil
	})
}

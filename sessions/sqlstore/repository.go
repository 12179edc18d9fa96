package sqlstore

import (
	"context"
	"log/slog"

	"parley/sessions/sqlstore/engine"
)

// repository is what each one has: the tables of a group, over one engine. Its methods that take a tx run inside an operation of the writer's;
// those that take a ctx are whole ones.
type repository struct {
	db  *engine.DB
	log *slog.Logger
}

// read runs fn on a connection that only reads. What it sees is at least what was committed before.
func (r repository) read(ctx context.Context, fn func(*engine.Conn) error) error {
	return r.db.Read(ctx, fn)
}

// write has fn run in a transaction and returns after its commit.
func (r repository) write(ctx context.Context, name string, fn func(*tx) error) error {
	return r.db.Write(ctx, name, fn)
}

package engine

import (
	"context"
	"time"
)

// Operation runs in a transaction. It may be called twice (alone, after the batch that it was in failed and was not committed), so it sets
// its results again each time.
type Operation func(*Tx) error

// Tx is the transaction that operations write in. Only the writer's goroutine touches it.
type Tx struct {
	*Conn
	Ctx     context.Context
	Now     time.Time
	dirty   bool   // something was written: an operation that fails now takes the transaction with it
	wrote   bool   // a row was written
	traced  bool   // labels are wanted
	labels  string // besides the operation's name: see Label
	commits int64  // number of the last one that wrote something
	term    int64  // PostgreSQL: of this connection, see beginTransaction
}

// Exec runs a statement and gives the number of rows that it changed.
func (t *Tx) Exec(q string, args ...any) (int64, error) {
	t.dirty = true
	n, err := t.Conn.Exec(t.Ctx, q, args...)
	t.wrote = t.wrote || n > 0
	return n, err
}

// One runs a query that gives at most one row of interest.
func (t *Tx) One(q string, args []any, f func(Row) error) (bool, error) {
	return t.Conn.One(t.Ctx, q, args, f)
}

// Exists reports whether a query gives a row.
func (t *Tx) Exists(q string, args ...any) (bool, error) {
	return t.One(q, args, func(Row) error { return nil })
}

// Each runs a query and calls f for every row. f must not use the transaction and not keep the row.
func (t *Tx) Each(q string, args []any, f func(Row) error) error {
	return t.Conn.Each(t.Ctx, q, args, f)
}

// WaitDurable has the transaction committed although it wrote nothing: on a server it then waits behind what it has read.
func (t *Tx) WaitDurable() { t.wrote = t.wrote || t.Dialect.Postgres }

// Label notes for Config.Trace what an operation does besides its name: "Submit+reset" is work that starts a session over.
// A receipt says of which platform it is, "PartSent+whatsapp".
func (t *Tx) Label(done bool, what string) {
	if done && t.traced {
		t.labels += "+" + what
	}
}

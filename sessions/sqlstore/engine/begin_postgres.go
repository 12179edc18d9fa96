package engine

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"parley/sessions"
)

// transactionStart begins a transaction of PostgreSQL's: BEGIN, and the count of the transaction under the term of its connection (see
// uncertain.go). Both travel with the first statement of the transaction, so they cost no round trip.
type transactionStart struct {
	begin, count *pgconn.StatementDescription
	term         []byte // decimal
	pending      bool   // the next statement is the first of its transaction

	build pgx.ExtendedQueryBuilder
	args  []any
}

const countCommit = "UPDATE owners SET seq = seq + 1 WHERE name = 'writer' AND term = $1"

// prepareStart prepares what begins a transaction under a term.
func (c *Conn) prepareStart(ctx context.Context, term int64) (err error) {
	if c.start.begin, err = c.pgx().Prepare(ctx, "begin", "BEGIN"); err != nil {
		return err
	}
	c.start.count, err = c.pgx().Prepare(ctx, "count", countCommit)
	c.start.term = fmt.Append(nil, term)
	return err
}

func (c *Conn) pgx() *pgx.Conn { return c.dc.(*stdlib.Conn).Conn() }

// beginWith begins a transaction and runs its first statement in one round trip. It gives the number of rows that the statement
// changed, and calls f for every row of its result.
func (c *Conn) beginWith(ctx context.Context, q string, args []driver.NamedValue, f func(Row) error) (n int64, err error) {
	s := &c.start
	text := c.Dialect.text(q)
	first, err := c.pgx().Prepare(ctx, text, text) // no round trip: conn.stmt has prepared it
	if err != nil {
		return 0, err
	}
	s.args = s.args[:0]
	for _, a := range args {
		s.args = append(s.args, a.Value)
	}
	if err := s.build.Build(c.pgx().TypeMap(), first, s.args); err != nil {
		return 0, err
	}
	for i, field := range first.Fields {
		s.build.ResultFormats[i] = pgx.TextFormatCode
		if field.DataTypeOID == pgtype.Int8OID || field.DataTypeOID == pgtype.Int4OID {
			s.build.ResultFormats[i] = pgx.BinaryFormatCode
		}
	}
	s.pending = false
	p := c.pgx().PgConn().StartPipeline(ctx)
	defer func() {
		if e := p.Close(); err == nil {
			err = e
		}
	}()
	p.SendQueryStatement(s.begin, nil, nil, nil)
	p.SendQueryStatement(s.count, [][]byte{s.term}, nil, nil)
	p.SendQueryStatement(first, s.build.ParamValues, s.build.ParamFormats, s.build.ResultFormats)
	if err := p.Sync(); err != nil {
		return 0, err
	}
	return c.begun(p, f)
}

// begun reads the answers to what beginWith has sent.
func (c *Conn) begun(p *pgconn.Pipeline, f func(Row) error) (int64, error) {
	if _, err := readResult(p, nil); err != nil {
		return 0, err
	}
	counted, err := readResult(p, nil)
	if err != nil {
		return 0, err
	}
	if counted != 1 {
		c.gone = true
		return 0, fmt.Errorf("%w: another connection has taken the database over", sessions.ErrInUse)
	}
	return readResult(p, func(r *pgconn.ResultReader) error {
		if f == nil {
			return nil
		}
		return f(c.decode(r.FieldDescriptions(), r.Values()))
	})
}

// readResult reads the answer to one statement of a pipeline, and gives the number of its rows.
func readResult(p *pgconn.Pipeline, f func(*pgconn.ResultReader) error) (int64, error) {
	got, err := p.GetResults()
	if err != nil {
		return 0, err
	}
	r, ok := got.(*pgconn.ResultReader)
	if !ok {
		return 0, fmt.Errorf("unexpected answer of the server: %T", got)
	}
	for r.NextRow() {
		if err == nil && f != nil {
			err = f(r)
		}
	}
	tag, e := r.Close()
	if err == nil {
		err = e
	}
	return tag.RowsAffected(), err
}

// decode makes a row of the values that the server sent: integers in binary, all else as text.
func (c *Conn) decode(fields []pgconn.FieldDescription, values [][]byte) Row {
	c.vals = c.vals[:0]
	for i, v := range values {
		var d driver.Value
		switch {
		case v == nil:
		case fields[i].Format == pgx.TextFormatCode:
			d = string(v)
		case len(v) == 4:
			d = int64(int32(binary.BigEndian.Uint32(v)))
		default:
			d = int64(binary.BigEndian.Uint64(v))
		}
		c.vals = append(c.vals, d)
	}
	return Row(c.vals)
}

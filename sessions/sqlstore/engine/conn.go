package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
)

// Dialect holds the differences between the engines.
type Dialect struct{ Postgres bool }

// The two dialects.
var (
	SQLite   = Dialect{}
	Postgres = Dialect{Postgres: true}
)

// Connect opens one connection. SQLite: dsn is a file: URI with its pragmas.
func (d Dialect) Connect(ctx context.Context, dsn string) (*Conn, error) {
	c := &Conn{Dialect: d, stmts: map[string]driver.Stmt{}}
	var err error
	if d.Postgres {
		var conf *pgx.ConnConfig
		if conf, err = pgx.ParseConfig(dsn); err == nil {
			conf.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { c.notice = n }
			c.dc, err = stdlib.GetConnector(*conf).Connect(ctx)
		}
	} else {
		c.dc, err = (&sqlite.Driver{}).Open(dsn)
	}
	if err != nil {
		return nil, err
	}
	if d.Postgres {
		// Every statement has its index. The planner sees no difference between a word that all messages have and one that none has,
		// and would now and then read a whole table instead, or compile a statement for longer than it runs.
		if _, err := c.Exec(ctx, "SELECT set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false)"); err != nil {
			_ = c.Close() // the first error counts
			return nil, err
		}
	}
	return c, nil
}

// maxStmts bounds the statements that a connection keeps prepared. The fixed ones are fewer; lists with many keys vary.
const maxStmts = 160

// Conn is one connection with its prepared statements, used by one goroutine at a time. It sits on the drivers directly: the
// pool, the locks and the reflection of database/sql would cost more than many of the statements do.
type Conn struct {
	dc      driver.Conn
	Dialect Dialect
	stmts   map[string]driver.Stmt
	args    []driver.NamedValue
	vals    []driver.Value
	gone    bool             // the connection is of no use any more
	start   transactionStart // PostgreSQL's writer only
	// notice is the last one that the server sent. PostgreSQL only.
	notice *pgconn.Notice
	// failing: a statement failed. PostgreSQL then takes back the whole transaction, whatever COMMIT answers.
	failing bool
	// Interruptible lets the end of ctx interrupt a statement on SQLite. That costs a goroutine for each statement, so only long
	// ones have it.
	Interruptible bool
}

// Prepared returns the statements that the connection keeps prepared; full = it has as many as it may.
func (c *Conn) Prepared() (statements []string, full bool) {
	return slices.Collect(maps.Keys(c.stmts)), len(c.stmts) >= maxStmts
}

// Gone reports whether the connection is of no use any more.
func (c *Conn) Gone() bool { return c.gone }

// Driver returns the driver's connection.
func (c *Conn) Driver() driver.Conn { return c.dc }

func (c *Conn) scope(ctx context.Context) context.Context {
	if c.Dialect.Postgres || c.Interruptible {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// Close closes the connection and its statements.
func (c *Conn) Close() error {
	for _, s := range c.stmts {
		_ = s.Close() // the connection goes with it
	}
	c.stmts = nil
	return c.dc.Close()
}

func (c *Conn) stmt(ctx context.Context, q string) (s driver.Stmt, temporary bool, err error) {
	if s = c.stmts[q]; s != nil {
		return s, false, nil
	}
	if s, err = c.dc.(driver.ConnPrepareContext).PrepareContext(ctx, c.Dialect.text(q)); err != nil {
		return nil, false, err
	}
	if len(c.stmts) >= maxStmts {
		return s, true, nil
	}
	c.stmts[q] = s
	return s, false, nil
}

// text is a statement as the engine wants it. SQLite plans by the value of a bare LIMIT ?, and so compiles the statement again each
// time that it is used (sqlite3ExprIsInteger); by a sum it does not. This took half of the store's time.
func (d Dialect) text(q string) string {
	if d.Postgres {
		return numbered(q)
	}
	return strings.ReplaceAll(q, "LIMIT ?", "LIMIT 0 + ?")
}

// numbered turns ? into $1, $2, … No statement of ours has a question mark in a literal.
func numbered(q string) string {
	var b strings.Builder
	n := 0
	for {
		i := strings.IndexByte(q, '?')
		if i < 0 {
			b.WriteString(q)
			return b.String()
		}
		n++
		b.WriteString(q[:i])
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		q = q[i+1:]
	}
}

func (c *Conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		switch v := a.(type) {
		case int:
			a = int64(v)
		case bool:
			a = flag(v)
		case string:
			if c.Dialect.Postgres {
				a = clean(v)
			}
		case []string:
			if c.Dialect.Postgres {
				a = cleanAll(v)
			}
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// clean makes text that PostgreSQL takes: valid UTF-8 without NUL.
func clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func cleanAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Exec runs a statement and gives the number of rows that it changed.
func (c *Conn) Exec(ctx context.Context, q string, args ...any) (n int64, err error) {
	s, temporary, err := c.stmt(ctx, q)
	if err != nil {
		return 0, c.failed(q, err)
	}
	var r driver.Result
	if c.start.pending {
		n, err = c.beginWith(ctx, q, c.bind(args), nil)
	} else if r, err = s.(driver.StmtExecContext).ExecContext(c.scope(ctx), c.bind(args)); err == nil {
		n, err = r.RowsAffected()
	}
	if temporary {
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return 0, c.failed(q, err)
	}
	return n, nil
}

// script runs statements without arguments in one round trip. PostgreSQL only.
func (c *Conn) script(ctx context.Context, q string) ([]*pgconn.Result, error) {
	r, err := c.dc.(*stdlib.Conn).Conn().PgConn().Exec(ctx, q).ReadAll()
	if err != nil {
		return nil, c.failed(q, err)
	}
	return r, nil
}

// Each runs a query and calls f for every row. f must not use the connection and not keep the row.
func (c *Conn) Each(ctx context.Context, q string, args []any, f func(Row) error) (err error) {
	s, temporary, err := c.stmt(ctx, q)
	if err != nil {
		return c.failed(q, err)
	}
	if temporary {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	if c.start.pending {
		if _, err = c.beginWith(ctx, q, c.bind(args), f); err != nil {
			err = c.failed(q, err)
		}
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(c.scope(ctx), c.bind(args))
	if err != nil {
		return c.failed(q, err)
	}
	n := len(rows.Columns())
	if cap(c.vals) < n {
		c.vals = make([]driver.Value, n)
	}
	vals := c.vals[:n]
	for {
		if err = rows.Next(vals); err != nil {
			break
		}
		if err = f(Row(vals)); err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if e := rows.Close(); err == nil && e != nil {
		err = e
	}
	if err != nil {
		return c.failed(q, err)
	}
	return nil
}

// One runs a query that gives at most one row of interest.
func (c *Conn) One(ctx context.Context, q string, args []any, f func(Row) error) (found bool, err error) {
	err = c.Each(ctx, q, args, func(r Row) error {
		if found {
			return nil
		}
		found = true
		return f(r)
	})
	return found, err
}

// Number runs a query that gives one number; 0 when there is no row or it is NULL.
func (c *Conn) Number(ctx context.Context, q string, args ...any) (n int64, err error) {
	_, err = c.One(ctx, q, args, func(r Row) error { n = r.Int(0); return nil })
	return n, err
}

func (c *Conn) failed(q string, err error) error {
	c.failing = true
	if errors.Is(err, driver.ErrBadConn) || c.Dialect.Postgres && (lost(c.dc) || takesNoWrites(err)) {
		c.gone = true
	}
	if i := strings.IndexAny(q, "(\n"); i > 0 {
		q = q[:i]
	}
	if len(q) > 60 {
		q = q[:60]
	}
	return fmt.Errorf("%s: %w", strings.TrimSpace(q), err)
}

// takesNoWrites reports whether a server takes no writes: it has become a standby, or never was anything else, and the connection will not be
// of use again (SQLSTATE 25006 of PostgreSQL's appendix A, read_only_sql_transaction).
func takesNoWrites(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "25006"
}

// lost reports whether a PostgreSQL connection is closed.
func lost(dc driver.Conn) bool {
	p, ok := dc.(*stdlib.Conn)
	return ok && p.Conn().IsClosed()
}

// Row is one row of a result: integers and texts only.
type Row []driver.Value

// Str returns a text.
func (r Row) Str(i int) string {
	switch v := r[i].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// Int returns an integer; 0 = NULL.
func (r Row) Int(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

// Bool returns an integer as a truth value.
func (r Row) Bool(i int) bool { return r.Int(i) != 0 }

// Time returns a time that is stored in milliseconds.
func (r Row) Time(i int) time.Time { return FromMs(r.Int(i)) }

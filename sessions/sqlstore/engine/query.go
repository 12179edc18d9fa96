package engine

import (
	"context"
	"slices"
	"strings"
)

// List runs a query and returns what scan makes of its rows, as Each does. The list is nil without rows.
func List[T any](ctx context.Context, c *Conn, q string, args []any, scan func(Row) (T, error)) (list []T, err error) {
	err = c.Each(ctx, q, args, func(r Row) error {
		x, err := scan(r)
		list = append(list, x)
		return err
	})
	return list, err
}

// ReadList is List on a connection that only reads.
func ReadList[T any](ctx context.Context, db *DB, q string, args []any, scan func(Row) (T, error)) (list []T, err error) {
	err = db.Read(ctx, func(c *Conn) (err error) {
		list, err = List(ctx, c, q, args, scan)
		return err
	})
	return list, err
}

// ReadOne runs a query that gives at most one row of interest on a connection that only reads.
func ReadOne(ctx context.Context, db *DB, q string, args []any, scan func(Row) error) (found bool, err error) {
	err = db.Read(ctx, func(c *Conn) (err error) {
		found, err = c.One(ctx, q, args, scan)
		return err
	})
	return found, err
}

// ReadNumber is Conn.Number on a connection that only reads.
func ReadNumber(ctx context.Context, db *DB, q string, args ...any) (n int64, err error) {
	_, err = ReadOne(ctx, db, q, args, func(r Row) error { n = r.Int(0); return nil })
	return n, err
}

// Where is a condition whose parts all hold. The zero value selects all rows.
type Where struct {
	parts []string
	args  []any
}

// And adds a part.
func (w *Where) And(part string, args ...any) {
	w.parts, w.args = append(w.parts, part), append(w.args, args...)
}

// Empty reports whether it selects all rows.
func (w *Where) Empty() bool { return len(w.parts) == 0 }

// String returns the clause, with a blank before it.
func (w *Where) String() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

// Args returns the arguments of the clause, and behind them those of what follows it.
func (w *Where) Args(more ...any) []any { return append(slices.Clip(w.args), more...) }

// Marks gives n question marks for a list.
func Marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// Args returns ids as arguments of a query.
func Args[T ~string](ids []T) []any {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = string(id)
	}
	return args
}

// Limit returns how many rows are wanted: n, or so many as is usual when n says nothing.
func Limit(n, usual int) int {
	if n > 0 {
		return n
	}
	return usual
}

var likeEscape = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// Like returns a text as a part of the pattern of LIKE … ESCAPE '!' that stands for itself alone.
func Like(text string) string { return likeEscape.Replace(text) }

package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// ledgerRetention is how long rows of the ledger stay.
const ledgerRetention = 400 * 24 * time.Hour

// Rows writes what calls cost, in transactions of others.
type Rows struct{ numbers *engine.Sequence }

// NewRows returns the rows of a database.
func NewRows(db *engine.DB) *Rows { return &Rows{db.Sequence("SELECT max(num) FROM spends")} }

// Store implements the methods of sessions.Store that are about the ledger.
type Store struct {
	db   *engine.DB
	rows *Rows
}

// New returns a store over rows of the same database.
func New(db *engine.DB, rows *Rows) *Store { return &Store{db, rows} }

// Charge puts what a call cost into the ledger. The session above all of its own pays for it; without a time it is now.
func (s *Rows) Charge(t *engine.Tx, x sessions.Spend) error {
	if x.Time.IsZero() {
		x.Time = t.Now
	}
	x.BilledTo = x.Key
	if _, err := t.One("SELECT top FROM sessions WHERE key = ? AND top <> ''", []any{string(x.Key)}, func(r engine.Row) error { x.BilledTo = sessions.Key(r.Str(0)); return nil }); err != nil {
		return err
	}
	return s.spend(t, x)
}

func (s *Rows) spend(t *engine.Tx, x sessions.Spend) error {
	u := x.Usage
	n, err := t.Exec("INSERT INTO spends (num, id, at, run, key, payer, agent, model, purpose, input, output, cache_read, cache_write, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		s.numbers.Last()+1, x.ID, engine.Ms(x.Time), string(x.Run), string(x.Key), string(x.BilledTo), string(x.Agent), x.Model, x.Purpose, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Cost)
	if n > 0 {
		s.numbers.Next()
	}
	return err
}

// Spend keeps what calls cost that left no message.
func (s *Store) Spend(ctx context.Context, rows ...sessions.Spend) error {
	for _, x := range rows {
		if x.ID == "" || x.Time.IsZero() {
			return fmt.Errorf("spending of run %s: a row needs its id and time", x.Run)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return s.db.Write(ctx, "Spend", func(t *engine.Tx) error {
		for _, x := range rows {
			if x.BilledTo == "" {
				x.BilledTo = x.Key
			}
			if err := s.rows.spend(t, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// spentWhere is the condition of a query on the ledger.
func spentWhere(q sessions.SpentQuery) (w engine.Where) {
	w.And("at >= ?", engine.Ms(q.Since))
	if !q.Until.IsZero() {
		w.And("at < ?", engine.Ms(q.Until))
	}
	if q.BilledTo != "" {
		w.And("payer = ?", string(q.BilledTo))
	}
	if q.Agent != "" {
		w.And("agent = ?", string(q.Agent))
	}
	return w
}

// sums are columns that scanSpent reads. PostgreSQL adds whole numbers up to numerics, which no row has.
const sums = "count(*), CAST(coalesce(sum(input), 0) AS bigint), CAST(coalesce(sum(output), 0) AS bigint), CAST(coalesce(sum(cache_read), 0) AS bigint), CAST(coalesce(sum(cache_write), 0) AS bigint), CAST(coalesce(sum(cost), 0) AS bigint)"

func scanSpent(r engine.Row, i int) sessions.Spent {
	return sessions.Spent{Calls: int(r.Int(i)), Usage: sessions.Usage{Input: int(r.Int(i + 1)), Output: int(r.Int(i + 2)), CacheRead: int(r.Int(i + 3)), CacheWrite: int(r.Int(i + 4)), Cost: r.Int(i + 5)}}
}

// Spent sums up.
func (s *Store) Spent(ctx context.Context, q sessions.SpentQuery) (sum sessions.Spent, err error) {
	where := spentWhere(q)
	_, err = engine.ReadOne(ctx, s.db, "SELECT "+sums+" FROM spends"+where.String(), where.Args(), func(r engine.Row) error { sum = scanSpent(r, 0); return nil })
	return sum, err
}

// Spending sums up by day, agent and model. The database adds up quarters of an hour, with which every zone's days begin; which of
// them make a day is for the zone to say.
func (s *Store) Spending(ctx context.Context, q sessions.SpentQuery, zone *time.Location) (out []sessions.Spending, err error) {
	const quarter = 15 * 60 * 1000
	where := spentWhere(q)
	type group struct {
		day, model string
		agent      sessions.AgentID
	}
	var days map[group]sessions.Spent
	err = s.db.Read(ctx, func(c *engine.Conn) error {
		days = map[group]sessions.Spent{}
		return c.Each(ctx, "SELECT at / ?, agent, model, "+sums+" FROM spends"+where.String()+" GROUP BY 1, 2, 3", append([]any{quarter}, where.Args()...), func(r engine.Row) error {
			g := group{day: time.UnixMilli(r.Int(0) * quarter).In(zone).Format(time.DateOnly), agent: sessions.AgentID(r.Str(1)), model: r.Str(2)}
			x, was := scanSpent(r, 3), days[g]
			days[g] = sessions.Spent{Calls: was.Calls + x.Calls, Usage: was.Usage.Add(x.Usage)}
			return nil
		})
	})
	for g, x := range days {
		out = append(out, sessions.Spending{Day: g.day, Agent: g.agent, Model: g.model, Spent: x})
	}
	slices.SortFunc(out, func(a, b sessions.Spending) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return out, err
}

// Suspend takes a budget out of force until a time, or puts it into force again when that has passed.
func (s *Rows) Suspend(t *engine.Tx, x sessions.BudgetSuspension) error {
	_, err := t.Exec("INSERT INTO lifts (scope, until) VALUES (?, ?) ON CONFLICT (scope) DO UPDATE SET until = excluded.until", x.Scope, engine.Ms(x.Until))
	return err
}

// Suspensions gives the budgets that do not count now.
func (s *Store) Suspensions(ctx context.Context, now time.Time) ([]sessions.BudgetSuspension, error) {
	return engine.ReadList(ctx, s.db, "SELECT scope, until FROM lifts WHERE until > ? ORDER BY scope", []any{engine.Ms(now)}, func(r engine.Row) (sessions.BudgetSuspension, error) {
		return sessions.BudgetSuspension{Scope: r.Str(0), Until: r.Time(1)}, nil
	})
}

// Forget deletes a few rows of the ledger that are past their time, and lifts that are over.
func (s *Rows) Forget(t *engine.Tx, now time.Time) (more bool, err error) {
	const step = 300
	var old []int64
	if err := t.Each("SELECT num FROM spends WHERE at < ? ORDER BY at LIMIT ?", []any{engine.Ms(now.Add(-ledgerRetention)), step}, func(r engine.Row) error {
		old = append(old, r.Int(0))
		return nil
	}); err != nil {
		return false, err
	}
	for _, num := range old {
		if _, err := t.Exec("DELETE FROM spends WHERE num = ?", num); err != nil {
			return false, err
		}
	}
	_, err = t.Exec("DELETE FROM lifts WHERE until <= ?", engine.Ms(now))
	return len(old) == step, err
}

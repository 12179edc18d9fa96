package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// keepLedger is how long rows of the ledger stay.
const keepLedger = 400 * 24 * time.Hour

// ledger keeps what calls cost, and the budgets that do not count for a while.
type ledger struct {
	repository
}

// charge puts what a message cost into the ledger.
func (s *ledger) charge(t *tx, m written, to shelf) error {
	at := m.at
	if at.IsZero() {
		at = t.Now
	}
	payer := to.key
	if _, err := t.One("SELECT top FROM sessions WHERE key = ? AND top <> ''", []any{string(to.key)}, func(r engine.Row) error { payer = sessions.Key(r.Str(0)); return nil }); err != nil {
		return err
	}
	return s.spend(t, sessions.Spend{ID: m.id, Time: at, Run: to.by, Key: to.key, Payer: payer, Agent: to.agent, Model: m.model, Usage: *m.usage})
}

func (s *ledger) spend(t *tx, x sessions.Spend) error {
	u := x.Usage
	n, err := t.Exec("INSERT INTO spends (num, id, at, run, key, payer, agent, model, purpose, input, output, cache_read, cache_write, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		t.n.spend+1, x.ID, engine.Ms(x.Time), string(x.Run), string(x.Key), string(x.Payer), string(x.Agent), x.Model, x.Purpose, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Cost)
	t.n.spend += n
	return err
}

// Spend keeps what calls cost that left no message.
func (s *ledger) Spend(ctx context.Context, rows ...sessions.Spend) error {
	for _, x := range rows {
		if x.ID == "" || x.Time.IsZero() {
			return fmt.Errorf("spending of run %s: a row needs its id and time", x.Run)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return s.write(ctx, "Spend", func(t *tx) error {
		for _, x := range rows {
			if x.Payer == "" {
				x.Payer = x.Key
			}
			if err := s.spend(t, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// spentWhere is the condition of a query on the ledger.
func spentWhere(q sessions.SpentQuery) (string, []any) {
	where, args := []string{"at >= ?"}, []any{engine.Ms(q.Since)}
	if !q.Until.IsZero() {
		where, args = append(where, "at < ?"), append(args, engine.Ms(q.Until))
	}
	if q.Payer != "" {
		where, args = append(where, "payer = ?"), append(args, string(q.Payer))
	}
	if q.Agent != "" {
		where, args = append(where, "agent = ?"), append(args, string(q.Agent))
	}
	return strings.Join(where, " AND "), args
}

// sums are columns that scanSpent reads. PostgreSQL adds whole numbers up to numerics, which no row has.
const sums = "count(*), CAST(coalesce(sum(input), 0) AS bigint), CAST(coalesce(sum(output), 0) AS bigint), CAST(coalesce(sum(cache_read), 0) AS bigint), CAST(coalesce(sum(cache_write), 0) AS bigint), CAST(coalesce(sum(cost), 0) AS bigint)"

func scanSpent(r engine.Row, i int) sessions.Spent {
	return sessions.Spent{Calls: int(r.Int(i)), Usage: sessions.Usage{Input: int(r.Int(i + 1)), Output: int(r.Int(i + 2)), CacheRead: int(r.Int(i + 3)), CacheWrite: int(r.Int(i + 4)), Cost: r.Int(i + 5)}}
}

// Spent sums up.
func (s *ledger) Spent(ctx context.Context, q sessions.SpentQuery) (sum sessions.Spent, err error) {
	where, args := spentWhere(q)
	err = s.read(ctx, func(c *engine.Conn) error {
		_, err := c.One(ctx, "SELECT "+sums+" FROM spends WHERE "+where, args, func(r engine.Row) error { sum = scanSpent(r, 0); return nil })
		return err
	})
	return sum, err
}

// Spending sums up by day, agent and model. The database adds up quarters of an hour, with which every zone's days begin; which of
// them make a day is for the zone to say.
func (s *ledger) Spending(ctx context.Context, q sessions.SpentQuery, zone *time.Location) (out []sessions.Spending, err error) {
	const quarter = 15 * 60 * 1000
	where, args := spentWhere(q)
	type group struct {
		day, model string
		agent      sessions.AgentID
	}
	var days map[group]sessions.Spent
	err = s.read(ctx, func(c *engine.Conn) error {
		days = map[group]sessions.Spent{}
		return c.Each(ctx, "SELECT at / ?, agent, model, "+sums+" FROM spends WHERE "+where+" GROUP BY 1, 2, 3", append([]any{quarter}, args...), func(r engine.Row) error {
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

// lift takes a budget out of force until a time, or puts it into force again when that has passed.
func (s *ledger) lift(t *tx, x sessions.Lift) error {
	_, err := t.Exec("INSERT INTO lifts (scope, until) VALUES (?, ?) ON CONFLICT (scope) DO UPDATE SET until = excluded.until", x.Scope, engine.Ms(x.Until))
	return err
}

// Lifts gives the budgets that do not count now.
func (s *ledger) Lifts(ctx context.Context, now time.Time) (out []sessions.Lift, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		out = nil
		return c.Each(ctx, "SELECT scope, until FROM lifts WHERE until > ? ORDER BY scope", []any{engine.Ms(now)}, func(r engine.Row) error {
			out = append(out, sessions.Lift{Scope: r.Str(0), Until: r.Time(1)})
			return nil
		})
	})
	return out, err
}

// forgetSpending deletes a few rows of the ledger that are past their time, and lifts that are over.
func (s *ledger) forgetSpending(t *tx, now time.Time) (more bool, err error) {
	const step = 300
	var old []int64
	if err := t.Each("SELECT num FROM spends WHERE at < ? ORDER BY at LIMIT ?", []any{engine.Ms(now.Add(-keepLedger)), step}, func(r engine.Row) error {
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

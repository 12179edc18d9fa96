package storetest

import (
	"testing"
	"time"

	"parley/sessions"
)

// paid is an assistant message with a price.
func paid(text string, at time.Time, input, output int, cost int64) sessions.Message {
	m := assistant(text)
	m.Time, m.Usage = at, &sessions.Usage{Input: input, Output: output, CacheRead: 1, CacheWrite: 2, Cost: cost}
	return m
}

func (f *fixture) spent(q sessions.SpentQuery) (calls, tokens int, cost int64) {
	f.t.Helper()
	x, err := f.Spent(f.ctx, q)
	f.ok(err)
	if x.Usage.CacheRead != x.Calls || x.Usage.CacheWrite != 2*x.Calls {
		f.t.Errorf("%+v", x)
	}
	return x.Calls, x.Usage.Total(), x.Usage.Cost
}

// costs compares a sum of the ledger.
func (f *fixture) costs(q sessions.SpentQuery, calls, tokens int, cost int64) {
	f.t.Helper()
	c, t, p := f.spent(q)
	f.equal([]int64{int64(c), int64(t), p}, []int64{int64(calls), int64(tokens), cost})
}

// What each recorded answer cost is in the ledger with it, once, for the session that pays; what left no message as well. It
// stays when the session goes.
func ledger(_ *testing.T, f *fixture) {
	top, k := key("1"), sessions.Key("agent:ops:subagent:1")
	noon := time.UnixMilli(1_700_000_000_000)
	a := f.accept(message("1", "1", "q"))
	child := newRun(k, "task")
	child.Kind, child.Agent = sessions.ChildRun, "ops"
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, SpawnedBy: "agent:ops:subagent:0", Top: top}}, Run: &sessions.Enqueue{Run: *child}})
	f.claim(top)
	f.claim(k)
	one, two, last := paid("one", noon, 10, 1, 7), paid("two", noon.Add(time.Second), 20, 2, 70), paid("last", noon.Add(2*time.Second), 40, 4, 700)
	plain := assistant("free")
	plain.Usage = nil
	for range 2 { // the answer of the first time was lost
		f.ok(f.Record(f.ctx, a.Run.ID, one, toolResult("c", "r"), plain))
		f.ok(f.Record(f.ctx, child.ID, two))
	}
	f.finish(child.ID, sessions.Outcome{Messages: []sessions.Message{two, last}})
	_, err := f.Finish(f.ctx, child.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{paid("too late", noon, 1, 1, 1)}})
	f.is(err, sessions.ErrConflict)
	f.is(f.Record(f.ctx, child.ID, paid("too late", noon, 1, 1, 1)), sessions.ErrConflict)
	f.costs(sessions.SpentQuery{}, 3, 77, 777)
	f.costs(sessions.SpentQuery{BilledTo: top}, 3, 77, 777)
	f.costs(sessions.SpentQuery{BilledTo: k}, 0, 0, 0)
	f.costs(sessions.SpentQuery{Agent: "ops"}, 2, 66, 770)
	f.costs(sessions.SpentQuery{Since: noon.Add(time.Second)}, 2, 66, 770)
	f.costs(sessions.SpentQuery{Agent: "main", Since: noon.Add(time.Millisecond)}, 0, 0, 0)

	tried := sessions.Spend{ID: id(), Time: noon, Run: child.ID, Key: k, BilledTo: top, Agent: "ops", Model: "mock/m", Purpose: "failed", Usage: sessions.Usage{Input: 100, CacheRead: 1, CacheWrite: 2, Cost: 7000}}
	late := sessions.Spend{ID: two.ID, Time: noon, Key: k, BilledTo: top, Usage: sessions.Usage{Input: 1}} // is there with its message
	f.ok(f.Spend(f.ctx, tried, late))
	f.ok(f.Spend(f.ctx, tried))
	f.ok(f.Spend(f.ctx))
	f.costs(sessions.SpentQuery{BilledTo: top}, 4, 177, 7777)
	if f.Spend(f.ctx, sessions.Spend{Time: noon}) == nil || f.Spend(f.ctx, sessions.Spend{ID: "x"}) == nil {
		f.t.Error("a row without an id or a time was taken")
	}
	f.ok(f.Delete(f.ctx, k))
	f.ok(f.Delete(f.ctx, top))
	f.costs(sessions.SpentQuery{BilledTo: top}, 4, 177, 7777)
}

// Sums by day are those of the zone, and a session that nobody spawned pays for itself.
func spending(_ *testing.T, f *fixture) {
	kathmandu := time.FixedZone("", 5*3600+45*60)
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, kathmandu)
	row := func(agent sessions.AgentID, model string, at time.Time, cost int64) {
		f.ok(f.Spend(f.ctx, sessions.Spend{ID: id(), Time: at, Key: "k", Agent: agent, Model: model, Usage: sessions.Usage{Input: 1, Cost: cost}}))
	}
	row("main", "a/x", midnight.Add(-time.Millisecond), 1)
	row("main", "a/x", midnight, 10)
	row("main", "a/x", midnight.Add(20*time.Hour), 100)
	row("main", "b/y", midnight.Add(time.Hour), 1000)
	row("ops", "a/x", midnight.Add(time.Hour), 10000)
	one := func(day string, agent sessions.AgentID, model string, calls int, cost int64) sessions.Spending {
		return sessions.Spending{Day: day, Agent: agent, Model: model, Spent: sessions.Spent{Calls: calls, Usage: sessions.Usage{Input: calls, Cost: cost}}}
	}
	all := []sessions.Spending{one("2026-03-02", "main", "a/x", 2, 110), one("2026-03-02", "main", "b/y", 1, 1000), one("2026-03-02", "ops", "a/x", 1, 10000), one("2026-03-01", "main", "a/x", 1, 1)}
	for _, c := range []struct {
		q    sessions.SpentQuery
		zone *time.Location
		want []sessions.Spending
	}{
		{sessions.SpentQuery{}, kathmandu, all},
		{sessions.SpentQuery{BilledTo: "k", Since: midnight}, kathmandu, all[:3]},
		{sessions.SpentQuery{Agent: "ops"}, kathmandu, all[2:3]},
		{sessions.SpentQuery{BilledTo: "nobody"}, kathmandu, nil},
		{sessions.SpentQuery{Agent: "ops"}, time.UTC, []sessions.Spending{one("2026-03-01", "ops", "a/x", 1, 10000)}},
	} {
		got, err := f.Spending(f.ctx, c.q, c.zone)
		f.ok(err)
		f.equal(got, c.want)
	}
}

// Old rows of the ledger go in time, in the same round as a few old events; the others stay.
func ledgerExpires(_ *testing.T, f *fixture) {
	now := time.Now()
	var old []sessions.Spend
	for range 700 {
		old = append(old, sessions.Spend{ID: id(), Time: now.Add(-401 * 24 * time.Hour), Key: "k", Usage: sessions.Usage{Input: 1}})
	}
	f.ok(f.Spend(f.ctx, old...))
	young := sessions.Spend{ID: id(), Time: now.Add(-399 * 24 * time.Hour), Key: "k", Usage: sessions.Usage{Input: 1}}
	f.ok(f.Spend(f.ctx, young))
	f.submit(sessions.Change{IdempotencyKey: "old", Ops: []sessions.Op{sessions.SuspendBudget{Scope: "host", Until: now.Add(-time.Hour)}}})
	_, err := f.Expire(f.ctx, now.Add(2*time.Hour), time.Hour)
	f.ok(err)
	sum, err := f.Spent(f.ctx, sessions.SpentQuery{})
	f.ok(err)
	f.equal(sum.Calls, 1)
	over, err := f.Suspensions(f.ctx, now.Add(-2*time.Hour))
	f.ok(err)
	f.equal(len(over), 0)
}

// A lift holds until its time and can be taken back.
func lifts(_ *testing.T, f *fixture) {
	now := time.UnixMilli(1_700_000_000_000)
	lifted := func(at time.Time) []sessions.BudgetSuspension {
		f.t.Helper()
		out, err := f.Suspensions(f.ctx, at)
		f.ok(err)
		return out
	}
	host, mine := sessions.BudgetSuspension{Scope: "host", Until: now.Add(time.Hour)}, sessions.BudgetSuspension{Scope: "session:k", Until: now.Add(2 * time.Hour)}
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget(mine)}})
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget{Scope: "host", Until: now.Add(time.Minute)}}})
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget(host)}})
	f.equal(lifted(now), []sessions.BudgetSuspension{host, mine})
	f.equal(lifted(host.Until), []sessions.BudgetSuspension{mine})
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget{Scope: "session:k", Until: now}}})
	f.equal(lifted(now), []sessions.BudgetSuspension{host})
}

package ledgertest

import (
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// paidMessage is an assistant message with a price.
func paidMessage(text string, at time.Time, input, output int, cost int64) sessions.Message {
	m := fixture.Assistant(text)
	m.Time, m.Usage = at, &sessions.Usage{Input: input, Output: output, CacheRead: 1, CacheWrite: 2, Cost: cost}
	return m
}

func sumSpent(f *fixture.Store, q sessions.SpentQuery) (calls, tokens int, cost int64) {
	f.Helper()
	x, err := f.Spent(f.Context(), q)
	f.OK(err)
	if x.Usage.CacheRead != x.Calls || x.Usage.CacheWrite != 2*x.Calls {
		f.Errorf("%+v", x)
	}
	return x.Calls, x.Usage.Total(), x.Usage.Cost
}

// wantSpent compares a sum of the ledger.
func wantSpent(f *fixture.Store, q sessions.SpentQuery, calls, tokens int, cost int64) {
	f.Helper()
	c, t, p := sumSpent(f, q)
	f.Equal([]int64{int64(c), int64(t), p}, []int64{int64(calls), int64(tokens), cost})
}

// What each recorded answer cost is in the ledger with it, once, for the session that pays; what left no message as well. It
// stays when the session goes.
func ledger(f *fixture.Store) {
	top, k := fixture.Key("1"), sessions.Key("agent:ops:subagent:1")
	noon := time.UnixMilli(1_700_000_000_000)
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	child := fixture.NewRun(k, "task")
	child.Kind, child.Agent = sessions.ChildRun, "ops"
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, SpawnedBy: "agent:ops:subagent:0", Top: top}}, Run: &sessions.Enqueue{Run: *child}})
	f.MustClaim(top)
	f.MustClaim(k)
	one, two, last := paidMessage("one", noon, 10, 1, 7), paidMessage("two", noon.Add(time.Second), 20, 2, 70), paidMessage("last", noon.Add(2*time.Second), 40, 4, 700)
	plain := fixture.Assistant("free")
	plain.Usage = nil
	for range 2 { // the answer of the first time was lost
		f.OK(f.Record(f.Context(), a.Run.ID, one, fixture.ToolResult("c", "r"), plain))
		f.OK(f.Record(f.Context(), child.ID, two))
	}
	f.MustFinish(child.ID, sessions.Outcome{Messages: []sessions.Message{two, last}})
	_, err := f.Finish(f.Context(), child.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{paidMessage("too late", noon, 1, 1, 1)}})
	f.ErrorIs(err, sessions.ErrConflict)
	f.ErrorIs(f.Record(f.Context(), child.ID, paidMessage("too late", noon, 1, 1, 1)), sessions.ErrConflict)
	wantSpent(f, sessions.SpentQuery{}, 3, 77, 777)
	wantSpent(f, sessions.SpentQuery{BilledTo: top}, 3, 77, 777)
	wantSpent(f, sessions.SpentQuery{BilledTo: k}, 0, 0, 0)
	wantSpent(f, sessions.SpentQuery{Agent: "ops"}, 2, 66, 770)
	wantSpent(f, sessions.SpentQuery{Since: noon.Add(time.Second)}, 2, 66, 770)
	wantSpent(f, sessions.SpentQuery{Agent: "main", Since: noon.Add(time.Millisecond)}, 0, 0, 0)

	tried := sessions.Spend{ID: fixture.NewID(), Time: noon, Run: child.ID, Key: k, BilledTo: top, Agent: "ops", Model: "mock/m", Purpose: "failed", Usage: sessions.Usage{Input: 100, CacheRead: 1, CacheWrite: 2, Cost: 7000}}
	late := sessions.Spend{ID: two.ID, Time: noon, Key: k, BilledTo: top, Usage: sessions.Usage{Input: 1}} // is there with its message
	f.OK(f.Spend(f.Context(), tried, late))
	f.OK(f.Spend(f.Context(), tried))
	f.OK(f.Spend(f.Context()))
	wantSpent(f, sessions.SpentQuery{BilledTo: top}, 4, 177, 7777)
	if f.Spend(f.Context(), sessions.Spend{Time: noon}) == nil || f.Spend(f.Context(), sessions.Spend{ID: "x"}) == nil {
		f.Error("a row without an id or a time was taken")
	}
	f.OK(f.Delete(f.Context(), k))
	f.OK(f.Delete(f.Context(), top))
	wantSpent(f, sessions.SpentQuery{BilledTo: top}, 4, 177, 7777)
}

// Sums by day are those of the zone, and a session that nobody spawned pays for itself.
func spending(f *fixture.Store) {
	kathmandu := time.FixedZone("", 5*3600+45*60)
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, kathmandu)
	row := func(agent sessions.AgentID, model string, at time.Time, cost int64) {
		f.OK(f.Spend(f.Context(), sessions.Spend{ID: fixture.NewID(), Time: at, Key: "k", Agent: agent, Model: model, Usage: sessions.Usage{Input: 1, Cost: cost}}))
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
		got, err := f.Spending(f.Context(), c.q, c.zone)
		f.OK(err)
		f.Equal(got, c.want)
	}
}

// Old rows of the ledger go in time, in the same round as a few old events; the others stay.
func ledgerExpires(f *fixture.Store) {
	now := time.Now()
	var old []sessions.Spend
	for range 700 {
		old = append(old, sessions.Spend{ID: fixture.NewID(), Time: now.Add(-401 * 24 * time.Hour), Key: "k", Usage: sessions.Usage{Input: 1}})
	}
	f.OK(f.Spend(f.Context(), old...))
	young := sessions.Spend{ID: fixture.NewID(), Time: now.Add(-399 * 24 * time.Hour), Key: "k", Usage: sessions.Usage{Input: 1}}
	f.OK(f.Spend(f.Context(), young))
	f.MustSubmit(sessions.Change{IdempotencyKey: "old", Ops: []sessions.Op{sessions.SuspendBudget{Scope: "host", Until: now.Add(-time.Hour)}}})
	_, err := f.Expire(f.Context(), now.Add(2*time.Hour), time.Hour)
	f.OK(err)
	sum, err := f.Spent(f.Context(), sessions.SpentQuery{})
	f.OK(err)
	f.Equal(sum.Calls, 1)
	over, err := f.Suspensions(f.Context(), now.Add(-2*time.Hour))
	f.OK(err)
	f.Equal(len(over), 0)
}

// A lift holds until its time and can be taken back.
func lifts(f *fixture.Store) {
	now := time.UnixMilli(1_700_000_000_000)
	lifted := func(at time.Time) []sessions.BudgetSuspension {
		f.Helper()
		out, err := f.Suspensions(f.Context(), at)
		f.OK(err)
		return out
	}
	host, mine := sessions.BudgetSuspension{Scope: "host", Until: now.Add(time.Hour)}, sessions.BudgetSuspension{Scope: "session:k", Until: now.Add(2 * time.Hour)}
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget(mine)}})
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget{Scope: "host", Until: now.Add(time.Minute)}}})
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget(host)}})
	f.Equal(lifted(now), []sessions.BudgetSuspension{host, mine})
	f.Equal(lifted(host.Until), []sessions.BudgetSuspension{mine})
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget{Scope: "session:k", Until: now}}})
	f.Equal(lifted(now), []sessions.BudgetSuspension{host})
}

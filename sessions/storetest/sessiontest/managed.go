package sessiontest

import (
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// What people do with a session happens once for a source, and does not revive an archived one.
func managed(f *fixture.Store) {
	k := fixture.Key("1")
	f.MakeSession(k)
	on := func(source string, op sessions.SessionOp) sessions.Change {
		return sessions.Change{IdempotencyKey: source, Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "not taken"}, Mode: sessions.Reference, Ops: []sessions.SessionOp{op}}}
	}
	was := f.MustGet(k)
	e := on("archive", sessions.ArchiveSession{})
	f.MustSubmit(e)
	f.Equal(f.MustGet(k).Archived, true)
	p := on("patch", sessions.PatchSession{Model: new("mock/a")})
	f.MustSubmit(p)
	s := f.MustGet(k)
	f.Equal([]any{s.Settings.Model, s.Archived, s.Title, s.Updated.Equal(was.Updated)}, []any{"mock/a", true, "", true})
	f.MakeSession(k) // a message came
	f.Equal(f.MustGet(k).Archived, false)
	_, err := f.Patch(f.Context(), k, sessions.Patch{Model: new("mock/b")})
	f.OK(err)
	for _, again := range []sessions.Change{e, p} {
		f.Equal(f.MustSubmit(again).Duplicate, true)
	}
	f.Equal([]any{f.MustGet(k).Archived, f.MustGet(k).Settings.Model}, []any{false, "mock/b"})

	r := f.QueueTurn(k, fixture.Address("1"), "one")
	d := on("delete", sessions.DeleteSession{})
	_, err = f.Submit(f.Context(), d)
	f.ErrorIs(err, sessions.ErrConflict)
	f.Equal(f.MustClaim(k).ID, r.ID)
	_, err = f.Submit(f.Context(), d)
	f.ErrorIs(err, sessions.ErrConflict)
	f.MustFinish(r.ID, sessions.Outcome{})
	f.MustSubmit(d)
	_, err = f.Get(f.Context(), k)
	f.ErrorIs(err, sessions.ErrNotFound)
	f.Equal(f.MustSubmit(d).Duplicate, true)
	f.MakeSession(k)
	f.Equal(f.MustSubmit(d).Duplicate, true)
	f.MustGet(k)
	missing := on("", sessions.ArchiveSession{})
	missing.Session.Key = "agent:main:hook:none"
	_, err = f.Submit(f.Context(), missing)
	f.ErrorIs(err, sessions.ErrNotFound)
}

// Runs are found by what they are for and when they came; counts are of what lives and waits.
func selected(f *fixture.Store) {
	f.Equal(readTotals(f), sessions.Totals{Sessions: map[sessions.AgentID]int{}})
	k, other := fixture.Key("1"), sessions.Key("agent:other:main")
	r := f.QueueTurn(k, fixture.Address("1"), "one")
	ask := f.QueueRun(k, "", sessions.AskRun, "two")
	f.MakeSession(other)
	f.MakeSession(fixture.Key("2"))
	list := func(q sessions.RunQuery) (ids []sessions.RunID) {
		runs, err := f.ListRuns(f.Context(), q)
		f.OK(err)
		for _, run := range runs {
			ids = append(ids, run.ID)
		}
		return ids
	}
	f.Equal(list(sessions.RunQuery{Kind: sessions.AskRun}), []sessions.RunID{ask.ID})
	f.Equal(list(sessions.RunQuery{Kind: "a%"}), []sessions.RunID{})
	f.Equal(list(sessions.RunQuery{Since: r.Created}), []sessions.RunID{ask.ID, r.ID})
	f.Equal(list(sessions.RunQuery{Since: ask.Created.Add(time.Hour)}), []sessions.RunID{})
	got := readTotals(f)
	f.Equal(got.Sessions, map[sessions.AgentID]int{"main": 2, "other": 1})
	f.Equal(got.Oldest, r.Created)
	f.OK(f.Archive(f.Context(), fixture.Key("2")))
	f.MustClaim(k)
	f.Equal(readTotals(f).Sessions["main"], 1)
	f.Equal(readTotals(f).Oldest, ask.Created)
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}})
	f.Equal(readTotals(f).Oldest.IsZero(), true)
}

func readTotals(f *fixture.Store) sessions.Totals {
	f.Helper()
	x, err := f.Totals(f.Context())
	f.OK(err)
	return x
}

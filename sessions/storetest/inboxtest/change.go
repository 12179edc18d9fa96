package inboxtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// proves: S14
func submit(f *fixture.Store) {
	e := sessions.Change{IdempotencyKey: "tool:run:call", Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1"), Agent: "main"}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(fixture.Key("1"), "do it")}}
	first := f.MustSubmit(e)
	again := e
	again.Run = &sessions.Enqueue{Run: *fixture.NewRun(fixture.Key("1"), "do it")}
	dup := f.MustSubmit(again)
	if !dup.Duplicate || dup.Run.ID != first.Run.ID || dup.Session.ID != first.Session.ID {
		f.Fatalf("%+v, want the run %s of the first", dup, first.Run.ID)
	}
	// Later the first run has ended: the duplicate gives it as it stands.
	f.MustClaim(fixture.Key("1"))
	f.MustFinish(first.Run.ID, sessions.Outcome{Result: "done"})
	if dup = f.MustSubmit(again); dup.Run.Result != "done" {
		f.Errorf("%+v", dup.Run)
	}
	// No source: the run's id tells.
	e = sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1")}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(fixture.Key("1"), "once")}}
	if f.MustSubmit(e).Duplicate || !f.MustSubmit(e).Duplicate {
		f.Error("a run with the same id was queued twice")
	}
	// A source without a run is remembered too.
	note := sessions.Change{IdempotencyKey: "tool:run:note", Ops: []sessions.Op{sessions.AddNote{Agent: "main", Key: fixture.Key("1"), Text: "buy milk"}}}
	f.MustSubmit(note)
	f.MustSubmit(note)
	if n, err := f.Notes(f.Context(), sessions.NoteQuery{Agent: "main"}); err != nil || len(n) != 1 {
		f.Error(n, err)
	}
	// A run needs its session.
	_, err := f.Submit(f.Context(), sessions.Change{Run: &sessions.Enqueue{Run: *fixture.NewRun(fixture.Key("nobody"), "x")}})
	f.ErrorIs(err, sessions.ErrNotFound)
	// A failed submit leaves no trace.
	if _, err := f.Submit(f.Context(), sessions.Change{IdempotencyKey: "s", Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("new")}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(fixture.Key("nobody"), "x")}}); err == nil {
		f.Fatal("accepted")
	}
	_, err = f.Get(f.Context(), fixture.Key("new"))
	f.ErrorIs(err, sessions.ErrNotFound)
}

func changeOrder(f *fixture.Store) {
	k := fixture.Key("1")
	old := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main"}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "old")}})
	deny, label := policy.Deny, "lab"
	acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "T"}, Ops: []sessions.SessionOp{sessions.PatchSession{SendPolicy: &deny, Label: &label}, sessions.ResetSession{}}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "new")}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}, sessions.EnqueueDelivery(fixture.NewDelivery(k, fixture.Address("1"), "a")), sessions.EnqueueDelivery(fixture.NewDelivery(k, fixture.Address("1"), "b"))}})
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: old.Run.ID}})
	if s := acc.Session; s.Title != "T" || s.Settings.SendPolicy != policy.Deny || s.Label != label || s.ID == old.Session.ID || !s.Aborted {
		f.Errorf("%+v", s)
	}
	if acc.Run.Session != acc.Session.ID || acc.Run.Status != sessions.Queued {
		f.Errorf("the run is not in the new transcript or was stopped: %+v", acc.Run)
	}
	if d := acc.Deliveries; d[0].Seq >= d[1].Seq || d[0].Text != "a" {
		f.Errorf("%+v", d)
	}
	f.Equal(f.MustGet(k), acc.Session)
	f.Equal(f.MustGetRun(old.Run.ID).Status, sessions.Stopped)
	// A patch that cannot be made takes everything with it.
	f.MakeSession(fixture.Key("2"))
	if _, err := f.Submit(f.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("2"), Title: "no"}, Ops: []sessions.SessionOp{sessions.PatchSession{Label: &label}}}}); err == nil {
		f.Fatal("a label was given twice")
	}
	f.Equal(f.MustGet(fixture.Key("2")).Title, "")
	if _, err := f.Submit(f.Context(), sessions.Change{Session: &sessions.Target{Ops: []sessions.SessionOp{sessions.ResetSession{}}}}); err == nil {
		f.Error("a session without a key is accepted")
	}
}

// Whatever order a change lists its operations in, they are carried out in the one of sessions.Change; deliveries keep theirs.
func changeShuffled(f *fixture.Store) {
	for i := range 6 {
		k := fixture.Key(fmt.Sprint(i))
		old := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main"}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "old")}})
		sops := []sessions.SessionOp{sessions.PatchSession{Model: new("mock/a")}, sessions.ResetSession{IfID: old.Session.ID}, sessions.ConsumeContext{UpTo: 1 << 40}, sessions.ArchiveSession{}}
		ops := []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}, sessions.AppendContext{Key: k, Text: "x", Keep: 5}, sessions.AddNote{Agent: "main", Key: k, Text: "buy milk"},
			sessions.SuspendBudget{Scope: "host"}, sessions.PutJob{ID: "j", Agent: "main"}, sessions.DeleteJob{ID: "j"}}
		random := rand.New(rand.NewPCG(uint64(i), 1))
		random.Shuffle(len(sops), func(a, b int) { sops[a], sops[b] = sops[b], sops[a] })
		random.Shuffle(len(ops), func(a, b int) { ops[a], ops[b] = ops[b], ops[a] })
		for at, text := range []string{"b", "a"} {
			ops = slices.Insert(ops, random.IntN(len(ops)-at)+at, sessions.Op(sessions.EnqueueDelivery(fixture.NewDelivery(k, fixture.Address("1"), text))))
		}
		texts := func(list []sessions.Delivery) (out []string) {
			for _, d := range list {
				out = append(out, d.Text)
			}
			return out
		}
		var want []sessions.Delivery
		for _, op := range ops {
			if d, ok := op.(sessions.EnqueueDelivery); ok {
				want = append(want, sessions.Delivery(d))
			}
		}
		acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}, Ops: sops}, Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "new"), Claim: true}, Ops: ops})
		f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: old.Run.ID}})
		f.Equal(texts(acc.Deliveries), texts(want))
		f.Equal(len(f.ContextTexts(k)), 0)
		_, err := f.GetJob(f.Context(), "j")
		f.ErrorIs(err, sessions.ErrNotFound)
		s := f.MustGet(k)
		f.Equal([]any{s.Archived, s.Settings.Model, s.ID != old.Session.ID, acc.Run.Session == s.ID}, []any{true, "mock/a", true, true})
		if acc.Claimed == nil || acc.Claimed.ID != acc.Run.ID {
			f.Errorf("claimed %+v", acc.Claimed)
		}
	}
}

func upsert(f *fixture.Store) {
	k := fixture.Key("1")
	now := time.Now()
	made := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Title: "one", Last: fixture.Address("1"), SpawnedBy: fixture.Key("p"), ArchiveAt: now.Add(time.Hour), Settings: sessions.Settings{Model: "a/b"}}}}).Session
	if made.Created.IsZero() || made.Updated.IsZero() || made.ID == "" || made.Settings.Model != "a/b" || made.SpawnedBy != fixture.Key("p") {
		f.Fatalf("%+v", made)
	}
	next := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, ID: "other", Agent: "main", Last: fixture.Address("2"), SpawnedBy: fixture.Key("q"), Created: now.Add(time.Hour), Settings: sessions.Settings{Model: "c/d"}}}}).Session
	want := made
	want.Last, want.Updated = fixture.Address("2"), next.Updated
	f.Equal(next, want) // id, creation, settings and parent of the first win; an empty title changes nothing
	if next.Updated.Before(made.Updated) {
		f.Error("Updated went back")
	}
	future := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Updated: now.Add(time.Hour)}}}).Session
	if later := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "two"}}}).Session; !later.Updated.Equal(future.Updated) || later.Title != "two" {
		f.Errorf("Updated went back from %s to %s", future.Updated, later.Updated)
	}
}

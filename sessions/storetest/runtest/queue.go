package runtest

import (
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// A turn of its own neither gives way to a newer message nor is dropped for one.
func aloneStays(f *fixture.Store) {
	k, here := fixture.Key("1"), fixture.Address("1")
	alone := func(text string) sessions.Run {
		r := fixture.NewRun(k, text)
		r.Reply, r.Exclusive = here, true
		return f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}).Run
	}
	first := alone("first")
	f.Equal(f.MustClaim(k).ID, first.ID)
	second, third := alone("second"), f.QueueTurn(k, here, "third")
	r := fixture.NewRun(k, "newer")
	r.Reply = here
	acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r, Interrupt: true, DropOldest: 2}})
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: third.ID}})
	f.MustFinish(first.ID, sessions.Outcome{})
	f.Equal(f.MustGetRun(first.ID).Status, sessions.Done)
	f.Equal(f.MustClaim(k).ID, second.ID)
}

// A newer message ends the running turn and is named as what came in its place; nothing else ends.
func interrupt(f *fixture.Store) {
	k, child := fixture.Key("1"), sessions.Key("agent:main:subagent:1")
	below := f.QueueRun(child, k, sessions.ChildRun, "task")
	first, waits := f.QueueTurn(k, fixture.Address("1"), "first"), f.QueueTurn(k, fixture.Address("1"), "waits")
	push := func(text string) (sessions.Run, []sessions.StoppedRun) {
		r := fixture.NewRun(k, text)
		r.Reply = fixture.Address("1")
		acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r, Interrupt: true}})
		return acc.Run, acc.Stopped
	}
	_, stopped := push("nothing is at work")
	f.Equal(len(stopped), 0)
	f.MustClaim(k)
	elsewhere := fixture.NewRun(k, "answered elsewhere")
	elsewhere.Reply = fixture.Address("2")
	f.Equal(len(f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *elsewhere, Interrupt: true}}).Stopped), 0)
	newer, stopped := push("newer")
	f.Equal(stopped, []sessions.StoppedRun{{Key: k, ID: first.ID}})
	_, stopped = push("newest") // it is ended already
	f.Equal(len(stopped), 0)
	f.Equal(len(mergeTurns(f, first.ID, sessions.MergeQuery{})), 0)
	at := f.MustGetRun(first.ID)
	f.Equal([]any{at.Status, at.Stopping, at.MergedInto, f.MustGetRun(waits.ID).Stopping}, []any{sessions.Running, true, newer.ID, false})
	f.MustFinish(first.ID, sessions.Outcome{Status: sessions.Stopped})
	f.Equal(f.MustGetRun(first.ID).Stopping, false)
	f.Equal(f.MustGetRun(first.ID).MergedInto, newer.ID)
	f.Equal(f.MustGetRun(below.ID).Status, sessions.Queued)
	f.Equal(f.MustClaim(k).ID, waits.ID)

	// One that had its answer ready has answered; one that a crash ended is not resumed.
	late, _ := push("late")
	f.MustFinish(waits.ID, sessions.Outcome{Status: sessions.Done})
	f.Equal(f.MustGetRun(waits.ID).MergedInto, sessions.RunID(""))
	f.Equal(f.MustGetRun(late.ID).Status, sessions.Queued)
	crashed := f.MustClaim(k)
	after, _ := push("after")
	if _, _, err := f.Recover(f.Context()); err != nil {
		f.Fatal(err)
	}
	got := f.MustGetRun(crashed.ID)
	f.Equal([]any{got.Status, got.MergedInto}, []any{sessions.Stopped, after.ID})

	// Only a turn of a person gives way, and one that a person stopped has no other in its place.
	byPerson := f.MustClaim(k)
	f.StopSessions(k)
	at = f.MustGetRun(byPerson.ID)
	f.Equal([]any{byPerson.Stopping, at.Stopping, at.MergedInto}, []any{false, true, sessions.RunID("")})
	_, stopped = push("after the stop")
	f.Equal(len(stopped), 0)
	there := f.QueueTurn("agent:main:there", fixture.Address("2"), "its answer goes elsewhere")
	f.MustClaim(there.Key)
	f.Equal(len(f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: there.Key}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(there.Key, "x"), Interrupt: true}}).Stopped), 0)
	result := f.QueueRun("agent:main:other", "", sessions.ResultRun, "result")
	f.MustClaim(result.Key)
	acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: result.Key}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(result.Key, "x"), Interrupt: true}})
	f.Equal(len(acc.Stopped), 0)
	for _, e := range []sessions.Change{{Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "x"), Interrupt: true}}, {Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "x"), DropOldest: 1}}} {
		if _, err := f.Submit(f.Context(), e); err == nil {
			f.Errorf("%+v was taken", e)
		}
	}
}

// The oldest messages of a chat that wait are dropped, those of people only, and none that was begun.
func drop(f *fixture.Store) {
	k := fixture.Key("1")
	begun := f.QueueTurn(k, fixture.Address("1"), "begun")
	f.MustClaim(k)
	if _, _, err := f.Recover(f.Context()); err != nil {
		f.Fatal(err)
	}
	result := f.QueueRun(k, "", sessions.ResultRun, "result")
	there := f.QueueTurn(k, fixture.Address("2"), "of another chat")
	one, two, three := f.QueueTurn(k, fixture.Address("1"), "one"), f.QueueTurn(k, fixture.Address("1"), "two"), f.QueueTurn(k, fixture.Address("1"), "three")
	other := f.QueueTurn(fixture.Key("2"), fixture.Address("2"), "elsewhere")
	full := sessions.Change{IdempotencyKey: "once", Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "four"), DropOldest: 2}}
	full.Run.Reply = fixture.Address("1")
	acc := f.MustSubmit(full)
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: one.ID}, {Key: k, ID: two.ID}})
	full.Run = &sessions.Enqueue{Run: *fixture.NewRun(k, "four again"), DropOldest: 2}
	f.Equal(f.MustSubmit(full).Duplicate, true)
	for _, id := range []sessions.RunID{one.ID, two.ID} {
		got := f.MustGetRun(id)
		if got.Status != sessions.Stopped || got.Error == "" || got.Ended.IsZero() {
			f.Errorf("%+v", got)
		}
	}
	for _, id := range []sessions.RunID{begun.ID, result.ID, there.ID, three.ID, acc.Run.ID} {
		f.Equal(f.MustClaim(k).ID, id)
		f.MustFinish(id, sessions.Outcome{})
	}
	f.NothingToClaim(k)
	f.Equal(f.MustGet(k).Aborted, false)
	f.Equal(f.MustGetRun(other.ID).Status, sessions.Queued)
}

package stoptest

import (
	"fmt"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func abortedFlags(f *fixture.Store, keys ...sessions.Key) (out []bool) {
	for _, k := range keys {
		out = append(out, f.MustGet(k).Aborted)
	}
	return out
}

// Stop goes down to the sub-agents of sub-agents, and those in between know that what they wait for does not come.
//
// proves: N15
func stopBelow(f *fixture.Store) {
	chat, child, grandchild := f.MakeFamily()
	working := f.QueueRun(grandchild, "", sessions.ChildRun, "task")
	f.MustClaim(grandchild)
	steer := f.QueueRun(grandchild, "", sessions.ChildRun, "and more")
	other := f.QueueRun("agent:main:subagent:o", fixture.Key("2"), sessions.ChildRun, "of another chat")
	f.OK(f.Archive(f.Context(), child))
	before := f.MustGet(child)
	want := []sessions.StoppedRun{{Key: grandchild, ID: working.ID}, {Key: grandchild, ID: steer.ID}}
	for _, k := range []sessions.Key{chat, child, grandchild} {
		f.Equal(stoppableRuns(f, k), []sessions.RunID{working.ID, steer.ID})
	}
	f.Equal(stoppableRuns(f, fixture.Key("2")), []sessions.RunID{other.ID})
	f.Equal(len(stoppableRuns(f, "agent:main:nobody")), 0)
	f.Equal(len(stoppableRuns(f)), 0)
	f.Equal(stoppableRuns(f, chat, fixture.Key("2"), grandchild), []sessions.RunID{working.ID, steer.ID, other.ID})
	f.Equal(f.StopSessions(chat, "agent:main:nobody", chat), want)
	f.Equal(f.MustGetRun(working.ID).Status, sessions.Running) // its owner ends it
	f.Equal(f.MustGetRun(steer.ID).Status, sessions.Stopped)
	f.Equal(f.MustGetRun(other.ID).Status, sessions.Queued)
	f.Equal(abortedFlags(f, chat, child, grandchild, other.Key), []bool{false, true, true, false}) // the chat's own last turn was not stopped
	before.Aborted = true
	f.Equal(f.MustGet(child), before)       // archived as it was
	f.Equal(f.StopSessions(chat), want[:1]) // again: the one that is running still
	f.Equal(stoppableRuns(f, chat), []sessions.RunID{working.ID})
	f.Equal(len(f.StopSessions("", "nobody")), 0) // no session at all
	f.MustFinish(working.ID, sessions.Outcome{Status: sessions.Stopped, Error: "stopped"})
	f.Equal(len(f.StopSessions(chat))+len(stoppableRuns(f, chat)), 0)

	// A step leaves the mark; the next turn takes it away.
	f.QueueRun(child, "", sessions.AnnounceRun, "announce")
	f.MustFinish(f.MustClaim(child).ID, sessions.Outcome{})
	f.Equal(abortedFlags(f, child), []bool{true})
	f.QueueRun(child, "", sessions.ChildRun, "go on")
	f.MustFinish(f.MustClaim(child).ID, sessions.Outcome{})
	f.Equal(abortedFlags(f, child), []bool{false})
}

// stoppableRuns gives the runs that a stop of sessions would end.
func stoppableRuns(f *fixture.Store, keys ...sessions.Key) (ids []sessions.RunID) {
	f.Helper()
	x, err := f.Stoppable(f.Context(), keys...)
	f.OK(err)
	for _, run := range x.Runs {
		ids = append(ids, run.ID)
	}
	return ids
}

// Stopping a sub-agent leaves what is above it and beside it alone, and ends where sessions spawned each other in a circle.
func stopAside(f *fixture.Store) {
	chat, child, grandchild := f.MakeFamily()
	above, beside := f.QueueRun(child, "", sessions.ChildRun, "x"), f.QueueRun("agent:main:subagent:b", child, sessions.ChildRun, "x")
	below := f.QueueRun(grandchild, "", sessions.ChildRun, "x")
	f.Equal(f.StopSessions(grandchild), []sessions.StoppedRun{{Key: grandchild, ID: below.ID}})
	f.Equal(abortedFlags(f, chat, child, grandchild), []bool{false, false, true})
	f.Equal(f.StopSessions(grandchild, child), []sessions.StoppedRun{{Key: child, ID: above.ID}, {Key: beside.Key, ID: beside.ID}})
	f.Equal(abortedFlags(f, chat, child, grandchild, beside.Key), []bool{false, true, true, true})

	a, b := f.QueueRun("agent:main:subagent:1", "agent:main:subagent:2", sessions.ChildRun, "x"), f.QueueRun("agent:main:subagent:2", "agent:main:subagent:1", sessions.ChildRun, "x")
	f.Equal(f.StopSessions(a.Key), []sessions.StoppedRun{{Key: a.Key, ID: a.ID}, {Key: b.Key, ID: b.ID}})
	f.Equal(abortedFlags(f, a.Key, b.Key), []bool{true, true})
}

func stop(f *fixture.Store) {
	k := fixture.Key("1")
	var ids []sessions.RunID
	for i := range 3 {
		ids = append(ids, f.MustAccept(fixture.NewArrival("1", fmt.Sprint(i), "m")).Run.ID)
	}
	f.MustClaim(k)
	stopped := []sessions.StoppedRun{{Key: k, ID: ids[0]}, {Key: k, ID: ids[1]}, {Key: k, ID: ids[2]}}
	other := f.MustAccept(fixture.NewArrival("2", "1", "m")).Run.ID
	acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}})
	f.Equal(acc.Stopped, stopped)
	f.Equal(acc.Session.Aborted, true)
	f.Equal(f.MustGetRun(ids[0]).Status, sessions.Running) // its owner ends it
	for _, id := range ids[1:] {
		if r := f.MustGetRun(id); r.Status != sessions.Stopped || r.Error == "" || r.Ended.IsZero() {
			f.Errorf("%+v", r)
		}
	}
	f.Equal(f.MustGetRun(other).Status, sessions.Queued)
	next := f.MustAccept(fixture.NewArrival("1", "9", "after")).Run.ID
	f.NothingToClaim(k) // the one at work is still there
	f.MustFinish(ids[0], sessions.Outcome{Status: sessions.Stopped})
	f.Equal(f.MustClaim(k).ID, next)
	if acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("3")}}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{fixture.Key("3")}}}}); len(acc.Stopped) != 0 || acc.Session.Aborted {
		f.Errorf("nothing to stop, but %+v", acc)
	}
}

func stopRecover(f *fixture.Store) {
	r := f.MustAccept(fixture.NewArrival("1", "1", "m")).Run.ID
	f.MustClaim(fixture.Key("1"))
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1")}}, Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{fixture.Key("1")}}}})
	ks, _, err := f.Recover(f.Context())
	f.OK(err)
	if got := f.MustGetRun(r); len(ks) != 0 || got.Status != sessions.Stopped {
		f.Errorf("a run that was stopped before the host died is %s, queues: %v", got.Status, ks)
	}
}

// One run is stopped, a step too: another that waits in its session goes on. What the sub-agents of a running turn are at ends with it.
//
// proves: X2
func stopRun(f *fixture.Store) {
	k, kid := fixture.Key("1"), sessions.SubagentKey("main", "1")
	one, two, three := f.QueueTurn(k, fixture.Address("1"), "one"), f.QueueTurn(k, fixture.Address("1"), "two"), f.QueueTurn(k, fixture.Address("1"), "three")
	child := fixture.NewRun(kid, "task")
	child.Kind, child.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: k}
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: kid, SpawnedBy: k}}, Run: &sessions.Enqueue{Run: *child}})
	f.MustClaim(k)
	acc := f.MustSubmit(sessions.Change{IdempotencyKey: "s2", Ops: []sessions.Op{sessions.StopRun{ID: two.ID}}})
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: two.ID}})
	f.Equal(f.MustGetRun(two.ID).Status, sessions.Stopped)
	f.Equal(f.MustGetRun(two.ID).Error != "", true)
	f.Equal(f.MustGet(k).Aborted, false)
	f.Equal(len(f.MustSubmit(sessions.Change{IdempotencyKey: "s2", Ops: []sessions.Op{sessions.StopRun{ID: two.ID}}}).Stopped), 0)
	f.Equal(len(f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: two.ID}}}).Stopped), 0)
	acc = f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: one.ID}}})
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: one.ID}, {Key: kid, ID: child.ID}})
	f.Equal(f.MustGetRun(child.ID).Status, sessions.Stopped)
	f.Equal(f.MustGetRun(three.ID).Status, sessions.Queued)
	_, _, err := f.Recover(f.Context()) // the host died before it could end the turn
	f.OK(err)
	f.Equal(f.MustGetRun(one.ID).Status, sessions.Stopped)
	f.Equal(f.MustClaim(k).ID, three.ID)
	f.MustFinish(three.ID, sessions.Outcome{})
	d, foreign := fixture.NewDelivery(k, fixture.Address("1"), "x"), fixture.NewDelivery(k, fixture.Address("1"), "y")
	d.Run, foreign.Run = three.ID, f.QueueTurn(k, fixture.Address("1"), "four").ID
	d, foreign = f.QueueDelivery(d), f.QueueDelivery(foreign)
	acc = f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: three.ID, By: sessions.ByOperator}}})
	f.Equal([]int{len(acc.Stopped), len(acc.Withdrawn)}, []int{0, 1})
	f.Equal([]any{f.MustGetDelivery(d.ID).State, f.MustGetDelivery(d.ID).Error, f.MustGetDelivery(foreign.ID).State}, []any{sessions.DeliveryStopped, "stopped by an operator", sessions.Pending})
	f.Equal([]any{f.MustGetRun(three.ID).Status, f.MustGetRun(foreign.Run).Status, f.MustGet(k).Aborted}, []any{sessions.Done, sessions.Queued, false})
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: foreign.Run}}})
	step := f.QueueRun(k, "", sessions.AnnounceRun, "announce")
	f.Equal(f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: step.ID, By: sessions.ByOperator}}}).Stopped, []sessions.StoppedRun{{Key: k, ID: step.ID}})
	f.Equal([]any{f.MustGetRun(step.ID).Status, f.MustGetRun(step.ID).Error}, []any{sessions.Stopped, "stopped by an operator"})
	_, err = f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: "nobody"}}})
	f.ErrorIs(err, sessions.ErrNotFound)
}

// A turn that was stopped starts nothing more, whether it has ended by then or not; what it started before is given back.
func stoppedAsks(f *fixture.Store) {
	for i, end := range []func(sessions.Run){
		func(r sessions.Run) { f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: r.ID}}}) },
		func(r sessions.Run) {
			f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{r.Key}}}})
			f.MustFinish(r.ID, sessions.Outcome{Status: sessions.Stopped})
		},
		func(r sessions.Run) {
			newer := fixture.NewRun(r.Key, "newer")
			newer.Reply = r.Reply
			f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: r.Key}}, Run: &sessions.Enqueue{Run: *newer, Interrupt: true}})
		},
	} {
		k := fixture.Key(fmt.Sprint(i))
		r := f.QueueTurn(k, fixture.Address("1"), "one")
		f.MustClaim(k)
		spawn := func(name string) sessions.Change {
			kid := sessions.SubagentKey("main", fmt.Sprint(name, i))
			child := fixture.NewRun(kid, "task")
			child.Kind, child.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: k}
			return sessions.Change{IdempotencyKey: name + fmt.Sprint(i), RequestedBy: r.ID, Session: &sessions.Target{Session: sessions.Session{Key: kid, SpawnedBy: k}}, Run: &sessions.Enqueue{Run: *child}}
		}
		before := spawn("before")
		f.MustSubmit(before)
		end(r)
		f.Equal(f.MustSubmit(before).Run.ID, before.Run.ID)
		late := spawn("late")
		_, err := f.Submit(f.Context(), late)
		f.ErrorIs(err, sessions.ErrStopped)
		_, err = f.Get(f.Context(), late.Session.Key)
		f.ErrorIs(err, sessions.ErrNotFound)
		_, err = f.GetRun(f.Context(), late.Run.ID)
		f.ErrorIs(err, sessions.ErrNotFound)
	}
}

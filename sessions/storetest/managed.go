package storetest

import (
	"fmt"
	"testing"
	"time"

	"parley/sessions"
)

// What a run was asked for is there when it is claimed and when it is listed.
func runFields(_ *testing.T, f *fixture) {
	k := key("1")
	r := newRun(k, "one")
	r.Exclusive, r.System, r.Thinking, r.Model, r.Label = true, "be brief", "low", "mock/other", "x"
	queued := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}).Run
	claimed := f.claim(k)
	for _, got := range []sessions.Run{queued, claimed, f.run(r.ID)} {
		f.equal([]any{got.Exclusive, got.System, got.Thinking, got.Model, got.Label}, []any{true, "be brief", "low", "mock/other", "x"})
	}
}

// A turn of its own neither gives way to a newer message nor is dropped for one.
func aloneStays(_ *testing.T, f *fixture) {
	k, here := key("1"), addr("1")
	alone := func(text string) sessions.Run {
		r := newRun(k, text)
		r.Reply, r.Exclusive = here, true
		return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}).Run
	}
	first := alone("first")
	f.equal(f.claim(k).ID, first.ID)
	second, third := alone("second"), f.turn(k, here, "third")
	r := newRun(k, "newer")
	r.Reply = here
	acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r, Interrupt: true, DropOldest: 2}})
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: third.ID}})
	f.finish(first.ID, sessions.Outcome{})
	f.equal(f.run(first.ID).Status, sessions.Done)
	f.equal(f.claim(k).ID, second.ID)
}

// One run is stopped, a step too: another that waits in its session goes on. What the sub-agents of a running turn are at ends with it.
//
// proves: X2
func stopRun(_ *testing.T, f *fixture) {
	k, kid := key("1"), sessions.SubagentKey("main", "1")
	one, two, three := f.turn(k, addr("1"), "one"), f.turn(k, addr("1"), "two"), f.turn(k, addr("1"), "three")
	child := newRun(kid, "task")
	child.Kind, child.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: k}
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: kid, SpawnedBy: k}}, Run: &sessions.Enqueue{Run: *child}})
	f.claim(k)
	acc := f.submit(sessions.Change{IdempotencyKey: "s2", Ops: []sessions.Op{sessions.StopRun{ID: two.ID}}})
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: two.ID}})
	f.equal(f.run(two.ID).Status, sessions.Stopped)
	f.equal(f.run(two.ID).Error != "", true)
	f.equal(f.get(k).Aborted, false)
	f.equal(len(f.submit(sessions.Change{IdempotencyKey: "s2", Ops: []sessions.Op{sessions.StopRun{ID: two.ID}}}).Stopped), 0)
	f.equal(len(f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: two.ID}}}).Stopped), 0)
	acc = f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: one.ID}}})
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: one.ID}, {Key: kid, ID: child.ID}})
	f.equal(f.run(child.ID).Status, sessions.Stopped)
	f.equal(f.run(three.ID).Status, sessions.Queued)
	_, _, err := f.Recover(f.ctx) // the host died before it could end the turn
	f.ok(err)
	f.equal(f.run(one.ID).Status, sessions.Stopped)
	f.equal(f.claim(k).ID, three.ID)
	f.finish(three.ID, sessions.Outcome{})
	d, foreign := delivery(k, addr("1"), "x"), delivery(k, addr("1"), "y")
	d.Run, foreign.Run = three.ID, f.turn(k, addr("1"), "four").ID
	d, foreign = f.post(d), f.post(foreign)
	acc = f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: three.ID, By: sessions.ByOperator}}})
	f.equal([]int{len(acc.Stopped), len(acc.Withdrawn)}, []int{0, 1})
	f.equal([]any{f.delivery(d.ID).State, f.delivery(d.ID).Error, f.delivery(foreign.ID).State}, []any{sessions.DeliveryStopped, "stopped by an operator", sessions.Pending})
	f.equal([]any{f.run(three.ID).Status, f.run(foreign.Run).Status, f.get(k).Aborted}, []any{sessions.Done, sessions.Queued, false})
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: foreign.Run}}})
	step := f.queue(k, "", sessions.AnnounceRun, "announce")
	f.equal(f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: step.ID, By: sessions.ByOperator}}}).Stopped, []sessions.StoppedRun{{Key: k, ID: step.ID}})
	f.equal([]any{f.run(step.ID).Status, f.run(step.ID).Error}, []any{sessions.Stopped, "stopped by an operator"})
	_, err = f.Submit(f.ctx, sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: "nobody"}}})
	f.is(err, sessions.ErrNotFound)
}

// A turn that was stopped starts nothing more, whether it has ended by then or not; what it started before is given back.
func stoppedAsks(_ *testing.T, f *fixture) {
	for i, end := range []func(sessions.Run){
		func(r sessions.Run) { f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: r.ID}}}) },
		func(r sessions.Run) {
			f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{r.Key}}}})
			f.finish(r.ID, sessions.Outcome{Status: sessions.Stopped})
		},
		func(r sessions.Run) {
			newer := newRun(r.Key, "newer")
			newer.Reply = r.Reply
			f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: r.Key}}, Run: &sessions.Enqueue{Run: *newer, Interrupt: true}})
		},
	} {
		k := key(fmt.Sprint(i))
		r := f.turn(k, addr("1"), "one")
		f.claim(k)
		spawn := func(name string) sessions.Change {
			kid := sessions.SubagentKey("main", fmt.Sprint(name, i))
			child := newRun(kid, "task")
			child.Kind, child.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: k}
			return sessions.Change{IdempotencyKey: name + fmt.Sprint(i), RequestedBy: r.ID, Session: &sessions.Target{Session: sessions.Session{Key: kid, SpawnedBy: k}}, Run: &sessions.Enqueue{Run: *child}}
		}
		before := spawn("before")
		f.submit(before)
		end(r)
		f.equal(f.submit(before).Run.ID, before.Run.ID)
		late := spawn("late")
		_, err := f.Submit(f.ctx, late)
		f.is(err, sessions.ErrStopped)
		_, err = f.Get(f.ctx, late.Session.Key)
		f.is(err, sessions.ErrNotFound)
		_, err = f.GetRun(f.ctx, late.Run.ID)
		f.is(err, sessions.ErrNotFound)
	}
}

// What people do with a session happens once for a source, and does not revive an archived one.
func managed(_ *testing.T, f *fixture) {
	k := key("1")
	f.session(k)
	on := func(source string, op sessions.SessionOp) sessions.Change {
		return sessions.Change{IdempotencyKey: source, Session: &sessions.Target{Session: sessions.Session{Key: k, Title: "not taken"}, Mode: sessions.Reference, Ops: []sessions.SessionOp{op}}}
	}
	was := f.get(k)
	e := on("archive", sessions.ArchiveSession{})
	f.submit(e)
	f.equal(f.get(k).Archived, true)
	p := on("patch", sessions.PatchSession{Model: new("mock/a")})
	f.submit(p)
	s := f.get(k)
	f.equal([]any{s.Settings.Model, s.Archived, s.Title, s.Updated.Equal(was.Updated)}, []any{"mock/a", true, "", true})
	f.session(k) // a message came
	f.equal(f.get(k).Archived, false)
	_, err := f.Patch(f.ctx, k, sessions.Patch{Model: new("mock/b")})
	f.ok(err)
	for _, again := range []sessions.Change{e, p} {
		f.equal(f.submit(again).Duplicate, true)
	}
	f.equal([]any{f.get(k).Archived, f.get(k).Settings.Model}, []any{false, "mock/b"})

	r := f.turn(k, addr("1"), "one")
	d := on("delete", sessions.DeleteSession{})
	_, err = f.Submit(f.ctx, d)
	f.is(err, sessions.ErrConflict)
	f.equal(f.claim(k).ID, r.ID)
	_, err = f.Submit(f.ctx, d)
	f.is(err, sessions.ErrConflict)
	f.finish(r.ID, sessions.Outcome{})
	f.submit(d)
	_, err = f.Get(f.ctx, k)
	f.is(err, sessions.ErrNotFound)
	f.equal(f.submit(d).Duplicate, true)
	f.session(k)
	f.equal(f.submit(d).Duplicate, true)
	f.get(k)
	missing := on("", sessions.ArchiveSession{})
	missing.Session.Key = "agent:main:hook:none"
	_, err = f.Submit(f.ctx, missing)
	f.is(err, sessions.ErrNotFound)
}

// Runs are found by what they are for and when they came; counts are of what lives and waits.
func selected(_ *testing.T, f *fixture) {
	f.equal(f.totals(), sessions.Totals{Sessions: map[sessions.AgentID]int{}})
	k, other := key("1"), sessions.Key("agent:other:main")
	r := f.turn(k, addr("1"), "one")
	ask := f.queue(k, "", sessions.AskRun, "two")
	f.session(other)
	f.session(key("2"))
	list := func(q sessions.RunQuery) (ids []sessions.RunID) {
		runs, err := f.ListRuns(f.ctx, q)
		f.ok(err)
		for _, run := range runs {
			ids = append(ids, run.ID)
		}
		return ids
	}
	f.equal(list(sessions.RunQuery{Kind: sessions.AskRun}), []sessions.RunID{ask.ID})
	f.equal(list(sessions.RunQuery{Kind: "a%"}), []sessions.RunID{})
	f.equal(list(sessions.RunQuery{Since: r.Created}), []sessions.RunID{ask.ID, r.ID})
	f.equal(list(sessions.RunQuery{Since: ask.Created.Add(time.Hour)}), []sessions.RunID{})
	got := f.totals()
	f.equal(got.Sessions, map[sessions.AgentID]int{"main": 2, "other": 1})
	f.equal(got.Oldest, r.Created)
	f.ok(f.Archive(f.ctx, key("2")))
	f.claim(k)
	f.equal(f.totals().Sessions["main"], 1)
	f.equal(f.totals().Oldest, ask.Created)
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}})
	f.equal(f.totals().Oldest.IsZero(), true)
}

func (f *fixture) totals() sessions.Totals {
	f.t.Helper()
	x, err := f.Totals(f.ctx)
	f.ok(err)
	return x
}

// A transcript is read backwards page by page, and only by those who name the session that it is of.
func tailBefore(_ *testing.T, f *fixture) {
	k := key("1")
	s := f.session(k)
	r := f.turn(k, addr("1"), "one")
	f.claim(k)
	f.finish(r.ID, sessions.Outcome{Messages: []sessions.Message{assistant("two"), assistant("three")}})
	var before int64
	for _, want := range []string{"three", "two", "one"} {
		msgs, err := f.Tail(f.ctx, s.ID, sessions.TailQuery{Limit: 1, Before: before, Of: k})
		f.ok(err)
		f.equal(texts(msgs), []string{want})
		before = msgs[0].Seq
	}
	msgs, err := f.Tail(f.ctx, s.ID, sessions.TailQuery{Before: before})
	f.ok(err)
	f.equal(len(msgs), 0)
	_, err = f.Reset(f.ctx, k)
	f.ok(err)
	msgs, err = f.Tail(f.ctx, s.ID, sessions.TailQuery{Of: k})
	f.ok(err)
	f.equal(texts(msgs), []string{"one", "two", "three"})
	_, err = f.Tail(f.ctx, s.ID, sessions.TailQuery{Of: key("2")})
	f.is(err, sessions.ErrNotFound)
}

package storetest

import (
	"testing"
	"time"

	"parley/sessions"
)

// queue puts a run of some kind into a session, which it makes when it is new.
func (f *fixture) queue(k, parent sessions.Key, kind sessions.RunKind, text string) sessions.Run {
	f.t.Helper()
	r := newRun(k, text)
	r.Kind = kind
	return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", SpawnedBy: parent}}, Run: &sessions.Enqueue{Run: *r}}).Run
}

// family makes a chat, a sub-agent of it and a sub-agent of that one.
func (f *fixture) family() (chat, child, grandchild sessions.Key) {
	chat, child, grandchild = key("1"), "agent:main:subagent:c", "agent:main:subagent:g"
	f.session(chat)
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: child, Agent: "main", SpawnedBy: chat}}})
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: grandchild, Agent: "main", SpawnedBy: child}}})
	return chat, child, grandchild
}

func (f *fixture) stop(keys ...sessions.Key) (stopped []sessions.StoppedRun) {
	f.t.Helper()
	acc := f.submit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: keys}}})
	f.equal(acc.Session, sessions.Session{}) // none was asked for
	return acc.Stopped
}

func (f *fixture) aborted(keys ...sessions.Key) (out []bool) {
	for _, k := range keys {
		out = append(out, f.get(k).Aborted)
	}
	return out
}

// Stop goes down to the sub-agents of sub-agents, and those in between know that what they wait for does not come.
//
// proves: N15
func stopBelow(_ *testing.T, f *fixture) {
	chat, child, grandchild := f.family()
	working := f.queue(grandchild, "", sessions.ChildRun, "task")
	f.claim(grandchild)
	steer := f.queue(grandchild, "", sessions.ChildRun, "and more")
	other := f.queue("agent:main:subagent:o", key("2"), sessions.ChildRun, "of another chat")
	f.ok(f.Archive(f.ctx, child))
	before := f.get(child)
	want := []sessions.StoppedRun{{Key: grandchild, ID: working.ID}, {Key: grandchild, ID: steer.ID}}
	for _, k := range []sessions.Key{chat, child, grandchild} {
		f.equal(f.stoppable(k), []sessions.RunID{working.ID, steer.ID})
	}
	f.equal(f.stoppable(key("2")), []sessions.RunID{other.ID})
	f.equal(len(f.stoppable("agent:main:nobody")), 0)
	f.equal(len(f.stoppable()), 0)
	f.equal(f.stoppable(chat, key("2"), grandchild), []sessions.RunID{working.ID, steer.ID, other.ID})
	f.equal(f.stop(chat, "agent:main:nobody", chat), want)
	f.equal(f.run(working.ID).Status, sessions.Running) // its owner ends it
	f.equal(f.run(steer.ID).Status, sessions.Stopped)
	f.equal(f.run(other.ID).Status, sessions.Queued)
	f.equal(f.aborted(chat, child, grandchild, other.Key), []bool{false, true, true, false}) // the chat's own last turn was not stopped
	before.Aborted = true
	f.equal(f.get(child), before)   // archived as it was
	f.equal(f.stop(chat), want[:1]) // again: the one that is running still
	f.equal(f.stoppable(chat), []sessions.RunID{working.ID})
	f.equal(len(f.stop("", "nobody")), 0) // no session at all
	f.finish(working.ID, sessions.Outcome{Status: sessions.Stopped, Error: "stopped"})
	f.equal(len(f.stop(chat))+len(f.stoppable(chat)), 0)

	// A step leaves the mark; the next turn takes it away.
	f.queue(child, "", sessions.AnnounceRun, "announce")
	f.finish(f.claim(child).ID, sessions.Outcome{})
	f.equal(f.aborted(child), []bool{true})
	f.queue(child, "", sessions.ChildRun, "go on")
	f.finish(f.claim(child).ID, sessions.Outcome{})
	f.equal(f.aborted(child), []bool{false})
}

// stoppable gives the runs that a stop of sessions would end.
func (f *fixture) stoppable(keys ...sessions.Key) (ids []sessions.RunID) {
	f.t.Helper()
	x, err := f.Stoppable(f.ctx, keys...)
	f.ok(err)
	for _, run := range x.Runs {
		ids = append(ids, run.ID)
	}
	return ids
}

// Stopping a sub-agent leaves what is above it and beside it alone, and ends where sessions spawned each other in a circle.
func stopAside(_ *testing.T, f *fixture) {
	chat, child, grandchild := f.family()
	above, beside := f.queue(child, "", sessions.ChildRun, "x"), f.queue("agent:main:subagent:b", child, sessions.ChildRun, "x")
	below := f.queue(grandchild, "", sessions.ChildRun, "x")
	f.equal(f.stop(grandchild), []sessions.StoppedRun{{Key: grandchild, ID: below.ID}})
	f.equal(f.aborted(chat, child, grandchild), []bool{false, false, true})
	f.equal(f.stop(grandchild, child), []sessions.StoppedRun{{Key: child, ID: above.ID}, {Key: beside.Key, ID: beside.ID}})
	f.equal(f.aborted(chat, child, grandchild, beside.Key), []bool{false, true, true, true})

	a, b := f.queue("agent:main:subagent:1", "agent:main:subagent:2", sessions.ChildRun, "x"), f.queue("agent:main:subagent:2", "agent:main:subagent:1", sessions.ChildRun, "x")
	f.equal(f.stop(a.Key), []sessions.StoppedRun{{Key: a.Key, ID: a.ID}, {Key: b.Key, ID: b.ID}})
	f.equal(f.aborted(a.Key, b.Key), []bool{true, true})
}

func (f *fixture) absorb(r sessions.RunID) []string {
	f.t.Helper()
	msgs, err := f.MergeQueued(f.ctx, r, sessions.MergeQuery{Kind: sessions.ChildRun})
	f.ok(err)
	for _, m := range msgs {
		if m.Run != r || m.Role != sessions.User || m.Provenance == nil {
			f.t.Errorf("%+v", m)
		}
	}
	return texts(msgs)
}

func (f *fixture) steps(r sessions.RunID) []string {
	f.t.Helper()
	msgs, err := f.Steps(f.ctx, r)
	f.ok(err)
	return texts(msgs)
}

// The running turn merges what waits, as steps of its own, whether or not it is interrupted.
func absorb(_ *testing.T, f *fixture) {
	k := key("1")
	r := f.queue(k, "", sessions.ChildRun, "task")
	_, err := f.MergeQueued(f.ctx, r.ID, sessions.MergeQuery{Kind: sessions.ChildRun})
	f.is(err, sessions.ErrConflict) // not at work
	f.claim(k)
	f.equal(len(f.absorb(r.ID)), 0)
	f.ok(f.Record(f.ctx, r.ID, assistant("step")))
	one, announce, two, turn := f.queue(k, "", sessions.ChildRun, "one"), f.queue(k, "", sessions.AnnounceRun, "announce"), f.queue(k, "", sessions.ChildRun, "two"), f.queue(k, "", sessions.TurnRun, "turn")
	other := f.queue(key("2"), "", sessions.ChildRun, "elsewhere")
	f.equal(f.absorb(r.ID), []string{"one", "two"})
	f.equal(f.absorb(r.ID), []string{"one", "two"}) // its answer was lost: the same once more
	for _, id := range []sessions.RunID{one.ID, two.ID} {
		if got := f.run(id); got.Status != sessions.Done || got.Ended.IsZero() || got.Attempt != 0 {
			f.t.Errorf("%+v", got)
		}
		_, err := f.Finish(f.ctx, id, sessions.Outcome{Status: sessions.Done})
		f.is(err, sessions.ErrConflict)
	}
	want := []string{"step", "one", "two"}
	f.equal(f.steps(r.ID), want)
	if _, _, err := f.Recover(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	f.equal(f.claim(k).ID, r.ID)
	f.equal(f.steps(r.ID), want)
	f.ok(f.Record(f.ctx, r.ID, assistant("next")))
	f.equal(len(f.absorb(r.ID)), 0)
	f.queue(k, "", sessions.ChildRun, "three")
	f.equal(f.absorb(r.ID), []string{"three"})
	f.finish(r.ID, sessions.Outcome{Messages: []sessions.Message{assistant("end")}})
	f.equal(texts(f.tail(r.Session, sessions.TailQuery{})), []string{"task", "step", "one", "two", "next", "three", "end"})
	f.equal(f.get(k).Turns, 1)
	for _, id := range []sessions.RunID{announce.ID, turn.ID} { // what is of another kind has its own turn
		f.equal(f.claim(k).ID, id)
		f.finish(id, sessions.Outcome{})
	}
	f.nothingToClaim(k)
	f.equal(f.run(other.ID).Status, sessions.Queued)
	_, err = f.MergeQueued(f.ctx, r.ID, sessions.MergeQuery{Kind: sessions.ChildRun})
	f.is(err, sessions.ErrConflict)
	_, err = f.MergeQueued(f.ctx, "nobody", sessions.MergeQuery{Kind: sessions.ChildRun})
	f.is(err, sessions.ErrNotFound)
}

// What belongs to a new transcript, was posted by the host, or came after a stop is not taken up.
func absorbNot(_ *testing.T, f *fixture) {
	k := key("1")
	r := f.queue(k, "", sessions.ChildRun, "task")
	f.claim(k)
	post := newRun(k, "")
	post.Kind, post.Input = sessions.ChildRun, assistant("posted")
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *post}})
	f.equal(len(f.absorb(r.ID)), 0)
	if _, err := f.Reset(f.ctx, k); err != nil {
		f.t.Fatal(err)
	}
	late := f.queue(k, "", sessions.ChildRun, "in the new transcript")
	f.equal(len(f.absorb(r.ID)), 0)
	f.finish(r.ID, sessions.Outcome{})
	f.equal(f.claim(k).ID, post.ID)
	f.finish(post.ID, sessions.Outcome{})
	f.equal(f.claim(k).ID, late.ID)
	f.stop(k)
	after := f.queue(k, "", sessions.ChildRun, "after the stop")
	f.equal(len(f.absorb(late.ID)), 0)
	f.finish(late.ID, sessions.Outcome{Status: sessions.Stopped})
	f.equal(f.claim(k).ID, after.ID)
}

// proves: S12
func turns(_ *testing.T, f *fixture) {
	k := key("1")
	began := time.Now().Add(-time.Minute)
	kinds := []sessions.RunKind{sessions.TurnRun, sessions.AskRun, sessions.ReplyRun, sessions.ResultRun, sessions.ChildRun, sessions.AnnounceRun, sessions.PostRun}
	for i, kind := range kinds {
		f.queue(k, "", kind, "x")
		status := []sessions.RunStatus{sessions.Done, sessions.Failed, sessions.TimedOut, sessions.Stopped}[i%4]
		f.finish(f.claim(k).ID, sessions.Outcome{Status: status})
	}
	f.queue(key("2"), "", sessions.AskRun, "of another session")
	if s := f.get(k); s.Turns != 6 || s.ByAgents != 3 {
		f.t.Errorf("%d turns, %d of them by agents", s.Turns, s.ByAgents)
	}
	open := func(want int) {
		f.t.Helper()
		if n, err := f.CountOpen(f.ctx, k); err != nil || n != want {
			f.t.Errorf("%d runs are open, want %d (%v)", n, want, err)
		}
	}
	open(0)
	f.queue(k, "", sessions.AskRun, "waits")
	open(1)
	if s := f.get(k); s.Turns != 6 || s.ByAgents != 3 {
		f.t.Error("what waits is counted")
	}
	for _, c := range []struct {
		key   sessions.Key
		since time.Time
		most  int
		want  int
	}{{k, began, 100, 4}, {k, began, 3, 3}, {k, time.Now().Add(time.Minute), 100, 0}, {key("2"), began, 100, 1}, {"nobody", began, 100, 0}} {
		n, err := f.CountByAgents(f.ctx, c.key, c.since, c.most)
		f.ok(err)
		if n != c.want {
			f.t.Errorf("%+v: %d", c, n)
		}
	}
	f.claim(k)
	open(1)
	oldest, err := f.ListRuns(f.ctx, sessions.RunQuery{Key: k, Oldest: true, Limit: 2})
	f.ok(err)
	if len(oldest) != 2 || oldest[0].Kind != kinds[0] || oldest[1].Kind != kinds[1] {
		f.t.Errorf("the oldest are %+v", oldest)
	}
	s, err := f.Reset(f.ctx, k)
	f.ok(err)
	runs, err := f.ListRuns(f.ctx, sessions.RunQuery{Key: k, Status: sessions.Running})
	f.ok(err)
	f.finish(runs[0].ID, sessions.Outcome{}) // of the old transcript
	if now := f.get(k); s.Turns+s.ByAgents+now.Turns+now.ByAgents != 0 {
		f.t.Errorf("after a reset: %+v", now)
	}
	if n, err := f.CountByAgents(f.ctx, k, began, 100); err != nil || n != 4 {
		f.t.Error("a reset makes room under the cap:", n, err)
	}
}

// What the host posts into a chat is in the transcript of its session at its turn, with what became of it, even when it was
// delivered long before.
//
// proves: T2
func post(_ *testing.T, f *fixture) {
	k, from := key("1"), key("2")
	a := f.accept(message("1", "1", "q"))
	f.claim(k) // at work while the host posts
	f.accept(message("2", "1", "spawn"))
	posted := func(text string) (*sessions.Change, sessions.Delivery) {
		r := newRun(k, "")
		r.Kind, r.Input = sessions.PostRun, assistant(text)
		d := delivery(k, addr("1"), text)
		d.Message = r.Input.ID
		return &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}, d
	}
	next, sent := posted("report")
	f.finish(f.claim(from).ID, sessions.Outcome{Deliveries: []sessions.Delivery{sent}, Next: next})
	f.sent(sent.ID)
	e, waits := posted("by the tool")
	e.Ops = []sessions.Op{sessions.EnqueueDelivery(waits)}
	f.submit(*e)
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{})), []string{"q"})
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{assistant("answer")}})
	for _, want := range []sessions.RunID{next.Run.ID, e.Run.ID} {
		f.equal(f.claim(k).ID, want)
		f.finish(want, sessions.Outcome{})
	}
	got := f.tail(a.Session.ID, sessions.TailQuery{})
	f.equal(texts(got), []string{"q", "answer", "report", "by the tool"})
	mark := func(d sessions.Delivery, state sessions.DeliveryState, rule string) []sessions.Mark {
		return []sessions.Mark{{Delivery: d.ID, State: state, To: addr("1").String(), Rule: rule}}
	}
	f.equal(len(got[1].Deliveries), 0)
	f.equal(got[2].Deliveries, mark(sent, sessions.Sent, allowed.Rule))
	f.equal(got[3].Deliveries, mark(waits, sessions.Pending, ""))
	if _, err := f.BeginSend(f.ctx, waits.ID, time.Now(), deny, sessions.FirstContactQuota{}); err != nil {
		f.t.Fatal(err)
	}
	f.equal(f.tail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Deliveries, mark(waits, sessions.Withheld, denied.Rule))
	if s := f.get(k); s.Turns != 1 {
		f.t.Errorf("%d turns", s.Turns)
	}
}

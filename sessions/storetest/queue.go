package storetest

import (
	"testing"

	"parley/channels"
	"parley/sessions"
)

// turn queues a message of a person whose answer goes to a chat.
func (f *fixture) turn(k sessions.Key, to channels.Address, text string) sessions.Run {
	f.t.Helper()
	r := newRun(k, text)
	r.Reply = to
	return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}).Run
}

func (f *fixture) take(r sessions.RunID, q sessions.MergeQuery) []string {
	f.t.Helper()
	q.Kind = sessions.TurnRun
	msgs, err := f.MergeQueued(f.ctx, r, q)
	f.ok(err)
	return texts(msgs)
}

// A batch is what the caller chooses of what waits; its runs name the one that answers them.
func batch(_ *testing.T, f *fixture) {
	k, here, there := key("1"), addr("1"), addr("2")
	r := f.turn(k, here, "one")
	two, three := f.turn(k, here, "two"), f.turn(k, here, "three")
	aside := f.queue(k, "", sessions.ResultRun, "of another kind")
	four, five, six := f.turn(k, here, "four"), f.turn(k, there, "five"), f.turn(k, here, "six")
	f.claim(k)
	f.equal(len(f.take(r.ID, sessions.MergeQuery{Only: []sessions.RunID{r.ID, "nobody"}})), 0)
	f.equal(f.take(r.ID, sessions.MergeQuery{Only: []sessions.RunID{two.ID}}), []string{"two"})
	for range 2 {
		f.equal(f.take(r.ID, sessions.MergeQuery{Only: []sessions.RunID{three.ID, four.ID}}), []string{"two", "three", "four"})
	}
	for _, x := range []sessions.Run{two, three, four} {
		got := f.run(x.ID)
		f.equal(got.MergedInto, r.ID)
		f.equal(got.Status, sessions.Done)
	}
	list, err := f.ListRuns(f.ctx, sessions.RunQuery{MergedInto: r.ID})
	f.ok(err)
	f.equal([]sessions.RunID{list[0].ID, list[1].ID, list[2].ID}, []sessions.RunID{four.ID, three.ID, two.ID})
	f.equal(len(list), 3)
	f.finish(r.ID, sessions.Outcome{})
	for _, x := range []sessions.Run{r, aside, five, six} {
		f.equal(f.run(x.ID).MergedInto, sessions.RunID(""))
	}
	f.equal(f.claim(k).ID, aside.ID)
	f.finish(aside.ID, sessions.Outcome{})
	f.equal(f.claim(k).ID, five.ID)
	f.equal(f.take(five.ID, sessions.MergeQuery{}), []string{"six"})
	list, err = f.ListRuns(f.ctx, sessions.RunQuery{Key: k, Limit: 1})
	f.ok(err)
	f.equal(list[0].MergedInto, five.ID)
	seven, eight := f.turn(k, there, "seven"), f.turn(k, there, "eight")
	f.equal(f.take(five.ID, sessions.MergeQuery{Only: []sessions.RunID{eight.ID}}), []string{"six", "eight"})
	f.equal(f.run(seven.ID).Status, sessions.Queued)
}

// Of a batch that is too long the older messages are cut to what the caller makes of them, in the transcript, too.
func batchShort(_ *testing.T, f *fixture) {
	k := key("1")
	r := f.turn(k, addr("1"), "one")
	for _, text := range []string{"two", "three", "four"} {
		f.turn(k, addr("1"), text)
	}
	f.claim(k)
	short := func(m sessions.Message) []sessions.Block { return sessions.TextContent("- " + m.Text()) }
	for range 2 {
		f.equal(f.take(r.ID, sessions.MergeQuery{Full: 1, Short: short}), []string{"- two", "- three", "four"})
	}
	f.ok(f.Record(f.ctx, r.ID, assistant("step")))
	five := f.turn(k, addr("1"), "five")
	f.turn(k, addr("1"), "six")
	f.equal(f.take(r.ID, sessions.MergeQuery{Full: 2, Short: short}), []string{"five", "six"})
	f.equal(f.run(five.ID).MergedInto, r.ID)
	f.equal(f.steps(r.ID), []string{"- two", "- three", "four", "step", "five", "six"})
}

// A newer message ends the running turn and is named as what came in its place; nothing else ends.
func interrupt(_ *testing.T, f *fixture) {
	k, child := key("1"), sessions.Key("agent:main:subagent:1")
	below := f.queue(child, k, sessions.ChildRun, "task")
	first, waits := f.turn(k, addr("1"), "first"), f.turn(k, addr("1"), "waits")
	push := func(text string) (sessions.Run, []sessions.StoppedRun) {
		r := newRun(k, text)
		r.Reply = addr("1")
		acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r, Interrupt: true}})
		return acc.Run, acc.Stopped
	}
	_, stopped := push("nothing is at work")
	f.equal(len(stopped), 0)
	f.claim(k)
	elsewhere := newRun(k, "answered elsewhere")
	elsewhere.Reply = addr("2")
	f.equal(len(f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *elsewhere, Interrupt: true}}).Stopped), 0)
	newer, stopped := push("newer")
	f.equal(stopped, []sessions.StoppedRun{{Key: k, ID: first.ID}})
	_, stopped = push("newest") // it is ended already
	f.equal(len(stopped), 0)
	f.equal(len(f.take(first.ID, sessions.MergeQuery{})), 0)
	at := f.run(first.ID)
	f.equal([]any{at.Status, at.Stopping, at.MergedInto, f.run(waits.ID).Stopping}, []any{sessions.Running, true, newer.ID, false})
	f.finish(first.ID, sessions.Outcome{Status: sessions.Stopped})
	f.equal(f.run(first.ID).Stopping, false)
	f.equal(f.run(first.ID).MergedInto, newer.ID)
	f.equal(f.run(below.ID).Status, sessions.Queued)
	f.equal(f.claim(k).ID, waits.ID)

	// One that had its answer ready has answered; one that a crash ended is not resumed.
	late, _ := push("late")
	f.finish(waits.ID, sessions.Outcome{Status: sessions.Done})
	f.equal(f.run(waits.ID).MergedInto, sessions.RunID(""))
	f.equal(f.run(late.ID).Status, sessions.Queued)
	crashed := f.claim(k)
	after, _ := push("after")
	if _, _, err := f.Recover(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	got := f.run(crashed.ID)
	f.equal([]any{got.Status, got.MergedInto}, []any{sessions.Stopped, after.ID})

	// Only a turn of a person gives way, and one that a person stopped has no other in its place.
	byPerson := f.claim(k)
	f.stop(k)
	at = f.run(byPerson.ID)
	f.equal([]any{byPerson.Stopping, at.Stopping, at.MergedInto}, []any{false, true, sessions.RunID("")})
	_, stopped = push("after the stop")
	f.equal(len(stopped), 0)
	there := f.turn("agent:main:there", addr("2"), "its answer goes elsewhere")
	f.claim(there.Key)
	f.equal(len(f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: there.Key}}, Run: &sessions.Enqueue{Run: *newRun(there.Key, "x"), Interrupt: true}}).Stopped), 0)
	result := f.queue("agent:main:other", "", sessions.ResultRun, "result")
	f.claim(result.Key)
	acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: result.Key}}, Run: &sessions.Enqueue{Run: *newRun(result.Key, "x"), Interrupt: true}})
	f.equal(len(acc.Stopped), 0)
	for _, e := range []sessions.Change{{Run: &sessions.Enqueue{Run: *newRun(k, "x"), Interrupt: true}}, {Run: &sessions.Enqueue{Run: *newRun(k, "x"), DropOldest: 1}}} {
		if _, err := f.Submit(f.ctx, e); err == nil {
			f.t.Errorf("%+v was taken", e)
		}
	}
}

// The oldest messages of a chat that wait are dropped, those of people only, and none that was begun.
func drop(_ *testing.T, f *fixture) {
	k := key("1")
	begun := f.turn(k, addr("1"), "begun")
	f.claim(k)
	if _, _, err := f.Recover(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	result := f.queue(k, "", sessions.ResultRun, "result")
	there := f.turn(k, addr("2"), "of another chat")
	one, two, three := f.turn(k, addr("1"), "one"), f.turn(k, addr("1"), "two"), f.turn(k, addr("1"), "three")
	other := f.turn(key("2"), addr("2"), "elsewhere")
	full := sessions.Change{IdempotencyKey: "once", Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *newRun(k, "four"), DropOldest: 2}}
	full.Run.Reply = addr("1")
	acc := f.submit(full)
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: k, ID: one.ID}, {Key: k, ID: two.ID}})
	full.Run = &sessions.Enqueue{Run: *newRun(k, "four again"), DropOldest: 2}
	f.equal(f.submit(full).Duplicate, true)
	for _, id := range []sessions.RunID{one.ID, two.ID} {
		got := f.run(id)
		if got.Status != sessions.Stopped || got.Error == "" || got.Ended.IsZero() {
			f.t.Errorf("%+v", got)
		}
	}
	for _, id := range []sessions.RunID{begun.ID, result.ID, there.ID, three.ID, acc.Run.ID} {
		f.equal(f.claim(k).ID, id)
		f.finish(id, sessions.Outcome{})
	}
	f.nothingToClaim(k)
	f.equal(f.get(k).Aborted, false)
	f.equal(f.run(other.ID).Status, sessions.Queued)
}

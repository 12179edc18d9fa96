package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

func claim(_ *testing.T, f *fixture) {
	k := key("1")
	f.nothingToClaim(k)
	var ids []sessions.RunID
	for i := range 3 {
		ids = append(ids, f.accept(message("1", fmt.Sprint(i), fmt.Sprint("q", i))).Run.ID)
	}
	for _, want := range ids {
		r := f.claim(k)
		if r.ID != want || r.Status != sessions.Running || r.Attempt != 1 || r.Started.IsZero() || !r.Deadline.IsZero() {
			f.t.Fatalf("%+v, want %s", r, want)
		}
		f.equal(f.run(want), r)
		f.nothingToClaim(k) // one at a time
		f.finish(r.ID, sessions.Outcome{})
	}
	f.nothingToClaim(k)
}

func claimConcurrent(_ *testing.T, f *fixture) {
	const chats, runs = 4, 6
	var wg sync.WaitGroup
	for c := range chats {
		wg.Go(func() {
			for i := range runs {
				if _, err := f.Accept(f.ctx, message(fmt.Sprint(c), fmt.Sprint(i), fmt.Sprint(i))); err != nil {
					f.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var done atomic.Int64
	for w := range 3 * chats {
		wg.Go(func() { // three workers fight for each session
			for done.Load() < chats*runs {
				r, ok, err := f.Claim(f.ctx, key(fmt.Sprint(w%chats)))
				if err != nil {
					f.t.Error(err)
					return
				}
				if !ok {
					continue
				}
				if _, ok, _ := f.Claim(f.ctx, r.Key); ok {
					f.t.Error("two runs of one session at once")
				}
				if _, err := f.Finish(f.ctx, r.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{assistant("to " + r.Input.Text())}}); err != nil {
					f.t.Error(err)
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	for c := range chats {
		var want []string
		for i := range runs {
			want = append(want, fmt.Sprint(i), fmt.Sprint("to ", i))
		}
		f.equal(texts(f.tail(f.get(key(fmt.Sprint(c))).ID, sessions.TailQuery{})), want)
	}
}

func claimTranscript(_ *testing.T, f *fixture) {
	k := key("1")
	a := f.accept(message("1", "1", "first"))
	f.accept(message("1", "2", "second"))
	s := a.Session.ID
	f.claim(k)
	f.equal(texts(f.tail(s, sessions.TailQuery{})), []string{"first"})
	if _, _, err := f.Recover(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	f.equal(f.claim(k).Attempt, 2)
	f.equal(texts(f.tail(s, sessions.TailQuery{})), []string{"first"}) // once
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{assistant("answer")}})
	f.claim(k)
	f.equal(texts(f.tail(s, sessions.TailQuery{})), []string{"first", "answer", "second"})
}

// claimAtOnce claims in the commit that queues.
func claimAtOnce(_ *testing.T, f *fixture) {
	k := key("1")
	claiming := func(id, text string) sessions.Arrival {
		a := message("1", id, text)
		a.Change.Run.Claim = true
		return a
	}
	first := f.accept(claiming("1", "one"))
	r := first.Claimed
	if r == nil || r.ID != first.Run.ID || r.Status != sessions.Running || r.Attempt != 1 || r.Started.IsZero() || first.Run.Status != sessions.Queued {
		f.t.Fatalf("claimed %+v of %+v", r, first.Run)
	}
	f.equal(f.run(r.ID), *r)
	f.equal(texts(f.tail(first.Session.ID, sessions.TailQuery{})), []string{"one"})
	for _, a := range []sessions.Arrival{claiming("1", "one"), claiming("2", "two"), claiming("3", "three")} { // it comes again; one is running
		if acc := f.accept(a); acc.Claimed != nil {
			f.t.Errorf("claimed %+v", acc.Claimed)
		}
	}
	next := newRun(key("2"), "next")
	next.Timeout = time.Hour
	acc := f.finish(r.ID, sessions.Outcome{Messages: []sessions.Message{assistant("answer")}, Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("2"), Agent: "main"}}, Run: &sessions.Enqueue{Run: *next, Claim: true}}})
	if acc.Claimed == nil || acc.Claimed.ID != next.ID || acc.Claimed.Deadline.Sub(acc.Claimed.Started) != time.Hour {
		f.t.Fatalf("claimed %+v", acc.Claimed)
	}
	f.nothingToClaim(key("2"))
	if acc := f.accept(claiming("4", "four")); acc.Claimed == nil || acc.Claimed.Input.Text() != "two" { // in order of acceptance
		f.t.Fatalf("claimed %+v", acc.Claimed)
	}
	f.equal(texts(f.tail(first.Session.ID, sessions.TailQuery{})), []string{"one", "answer", "two"})
	if keys, _, err := f.Recover(f.ctx); err != nil || len(keys) != 2 {
		f.t.Fatal(keys, err)
	}
	f.equal(f.claim(k).Attempt, 2)
}

// proves: N9
func deadline(_ *testing.T, f *fixture) {
	r := newRun(key("1"), "x")
	r.Timeout = time.Hour
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("1")}}, Run: &sessions.Enqueue{Run: *r}})
	first := f.claim(key("1"))
	if d := first.Deadline.Sub(first.Started); d != time.Hour {
		f.t.Fatalf("deadline %s after the start", d)
	}
	if _, _, err := f.Recover(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	f.equal(f.claim(key("1")).Deadline, first.Deadline)
}

func record(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	m := []sessions.Message{assistant("thinking"), toolResult("c", "42"), assistant("more")}
	f.ok(f.Record(f.ctx, a.Run.ID, m[0], m[1]))
	f.ok(f.Record(f.ctx, a.Run.ID, m[0], m[1], m[2])) // a resumed run records again
	steps, err := f.Steps(f.ctx, a.Run.ID)
	f.ok(err)
	f.equal(texts(steps), []string{"thinking", "42", "more"})
	for i, s := range steps {
		if s.ID != m[i].ID || s.Run != a.Run.ID || s.Seq == 0 {
			f.t.Errorf("%+v", s)
		}
	}
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m[2], assistant("end")}})
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{IncludeTool: true})), []string{"q", "thinking", "42", "more", "end"})
	f.ok(f.Record(f.ctx, a.Run.ID, m[0]))
	f.is(f.Record(f.ctx, a.Run.ID, assistant("too late")), sessions.ErrConflict)
	f.equal(len(f.tail(a.Session.ID, sessions.TailQuery{IncludeTool: true})), 5)
	f.is(f.Record(f.ctx, "nobody", assistant("x")), sessions.ErrNotFound)
	if err := f.Record(f.ctx, a.Run.ID, sessions.Message{Role: sessions.Assistant}); err == nil {
		f.t.Error("a message without an id was recorded")
	}
}

func finish(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	_, err := f.Finish(f.ctx, a.Run.ID, sessions.Outcome{Status: sessions.Done})
	f.is(err, sessions.ErrConflict) // not claimed
	f.claim(key("1"))
	if _, err := f.Finish(f.ctx, a.Run.ID, sessions.Outcome{Status: sessions.Running}); err == nil {
		f.t.Error("finished as running")
	}
	m := assistant("answer")
	d := delivery(key("1"), addr("1"), "answer")
	d.Run, d.Message = a.Run.ID, m.ID
	acc := f.finish(a.Run.ID, sessions.Outcome{Status: sessions.Stopped, Messages: []sessions.Message{m}, Result: "answer", Error: "e", Usage: sessions.Usage{Input: 3, Output: 4}, Context: 99, Deliveries: []sessions.Delivery{d}})
	if len(acc.Deliveries) != 1 || acc.Deliveries[0].Seq == 0 || acc.Deliveries[0].State != sessions.Pending || acc.Run.ID != "" {
		f.t.Errorf("%+v", acc)
	}
	s := f.get(key("1"))
	if s.Usage != (sessions.Usage{Input: 3, Output: 4}) || s.Context != 99 || !s.Aborted || s.Updated.Before(a.Session.Updated) {
		f.t.Errorf("%+v", s)
	}
	r := f.run(a.Run.ID)
	if r.Status != sessions.Stopped || r.Result != "answer" || r.Error != "e" || r.Usage.Input != 3 || r.Ended.IsZero() {
		f.t.Errorf("%+v", r)
	}
	// A second end changes nothing.
	_, err = f.Finish(f.ctx, a.Run.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{assistant("other")}, Usage: sessions.Usage{Input: 100}, Deliveries: []sessions.Delivery{delivery(key("1"), addr("1"), "x")}})
	f.is(err, sessions.ErrConflict)
	f.equal(f.run(a.Run.ID), r)
	f.equal(f.get(key("1")), s)
	f.equal(texts(f.tail(s.ID, sessions.TailQuery{})), []string{"q", "answer"})
	// Usage adds up; an unknown context stays; an end that was not a stop clears the mark.
	f.accept(message("1", "2", "q2"))
	f.finish(f.claim(key("1")).ID, sessions.Outcome{Usage: sessions.Usage{Input: 1}})
	if s := f.get(key("1")); s.Usage.Input != 4 || s.Context != 99 || s.Aborted {
		f.t.Errorf("%+v", s)
	}
	_, err = f.Finish(f.ctx, "nobody", sessions.Outcome{Status: sessions.Done})
	f.is(err, sessions.ErrNotFound)
}

func finishNext(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	// An end whose successor cannot be queued does not happen.
	if _, err := f.Finish(f.ctx, a.Run.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{assistant("lost")}, Next: &sessions.Change{Run: &sessions.Enqueue{Run: *newRun(key("nobody"), "x")}}}); err == nil {
		f.t.Fatal("finished")
	}
	f.equal(f.run(a.Run.ID).Status, sessions.Running)
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{})), []string{"q"})

	next := newRun(key("2"), "next")
	next.Kind, next.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: key("1")}
	d1, d2 := delivery(key("1"), addr("1"), "one"), delivery(key("2"), addr("2"), "two")
	acc := f.finish(a.Run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{d1},
		Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("2"), Agent: "main", SpawnedBy: key("1")}}, Run: &sessions.Enqueue{Run: *next}, Ops: []sessions.Op{sessions.EnqueueDelivery(d2)}}})
	if acc.Run.ID != next.ID || acc.Run.Status != sessions.Queued || acc.Session.Key != key("2") || len(acc.Deliveries) != 2 || acc.Deliveries[0].ID != d1.ID {
		f.t.Fatalf("%+v", acc)
	}
	f.equal(f.claim(key("2")).Chain, next.Chain)
}

func finishClear(_ *testing.T, f *fixture) {
	for i, k := range []sessions.Key{key("1"), key("2")} {
		f.accept(message(fmt.Sprint(i+1), "1", "q"))
		o := sessions.Outcome{Status: sessions.Done}
		if i == 0 {
			o.Archive = &k
		} else {
			o.Delete = &k
		}
		f.finish(f.claim(k).ID, o)
	}
	f.equal(f.get(key("1")).Archived, true)
	_, err := f.Get(f.ctx, key("2"))
	f.is(err, sessions.ErrNotFound)
	gone := key("nobody")
	f.accept(message("3", "1", "q"))
	f.finish(f.claim(key("3")).ID, sessions.Outcome{Archive: &gone, Delete: &gone}) // done before
}

func finishAfterReset(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	s, err := f.Reset(f.ctx, key("1"))
	f.ok(err)
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{assistant("late")}, Usage: sessions.Usage{Input: 9}, Context: 9})
	if got := f.get(key("1")); got.Usage.Input != 0 || got.Context != 0 {
		f.t.Errorf("figures of the old transcript count for the new one: %+v", got)
	}
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{})), []string{"q", "late"})
	f.equal(len(f.tail(s.ID, sessions.TailQuery{})), 0)
}

func recovered(_ *testing.T, f *fixture) {
	f.accept(message("2", "1", "oldest"))
	a := f.accept(message("1", "1", "a"))
	b := f.accept(message("1", "2", "b"))
	f.accept(message("3", "1", "ended"))
	f.finish(f.claim(key("3")).ID, sessions.Outcome{})
	f.claim(key("1"))
	pending, sending := f.post(delivery("", addr("1"), "p")), f.post(delivery("", addr("1"), "s"))
	f.ok(f.Calling(f.begin(sending.ID)))
	ks, ambiguous, err := f.Recover(f.ctx)
	f.ok(err)
	f.equal(ks, []sessions.Key{key("2"), key("1")})
	if len(ambiguous) != 1 || ambiguous[0].ID != sending.ID || ambiguous[0].State != sessions.Sending {
		f.t.Errorf("%+v", ambiguous)
	}
	f.equal(f.delivery(pending.ID).State, sessions.Pending)
	r := f.claim(key("1"))
	if r.ID != a.Run.ID || r.Attempt != 2 {
		f.t.Errorf("claimed %s attempt %d, want the interrupted run again", r.ID, r.Attempt)
	}
	f.nothingToClaim(key("1"))
	f.finish(r.ID, sessions.Outcome{})
	f.equal(f.claim(key("1")).ID, b.Run.ID)
}

func listRuns(_ *testing.T, f *fixture) {
	var ids []sessions.RunID
	for i := range 4 {
		ids = append(ids, f.accept(message(fmt.Sprint(i%2), fmt.Sprint(i), "x")).Run.ID)
	}
	child := newRun(key("c"), "task")
	child.Kind, child.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: key("0")}
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key("c")}}, Run: &sessions.Enqueue{Run: *child}})
	f.claim(key("0"))
	for _, c := range []struct {
		q    sessions.RunQuery
		want []sessions.RunID
	}{
		{sessions.RunQuery{}, []sessions.RunID{child.ID, ids[3], ids[2], ids[1], ids[0]}},
		{sessions.RunQuery{Limit: 2}, []sessions.RunID{child.ID, ids[3]}},
		{sessions.RunQuery{Key: key("1")}, []sessions.RunID{ids[3], ids[1]}},
		{sessions.RunQuery{Parent: key("0")}, []sessions.RunID{child.ID}},
		{sessions.RunQuery{Status: sessions.Running}, []sessions.RunID{ids[0]}},
		{sessions.RunQuery{Status: sessions.Done}, nil},
	} {
		runs, err := f.ListRuns(f.ctx, c.q)
		f.ok(err)
		var got []sessions.RunID
		for _, r := range runs {
			got = append(got, r.ID)
		}
		f.equal(got, c.want)
	}
}

func trace(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "100", "q"))
	f.claim(key("1"))
	call, m := assistant("let me see"), assistant("answer")
	f.ok(f.Record(f.ctx, a.Run.ID, call, toolResult("c", "r")))
	d := delivery(key("1"), addr("1"), "answer")
	d.Run, d.Message = a.Run.ID, m.ID
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}, Deliveries: []sessions.Delivery{d}})
	f.sent(d.ID)
	for _, id := range []string{"100", string(a.Run.ID), string(d.ID), m.ID, a.Run.Input.ID} {
		list, err := f.Trace(f.ctx, id)
		f.ok(err)
		if len(list) != 1 {
			f.t.Fatalf("%s: %d paths", id, len(list))
		}
		x := list[0]
		if x.Run == nil || x.Run.ID != a.Run.ID || len(x.Steps) != 3 || len(x.Deliveries) != 1 || x.Deliveries[0].State != sessions.Sent || len(x.Deliveries[0].Receipts) != 1 || x.Address != addr("1") && id == "100" {
			f.t.Errorf("%s: %+v", id, x)
		}
	}
	// A command: no run, its answer.
	cmd := message("2", "100", "/status")
	cmd.Change.Run = nil
	cmd.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(delivery(key("2"), addr("2"), "fine"))}
	made := f.accept(cmd).Deliveries[0]
	f.accept(sessions.Arrival{In: cmd.In, Skip: &sessions.Skip{Reason: "again"}}) // a duplicate leaves no trace
	list, err := f.Trace(f.ctx, "100")
	f.ok(err)
	if len(list) != 2 || list[0].Run != nil || len(list[0].Deliveries) != 1 || list[0].Address != addr("2") {
		f.t.Errorf("%+v", list)
	}
	if list, err = f.Trace(f.ctx, string(made.ID)); err != nil || len(list) != 1 || list[0].Source != "100" {
		f.t.Error(list, err)
	}
	skip := sessions.Arrival{In: message("3", "200", "x").In, Skip: &sessions.Skip{Reason: "not mentioned"}}
	f.accept(skip)
	if list, err = f.Trace(f.ctx, "200"); err != nil || len(list) != 1 || list[0].Skip != "not mentioned" {
		f.t.Error(list, err)
	}
	if list, err = f.Trace(f.ctx, "nothing"); err != nil || len(list) != 0 {
		f.t.Error(list, err)
	}
}

// What the bot sent is found by the number that the platform gave it.
func traceReceipt(_ *testing.T, f *fixture) {
	arrive := func(d sessions.DeliveryID, ids ...channels.MessageID) {
		f.begin(d)
		for i, x := range ids {
			f.ok(f.PartSent(f.ctx, d, channels.Receipt{ID: x, At: time.Now()}, i == len(ids)-1))
		}
	}
	a := f.accept(message("1", "100", "q"))
	f.claim(key("1"))
	long, copied := delivery(key("1"), addr("1"), "long answer"), delivery(key("1"), addr("2"), "long answer")
	long.Run, copied.Run = a.Run.ID, a.Run.ID
	f.finish(a.Run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{long, copied}})
	arrive(long.ID, "901", "902")
	arrive(copied.ID, "902") // another chat, the same number
	cmd := message("2", "101", "/status")
	cmd.Change.Run, cmd.Change.Ops = nil, []sessions.Op{sessions.EnqueueDelivery(delivery(key("2"), addr("2"), "fine"))}
	arrive(f.accept(cmd).Deliveries[0].ID, `9"03`)
	alone := f.post(delivery("", addr("3"), "code"))
	arrive(alone.ID, "904")
	for _, id := range []string{"901", "902"} {
		list, err := f.Trace(f.ctx, id)
		f.ok(err)
		if len(list) != 1 || list[0].Run == nil || list[0].Run.ID != a.Run.ID || len(list[0].Deliveries) != 2 {
			f.t.Errorf("%s: %+v", id, list)
		}
	}
	if list, err := f.Trace(f.ctx, `9"03`); err != nil || len(list) != 1 || list[0].Source != "101" || len(list[0].Deliveries) != 1 {
		f.t.Error(list, err)
	}
	if list, err := f.Trace(f.ctx, "904"); err != nil || len(list) != 1 || len(list[0].Deliveries) != 1 || list[0].Deliveries[0].ID != alone.ID {
		f.t.Error(list, err)
	}
	// A message of a person that has the same number in another chat comes first and hides none; parts of a number are none.
	b := f.accept(message("5", "904", "q"))
	if list, err := f.Trace(f.ctx, "904"); err != nil || len(list) != 2 || list[0].Run == nil || list[0].Run.ID != b.Run.ID || len(list[1].Deliveries) != 1 || list[1].Deliveries[0].ID != alone.ID {
		f.t.Error(list, err)
	}
	for _, id := range []string{"", "90", "01", "03"} {
		if list, err := f.Trace(f.ctx, id); err != nil || len(list) != 0 {
			f.t.Error(id, list, err)
		}
	}
}

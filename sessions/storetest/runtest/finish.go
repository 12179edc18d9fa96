package runtest

import (
	"fmt"
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// What the host posts into a chat is in the transcript of its session at its turn, with what became of it, even when it was
// delivered long before.
//
// proves: T2
func post(f *fixture.Store) {
	k, from := fixture.Key("1"), fixture.Key("2")
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(k) // at work while the host posts
	f.MustAccept(fixture.NewArrival("2", "1", "spawn"))
	posted := func(text string) (*sessions.Change, sessions.Delivery) {
		r := fixture.NewRun(k, "")
		r.Kind, r.Input = sessions.PostRun, fixture.Assistant(text)
		d := fixture.NewDelivery(k, fixture.Address("1"), text)
		d.Message = r.Input.ID
		return &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}, d
	}
	next, sent := posted("report")
	f.MustFinish(f.MustClaim(from).ID, sessions.Outcome{Deliveries: []sessions.Delivery{sent}, Next: next})
	f.Deliver(sent.ID)
	e, waits := posted("by the tool")
	e.Ops = []sessions.Op{sessions.EnqueueDelivery(waits)}
	f.MustSubmit(*e)
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{})), []string{"q"})
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("answer")}})
	for _, want := range []sessions.RunID{next.Run.ID, e.Run.ID} {
		f.Equal(f.MustClaim(k).ID, want)
		f.MustFinish(want, sessions.Outcome{})
	}
	got := f.MustTail(a.Session.ID, sessions.TailQuery{})
	f.Equal(fixture.Texts(got), []string{"q", "answer", "report", "by the tool"})
	mark := func(d sessions.Delivery, state sessions.DeliveryState, rule string) []sessions.Mark {
		return []sessions.Mark{{Delivery: d.ID, State: state, To: fixture.Address("1").String(), Rule: rule}}
	}
	f.Equal(len(got[1].Deliveries()), 0)
	f.Equal(got[2].Deliveries(), mark(sent, sessions.Sent, fixture.Allowed.Rule))
	f.Equal(got[3].Deliveries(), mark(waits, sessions.Pending, ""))
	if _, err := f.BeginSend(f.Context(), waits.ID, time.Now(), fixture.Deny, sessions.FirstContactQuota{}); err != nil {
		f.Fatal(err)
	}
	f.Equal(f.MustTail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Deliveries(), mark(waits, sessions.Withheld, fixture.Denied.Rule))
	if s := f.MustGet(k); s.Turns != 1 {
		f.Errorf("%d turns", s.Turns)
	}
}

// A run that only sums up is no turn: what it was asked is in no transcript, and it says nothing about how the last turn ended.
func compactRun(f *fixture.Store) {
	k := fixture.Key("1")
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(k)
	f.MustFinish(a.Run.ID, sessions.Outcome{Status: sessions.Stopped})
	run := fixture.NewRun(k, "look at the numbers")
	run.Kind = sessions.CompactRun
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *run}})
	f.Equal(f.MustClaim(k).Input.Text(), "look at the numbers")
	d := fixture.NewDelivery(k, fixture.Address("1"), "done")
	f.MustFinish(run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{d}})
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{})), []string{"q"})
	if s := f.MustGet(k); s.Turns != 1 || !s.Aborted {
		f.Errorf("%d turns, aborted %v", s.Turns, s.Aborted)
	}
}

func record(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	m := []sessions.Message{fixture.Assistant("thinking"), fixture.ToolResult("c", "42"), fixture.Assistant("more")}
	f.OK(f.Record(f.Context(), a.Run.ID, m[0], m[1]))
	f.OK(f.Record(f.Context(), a.Run.ID, m[0], m[1], m[2])) // a resumed run records again
	steps, err := f.Steps(f.Context(), a.Run.ID)
	f.OK(err)
	f.Equal(fixture.Texts(steps), []string{"thinking", "42", "more"})
	for i, s := range steps {
		if s.ID != m[i].ID || s.Run != a.Run.ID || s.Seq == 0 {
			f.Errorf("%+v", s)
		}
	}
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m[2], fixture.Assistant("end")}})
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{IncludeTool: true})), []string{"q", "thinking", "42", "more", "end"})
	f.OK(f.Record(f.Context(), a.Run.ID, m[0]))
	f.ErrorIs(f.Record(f.Context(), a.Run.ID, fixture.Assistant("too late")), sessions.ErrConflict)
	f.Equal(len(f.MustTail(a.Session.ID, sessions.TailQuery{IncludeTool: true})), 5)
	f.ErrorIs(f.Record(f.Context(), "nobody", fixture.Assistant("x")), sessions.ErrNotFound)
	if err := f.Record(f.Context(), a.Run.ID, sessions.Message{Role: sessions.Assistant}); err == nil {
		f.Error("a message without an id was recorded")
	}
}

func finish(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	_, err := f.Finish(f.Context(), a.Run.ID, sessions.Outcome{Status: sessions.Done})
	f.ErrorIs(err, sessions.ErrConflict) // not claimed
	f.MustClaim(fixture.Key("1"))
	if _, err := f.Finish(f.Context(), a.Run.ID, sessions.Outcome{Status: sessions.Running}); err == nil {
		f.Error("finished as running")
	}
	m := fixture.Assistant("answer")
	d := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "answer")
	d.Run, d.Message = a.Run.ID, m.ID
	acc := f.MustFinish(a.Run.ID, sessions.Outcome{Status: sessions.Stopped, Messages: []sessions.Message{m}, Result: "answer", Error: "e", Usage: sessions.Usage{Input: 3, Output: 4}, Context: 99, Deliveries: []sessions.Delivery{d}})
	if len(acc.Deliveries) != 1 || acc.Deliveries[0].Seq == 0 || acc.Deliveries[0].State != sessions.Pending || acc.Run.ID != "" {
		f.Errorf("%+v", acc)
	}
	s := f.MustGet(fixture.Key("1"))
	if s.Usage != (sessions.Usage{Input: 3, Output: 4}) || s.Context != 99 || !s.Aborted || s.Updated.Before(a.Session.Updated) {
		f.Errorf("%+v", s)
	}
	r := f.MustGetRun(a.Run.ID)
	if r.Status != sessions.Stopped || r.Result != "answer" || r.Error != "e" || r.Usage.Input != 3 || r.Ended.IsZero() {
		f.Errorf("%+v", r)
	}
	// A second end changes nothing.
	_, err = f.Finish(f.Context(), a.Run.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{fixture.Assistant("other")}, Usage: sessions.Usage{Input: 100}, Deliveries: []sessions.Delivery{fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "x")}})
	f.ErrorIs(err, sessions.ErrConflict)
	f.Equal(f.MustGetRun(a.Run.ID), r)
	f.Equal(f.MustGet(fixture.Key("1")), s)
	f.Equal(fixture.Texts(f.MustTail(s.ID, sessions.TailQuery{})), []string{"q", "answer"})
	// Usage adds up; an unknown context stays; an end that was not a stop clears the mark.
	f.MustAccept(fixture.NewArrival("1", "2", "q2"))
	f.MustFinish(f.MustClaim(fixture.Key("1")).ID, sessions.Outcome{Usage: sessions.Usage{Input: 1}})
	if s := f.MustGet(fixture.Key("1")); s.Usage.Input != 4 || s.Context != 99 || s.Aborted {
		f.Errorf("%+v", s)
	}
	_, err = f.Finish(f.Context(), "nobody", sessions.Outcome{Status: sessions.Done})
	f.ErrorIs(err, sessions.ErrNotFound)
}

func finishNext(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	// An end whose successor cannot be queued does not happen.
	if _, err := f.Finish(f.Context(), a.Run.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{fixture.Assistant("lost")}, Next: &sessions.Change{Run: &sessions.Enqueue{Run: *fixture.NewRun(fixture.Key("nobody"), "x")}}}); err == nil {
		f.Fatal("finished")
	}
	f.Equal(f.MustGetRun(a.Run.ID).Status, sessions.Running)
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{})), []string{"q"})

	next := fixture.NewRun(fixture.Key("2"), "next")
	next.Kind, next.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: fixture.Key("1")}
	d1, d2 := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "one"), fixture.NewDelivery(fixture.Key("2"), fixture.Address("2"), "two")
	acc := f.MustFinish(a.Run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{d1},
		Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("2"), Agent: "main", SpawnedBy: fixture.Key("1")}}, Run: &sessions.Enqueue{Run: *next}, Ops: []sessions.Op{sessions.EnqueueDelivery(d2)}}})
	if acc.Run.ID != next.ID || acc.Run.Status != sessions.Queued || acc.Session.Key != fixture.Key("2") || len(acc.Deliveries) != 2 || acc.Deliveries[0].ID != d1.ID {
		f.Fatalf("%+v", acc)
	}
	f.Equal(f.MustClaim(fixture.Key("2")).Chain, next.Chain)
}

func finishClear(f *fixture.Store) {
	for i, k := range []sessions.Key{fixture.Key("1"), fixture.Key("2")} {
		f.MustAccept(fixture.NewArrival(fmt.Sprint(i+1), "1", "q"))
		o := sessions.Outcome{Status: sessions.Done}
		if i == 0 {
			o.Archive = &k
		} else {
			o.Delete = &k
		}
		f.MustFinish(f.MustClaim(k).ID, o)
	}
	f.Equal(f.MustGet(fixture.Key("1")).Archived, true)
	_, err := f.Get(f.Context(), fixture.Key("2"))
	f.ErrorIs(err, sessions.ErrNotFound)
	gone := fixture.Key("nobody")
	f.MustAccept(fixture.NewArrival("3", "1", "q"))
	f.MustFinish(f.MustClaim(fixture.Key("3")).ID, sessions.Outcome{Archive: &gone, Delete: &gone}) // done before
}

func finishAfterReset(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	s, err := f.Reset(f.Context(), fixture.Key("1"))
	f.OK(err)
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("late")}, Usage: sessions.Usage{Input: 9}, Context: 9})
	if got := f.MustGet(fixture.Key("1")); got.Usage.Input != 0 || got.Context != 0 {
		f.Errorf("figures of the old transcript count for the new one: %+v", got)
	}
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{})), []string{"q", "late"})
	f.Equal(len(f.MustTail(s.ID, sessions.TailQuery{})), 0)
}

package runtest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// What a run was asked for is there when it is claimed and when it is listed.
func runFields(f *fixture.Store) {
	k := fixture.Key("1")
	r := fixture.NewRun(k, "one")
	r.Exclusive, r.System, r.Thinking, r.Model, r.Label = true, "be brief", "low", "mock/other", "x"
	queued := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}).Run
	claimed := f.MustClaim(k)
	for _, got := range []sessions.Run{queued, claimed, f.MustGetRun(r.ID)} {
		f.Equal([]any{got.Exclusive, got.System, got.Thinking, got.Model, got.Label}, []any{true, "be brief", "low", "mock/other", "x"})
	}
}

func claim(f *fixture.Store) {
	k := fixture.Key("1")
	f.NothingToClaim(k)
	var ids []sessions.RunID
	for i := range 3 {
		ids = append(ids, f.MustAccept(fixture.NewArrival("1", fmt.Sprint(i), fmt.Sprint("q", i))).Run.ID)
	}
	for _, want := range ids {
		r := f.MustClaim(k)
		if r.ID != want || r.Status != sessions.Running || r.Attempt != 1 || r.Started.IsZero() || !r.Deadline.IsZero() {
			f.Fatalf("%+v, want %s", r, want)
		}
		f.Equal(f.MustGetRun(want), r)
		f.NothingToClaim(k) // one at a time
		f.MustFinish(r.ID, sessions.Outcome{})
	}
	f.NothingToClaim(k)
}

func claimConcurrent(f *fixture.Store) {
	const chats, runs = 4, 6
	var wg sync.WaitGroup
	for c := range chats {
		wg.Go(func() {
			for i := range runs {
				if _, err := f.Accept(f.Context(), fixture.NewArrival(fmt.Sprint(c), fmt.Sprint(i), fmt.Sprint(i))); err != nil {
					f.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var done atomic.Int64
	for w := range 3 * chats {
		wg.Go(func() { // three workers fight for each session
			for done.Load() < chats*runs {
				r, ok, err := f.Claim(f.Context(), fixture.Key(fmt.Sprint(w%chats)))
				if err != nil {
					f.Error(err)
					return
				}
				if !ok {
					continue
				}
				if _, ok, _ := f.Claim(f.Context(), r.Key); ok {
					f.Error("two runs of one session at once")
				}
				if _, err := f.Finish(f.Context(), r.ID, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{fixture.Assistant("to " + r.Input.Text())}}); err != nil {
					f.Error(err)
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
		f.Equal(fixture.Texts(f.MustTail(f.MustGet(fixture.Key(fmt.Sprint(c))).ID, sessions.TailQuery{})), want)
	}
}

func claimTranscript(f *fixture.Store) {
	k := fixture.Key("1")
	a := f.MustAccept(fixture.NewArrival("1", "1", "first"))
	f.MustAccept(fixture.NewArrival("1", "2", "second"))
	s := a.Session.ID
	f.MustClaim(k)
	f.Equal(fixture.Texts(f.MustTail(s, sessions.TailQuery{})), []string{"first"})
	if _, _, err := f.Recover(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.Equal(f.MustClaim(k).Attempt, 2)
	f.Equal(fixture.Texts(f.MustTail(s, sessions.TailQuery{})), []string{"first"}) // once
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("answer")}})
	f.MustClaim(k)
	f.Equal(fixture.Texts(f.MustTail(s, sessions.TailQuery{})), []string{"first", "answer", "second"})
}

// claimAtOnce claims in the commit that queues.
func claimAtOnce(f *fixture.Store) {
	k := fixture.Key("1")
	claiming := func(id, text string) sessions.Arrival {
		a := fixture.NewArrival("1", id, text)
		a.Change.Run.Claim = true
		return a
	}
	first := f.MustAccept(claiming("1", "one"))
	r := first.Claimed
	if r == nil || r.ID != first.Run.ID || r.Status != sessions.Running || r.Attempt != 1 || r.Started.IsZero() || first.Run.Status != sessions.Queued {
		f.Fatalf("claimed %+v of %+v", r, first.Run)
	}
	f.Equal(f.MustGetRun(r.ID), *r)
	f.Equal(fixture.Texts(f.MustTail(first.Session.ID, sessions.TailQuery{})), []string{"one"})
	for _, a := range []sessions.Arrival{claiming("1", "one"), claiming("2", "two"), claiming("3", "three")} { // it comes again; one is running
		if acc := f.MustAccept(a); acc.Claimed != nil {
			f.Errorf("claimed %+v", acc.Claimed)
		}
	}
	next := fixture.NewRun(fixture.Key("2"), "next")
	next.Timeout = time.Hour
	acc := f.MustFinish(r.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("answer")}, Next: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("2"), Agent: "main"}}, Run: &sessions.Enqueue{Run: *next, Claim: true}}})
	if acc.Claimed == nil || acc.Claimed.ID != next.ID || acc.Claimed.Deadline.Sub(acc.Claimed.Started) != time.Hour {
		f.Fatalf("claimed %+v", acc.Claimed)
	}
	f.NothingToClaim(fixture.Key("2"))
	if acc := f.MustAccept(claiming("4", "four")); acc.Claimed == nil || acc.Claimed.Input.Text() != "two" { // in order of acceptance
		f.Fatalf("claimed %+v", acc.Claimed)
	}
	f.Equal(fixture.Texts(f.MustTail(first.Session.ID, sessions.TailQuery{})), []string{"one", "answer", "two"})
	if keys, _, err := f.Recover(f.Context()); err != nil || len(keys) != 2 {
		f.Fatal(keys, err)
	}
	f.Equal(f.MustClaim(k).Attempt, 2)
}

// proves: N9
func deadline(f *fixture.Store) {
	r := fixture.NewRun(fixture.Key("1"), "x")
	r.Timeout = time.Hour
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1")}}, Run: &sessions.Enqueue{Run: *r}})
	first := f.MustClaim(fixture.Key("1"))
	if d := first.Deadline.Sub(first.Started); d != time.Hour {
		f.Fatalf("deadline %s after the start", d)
	}
	if _, _, err := f.Recover(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.Equal(f.MustClaim(fixture.Key("1")).Deadline, first.Deadline)
}

func recovered(f *fixture.Store) {
	f.MustAccept(fixture.NewArrival("2", "1", "oldest"))
	a := f.MustAccept(fixture.NewArrival("1", "1", "a"))
	b := f.MustAccept(fixture.NewArrival("1", "2", "b"))
	f.MustAccept(fixture.NewArrival("3", "1", "ended"))
	f.MustFinish(f.MustClaim(fixture.Key("3")).ID, sessions.Outcome{})
	f.MustClaim(fixture.Key("1"))
	pending, sending := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "p")), f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "s"))
	f.OK(f.Calling(f.MustBeginSend(sending.ID)))
	ks, ambiguous, err := f.Recover(f.Context())
	f.OK(err)
	f.Equal(ks, []sessions.Key{fixture.Key("2"), fixture.Key("1")})
	if len(ambiguous) != 1 || ambiguous[0].ID != sending.ID || ambiguous[0].State != sessions.Sending {
		f.Errorf("%+v", ambiguous)
	}
	f.Equal(f.MustGetDelivery(pending.ID).State, sessions.Pending)
	r := f.MustClaim(fixture.Key("1"))
	if r.ID != a.Run.ID || r.Attempt != 2 {
		f.Errorf("claimed %s attempt %d, want the interrupted run again", r.ID, r.Attempt)
	}
	f.NothingToClaim(fixture.Key("1"))
	f.MustFinish(r.ID, sessions.Outcome{})
	f.Equal(f.MustClaim(fixture.Key("1")).ID, b.Run.ID)
}

func listRuns(f *fixture.Store) {
	var ids []sessions.RunID
	for i := range 4 {
		ids = append(ids, f.MustAccept(fixture.NewArrival(fmt.Sprint(i%2), fmt.Sprint(i), "x")).Run.ID)
	}
	child := fixture.NewRun(fixture.Key("c"), "task")
	child.Kind, child.Chain = sessions.ChildRun, &sessions.Chain{Kind: "spawn", Requester: fixture.Key("0")}
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("c")}}, Run: &sessions.Enqueue{Run: *child}})
	f.MustClaim(fixture.Key("0"))
	for _, c := range []struct {
		q    sessions.RunQuery
		want []sessions.RunID
	}{
		{sessions.RunQuery{}, []sessions.RunID{child.ID, ids[3], ids[2], ids[1], ids[0]}},
		{sessions.RunQuery{Limit: 2}, []sessions.RunID{child.ID, ids[3]}},
		{sessions.RunQuery{Key: fixture.Key("1")}, []sessions.RunID{ids[3], ids[1]}},
		{sessions.RunQuery{Parent: fixture.Key("0")}, []sessions.RunID{child.ID}},
		{sessions.RunQuery{Status: sessions.Running}, []sessions.RunID{ids[0]}},
		{sessions.RunQuery{Status: sessions.Done}, nil},
	} {
		runs, err := f.ListRuns(f.Context(), c.q)
		f.OK(err)
		var got []sessions.RunID
		for _, r := range runs {
			got = append(got, r.ID)
		}
		f.Equal(got, c.want)
	}
}

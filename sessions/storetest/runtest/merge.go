package runtest

import (
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func mergeChildRuns(f *fixture.Store, r sessions.RunID) []string {
	f.Helper()
	msgs, err := f.MergeQueued(f.Context(), r, sessions.MergeQuery{Kind: sessions.ChildRun})
	f.OK(err)
	for _, m := range msgs {
		if m.Run != r || m.Role != sessions.User || m.Provenance == nil {
			f.Errorf("%+v", m)
		}
	}
	return fixture.Texts(msgs)
}

func stepTexts(f *fixture.Store, r sessions.RunID) []string {
	f.Helper()
	msgs, err := f.Steps(f.Context(), r)
	f.OK(err)
	return fixture.Texts(msgs)
}

// The running turn merges what waits, as steps of its own, whether or not it is interrupted.
func absorb(f *fixture.Store) {
	k := fixture.Key("1")
	r := f.QueueRun(k, "", sessions.ChildRun, "task")
	_, err := f.MergeQueued(f.Context(), r.ID, sessions.MergeQuery{Kind: sessions.ChildRun})
	f.ErrorIs(err, sessions.ErrConflict) // not at work
	f.MustClaim(k)
	f.Equal(len(mergeChildRuns(f, r.ID)), 0)
	f.OK(f.Record(f.Context(), r.ID, fixture.Assistant("step")))
	one, announce, two, turn := f.QueueRun(k, "", sessions.ChildRun, "one"), f.QueueRun(k, "", sessions.AnnounceRun, "announce"), f.QueueRun(k, "", sessions.ChildRun, "two"), f.QueueRun(k, "", sessions.TurnRun, "turn")
	other := f.QueueRun(fixture.Key("2"), "", sessions.ChildRun, "elsewhere")
	f.Equal(mergeChildRuns(f, r.ID), []string{"one", "two"})
	f.Equal(mergeChildRuns(f, r.ID), []string{"one", "two"}) // its answer was lost: the same once more
	for _, id := range []sessions.RunID{one.ID, two.ID} {
		if got := f.MustGetRun(id); got.Status != sessions.Done || got.Ended.IsZero() || got.Attempt != 0 {
			f.Errorf("%+v", got)
		}
		_, err := f.Finish(f.Context(), id, sessions.Outcome{Status: sessions.Done})
		f.ErrorIs(err, sessions.ErrConflict)
	}
	want := []string{"step", "one", "two"}
	f.Equal(stepTexts(f, r.ID), want)
	if _, _, err := f.Recover(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.Equal(f.MustClaim(k).ID, r.ID)
	f.Equal(stepTexts(f, r.ID), want)
	f.OK(f.Record(f.Context(), r.ID, fixture.Assistant("next")))
	f.Equal(len(mergeChildRuns(f, r.ID)), 0)
	f.QueueRun(k, "", sessions.ChildRun, "three")
	f.Equal(mergeChildRuns(f, r.ID), []string{"three"})
	f.MustFinish(r.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("end")}})
	f.Equal(fixture.Texts(f.MustTail(r.Session, sessions.TailQuery{})), []string{"task", "step", "one", "two", "next", "three", "end"})
	f.Equal(f.MustGet(k).Turns, 1)
	for _, id := range []sessions.RunID{announce.ID, turn.ID} { // what is of another kind has its own turn
		f.Equal(f.MustClaim(k).ID, id)
		f.MustFinish(id, sessions.Outcome{})
	}
	f.NothingToClaim(k)
	f.Equal(f.MustGetRun(other.ID).Status, sessions.Queued)
	_, err = f.MergeQueued(f.Context(), r.ID, sessions.MergeQuery{Kind: sessions.ChildRun})
	f.ErrorIs(err, sessions.ErrConflict)
	_, err = f.MergeQueued(f.Context(), "nobody", sessions.MergeQuery{Kind: sessions.ChildRun})
	f.ErrorIs(err, sessions.ErrNotFound)
}

// What belongs to a new transcript, was posted by the host, or came after a stop is not taken up.
func absorbNot(f *fixture.Store) {
	k := fixture.Key("1")
	r := f.QueueRun(k, "", sessions.ChildRun, "task")
	f.MustClaim(k)
	post := fixture.NewRun(k, "")
	post.Kind, post.Input = sessions.ChildRun, fixture.Assistant("posted")
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *post}})
	f.Equal(len(mergeChildRuns(f, r.ID)), 0)
	if _, err := f.Reset(f.Context(), k); err != nil {
		f.Fatal(err)
	}
	late := f.QueueRun(k, "", sessions.ChildRun, "in the new transcript")
	f.Equal(len(mergeChildRuns(f, r.ID)), 0)
	f.MustFinish(r.ID, sessions.Outcome{})
	f.Equal(f.MustClaim(k).ID, post.ID)
	f.MustFinish(post.ID, sessions.Outcome{})
	f.Equal(f.MustClaim(k).ID, late.ID)
	f.StopSessions(k)
	after := f.QueueRun(k, "", sessions.ChildRun, "after the stop")
	f.Equal(len(mergeChildRuns(f, late.ID)), 0)
	f.MustFinish(late.ID, sessions.Outcome{Status: sessions.Stopped})
	f.Equal(f.MustClaim(k).ID, after.ID)
}

// proves: S12
func turns(f *fixture.Store) {
	k := fixture.Key("1")
	began := time.Now().Add(-time.Minute)
	kinds := []sessions.RunKind{sessions.TurnRun, sessions.AskRun, sessions.ReplyRun, sessions.ResultRun, sessions.ChildRun, sessions.AnnounceRun, sessions.PostRun}
	for i, kind := range kinds {
		f.QueueRun(k, "", kind, "x")
		status := []sessions.RunStatus{sessions.Done, sessions.Failed, sessions.TimedOut, sessions.Stopped}[i%4]
		f.MustFinish(f.MustClaim(k).ID, sessions.Outcome{Status: status})
	}
	f.QueueRun(fixture.Key("2"), "", sessions.AskRun, "of another session")
	if s := f.MustGet(k); s.Turns != 6 || s.ByAgents != 3 {
		f.Errorf("%d turns, %d of them by agents", s.Turns, s.ByAgents)
	}
	open := func(want int) {
		f.Helper()
		if n, err := f.CountOpen(f.Context(), k); err != nil || n != want {
			f.Errorf("%d runs are open, want %d (%v)", n, want, err)
		}
	}
	open(0)
	f.QueueRun(k, "", sessions.AskRun, "waits")
	open(1)
	if s := f.MustGet(k); s.Turns != 6 || s.ByAgents != 3 {
		f.Error("what waits is counted")
	}
	for _, c := range []struct {
		key   sessions.Key
		since time.Time
		most  int
		want  int
	}{{k, began, 100, 4}, {k, began, 3, 3}, {k, time.Now().Add(time.Minute), 100, 0}, {fixture.Key("2"), began, 100, 1}, {"nobody", began, 100, 0}} {
		n, err := f.CountByAgents(f.Context(), c.key, c.since, c.most)
		f.OK(err)
		if n != c.want {
			f.Errorf("%+v: %d", c, n)
		}
	}
	f.MustClaim(k)
	open(1)
	oldest, err := f.ListRuns(f.Context(), sessions.RunQuery{Key: k, Oldest: true, Limit: 2})
	f.OK(err)
	if len(oldest) != 2 || oldest[0].Kind != kinds[0] || oldest[1].Kind != kinds[1] {
		f.Errorf("the oldest are %+v", oldest)
	}
	s, err := f.Reset(f.Context(), k)
	f.OK(err)
	runs, err := f.ListRuns(f.Context(), sessions.RunQuery{Key: k, Status: sessions.Running})
	f.OK(err)
	f.MustFinish(runs[0].ID, sessions.Outcome{}) // of the old transcript
	if now := f.MustGet(k); s.Turns+s.ByAgents+now.Turns+now.ByAgents != 0 {
		f.Errorf("after a reset: %+v", now)
	}
	if n, err := f.CountByAgents(f.Context(), k, began, 100); err != nil || n != 4 {
		f.Error("a reset makes room under the cap:", n, err)
	}
}

func mergeTurns(f *fixture.Store, r sessions.RunID, q sessions.MergeQuery) []string {
	f.Helper()
	q.Kind = sessions.TurnRun
	msgs, err := f.MergeQueued(f.Context(), r, q)
	f.OK(err)
	return fixture.Texts(msgs)
}

// A batch is what the caller chooses of what waits; its runs name the one that answers them.
func batch(f *fixture.Store) {
	k, here, there := fixture.Key("1"), fixture.Address("1"), fixture.Address("2")
	r := f.QueueTurn(k, here, "one")
	two, three := f.QueueTurn(k, here, "two"), f.QueueTurn(k, here, "three")
	aside := f.QueueRun(k, "", sessions.ResultRun, "of another kind")
	four, five, six := f.QueueTurn(k, here, "four"), f.QueueTurn(k, there, "five"), f.QueueTurn(k, here, "six")
	f.MustClaim(k)
	f.Equal(len(mergeTurns(f, r.ID, sessions.MergeQuery{Only: []sessions.RunID{r.ID, "nobody"}})), 0)
	f.Equal(mergeTurns(f, r.ID, sessions.MergeQuery{Only: []sessions.RunID{two.ID}}), []string{"two"})
	for range 2 {
		f.Equal(mergeTurns(f, r.ID, sessions.MergeQuery{Only: []sessions.RunID{three.ID, four.ID}}), []string{"two", "three", "four"})
	}
	for _, x := range []sessions.Run{two, three, four} {
		got := f.MustGetRun(x.ID)
		f.Equal(got.MergedInto, r.ID)
		f.Equal(got.Status, sessions.Done)
	}
	list, err := f.ListRuns(f.Context(), sessions.RunQuery{MergedInto: r.ID})
	f.OK(err)
	f.Equal([]sessions.RunID{list[0].ID, list[1].ID, list[2].ID}, []sessions.RunID{four.ID, three.ID, two.ID})
	f.Equal(len(list), 3)
	f.MustFinish(r.ID, sessions.Outcome{})
	for _, x := range []sessions.Run{r, aside, five, six} {
		f.Equal(f.MustGetRun(x.ID).MergedInto, sessions.RunID(""))
	}
	f.Equal(f.MustClaim(k).ID, aside.ID)
	f.MustFinish(aside.ID, sessions.Outcome{})
	f.Equal(f.MustClaim(k).ID, five.ID)
	f.Equal(mergeTurns(f, five.ID, sessions.MergeQuery{}), []string{"six"})
	list, err = f.ListRuns(f.Context(), sessions.RunQuery{Key: k, Limit: 1})
	f.OK(err)
	f.Equal(list[0].MergedInto, five.ID)
	seven, eight := f.QueueTurn(k, there, "seven"), f.QueueTurn(k, there, "eight")
	f.Equal(mergeTurns(f, five.ID, sessions.MergeQuery{Only: []sessions.RunID{eight.ID}}), []string{"six", "eight"})
	f.Equal(f.MustGetRun(seven.ID).Status, sessions.Queued)
}

// Of a batch that is too long the older messages are cut to what the caller makes of them, in the transcript, too.
func batchShort(f *fixture.Store) {
	k := fixture.Key("1")
	r := f.QueueTurn(k, fixture.Address("1"), "one")
	for _, text := range []string{"two", "three", "four"} {
		f.QueueTurn(k, fixture.Address("1"), text)
	}
	f.MustClaim(k)
	short := func(m sessions.Message) []sessions.Block { return sessions.TextContent("- " + m.Text()) }
	for range 2 {
		f.Equal(mergeTurns(f, r.ID, sessions.MergeQuery{Full: 1, Short: short}), []string{"- two", "- three", "four"})
	}
	f.OK(f.Record(f.Context(), r.ID, fixture.Assistant("step")))
	five := f.QueueTurn(k, fixture.Address("1"), "five")
	f.QueueTurn(k, fixture.Address("1"), "six")
	f.Equal(mergeTurns(f, r.ID, sessions.MergeQuery{Full: 2, Short: short}), []string{"five", "six"})
	f.Equal(f.MustGetRun(five.ID).MergedInto, r.ID)
	f.Equal(stepTexts(f, r.ID), []string{"- two", "- three", "four", "step", "five", "six"})
}

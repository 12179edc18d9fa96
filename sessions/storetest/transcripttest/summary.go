package transcripttest

import (
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// A summary covers more each time, never changes the transcript, and goes with it.
func compact(f *fixture.Store) {
	k := fixture.Key("1")
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(k)
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("a"), fixture.Assistant("b")}, Context: 900})
	before := f.MustTail(a.Session.ID, sessions.TailQuery{})
	summary := func() (sessions.Summary, bool) {
		f.Helper()
		s, ok, err := f.Summary(f.Context(), a.Session.ID)
		f.OK(err)
		return s, ok
	}
	if _, ok := summary(); ok {
		f.Fatal("a summary of nothing")
	}
	one := sessions.Summary{ID: fixture.NewID(), Session: a.Session.ID, Upto: before[0].Seq, Text: "they met\x00", Messages: 1, Before: 900, Context: 100, Run: a.Run.ID, Time: time.UnixMilli(1_700_000_000_000)}
	one.Judged = []sessions.Judgement{{Model: "a/b", Out: []string{"m1"}, Suspects: []string{"m2", "m3"}}}
	for range 2 {
		f.OK(f.Compact(f.Context(), one))
		f.Equal(f.MustGet(k).Context, 100)
	}
	got, ok := summary()
	one.Number = 1
	got.Text = one.Text // PostgreSQL has no NUL
	if f.Equal(got, one); !ok {
		f.Error("it is not there")
	}
	behind := one
	behind.ID = fixture.NewID()
	f.ErrorIs(f.Compact(f.Context(), behind), sessions.ErrConflict)
	two := sessions.Summary{ID: fixture.NewID(), Session: a.Session.ID, Upto: before[1].Seq, Text: "they talked"}
	f.OK(f.Compact(f.Context(), two))
	if got, _ = summary(); got.Number != 2 || got.Text != "they talked" || got.Upto != two.Upto || got.Time.IsZero() {
		f.Errorf("%+v", got)
	}
	f.OK(f.Compact(f.Context(), one)) // the same one once more, late
	f.Equal(f.MustGet(k).Context, 0)
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{})), fixture.Texts(before))
	f.ErrorIs(f.Compact(f.Context(), sessions.Summary{ID: fixture.NewID(), Session: "nobody", Upto: 1}), sessions.ErrNotFound)
	if f.Compact(f.Context(), sessions.Summary{Session: a.Session.ID, Upto: 99}) == nil {
		f.Error("a summary without an id was taken")
	}

	// A new transcript has none, the old one keeps its own, and its figure is not the session's any more.
	s, err := f.Reset(f.Context(), k)
	f.OK(err)
	f.OK(f.Compact(f.Context(), sessions.Summary{ID: fixture.NewID(), Session: a.Session.ID, Upto: before[2].Seq, Context: 5}))
	f.Equal(f.MustGet(k).Context, 0)
	_, ok, err = f.Summary(f.Context(), s.ID)
	f.OK(err)
	f.Equal(ok, false)
	if got, _ = summary(); got.Number != 3 {
		f.Errorf("%+v", got)
	}
	f.OK(f.Delete(f.Context(), k))
	if _, ok := summary(); ok {
		f.Error("the summary of a deleted session is there")
	}
	f.ErrorIs(f.Compact(f.Context(), sessions.Summary{ID: fixture.NewID(), Session: a.Session.ID, Upto: 1 << 40}), sessions.ErrNotFound)
}

// What a turn's view begins behind is kept with the end of the turn. Where there is nothing to keep, the turn ends all the same.
func finishSummary(f *fixture.Store) {
	k := fixture.Key("1")
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(k)
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("a"), fixture.Assistant("b")}})
	told := f.MustTail(a.Session.ID, sessions.TailQuery{})
	turn := func(n string, sum sessions.Summary, context int) {
		f.Helper()
		x := f.MustAccept(fixture.NewArrival("1", n, "q"+n))
		f.MustClaim(k)
		f.MustFinish(x.Run.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("a" + n)}, Summary: &sum, Context: context})
		f.Equal(f.MustGetRun(x.Run.ID).Status, sessions.Done)
	}
	kept := func() sessions.Summary {
		f.Helper()
		s, _, err := f.Summary(f.Context(), a.Session.ID)
		f.OK(err)
		return s
	}
	one := sessions.Summary{ID: fixture.NewID(), Session: a.Session.ID, Upto: told[1].Seq, Messages: 2, Before: 900, Context: 100, Run: a.Run.ID, Time: time.UnixMilli(1_700_000_000_000)}
	turn("2", one, 0)
	f.Equal(f.MustGet(k).Context, 100)
	one.Number = 1
	f.Equal(kept(), one)
	turn("3", sessions.Summary{ID: fixture.NewID(), Session: a.Session.ID, Upto: told[1].Seq}, 0)
	turn("4", sessions.Summary{ID: fixture.NewID(), Session: "nobody", Upto: told[2].Seq}, 0)
	f.Equal(kept(), one)
	turn("5", sessions.Summary{ID: fixture.NewID(), Session: a.Session.ID, Upto: told[2].Seq, Context: 50}, 700)
	f.Equal(kept().Upto, told[2].Seq)
	f.Equal(f.MustGet(k).Context, 700)

	x := f.MustAccept(fixture.NewArrival("1", "6", "q6"))
	f.MustClaim(k)
	if _, err := f.Finish(f.Context(), x.Run.ID, sessions.Outcome{Status: sessions.Done, Summary: &sessions.Summary{Session: a.Session.ID, Upto: 1 << 40}}); err == nil {
		f.Error("a summary without an id was taken")
	}
	f.Equal(f.MustGetRun(x.Run.ID).Status, sessions.Running)
}

package transcripttest

import (
	"fmt"
	"slices"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// A transcript is read backwards page by page, and only by those who name the session that it is of.
func tailBefore(f *fixture.Store) {
	k := fixture.Key("1")
	s := f.MakeSession(k)
	r := f.QueueTurn(k, fixture.Address("1"), "one")
	f.MustClaim(k)
	f.MustFinish(r.ID, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant("two"), fixture.Assistant("three")}})
	var before int64
	for _, want := range []string{"three", "two", "one"} {
		msgs, err := f.Tail(f.Context(), s.ID, sessions.TailQuery{Limit: 1, Before: before, Of: k})
		f.OK(err)
		f.Equal(fixture.Texts(msgs), []string{want})
		before = msgs[0].Seq
	}
	msgs, err := f.Tail(f.Context(), s.ID, sessions.TailQuery{Before: before})
	f.OK(err)
	f.Equal(len(msgs), 0)
	_, err = f.Reset(f.Context(), k)
	f.OK(err)
	msgs, err = f.Tail(f.Context(), s.ID, sessions.TailQuery{Of: k})
	f.OK(err)
	f.Equal(fixture.Texts(msgs), []string{"one", "two", "three"})
	_, err = f.Tail(f.Context(), s.ID, sessions.TailQuery{Of: fixture.Key("2")})
	f.ErrorIs(err, sessions.ErrNotFound)
}

// Tail gives only what is behind a message.
func tailAfter(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	f.OK(f.Record(f.Context(), a.Run.ID, fixture.Assistant("a"), fixture.ToolResult("c", "r"), fixture.Assistant("b"), fixture.Assistant("c")))
	all := f.MustTail(a.Session.ID, sessions.TailQuery{IncludeTool: true})
	for _, c := range []struct {
		q    sessions.TailQuery
		want []string
	}{
		{sessions.TailQuery{After: all[1].Seq}, []string{"b", "c"}},
		{sessions.TailQuery{After: all[1].Seq, IncludeTool: true}, []string{"r", "b", "c"}},
		{sessions.TailQuery{After: all[0].Seq, Limit: 2}, []string{"b", "c"}},
		{sessions.TailQuery{After: all[0].Seq, Limit: 2, Offset: 2}, []string{"a"}},
		{sessions.TailQuery{After: all[4].Seq}, nil},
	} {
		f.Equal(fixture.Texts(f.MustTail(a.Session.ID, c.q)), c.want)
	}
}

// The number of a message is its place in its own transcript: it tells nothing of what other sessions say.
// source: CWE-203
func tailNumbers(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "a"))
	f.MustClaim(fixture.Key("1"))
	b := f.MustAccept(fixture.NewArrival("2", "1", "x"))
	f.MustClaim(fixture.Key("2"))
	for _, m := range []sessions.Message{fixture.Assistant("b"), fixture.ToolResult("c", "c"), fixture.Assistant("d"), fixture.Assistant("e")} {
		f.OK(f.Record(f.Context(), a.Run.ID, m))
		f.OK(f.Record(f.Context(), b.Run.ID, fixture.Assistant("y"), fixture.Assistant("z")))
	}
	for _, c := range []struct {
		name string
		q    sessions.TailQuery
		text []string
		want []int64
	}{
		{"all", sessions.TailQuery{IncludeTool: true}, []string{"a", "b", "c", "d", "e"}, []int64{1, 2, 3, 4, 5}},
		{"the end", sessions.TailQuery{Limit: 1}, []string{"e"}, []int64{5}},
		{"without results", sessions.TailQuery{}, []string{"a", "b", "d", "e"}, []int64{1, 2, 4, 5}},
		{"a page", sessions.TailQuery{Limit: 2, Offset: 1}, []string{"b", "d"}, []int64{2, 4}},
		{"before a number", sessions.TailQuery{BeforeNumber: 4, IncludeTool: true}, []string{"a", "b", "c"}, []int64{1, 2, 3}},
		{"before the last", sessions.TailQuery{BeforeNumber: 5, Limit: 1}, []string{"d"}, []int64{4}},
		{"before the first", sessions.TailQuery{BeforeNumber: 1}, nil, nil},
		{"before none", sessions.TailQuery{BeforeNumber: 1 << 60, Limit: 1}, []string{"e"}, []int64{5}},
		{"before one to come", sessions.TailQuery{BeforeNumber: 6, Limit: 1}, []string{"e"}, []int64{5}},
		{"for a prompt", sessions.TailQuery{Limit: 1, Opaque: true}, []string{"e"}, []int64{0}},
	} {
		var got []int64
		msgs := f.MustTail(a.Session.ID, c.q)
		for _, m := range msgs {
			got = append(got, int64(m.Number))
		}
		if !slices.Equal(fixture.Texts(msgs), c.text) || !slices.Equal(got, c.want) {
			f.Errorf("%s: %v %v, want %v %v", c.name, fixture.Texts(msgs), got, c.text, c.want)
		}
	}
	f.OK(f.Record(f.Context(), a.Run.ID, fixture.Assistant("f")))
	f.Equal(f.MustTail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Number, int32(6))
	f.MustFinish(a.Run.ID, sessions.Outcome{})
	again, err := f.Reset(f.Context(), fixture.Key("1"))
	f.OK(err)
	c := f.MustAccept(fixture.NewArrival("1", "2", "a"))
	f.MustClaim(fixture.Key("1"))
	f.Equal(f.MustTail(again.ID, sessions.TailQuery{})[0].Number, int32(1))
	f.Equal(c.Session.ID, again.ID)
	f.Equal(f.MustTail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Number, int32(6))
}

func tail(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	var want []string
	for i := range 10 {
		m := fixture.Assistant(fmt.Sprint(i))
		if i%2 == 1 {
			m = fixture.ToolResult("c", fmt.Sprint(i))
		}
		f.OK(f.Record(f.Context(), a.Run.ID, m))
		want = append(want, fmt.Sprint(i))
	}
	for _, c := range []struct {
		q    sessions.TailQuery
		want []string
	}{
		{sessions.TailQuery{IncludeTool: true}, append([]string{"q"}, want...)},
		{sessions.TailQuery{}, []string{"q", "0", "2", "4", "6", "8"}},
		{sessions.TailQuery{Limit: 2}, []string{"6", "8"}},
		{sessions.TailQuery{Limit: 2, Offset: 1}, []string{"4", "6"}},
		{sessions.TailQuery{Limit: 3, Offset: 1, IncludeTool: true}, []string{"6", "7", "8"}},
		{sessions.TailQuery{Offset: 100}, nil},
	} {
		f.Equal(fixture.Texts(f.MustTail(a.Session.ID, c.q)), c.want)
	}
	_, err := f.Tail(f.Context(), "nobody", sessions.TailQuery{})
	f.ErrorIs(err, sessions.ErrNotFound)
}

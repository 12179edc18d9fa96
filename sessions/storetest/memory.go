package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// line is a group message that is kept as context.
func line(k sessions.Key, n, keep int) sessions.Arrival {
	text := fmt.Sprint("line ", n)
	return sessions.Arrival{
		In:   channels.Inbound{Event: channels.Message, Address: addr(string(k)), ID: channels.MessageID(fmt.Sprint(n)), Text: text},
		Skip: &sessions.Skip{Reason: "not mentioned", Events: []sessions.SkipEvent{sessions.AppendContext{Key: k, Sender: "7", Name: "Ann \x00", Text: text, Message: channels.MessageID(fmt.Sprint(n)), Time: time.UnixMilli(1_700_000_000_000 + int64(n)), Keep: keep}}},
	}
}

func (f *fixture) overheard(k sessions.Key) (out []string) {
	f.t.Helper()
	lines, err := f.ContextLines(f.ctx, k)
	f.ok(err)
	for _, x := range lines {
		out = append(out, x.Text)
	}
	return out
}

// What is overheard stays, up to a bound, until a turn of its session has it as part of its input, or the session starts over.
func overheard(_ *testing.T, f *fixture) {
	a, b := sessions.Key("agent:main:telegram:group:a"), sessions.Key("agent:main:telegram:group:b")
	for n := range 5 {
		f.accept(line(a, n, 3))
		f.equal(f.accept(line(a, n, 3)).Duplicate, true)
	}
	f.accept(line(b, 1, 3))
	f.equal(f.overheard(a), []string{"line 2", "line 3", "line 4"})
	lines, err := f.ContextLines(f.ctx, a)
	f.ok(err)
	if x := lines[0]; x.Key != a || x.Sender != "7" || x.Name == "" || x.Message != "2" || x.Time.UnixMilli() != 1_700_000_000_002 || x.Seq >= lines[1].Seq {
		f.t.Errorf("%+v", x)
	}
	f.accept(line(a, 5, 2))
	f.equal(f.overheard(a), []string{"line 4", "line 5"})

	// The turn takes what it was shown; what came meanwhile stays.
	lines, err = f.ContextLines(f.ctx, a)
	f.ok(err)
	f.accept(line(a, 6, 3))
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: a}, Ops: []sessions.SessionOp{sessions.ConsumeContext{UpTo: lines[1].Seq}}}, Run: &sessions.Enqueue{Run: *newRun(a, "q")}})
	f.equal(f.overheard(a), []string{"line 6"})
	f.equal(f.overheard(b), []string{"line 1"})

	_, err = f.Reset(f.ctx, a)
	f.ok(err)
	f.equal(len(f.overheard(a)), 0)
	f.accept(line(a, 7, 3))
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: a}, Ops: []sessions.SessionOp{sessions.ResetSession{}}}})
	f.equal(len(f.overheard(a)), 0)
	f.accept(line(a, 8, 3))
	f.ok(f.Delete(f.ctx, a))
	f.equal(len(f.overheard(a)), 0)
	f.equal(f.overheard(b), []string{"line 1"})
	f.accept(line(b, 9, 0))
	f.equal(len(f.overheard(b)), 0)

	both := line(b, 10, 3)
	both.Change = &sessions.Change{}
	if _, err := f.Accept(f.ctx, both); err == nil {
		f.t.Error("a message was overheard and answered")
	}
}

// A summary covers more each time, never changes the transcript, and goes with it.
func compact(_ *testing.T, f *fixture) {
	k := key("1")
	a := f.accept(message("1", "1", "q"))
	f.claim(k)
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{assistant("a"), assistant("b")}, Context: 900})
	before := f.tail(a.Session.ID, sessions.TailQuery{})
	summary := func() (sessions.Summary, bool) {
		f.t.Helper()
		s, ok, err := f.Summary(f.ctx, a.Session.ID)
		f.ok(err)
		return s, ok
	}
	if _, ok := summary(); ok {
		f.t.Fatal("a summary of nothing")
	}
	one := sessions.Summary{ID: id(), Session: a.Session.ID, Upto: before[0].Seq, Text: "they met\x00", Messages: 1, Before: 900, Context: 100, Run: a.Run.ID, Time: time.UnixMilli(1_700_000_000_000)}
	one.Judged = []sessions.Judgement{{Model: "a/b", Out: []string{"m1"}, Suspects: []string{"m2", "m3"}}}
	for range 2 {
		f.ok(f.Compact(f.ctx, one))
		f.equal(f.get(k).Context, 100)
	}
	got, ok := summary()
	one.Number = 1
	got.Text = one.Text // PostgreSQL has no NUL
	if f.equal(got, one); !ok {
		f.t.Error("it is not there")
	}
	behind := one
	behind.ID = id()
	f.is(f.Compact(f.ctx, behind), sessions.ErrConflict)
	two := sessions.Summary{ID: id(), Session: a.Session.ID, Upto: before[1].Seq, Text: "they talked"}
	f.ok(f.Compact(f.ctx, two))
	if got, _ = summary(); got.Number != 2 || got.Text != "they talked" || got.Upto != two.Upto || got.Time.IsZero() {
		f.t.Errorf("%+v", got)
	}
	f.ok(f.Compact(f.ctx, one)) // the same one once more, late
	f.equal(f.get(k).Context, 0)
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{})), texts(before))
	f.is(f.Compact(f.ctx, sessions.Summary{ID: id(), Session: "nobody", Upto: 1}), sessions.ErrNotFound)
	if f.Compact(f.ctx, sessions.Summary{Session: a.Session.ID, Upto: 99}) == nil {
		f.t.Error("a summary without an id was taken")
	}

	// A new transcript has none, the old one keeps its own, and its figure is not the session's any more.
	s, err := f.Reset(f.ctx, k)
	f.ok(err)
	f.ok(f.Compact(f.ctx, sessions.Summary{ID: id(), Session: a.Session.ID, Upto: before[2].Seq, Context: 5}))
	f.equal(f.get(k).Context, 0)
	_, ok, err = f.Summary(f.ctx, s.ID)
	f.ok(err)
	f.equal(ok, false)
	if got, _ = summary(); got.Number != 3 {
		f.t.Errorf("%+v", got)
	}
	f.ok(f.Delete(f.ctx, k))
	if _, ok := summary(); ok {
		f.t.Error("the summary of a deleted session is there")
	}
	f.is(f.Compact(f.ctx, sessions.Summary{ID: id(), Session: a.Session.ID, Upto: 1 << 40}), sessions.ErrNotFound)
}

// Tail gives only what is behind a message.
func tailAfter(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	f.ok(f.Record(f.ctx, a.Run.ID, assistant("a"), toolResult("c", "r"), assistant("b"), assistant("c")))
	all := f.tail(a.Session.ID, sessions.TailQuery{IncludeTool: true})
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
		f.equal(texts(f.tail(a.Session.ID, c.q)), c.want)
	}
}

// The number of a message is its place in its own transcript: it tells nothing of what other sessions say.
// source: CWE-203
func tailNumbers(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "a"))
	f.claim(key("1"))
	b := f.accept(message("2", "1", "x"))
	f.claim(key("2"))
	for _, m := range []sessions.Message{assistant("b"), toolResult("c", "c"), assistant("d"), assistant("e")} {
		f.ok(f.Record(f.ctx, a.Run.ID, m))
		f.ok(f.Record(f.ctx, b.Run.ID, assistant("y"), assistant("z")))
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
		msgs := f.tail(a.Session.ID, c.q)
		for _, m := range msgs {
			got = append(got, int64(m.Number))
		}
		if !slices.Equal(texts(msgs), c.text) || !slices.Equal(got, c.want) {
			f.t.Errorf("%s: %v %v, want %v %v", c.name, texts(msgs), got, c.text, c.want)
		}
	}
	f.ok(f.Record(f.ctx, a.Run.ID, assistant("f")))
	f.equal(f.tail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Number, int32(6))
	f.finish(a.Run.ID, sessions.Outcome{})
	again, err := f.Reset(f.ctx, key("1"))
	f.ok(err)
	c := f.accept(message("1", "2", "a"))
	f.claim(key("1"))
	f.equal(f.tail(again.ID, sessions.TailQuery{})[0].Number, int32(1))
	f.equal(c.Session.ID, again.ID)
	f.equal(f.tail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Number, int32(6))
}

// What a turn's view begins behind is kept with the end of the turn. Where there is nothing to keep, the turn ends all the same.
func finishSummary(_ *testing.T, f *fixture) {
	k := key("1")
	a := f.accept(message("1", "1", "q"))
	f.claim(k)
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{assistant("a"), assistant("b")}})
	told := f.tail(a.Session.ID, sessions.TailQuery{})
	turn := func(n string, sum sessions.Summary, context int) {
		f.t.Helper()
		x := f.accept(message("1", n, "q"+n))
		f.claim(k)
		f.finish(x.Run.ID, sessions.Outcome{Messages: []sessions.Message{assistant("a" + n)}, Summary: &sum, Context: context})
		f.equal(f.run(x.Run.ID).Status, sessions.Done)
	}
	kept := func() sessions.Summary {
		f.t.Helper()
		s, _, err := f.Summary(f.ctx, a.Session.ID)
		f.ok(err)
		return s
	}
	one := sessions.Summary{ID: id(), Session: a.Session.ID, Upto: told[1].Seq, Messages: 2, Before: 900, Context: 100, Run: a.Run.ID, Time: time.UnixMilli(1_700_000_000_000)}
	turn("2", one, 0)
	f.equal(f.get(k).Context, 100)
	one.Number = 1
	f.equal(kept(), one)
	turn("3", sessions.Summary{ID: id(), Session: a.Session.ID, Upto: told[1].Seq}, 0)
	turn("4", sessions.Summary{ID: id(), Session: "nobody", Upto: told[2].Seq}, 0)
	f.equal(kept(), one)
	turn("5", sessions.Summary{ID: id(), Session: a.Session.ID, Upto: told[2].Seq, Context: 50}, 700)
	f.equal(kept().Upto, told[2].Seq)
	f.equal(f.get(k).Context, 700)

	x := f.accept(message("1", "6", "q6"))
	f.claim(k)
	if _, err := f.Finish(f.ctx, x.Run.ID, sessions.Outcome{Status: sessions.Done, Summary: &sessions.Summary{Session: a.Session.ID, Upto: 1 << 40}}); err == nil {
		f.t.Error("a summary without an id was taken")
	}
	f.equal(f.run(x.Run.ID).Status, sessions.Running)
}

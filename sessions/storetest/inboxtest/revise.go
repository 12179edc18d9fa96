package inboxtest

import (
	"errors"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// A message whose turn is running can be replaced once, before anything was recorded or shown, and where another turn answers it.
func revise(f *fixture.Store) {
	one, two := fixture.NewArrival("1", "1", "uno"), fixture.NewArrival("1", "2", "dos")
	first, second := f.MustAccept(one).Run.ID, f.MustAccept(two).Run.ID
	f.MustClaim(fixture.Key("1"))
	n := 500
	change := func(run, by sessions.RunID, text string, want bool) {
		f.Helper()
		n++
		x := fixture.NewEvent(channels.Edited, "1", n, "1", sessions.AmendRun{Run: run, Key: fixture.Key("1"), By: by, Text: text},
			sessions.AppendContext{Key: fixture.Key("1"), Event: channels.Edited, Sender: "7", Text: text, Message: channels.MessageID(text), Keep: 10})
		before := len(f.ContextTexts(fixture.Key("1")))
		if acc := f.MustAccept(x); acc.Revised != want || (len(f.ContextTexts(fixture.Key("1"))) == before) != want {
			f.Errorf("%s: revised %t, %d lines", text, acc.Revised, len(f.ContextTexts(fixture.Key("1"))))
		}
	}
	change(first, "", "nobody holds it", false)
	change(first, first, "eins", true)
	change(first, first, "a second time", false)
	got := f.MustGetRun(first)
	f.Equal(got.Input.Text(), "eins")
	f.Equal(got.Revised, true)
	for _, status := range []sessions.RunStatus{sessions.Done, sessions.Failed, sessions.TimedOut} { // of a try that began before
		_, err := f.Finish(f.Context(), first, sessions.Outcome{Status: status, Messages: []sessions.Message{fixture.Assistant("to uno")}})
		f.Equal(errors.Is(err, sessions.ErrRevised), true)
	}
	f.Equal(f.MustGetRun(first).Status, sessions.Running)
	msgs, err := f.Tail(f.Context(), got.Session, sessions.TailQuery{})
	f.OK(err)
	f.Equal(msgs[len(msgs)-1].Text(), "eins")
	for words, hits := range map[string]int{"uno": 0, "eins": 1} {
		found, err := f.Search(f.Context(), sessions.SearchQuery{Text: words})
		f.OK(err)
		f.Equal(len(found), hits)
	}
	f.MustFinish(first, sessions.Outcome{Revised: true})
	f.MustClaim(fixture.Key("1"))
	third := f.MustAccept(fixture.NewArrival("1", "3", "tres")).Run.ID
	taken, err := f.MergeQueued(f.Context(), second, sessions.MergeQuery{Kind: sessions.TurnRun})
	f.OK(err)
	f.Equal(len(taken), 1)
	change(third, first, "of a turn that is over", false)
	change(third, second, "drei", true)
	steps, err := f.Steps(f.Context(), second)
	f.OK(err)
	f.Equal(steps[0].Text(), "drei")
	f.Equal(f.MustGetRun(second).Input.Text(), "dos")
	f.MustFinish(second, sessions.Outcome{Status: sessions.Stopped}) // whatever it has read

	fourth := f.MustAccept(fixture.NewArrival("1", "4", "cuatro")).Run.ID
	f.MustClaim(fixture.Key("1"))
	f.OK(f.Record(f.Context(), fourth, sessions.Message{ID: "step", Role: sessions.Assistant, Content: sessions.TextContent("let me look"), Run: fourth}))
	change(fourth, fourth, "too late", false)
	f.MustFinish(fourth, sessions.Outcome{})
	fifth := f.MustAccept(fixture.NewArrival("1", "5", "cinco")).Run.ID
	f.MustClaim(fixture.Key("1"))
	f.OK(f.BeginPreview(f.Context(), sessions.Preview{Run: fifth, Session: fixture.Key("1"), To: fixture.Address("1"), Key: "k", State: sessions.PreviewSending, Text: "five"}))
	change(fifth, fifth, "shown", false)
	f.OK(f.EndPreview(f.Context(), fifth))
}

// What a message says is known as it was accepted, and as it was changed last where the agent is told of that.
func said(f *fixture.Store) {
	is := func(want string) {
		f.Helper()
		got, err := f.Said(f.Context(), fixture.Address("1"), "1")
		f.OK(err)
		f.Equal(got, want)
	}
	is("")
	m := fixture.NewArrival("1", "1", "uno")
	m.Digest = "a"
	f.MustAccept(m)
	is("a")
	x := fixture.NewEvent(channels.Edited, "1", 1, "1")
	x.Digest = "b"
	f.MustAccept(x)
	is("a") // nobody is told of it
	x = fixture.NewEvent(channels.Edited, "1", 2, "1", sessions.AppendContext{Key: fixture.Key("1"), Event: channels.Edited, Sender: "7", Text: "tres", Message: "1", Keep: 10})
	x.Digest = "c"
	f.MustAccept(x)
	is("c")
}

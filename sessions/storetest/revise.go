package storetest

import (
	"errors"
	"testing"

	"parley/channels"
	"parley/sessions"
)

// A message whose turn is running can be replaced once, before anything was recorded or shown, and where another turn answers it.
func revise(_ *testing.T, f *fixture) {
	one, two := message("1", "1", "uno"), message("1", "2", "dos")
	first, second := f.accept(one).Run.ID, f.accept(two).Run.ID
	f.claim(key("1"))
	n := 500
	change := func(run, by sessions.RunID, text string, want bool) {
		f.t.Helper()
		n++
		x := aside(channels.Edited, "1", n, "1", sessions.AmendRun{Run: run, Key: key("1"), By: by, Text: text},
			sessions.AppendContext{Key: key("1"), Event: channels.Edited, Sender: "7", Text: text, Message: channels.MessageID(text), Keep: 10})
		before := len(f.overheard(key("1")))
		if acc := f.accept(x); acc.Revised != want || (len(f.overheard(key("1"))) == before) != want {
			f.t.Errorf("%s: revised %t, %d lines", text, acc.Revised, len(f.overheard(key("1"))))
		}
	}
	change(first, "", "nobody holds it", false)
	change(first, first, "eins", true)
	change(first, first, "a second time", false)
	got := f.run(first)
	f.equal(got.Input.Text(), "eins")
	f.equal(got.Revised, true)
	for _, status := range []sessions.RunStatus{sessions.Done, sessions.Failed, sessions.TimedOut} { // of a try that began before
		_, err := f.Finish(f.ctx, first, sessions.Outcome{Status: status, Messages: []sessions.Message{assistant("to uno")}})
		f.equal(errors.Is(err, sessions.ErrRevised), true)
	}
	f.equal(f.run(first).Status, sessions.Running)
	msgs, err := f.Tail(f.ctx, got.Session, sessions.TailQuery{})
	f.ok(err)
	f.equal(msgs[len(msgs)-1].Text(), "eins")
	for words, hits := range map[string]int{"uno": 0, "eins": 1} {
		found, err := f.Search(f.ctx, sessions.SearchQuery{Text: words})
		f.ok(err)
		f.equal(len(found), hits)
	}
	f.finish(first, sessions.Outcome{Revised: true})
	f.claim(key("1"))
	third := f.accept(message("1", "3", "tres")).Run.ID
	taken, err := f.MergeQueued(f.ctx, second, sessions.MergeQuery{Kind: sessions.TurnRun})
	f.ok(err)
	f.equal(len(taken), 1)
	change(third, first, "of a turn that is over", false)
	change(third, second, "drei", true)
	steps, err := f.Steps(f.ctx, second)
	f.ok(err)
	f.equal(steps[0].Text(), "drei")
	f.equal(f.run(second).Input.Text(), "dos")
	f.finish(second, sessions.Outcome{Status: sessions.Stopped}) // whatever it has read

	fourth := f.accept(message("1", "4", "cuatro")).Run.ID
	f.claim(key("1"))
	f.ok(f.Record(f.ctx, fourth, sessions.Message{ID: "step", Role: sessions.Assistant, Content: sessions.TextContent("let me look"), Run: fourth}))
	change(fourth, fourth, "too late", false)
	f.finish(fourth, sessions.Outcome{})
	fifth := f.accept(message("1", "5", "cinco")).Run.ID
	f.claim(key("1"))
	f.ok(f.BeginPreview(f.ctx, sessions.Preview{Run: fifth, Session: key("1"), To: addr("1"), Key: "k", State: sessions.PreviewSending, Text: "five"}))
	change(fifth, fifth, "shown", false)
	f.ok(f.EndPreview(f.ctx, fifth))
}

// What a message says is known as it was accepted, and as it was changed last where the agent is told of that.
func said(_ *testing.T, f *fixture) {
	is := func(want string) {
		f.t.Helper()
		got, err := f.Said(f.ctx, addr("1"), "1")
		f.ok(err)
		f.equal(got, want)
	}
	is("")
	m := message("1", "1", "uno")
	m.Digest = "a"
	f.accept(m)
	is("a")
	x := aside(channels.Edited, "1", 1, "1")
	x.Digest = "b"
	f.accept(x)
	is("a") // nobody is told of it
	x = aside(channels.Edited, "1", 2, "1", sessions.AppendContext{Key: key("1"), Event: channels.Edited, Sender: "7", Text: "tres", Message: "1", Keep: 10})
	x.Digest = "c"
	f.accept(x)
	is("c")
}

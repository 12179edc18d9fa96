package inboxtest

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func amend(f *fixture.Store) {
	pic := sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}
	first, second, third := fixture.NewArrival("1", "1", "one"), fixture.NewArrival("1", "2", "two"), fixture.NewArrival("1", "3", "three")
	second.Change.Run.Input.Content = append(second.Change.Run.Input.Content, pic)
	third.Change.Run.Input.Content = []sessions.Block{pic}
	runs := []sessions.RunID{f.MustAccept(first).Run.ID, f.MustAccept(second).Run.ID, f.MustAccept(third).Run.ID, f.MustAccept(fixture.NewArrival("1", "4", "four")).Run.ID}
	f.MustClaim(fixture.Key("1"))
	n := 0
	change := func(i int, a sessions.AmendRun, lines int) sessions.Accepted {
		f.Helper()
		target := channels.MessageID(fmt.Sprint(i + 1))
		a.Run = runs[i]
		x := fixture.NewEvent(channels.Edited, "1", n, target, sessions.AppendContext{Key: fixture.Key("1"), Event: channels.Edited, Sender: "7", Text: a.Text, Message: target, Keep: 10}, a)
		n++
		acc := f.MustAccept(x)
		f.Equal(len(f.ContextTexts(fixture.Key("1"))), lines)
		if !f.MustAccept(x).Duplicate {
			f.Error("an edit was not remembered")
		}
		return acc
	}
	change(1, sessions.AmendRun{Text: "zwei"}, 0)
	f.Equal(f.MustGetRun(runs[1]).Input.Content, []sessions.Block{{Type: sessions.TextBlock, Text: "zwei"}, pic})
	change(2, sessions.AmendRun{Text: "drei"}, 0)
	f.Equal(f.MustGetRun(runs[2]).Input.Content, []sessions.Block{{Type: sessions.TextBlock, Text: "drei"}, pic})
	quoted := sessions.Block{Type: sessions.FileBlock, Media: &channels.Media{Kind: channels.Document, Ref: "quoted", Other: true}}
	change(2, sessions.AmendRun{Text: "drei", Files: []sessions.Block{quoted, {Type: sessions.FileBlock, Media: &channels.Media{Kind: channels.Document, Ref: "own"}}}}, 0)
	change(2, sessions.AmendRun{Text: "drei", Files: []sessions.Block{}}, 0) // its own go, those of others stay
	f.Equal(f.MustGetRun(runs[2]).Input.Content, []sessions.Block{{Type: sessions.TextBlock, Text: "drei"}, quoted, pic})
	acc := change(3, sessions.AmendRun{Gone: true}, 0)
	f.Equal(acc.Stopped, []sessions.StoppedRun{{Key: fixture.Key("1"), ID: runs[3]}})
	if r := f.MustGetRun(runs[3]); r.Status != sessions.Stopped || r.Error == "" {
		f.Errorf("%+v", r)
	}
	change(0, sessions.AmendRun{Text: "eins"}, 1) // it is running: a line for the next turn
	f.Equal(f.MustGetRun(runs[0]).Input.Text(), "one")
	f.Equal(len(change(0, sessions.AmendRun{Gone: true}, 1).Stopped), 0)
	f.MustFinish(runs[0], sessions.Outcome{})
	f.Equal(f.MustClaim(fixture.Key("1")).Input.Text(), "zwei")
	if _, _, err := f.Recover(f.Context()); err != nil {
		f.Fatal(err)
	}
	change(1, sessions.AmendRun{Text: "two again"}, 2) // it was begun before the restart
	f.Equal(f.MustGetRun(runs[1]).Input.Text(), "zwei")
	x := fixture.NewEvent(channels.Edited, "1", 99, "1", sessions.AmendRun{Run: runs[1]})
	x.Change = &sessions.Change{}
	if _, err := f.Accept(f.Context(), x); err == nil {
		f.Error("an edit was answered")
	}
}

// What an event says about a line that is still there changes the line.
func overheardEvents(f *fixture.Store) {
	k := sessions.Key("agent:main:telegram:group:a")
	n := 0
	happens := func(x sessions.ContextLine, want ...string) {
		f.Helper()
		n++
		x.Key, x.Keep, x.Time = k, 5, time.UnixMilli(1_700_000_000_000+int64(n))
		f.MustAccept(fixture.NewEvent(x.Event, "1", n, x.Message, sessions.AppendContext(x)))
		lines, err := f.ContextLines(f.Context(), k)
		f.OK(err)
		var got []string
		for _, l := range lines {
			got = append(got, fmt.Sprintf("%s %s %s %s<%s", l.Event, l.Sender, l.Message, l.Text, l.About))
		}
		f.Equal(got, want)
	}
	happens(sessions.ContextLine{Event: channels.Message, Sender: "7", Message: "1", Text: "helo"}, " 7 1 helo<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "7", Message: "1", Text: "hello"}, " 7 1 hello<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "7", Message: "2", Text: "soon"}, " 7 1 hello<", "edited 7 2 soon<") // ahead of its message
	happens(sessions.ContextLine{Event: channels.Message, Sender: "7", Message: "2", Text: "late"}, " 7 1 hello<", "edited 7 2 soon<", " 7 2 late<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "7", Message: "2", Text: "at last"}, " 7 1 hello<", " 7 2 at last<")
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "7", Message: "2"}, " 7 1 hello<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "8", Message: "1", Text: "no"}, " 7 1 hello<", "edited 8 1 no<") // not theirs
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "7", Message: "1"}, "edited 8 1 no<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "8", Message: "1", Text: "yes", About: "x"}, "edited 8 1 yes<")
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "8", Message: "1"}, "deleted 8 1 <")
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "8", Message: "1"}, "deleted 8 1 <")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5", Text: "+", About: "ours"}, "deleted 8 1 <", "reacted 8 5 +<ours")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "9", Message: "5", Text: "-"}, "deleted 8 1 <", "reacted 8 5 +<ours", "reacted 9 5 -<")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5", Text: "!"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 !<")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5"}, "deleted 8 1 <", "reacted 9 5 -<")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 <")
	happens(sessions.ContextLine{Event: channels.Joined, Sender: "8"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 <", "joined 8  <")
	happens(sessions.ContextLine{Event: channels.Left, Sender: "8"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 <", "joined 8  <", "left 8  <")
	happens(sessions.ContextLine{Sender: "8"}, "reacted 9 5 -<", "reacted 8 5 <", "joined 8  <", "left 8  <", " 8  <")
}

// Somebody else's deletion, an admin's may be, is told of and takes no line away; where the platform does not say who it was, it does.
func foreignDeletion(f *fixture.Store) {
	k := sessions.Key("agent:main:telegram:group:b")
	for n, c := range []struct {
		sender string
		event  channels.Event
		want   []string
	}{
		{"7", channels.Message, []string{" 7"}},
		{"8", channels.Edited, []string{" 7", "edited 8"}},
		{"9", channels.Deleted, []string{" 7", "edited 8", "deleted 9"}},
		{"9", channels.Deleted, []string{" 7", "edited 8", "deleted 9"}},
		{"", channels.Deleted, []string{"edited 8", "deleted 9"}},
		{"", channels.Deleted, []string{"deleted "}},
	} {
		f.MustAccept(fixture.NewEvent(c.event, "1", n, "1", sessions.AppendContext{Key: k, Event: c.event, Sender: c.sender, Message: "1", Text: "x", Keep: 5}))
		lines, err := f.ContextLines(f.Context(), k)
		f.OK(err)
		var got []string
		for _, l := range lines {
			got = append(got, string(l.Event)+" "+l.Sender)
		}
		f.Equal(got, c.want)
	}
}

// What a withdrawn message would have brought along is shown with the next one, in front of what came since.
func amendHeard(f *fixture.Store) {
	k := fixture.Key("1")
	f.MustClaim(f.MustAccept(fixture.NewArrival("1", "1", "one")).Run.Key)
	waits := func() []sessions.ContextLine {
		f.Helper()
		lines, err := f.ContextLines(f.Context(), k)
		f.OK(err)
		return lines
	}
	hear := func(n int, text string) {
		f.MustAccept(fixture.NewEvent(channels.Message, "1", n, "", sessions.AppendContext{Key: k, Sender: "7", Name: "Ann", Text: text, Message: channels.MessageID(fmt.Sprint("e", n)), Time: fixture.StoredTime(time.Now()), Keep: 10}))
	}
	hear(1, "nine")
	hear(2, "ten")
	lines := waits()
	second := fixture.NewArrival("1", "2", "oops")
	second.Change.Run.Input.Content = append([]sessions.Block{sessions.NewContextBlock(lines)}, second.Change.Run.Input.Content...)
	second.Change.Session.Ops = []sessions.SessionOp{sessions.ConsumeContext{UpTo: lines[1].Seq}}
	run := f.MustAccept(second).Run.ID
	f.Equal(len(waits()), 0)
	hear(3, "eleven")
	since := waits()[0]
	f.MustAccept(fixture.NewEvent(channels.Deleted, "1", 4, "2", sessions.AmendRun{Run: run, Gone: true}))
	got := waits()
	want := append(lines, since)
	f.Equal(len(got), 3)
	for i := range got {
		want[i].Seq = got[i].Seq
	}
	f.Equal(got, want)

	second.In.ID, second.Change.Run.Run = "3", *fixture.NewRun(k, "again") // not after a new beginning
	second.Change.Run.Input.Content = append([]sessions.Block{sessions.NewContextBlock(got)}, second.Change.Run.Input.Content...)
	second.Change.Session.Ops = []sessions.SessionOp{sessions.ConsumeContext{UpTo: got[2].Seq}}
	gone := fixture.NewEvent(channels.Deleted, "1", 5, "2", sessions.AmendRun{Run: f.MustAccept(second).Run.ID, Gone: true})
	if _, err := f.Reset(f.Context(), k); err != nil {
		f.Fatal(err)
	}
	f.MustAccept(gone)
	f.Equal(len(waits()), 0)
}

package inboxtest

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// newLine is a group message that is kept as context.
func newLine(k sessions.Key, n, keep int) sessions.Arrival {
	text := fmt.Sprint("line ", n)
	return sessions.Arrival{
		In:   channels.Inbound{Event: channels.Message, Address: fixture.Address(string(k)), ID: channels.MessageID(fmt.Sprint(n)), Text: text},
		Skip: &sessions.Skip{Reason: "not mentioned", Events: []sessions.SkipEvent{sessions.AppendContext{Key: k, Sender: "7", Name: "Ann \x00", Text: text, Message: channels.MessageID(fmt.Sprint(n)), Time: time.UnixMilli(1_700_000_000_000 + int64(n)), Keep: keep}}},
	}
}

// What is overheard stays, up to a bound, until a turn of its session has it as part of its input, or the session starts over.
func overheard(f *fixture.Store) {
	a, b := sessions.Key("agent:main:telegram:group:a"), sessions.Key("agent:main:telegram:group:b")
	for n := range 5 {
		f.MustAccept(newLine(a, n, 3))
		f.Equal(f.MustAccept(newLine(a, n, 3)).Duplicate, true)
	}
	f.MustAccept(newLine(b, 1, 3))
	f.Equal(f.ContextTexts(a), []string{"line 2", "line 3", "line 4"})
	lines, err := f.ContextLines(f.Context(), a)
	f.OK(err)
	if x := lines[0]; x.Key != a || x.Sender != "7" || x.Name == "" || x.Message != "2" || x.Time.UnixMilli() != 1_700_000_000_002 || x.Seq >= lines[1].Seq {
		f.Errorf("%+v", x)
	}
	f.MustAccept(newLine(a, 5, 2))
	f.Equal(f.ContextTexts(a), []string{"line 4", "line 5"})

	// The turn takes what it was shown; what came meanwhile stays.
	lines, err = f.ContextLines(f.Context(), a)
	f.OK(err)
	f.MustAccept(newLine(a, 6, 3))
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: a}, Ops: []sessions.SessionOp{sessions.ConsumeContext{UpTo: lines[1].Seq}}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(a, "q")}})
	f.Equal(f.ContextTexts(a), []string{"line 6"})
	f.Equal(f.ContextTexts(b), []string{"line 1"})

	_, err = f.Reset(f.Context(), a)
	f.OK(err)
	f.Equal(len(f.ContextTexts(a)), 0)
	f.MustAccept(newLine(a, 7, 3))
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: a}, Ops: []sessions.SessionOp{sessions.ResetSession{}}}})
	f.Equal(len(f.ContextTexts(a)), 0)
	f.MustAccept(newLine(a, 8, 3))
	f.OK(f.Delete(f.Context(), a))
	f.Equal(len(f.ContextTexts(a)), 0)
	f.Equal(f.ContextTexts(b), []string{"line 1"})
	f.MustAccept(newLine(b, 9, 0))
	f.Equal(len(f.ContextTexts(b)), 0)

	both := newLine(b, 10, 3)
	both.Change = &sessions.Change{}
	if _, err := f.Accept(f.Context(), both); err == nil {
		f.Error("a message was overheard and answered")
	}
}

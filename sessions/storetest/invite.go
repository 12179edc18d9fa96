package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// invite: the words of a notice with a pairing code are there until it is final, however it ends, and in no place after that.
func invite(_ *testing.T, f *fixture) {
	const code = "ABCD2345"
	post := func(chat string) sessions.Delivery {
		x := delivery("", addr(chat), "your code: "+code)
		x.Kind = sessions.Invite
		return f.post(x)
	}
	kept := func(d sessions.DeliveryID, want bool) {
		f.t.Helper()
		list, err := f.ListDeliveries(f.ctx, sessions.DeliveryQuery{Limit: 1})
		f.ok(err)
		for _, x := range []sessions.Delivery{f.delivery(d), list[0]} {
			if strings.Contains(x.Text, code) != want || x.Text == "" || x.Kind != sessions.Invite {
				f.t.Errorf("%s: %q", x.State, x.Text)
			}
		}
	}
	sent := post("1")
	f.begin(sent.ID)
	f.ok(f.Retry(f.ctx, sent.ID, time.Now(), "the network", sessions.NotArrived))
	kept(sent.ID, true)
	f.begin(sent.ID)
	f.ok(f.PartSent(f.ctx, sent.ID, channels.Receipt{ID: "a"}, false))
	kept(sent.ID, true)
	f.begin(sent.ID)
	f.ok(f.PartSent(f.ctx, sent.ID, channels.Receipt{ID: "b"}, true))
	kept(sent.ID, false)
	for _, id := range []channels.MessageID{"a", "b"} {
		if m, own, err := f.OwnMessage(f.ctx, addr("1"), id); err != nil || !own || strings.Contains(m.Text, code) {
			f.t.Errorf("%+v %v %v", m, own, err)
		}
	}
	for _, end := range []sessions.DeliveryState{sessions.DeliveryFail, sessions.Held, sessions.Dropped} {
		d := post("2")
		f.ok(f.EndDelivery(f.ctx, d.ID, end, "x"))
		kept(d.ID, false)
		_, err := f.Requeue(f.ctx, d.ID, time.Now().Add(time.Hour))
		f.is(err, sessions.ErrConflict)
	}
	no := post("3")
	if d, err := f.BeginSend(f.ctx, no.ID, time.Now(), deny, sessions.FirstContactQuota{}); err != nil || strings.Contains(d.Text, code) {
		f.t.Errorf("%+v %v", d, err)
	}
	kept(no.ID, false)
}

// What a withdrawn message would have brought along is shown with the next one, in front of what came since.
func amendHeard(_ *testing.T, f *fixture) {
	k := key("1")
	f.claim(f.accept(message("1", "1", "one")).Run.Key)
	waits := func() []sessions.ContextLine {
		f.t.Helper()
		lines, err := f.ContextLines(f.ctx, k)
		f.ok(err)
		return lines
	}
	hear := func(n int, text string) {
		f.accept(aside(channels.Message, "1", n, "", sessions.AppendContext{Key: k, Sender: "7", Name: "Ann", Text: text, Message: channels.MessageID(fmt.Sprint("e", n)), Time: fromMilli(time.Now()), Keep: 10}))
	}
	hear(1, "nine")
	hear(2, "ten")
	lines := waits()
	second := message("1", "2", "oops")
	second.Change.Run.Input.Content = append([]sessions.Block{sessions.NewContextBlock(lines)}, second.Change.Run.Input.Content...)
	second.Change.Session.Ops = []sessions.SessionOp{sessions.ConsumeContext{UpTo: lines[1].Seq}}
	run := f.accept(second).Run.ID
	f.equal(len(waits()), 0)
	hear(3, "eleven")
	since := waits()[0]
	f.accept(aside(channels.Deleted, "1", 4, "2", sessions.AmendRun{Run: run, Gone: true}))
	got := waits()
	want := append(lines, since)
	f.equal(len(got), 3)
	for i := range got {
		want[i].Seq = got[i].Seq
	}
	f.equal(got, want)

	second.In.ID, second.Change.Run.Run = "3", *newRun(k, "again") // not after a new beginning
	second.Change.Run.Input.Content = append([]sessions.Block{sessions.NewContextBlock(got)}, second.Change.Run.Input.Content...)
	second.Change.Session.Ops = []sessions.SessionOp{sessions.ConsumeContext{UpTo: got[2].Seq}}
	gone := aside(channels.Deleted, "1", 5, "2", sessions.AmendRun{Run: f.accept(second).Run.ID, Gone: true})
	if _, err := f.Reset(f.ctx, k); err != nil {
		f.t.Fatal(err)
	}
	f.accept(gone)
	f.equal(len(waits()), 0)
}

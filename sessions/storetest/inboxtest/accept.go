package inboxtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func accept(f *fixture.Store) {
	a := fixture.NewArrival("1", "100", "hello")
	a.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "note"))}
	first := f.MustAccept(a)
	if first.Duplicate || first.Session.ID == "" || first.Run.Status != sessions.Queued || first.Run.Session != first.Session.ID || len(first.Deliveries) != 1 || first.Deliveries[0].Seq == 0 || first.Deliveries[0].State != sessions.Pending {
		f.Fatalf("%+v", first)
	}
	f.Equal(f.MustGet(fixture.Key("1")), first.Session)
	f.Equal(f.MustGetRun(first.Run.ID), first.Run)
	f.Equal(f.MustGetDelivery(first.Deliveries[0].ID), first.Deliveries[0])

	// The same event again, with ids of its own: nothing changes.
	again := fixture.NewArrival("1", "100", "hello again")
	again.Change.Session.Title = "changed"
	again.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "second note"))}
	again.In.Cursor = "101"
	dup := f.MustAccept(again)
	if !dup.Duplicate || dup.Run.ID != first.Run.ID || len(dup.Deliveries) != 0 {
		f.Fatalf("%+v", dup)
	}
	f.Equal(f.MustGet(fixture.Key("1")), first.Session)
	all, err := f.ListDeliveries(f.Context(), sessions.DeliveryQuery{})
	f.OK(err)
	f.Equal(len(all), 1)
	if runs, err := f.ListRuns(f.Context(), sessions.RunQuery{}); err != nil || len(runs) != 1 {
		f.Fatal(runs, err)
	}

	// Another chat, another kind of event, and no id at all are not duplicates.
	other := fixture.NewArrival("2", "100", "hello")
	edited := sessions.Arrival{In: channels.Inbound{Event: channels.Edited, Address: fixture.Address("1"), ID: "100"}, Skip: &sessions.Skip{Reason: "edited"}}
	none := fixture.NewArrival("1", "", "no id")
	for _, a := range []sessions.Arrival{other, edited, none, fixture.NewArrival("1", "", "no id")} {
		if f.MustAccept(a).Duplicate {
			f.Errorf("%s %s taken for a duplicate", a.In.Address, a.In.Event)
		}
	}
	// An event is unique in its chat, whatever the thread.
	thread := fixture.NewArrival("1", "100", "hello")
	thread.In.Address.Thread = "7"
	if !f.MustAccept(thread).Duplicate {
		f.Error("the same message id in a thread of the chat is not taken for a duplicate")
	}
}

func acceptSkip(f *fixture.Store) {
	a := sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: fixture.Address("1"), ID: "5"}, Skip: &sessions.Skip{Reason: "not admitted"}}
	if acc := f.MustAccept(a); acc.Duplicate || acc.Session.Key != "" || acc.Run.ID != "" {
		f.Fatalf("%+v", acc)
	}
	if !f.MustAccept(a).Duplicate {
		f.Error("a skipped event is not remembered")
	}
	a.In.ID, a.Change = "6", &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key("1")}}}
	if _, err := f.Accept(f.Context(), a); err == nil {
		f.Error("a skipped event with a change is accepted")
	}
	if _, err := f.Accept(f.Context(), sessions.Arrival{In: a.In}); err == nil {
		f.Error("an event that neither causes something nor is skipped is accepted")
	}
	a.Change = nil
	if list, err := f.Skipped(f.Context(), 10); err != nil || len(list) != 0 {
		f.Error(list, err)
	}

	// What people are told of it is in the same commit; a notice that is there already stays as it is.
	notice := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "too many")
	for _, id := range []channels.MessageID{"7", "8"} {
		a.In.ID, a.Skip = id, &sessions.Skip{Reason: "not admitted", Notices: []sessions.Delivery{notice}}
		acc := f.MustAccept(a)
		if len(acc.Deliveries) != 1 || acc.Deliveries[0].ID != notice.ID {
			f.Errorf("%+v", acc.Deliveries)
		}
		if !f.MustAccept(a).Duplicate {
			f.Error("a skipped event with a notice is not remembered")
		}
		notice.Text = "too many, once more"
	}
	all, err := f.ListDeliveries(f.Context(), sessions.DeliveryQuery{})
	f.OK(err)
	if len(all) != 1 || all[0].Text != "too many" || all[0].State != sessions.Pending {
		f.Errorf("%+v", all)
	}
}

func acceptCursor(f *fixture.Store) {
	c, err := f.Cursor(f.Context(), "telegram", "default")
	f.OK(err)
	f.Equal(c, "")
	for _, id := range []string{"7", "8"} {
		a := fixture.NewArrival("1", id, "x")
		a.In.Cursor = "c" + id
		f.MustAccept(a)
	}
	other := fixture.NewArrival("1", "9", "x")
	other.In.Address.Account, other.In.Cursor = "second", "z"
	f.MustAccept(other)
	c, err = f.Cursor(f.Context(), "telegram", "default")
	f.OK(err)
	f.Equal(c, "c8")
	c, err = f.Cursor(f.Context(), "telegram", "second")
	f.OK(err)
	f.Equal(c, "z")
}

func skipped(f *fixture.Store) {
	for i := range 1010 {
		f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Unreadable, Address: fixture.Address("1"), ID: channels.MessageID(fmt.Sprint(i)), Raw: json.RawMessage(`{"x":1}`)}, Skip: &sessions.Skip{Reason: "no chat", Listed: true}})
	}
	list, err := f.Skipped(f.Context(), 5000)
	f.OK(err)
	if len(list) != 1000 || list[0].ID != "1009" || list[999].ID != "10" {
		f.Fatalf("%d listed, from %v to %v; want the newest 1,000", len(list), list[0].ID, list[len(list)-1].ID)
	}
	if e := list[0]; e.Reason != "no chat" || e.Raw != `{"x":1}` || e.Address != fixture.Address("1") || e.Time.IsZero() {
		f.Errorf("%+v", e)
	}
	list, err = f.Skipped(f.Context(), 3)
	f.OK(err)
	f.Equal(len(list), 3)

	began, long := time.Now(), `{"x":"`+strings.Repeat("x", 10_000)+`"}`
	f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: fixture.Address("1"), ID: "a"}, Skip: &sessions.Skip{Reason: sessions.QuarantineReason + ": why", Listed: true}})
	f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: fixture.Address("1"), ID: "b", Raw: json.RawMessage(long)}, Skip: &sessions.Skip{Reason: sessions.QuarantineReason + ": why", Listed: true}})
	for i := range 1010 { // they do not push those out
		f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Unreadable, Address: fixture.Address("2"), ID: channels.MessageID(fmt.Sprint(i))}, Skip: &sessions.Skip{Reason: "no chat", Listed: true}})
	}
	list, err = f.Skipped(f.Context(), 5000)
	f.OK(err)
	if n := len(list); n < 1002 || list[n-1].ID != "a" || list[n-2].Raw != long {
		f.Errorf("%d listed: what was set aside is not there, or not whole", n)
	}
	for since, want := range map[time.Time]int{began.Add(-time.Second): 2, began.Add(time.Hour): 0} {
		n, err := f.CountQuarantined(f.Context(), since)
		f.OK(err)
		f.Equal(n, want)
	}
	for _, x := range []struct{ days, left int }{{29, len(list)}, {31, 0}} { // what was quarantined has people's words
		_, err = f.Expire(f.Context(), began.Add(time.Duration(x.days)*24*time.Hour), 100*24*time.Hour)
		f.OK(err)
		left, err := f.Skipped(f.Context(), 5000)
		f.OK(err)
		f.Equal(len(left), x.left)
	}
}

func values(f *fixture.Store) {
	odd := "a\"b\\c\n\t'%_;\u2028\U0001F600" + strings.Repeat("é", 50_000)
	k := sessions.Key("agent:main:telegram:group:%00-'x\"")
	to := channels.Address{Channel: "telegram", Account: "a/b", Chat: "-100:%/ü", Thread: "7/8", Type: channels.Group}
	in := fixture.User(odd)
	in.Provenance = &sessions.Provenance{Kind: sessions.InterSession, Sender: "9", Name: odd[:20], Address: to, Message: "m", Source: "agent:x:main", Channel: "discord", Tool: "sessions_send"}
	in.Content = append(in.Content, sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "AAAA"})
	run := sessions.Run{ID: sessions.RunID(fixture.NewID()), Kind: sessions.AskRun, Key: k, Agent: "main", Input: in, Reply: to, ReplyTo: "55", Source: "src", Model: "p/m", Label: "l", Timeout: 1500 * time.Millisecond,
		Chain: &sessions.Chain{Kind: "ask", Root: "r", Requester: "agent:main:main", Target: k, From: to, Request: odd, Round1: "1", Latest: "2", Turn: 3, Hops: []sessions.Key{"a", "b"}, Origin: to, Waited: true, Usage: sessions.Usage{Input: 1}}}
	run.SetExtras(sessions.RunExtras{Client: json.RawMessage(`{"model":"m"}`)})
	acc := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Title: "ti%tle", Last: to}}, Run: &sessions.Enqueue{Run: run}})
	f.Equal(f.MustGet(k).Last, to)
	got := f.MustClaim(k)
	want := run
	want.Session, want.Status, want.Attempt, want.Created, want.Started, want.Deadline = acc.Session.ID, sessions.Running, 1, got.Created, got.Started, got.Deadline
	want.Input.Run = run.ID
	f.Equal(got, want)
	call := sessions.Message{ID: fixture.NewID(), Role: sessions.Assistant, Time: time.UnixMilli(5).UTC(), Run: run.ID, Stop: "toolUse", Error: "e", Content: []sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm", Signature: new("sig")}, {Type: sessions.ToolCallBlock, ID: "c1", Name: "t", Arguments: json.RawMessage(`{"a":[1,2,{"b":null}]}`)}}}
	f.OK(f.Record(f.Context(), run.ID, call))
	msgs := f.MustTail(acc.Session.ID, sessions.TailQuery{Opaque: true})
	want.Input.Seq, call.Seq = msgs[0].Seq, msgs[1].Seq
	f.Equal(msgs, []sessions.Message{want.Input, call})
	granted := fixture.Allowed
	d := sessions.Delivery{ID: sessions.DeliveryID(fixture.NewID()), Kind: sessions.Announce, Session: k, Run: run.ID, Message: call.ID, To: to, ReplyTo: "9", Text: odd, NotBefore: time.Now().Add(time.Hour), Expires: time.Now().Add(2 * time.Hour), PreAuthorized: &granted}
	made := f.MustFinish(run.ID, sessions.Outcome{Status: sessions.Failed, Result: odd, Error: "err", Usage: sessions.Usage{Input: 5, Output: 6, CacheRead: 7, CacheWrite: 8}, Deliveries: []sessions.Delivery{d}}).Deliveries[0]
	f.Equal(f.MustGetDelivery(d.ID), made)
	if made.Text != odd || made.To != to || made.ReplyTo != "9" || made.PreAuthorized == nil || made.NotBefore.UnixMilli() != d.NotBefore.UnixMilli() {
		f.Errorf("%+v", made)
	}
	end := f.MustGetRun(run.ID)
	if end.Result != odd || end.Error != "err" || end.Usage.CacheWrite != 8 || end.Ended.IsZero() {
		f.Errorf("%+v", end.Usage)
	}
	// Text that is not text is stored, not refused.
	bad := fixture.NewArrival("1", "9\x00", "nul \x00 and \xff")
	bad.Change.Session.Title = "t\x00\xff"
	f.MustAccept(bad)
	f.MustClaim(fixture.Key("1"))
}

func closed(f *fixture.Store) {
	f.MustAccept(fixture.NewArrival("1", "1", "x"))
	f.OK(f.Close())
	if _, err := f.Accept(f.Context(), fixture.NewArrival("1", "2", "x")); err == nil {
		f.Error("accepted by a closed store")
	}
	if _, err := f.Get(f.Context(), fixture.Key("1")); err == nil {
		f.Error("read from a closed store")
	}
}

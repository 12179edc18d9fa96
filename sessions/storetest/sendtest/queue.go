package sendtest

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func requeue(f *fixture.Store) {
	until := time.Now().Add(time.Hour)
	for _, state := range []sessions.DeliveryState{sessions.DeliveryFail, sessions.Expired, sessions.Held, sessions.Dropped} {
		d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
		f.MustBeginSend(d.ID)
		f.OK(f.EndDelivery(f.Context(), d.ID, state, "why"))
		got, err := f.Requeue(f.Context(), d.ID, until)
		f.OK(err)
		if got.State != sessions.Pending || got.Expires.UnixMilli() != until.UnixMilli() || got.Error != "" || got.Attempt != 0 || !got.NotBefore.IsZero() {
			f.Errorf("%s: %+v", state, got)
		}
		f.Equal(got.Repeat, state == sessions.Held) // it may have arrived
		f.Equal(f.MustGetDelivery(d.ID), got)
	}
	for _, end := range []func(sessions.DeliveryID){f.Deliver, func(d sessions.DeliveryID) { f.MustBeginSend(d) }} {
		d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
		end(d.ID)
		_, err := f.Requeue(f.Context(), d.ID, until)
		f.ErrorIs(err, sessions.ErrConflict)
		f.Equal(err.Error(), fmt.Sprintf("delivery %s is %s: only failed, expired, held or dropped deliveries can be sent again", d.ID, f.MustGetDelivery(d.ID).State))
	}
}

func readdress(f *fixture.Store) {
	from := channels.Address{Channel: "telegram", Account: "default", Chat: "-5", Type: channels.Group}
	to := from
	to.Chat = "-1005"
	topic, moved := from, to
	topic.Thread, moved.Thread = "7", "7"
	near := from
	near.Chat = "-50"
	k := sessions.Key("agent:main:telegram:group:-5")
	for i, a := range []channels.Address{from, topic, near} {
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k + sessions.Key(fmt.Sprint(":", i)), Agent: "main", Last: a}}})
	}
	open, inTopic, other, sending, done := f.QueueDelivery(fixture.NewDelivery("", from, "x")), f.QueueDelivery(fixture.NewDelivery("", topic, "x")), f.QueueDelivery(fixture.NewDelivery("", near, "x")), f.QueueDelivery(fixture.NewDelivery("", from, "x")), f.QueueDelivery(fixture.NewDelivery("", from, "x"))
	f.MustBeginSend(sending.ID)
	f.Deliver(done.ID)
	f.OK(f.Readdress(f.Context(), from, to))
	f.OK(f.Readdress(f.Context(), from, to))
	for d, want := range map[sessions.DeliveryID]channels.Address{open.ID: to, inTopic.ID: moved, other.ID: near, sending.ID: to, done.ID: from} {
		f.Equal(f.MustGetDelivery(d).To, want)
	}
	for i, want := range []channels.Address{to, moved, near} {
		f.Equal(f.MustGet(k+sessions.Key(fmt.Sprint(":", i))).Last, want)
	}
}

func due(f *fixture.Store) {
	var all []sessions.Delivery
	for i := range 6 {
		d := fixture.NewDelivery(fixture.Key("1"), fixture.Address(fmt.Sprint(i%2)), fmt.Sprint(i))
		d.NotBefore = time.Now().Add(time.Hour) // ignored here
		all = append(all, f.QueueDelivery(d))
		if i > 0 && all[i].Seq <= all[i-1].Seq {
			f.Fatalf("numbers %d, %d", all[i-1].Seq, all[i].Seq)
		}
	}
	f.Deliver(all[0].ID)
	f.MustBeginSend(all[1].ID)
	f.OK(f.EndDelivery(f.Context(), all[2].ID, sessions.Dropped, "x"))
	got, err := f.Due(f.Context(), 10, 0)
	f.OK(err)
	f.Equal(got, all[3:])
	got, err = f.Due(f.Context(), 1, all[3].Seq)
	f.OK(err)
	f.Equal(got, all[4:5])
	// A retry keeps its place.
	f.OK(f.Retry(f.Context(), all[1].ID, time.Now(), "r", sessions.NotArrived))
	got, err = f.Due(f.Context(), 1, 0)
	f.OK(err)
	f.Equal(got[0].ID, all[1].ID)

	for _, c := range []struct {
		q    sessions.DeliveryQuery
		want []int
	}{
		{sessions.DeliveryQuery{}, []int{5, 4, 3, 2, 1, 0}}, {sessions.DeliveryQuery{Limit: 2}, []int{5, 4}}, {sessions.DeliveryQuery{Before: all[2].Seq}, []int{1, 0}},
		{sessions.DeliveryQuery{State: sessions.Sent}, []int{0}}, {sessions.DeliveryQuery{State: sessions.Pending, Limit: 1}, []int{5}},
		{sessions.DeliveryQuery{Session: fixture.Key("1"), State: sessions.Dropped}, []int{2}}, {sessions.DeliveryQuery{Session: fixture.Key("2")}, nil},
	} {
		list, err := f.ListDeliveries(f.Context(), c.q)
		f.OK(err)
		var got []int
		for _, d := range list {
			for i := range all {
				if all[i].ID == d.ID {
					got = append(got, i)
				}
			}
		}
		f.Equal(got, c.want)
	}
	// The same delivery again makes no second one.
	again := all[3]
	again.Text = "other"
	f.Equal(f.QueueDelivery(again), all[3])
}

func countDeliveries(f *fixture.Store) {
	n, err := f.CountDeliveries(f.Context(), sessions.DeliveryQuery{})
	f.OK(err)
	f.Equal(len(n), 0)
	for range 3 {
		f.Deliver(f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x")).ID)
	}
	f.MustBeginSend(f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x")).ID)
	f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
	n, err = f.CountDeliveries(f.Context(), sessions.DeliveryQuery{})
	f.OK(err)
	f.Equal(n, map[sessions.DeliveryState]int{sessions.Sent: 3, sessions.Sending: 1, sessions.Pending: 1})
	// Those of a session, and of a run.
	run := f.MustAccept(fixture.NewArrival("1", "1", "q")).Run
	f.MustClaim(run.Key)
	d := fixture.NewDelivery(run.Key, fixture.Address("1"), "x")
	d.Run = run.ID
	_, err = f.Finish(f.Context(), run.ID, sessions.Outcome{Status: sessions.Done, Deliveries: []sessions.Delivery{d}})
	f.OK(err)
	f.QueueDelivery(fixture.NewDelivery(run.Key, fixture.Address("1"), "x"))
	for want, q := range map[int]sessions.DeliveryQuery{2: {Session: run.Key, State: sessions.Sent, Before: 1}, 1: {Run: run.ID}, 0: {Session: run.Key, Run: "none"}} {
		n, err = f.CountDeliveries(f.Context(), q)
		f.OK(err)
		f.Equal(n[sessions.Pending], want)
		f.Equal(len(n), min(want, 1))
	}
}

// proves: T2, P5
func marks(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	m := fixture.Assistant("answer")
	step := fixture.Assistant("step")
	f.OK(f.Record(f.Context(), a.Run.ID, step))
	d1, d2 := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "answer"), fixture.NewDelivery(fixture.Key("1"), fixture.Address("2"), "answer")
	d1.Message, d2.Message = m.ID, m.ID
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}, Deliveries: []sessions.Delivery{d1, d2}})
	late := fixture.NewDelivery(fixture.Key("1"), fixture.Address("3"), "step")
	late.Message = step.ID
	f.QueueDelivery(late) // made after its message
	f.Deliver(d1.ID)
	if _, err := f.BeginSend(f.Context(), d2.ID, time.Now(), fixture.Deny, sessions.FirstContactQuota{}); err != nil {
		f.Fatal(err)
	}
	got := f.MustTail(a.Session.ID, sessions.TailQuery{})
	f.Equal(got[2].Deliveries(), []sessions.Mark{{Delivery: d1.ID, State: sessions.Sent, To: fixture.Address("1").String(), Rule: fixture.Allowed.Rule}, {Delivery: d2.ID, State: sessions.Withheld, To: fixture.Address("2").String(), Rule: fixture.Denied.Rule}})
	f.Equal(got[1].Deliveries(), []sessions.Mark{{Delivery: late.ID, State: sessions.Pending, To: fixture.Address("3").String()}})
	f.Equal(len(got[0].Deliveries()), 0)
}

package sendtest

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func newChats(f *fixture.Store) {
	now := fixture.StoredTime(time.Now())
	day := sessions.FirstContactQuota{Limit: 2, Since: now.Add(-time.Hour), Until: now.Add(time.Hour)}
	try := func(to channels.Address, at time.Time, o sessions.FirstContactQuota, want sessions.DeliveryState) sessions.Delivery {
		f.Helper()
		x := fixture.NewDelivery("", to, "x")
		x.Kind = sessions.Announce
		d, err := f.BeginSend(f.Context(), f.QueueDelivery(x).ID, at, fixture.Allow, o)
		f.OK(err)
		f.Equal(d.State, want)
		f.Equal(f.MustGetDelivery(d.ID), d)
		return d
	}
	no := fixture.NewDelivery("", fixture.Address("0"), "x") // what does not leave opens nothing
	no.Kind = sessions.Announce
	_, err := f.BeginSend(f.Context(), f.QueueDelivery(no).ID, now, fixture.Deny, day)
	f.OK(err)
	for i, kind := range []sessions.DeliveryKind{sessions.Reply, sessions.Notice, sessions.Reply} { // nor do answers
		x := fixture.NewDelivery("", fixture.Address(fmt.Sprint("asked", i)), "x")
		x.Kind = kind
		d, err := f.BeginSend(f.Context(), f.QueueDelivery(x).ID, now, fixture.Allow, day)
		f.OK(err)
		f.Equal(d.State, sessions.Sending)
	}
	group := fixture.Address("g")
	group.Type = channels.Group
	for range 3 {
		try(group, now, day, sessions.Sending)
	}
	try(fixture.Address("asked1"), now, day, sessions.Sending)
	try(fixture.Address("1"), now, day, sessions.Sending)
	try(fixture.Address("1"), now, day, sessions.Sending)
	topic := fixture.Address("1")
	topic.Thread = "7"
	try(topic, now, day, sessions.Sending)
	try(fixture.Address("2"), now, day, sessions.Sending)
	late := try(fixture.Address("3"), now, day, sessions.Pending)
	if !late.NotBefore.Equal(day.Until) || late.Error == "" || late.Attempt != 0 {
		f.Errorf("%+v", late)
	}
	if again, err := f.BeginSend(f.Context(), late.ID, now.Add(time.Minute), fixture.Allow, day); err != nil {
		f.Fatal(err)
	} else {
		f.Equal(again, late)
	}
	if got, err := f.BeginSend(f.Context(), f.QueueDelivery(fixture.NewDelivery("", fixture.Address("3b"), "x")).ID, now, fixture.Allow, day); err != nil || got.State != sessions.Sending { // an answer waits for nothing
		f.Errorf("%+v %v", got, err)
	}
	try(fixture.Address("2"), now, day, sessions.Sending)
	next := sessions.FirstContactQuota{Limit: 2, Since: now.Add(time.Hour), Until: now.Add(25 * time.Hour)}
	got, err := f.BeginSend(f.Context(), late.ID, now.Add(time.Hour), fixture.Allow, next)
	f.OK(err)
	f.Equal(got.State, sessions.Sending)
	more := day
	more.Limit = 3                                                                 // what was begun on the next day does not count: a clock may be set back
	try(fixture.Address("4"), now, sessions.FirstContactQuota{}, sessions.Sending) // no bound, and counted all the same
	try(fixture.Address("4b"), now, more, sessions.Pending)
	more.Limit = 4
	try(fixture.Address("4b"), now, more, sessions.Sending)
	second := fixture.Address("5")
	second.Account = "second" // has a bound of its own
	try(second, now, day, sessions.Sending)
	f.OK(f.Readdress(f.Context(), fixture.Address("1"), fixture.Address("1b")))
	try(fixture.Address("1b"), now, day, sessions.Sending)
}

package sendtest

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// proves: P5, P6
func beginSend(f *fixture.Store) {
	d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
	got := f.MustBeginSend(d.ID)
	if got.State != sessions.Sending || got.Attempt != 1 || got.Verdict == nil || *got.Verdict != fixture.Allowed {
		f.Fatalf("%+v", got)
	}
	f.Equal(f.MustGetDelivery(d.ID), got)
	f.Equal(f.MustBeginSend(d.ID).Attempt, 2) // the same part again
	no := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
	got, err := f.BeginSend(f.Context(), no.ID, time.Now(), fixture.Deny, sessions.FirstContactQuota{})
	f.OK(err)
	if got.State != sessions.Withheld || got.Attempt != 0 || *got.Verdict != fixture.Denied {
		f.Errorf("%+v", got)
	}
	f.Equal(f.MustGetDelivery(no.ID), got)
	again, err := f.BeginSend(f.Context(), no.ID, time.Now(), func(sessions.Session) policy.Verdict {
		f.Error("a final delivery was decided again")
		return fixture.Allowed
	}, sessions.FirstContactQuota{})
	f.OK(err)
	f.Equal(again, got)
	// Denied between two parts.
	if got, err = f.BeginSend(f.Context(), d.ID, time.Now(), fixture.Deny, sessions.FirstContactQuota{}); err != nil || got.State != sessions.Withheld {
		f.Error(got, err)
	}
	_, err = f.BeginSend(f.Context(), "nobody", time.Now(), fixture.Allow, sessions.FirstContactQuota{})
	f.ErrorIs(err, sessions.ErrNotFound)
}

func beginSendExpired(f *fixture.Store) {
	now := fixture.StoredTime(time.Now())
	d := fixture.NewDelivery("", fixture.Address("1"), "x")
	d.Expires = now.Add(time.Minute)
	f.QueueDelivery(d)
	never := func(sessions.Session) policy.Verdict {
		f.Error("decided about what is past its time")
		return fixture.Allowed
	}
	got, err := f.BeginSend(f.Context(), d.ID, now.Add(time.Minute), never, sessions.FirstContactQuota{})
	f.OK(err)
	if got.State != sessions.Expired || got.Error == "" {
		f.Errorf("%+v", got)
	}
	fresh := fixture.NewDelivery("", fixture.Address("1"), "x")
	fresh.Expires = now.Add(time.Minute)
	f.QueueDelivery(fresh)
	if got, err = f.BeginSend(f.Context(), fresh.ID, now, fixture.Allow, sessions.FirstContactQuota{}); err != nil || got.State != sessions.Sending {
		f.Error(got, err)
	}
}

func beginSendGranted(f *fixture.Store) {
	d := fixture.NewDelivery("", fixture.Address("1"), "send policy: off")
	granted := policy.Verdict{Action: policy.Allow, Rule: "before the flip", Reason: "answer to /send"}
	d.PreAuthorized = &granted
	f.QueueDelivery(d)
	got, err := f.BeginSend(f.Context(), d.ID, time.Now(), fixture.Deny, sessions.FirstContactQuota{})
	f.OK(err)
	if got.State != sessions.Sending || *got.Verdict != granted {
		f.Errorf("%+v", got)
	}
}

// proves: P7
func beginSendSession(f *fixture.Store) {
	k := fixture.Key("1")
	f.MakeSession(k)
	d := f.QueueDelivery(fixture.NewDelivery(k, fixture.Address("1"), "x"))
	off := policy.Deny
	if _, err := f.Patch(f.Context(), k, sessions.Patch{SendPolicy: &off}); err != nil {
		f.Fatal(err)
	}
	got, err := f.BeginSend(f.Context(), d.ID, time.Now(), func(s sessions.Session) policy.Verdict {
		if s.Key != k {
			f.Errorf("decided about session %q", s.Key)
		}
		return policy.Verdict{Action: s.Settings.SendPolicy}
	}, sessions.FirstContactQuota{})
	f.OK(err)
	f.Equal(got.State, sessions.Withheld) // the flip was committed before
	none := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
	if _, err := f.BeginSend(f.Context(), none.ID, time.Now(), func(s sessions.Session) policy.Verdict {
		f.Equal(s, sessions.Session{})
		return fixture.Allowed
	}, sessions.FirstContactQuota{}); err != nil {
		f.Fatal(err)
	}
	gone := f.QueueDelivery(fixture.NewDelivery(fixture.Key("gone"), fixture.Address("1"), "x"))
	if _, err := f.BeginSend(f.Context(), gone.ID, time.Now(), func(s sessions.Session) policy.Verdict {
		f.Equal(s.Key, fixture.Key("gone")) // rules about keys still apply
		return fixture.Allowed
	}, sessions.FirstContactQuota{}); err != nil {
		f.Fatal(err)
	}
}

// proves: P5
func finishBegin(f *fixture.Store) {
	n := 0
	finish := func(d sessions.Delivery, o sessions.Outcome) sessions.Accepted {
		f.Helper()
		n++
		run := f.MustAccept(fixture.NewArrival("1", fmt.Sprint("begin", n), "q")).Run
		f.MustClaim(fixture.Key("1"))
		d.Run, o.Deliveries = run.ID, []sessions.Delivery{d}
		return f.MustFinish(run.ID, o)
	}
	begin := func(d sessions.Delivery, check func(sessions.Session) policy.Verdict, want sessions.DeliveryState) sessions.Delivery {
		f.Helper()
		acc := finish(d, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: d.ID, Check: check}})
		if len(acc.Deliveries) != 1 || acc.Deliveries[0].State != want {
			f.Fatalf("%+v", acc.Deliveries)
		}
		f.Equal(f.MustGetDelivery(d.ID), acc.Deliveries[0])
		return acc.Deliveries[0]
	}
	d := begin(fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "one"), func(s sessions.Session) policy.Verdict {
		f.Equal(s.Key, fixture.Key("1"))
		return fixture.Allowed
	}, sessions.Sending)
	if d.Attempt != 1 || d.Verdict == nil || *d.Verdict != fixture.Allowed {
		f.Errorf("%+v", d)
	}
	topic := fixture.Address("1")
	topic.Thread = "7"
	behind := begin(fixture.NewDelivery(fixture.Key("1"), topic, "two"), fixture.Allow, sessions.Pending) // the first one is on its way to the chat
	if behind.Attempt != 0 || behind.Verdict != nil {
		f.Errorf("%+v", behind)
	}
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "r", At: time.Now()}, true))
	begin(fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "three"), fixture.Allow, sessions.Pending) // and now the second
	f.Deliver(behind.ID)
	begin(fixture.NewDelivery(fixture.Key("1"), fixture.Address("2"), "elsewhere"), fixture.Allow, sessions.Sending)
	no := begin(fixture.NewDelivery(fixture.Key("1"), fixture.Address("3"), "no"), fixture.Deny, sessions.Withheld)
	if no.Attempt != 0 || *no.Verdict != fixture.Denied || no.Ambiguous {
		f.Errorf("%+v", no)
	}
	// One that is there already is somebody else's.
	there := f.QueueDelivery(fixture.NewDelivery(fixture.Key("1"), fixture.Address("4"), "x"))
	acc := finish(there, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: there.ID, Check: fixture.Deny}})
	f.Equal(acc.Deliveries[0].State, sessions.Pending)
	// Only the one that is named begins, and an account that opens no more chats today lets it wait.
	other := fixture.NewDelivery(fixture.Key("1"), fixture.Address("5"), "x")
	acc = finish(other, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: "another", Check: fixture.Deny}})
	f.Equal(acc.Deliveries[0].State, sessions.Pending)
	news := fixture.NewDelivery(fixture.Key("1"), fixture.Address("6"), "news")
	news.Kind = sessions.Announce
	until := fixture.StoredTime(time.Now()).Add(time.Hour)
	full := sessions.FirstContactQuota{Limit: 1, Since: until.Add(-2 * time.Hour), Until: until}
	first := news
	first.ID, first.To = "first", fixture.Address("7")
	f.QueueDelivery(first)
	_, err := f.BeginSend(f.Context(), first.ID, time.Now(), fixture.Allow, full)
	f.OK(err)
	acc = finish(news, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: news.ID, Check: fixture.Allow, Quota: full}})
	if got := acc.Deliveries[0]; got.State != sessions.Pending || !got.NotBefore.Equal(until) || got.Error == "" {
		f.Errorf("%+v", got)
	}
}

// A thread goes by the deny of the place that it lies in, unless it, or a place between, has an override of its own.
// source: https://core.telegram.org/bots/api#message (ephemeral_message_id; is_topic_message in private chats): the writer chooses the place
// proves: P3
func beginSendThread(f *fixture.Store) {
	at := func(thread channels.ThreadID) sessions.Key {
		return sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "fake", Account: channels.DefaultAccount, ID: "g", Thread: thread}.Key()
	}
	check := func(thread channels.ThreadID, want bool) {
		f.Helper()
		d := f.QueueDelivery(fixture.NewDelivery(at(thread), fixture.Address("1"), "x"))
		_, err := f.BeginSend(f.Context(), d.ID, time.Now(), func(s sessions.Session) policy.Verdict {
			if s.ChatDeny != want {
				f.Errorf("thread %q: the chat denies: %t", thread, s.ChatDeny)
			}
			return policy.Verdict{Action: policy.Deny}
		}, sessions.FirstContactQuota{})
		f.OK(err)
		if s := f.MustGet(at(thread)); s.ChatDeny != want {
			f.Errorf("thread %q as it is read: the chat denies: %t", thread, s.ChatDeny)
		} else if list, err := f.List(f.Context(), sessions.Query{Keys: []sessions.Key{at(thread)}}); err != nil || len(list) != 1 || list[0].ChatDeny != want {
			f.Errorf("thread %q in a list: %+v %v", thread, list, err)
		} else if s, err := f.GetByID(f.Context(), s.ID); err != nil || s.ChatDeny != want {
			f.Errorf("thread %q by its id: %+v %v", thread, s, err)
		}
	}
	set := func(thread channels.ThreadID, to policy.Override) {
		f.Helper()
		_, err := f.Patch(f.Context(), at(thread), sessions.Patch{SendPolicy: &to})
		f.OK(err)
	}
	for _, thread := range []channels.ThreadID{"", "10", "only7", "only7.10"} {
		f.MakeSession(at(thread))
	}
	check("only7", false)
	set("10", policy.Deny)
	check("only7", false)
	check("only7.10", true)
	set("", policy.Deny)
	check("", false)
	check("10", true)
	check("only7", true)
	set("10", policy.Allow)
	check("only7.10", false)
}

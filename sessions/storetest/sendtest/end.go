package sendtest

import (
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// files are as they were given.
func files(f *fixture.Store) {
	d := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "look")
	d.Files = []sessions.File{{Kind: channels.Image, Name: "a b.png", MIME: "image/png", Size: 12, Hash: "ab"}, {Kind: channels.Document, Name: "c", Hash: "cd"}}
	made := f.QueueDelivery(d)
	f.Equal(made.Files, d.Files)
	f.Equal(f.MustGetDelivery(d.ID).Files, d.Files)
}

func parts(f *fixture.Store) {
	d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "long"))
	at := time.UnixMilli(1_700_000_000_000)
	r1, r2 := channels.Receipt{ID: "1", At: at, LeftOut: "the file q3.pdf"}, channels.Receipt{ID: "2", At: at}
	f.ErrorIs(f.PartSent(f.Context(), d.ID, r1, false), sessions.ErrConflict) // not begun
	f.MustBeginSend(d.ID)
	f.OK(f.PartSent(f.Context(), d.ID, r1, false))
	f.OK(f.PartSent(f.Context(), d.ID, r1, false)) // repeated
	if got := f.MustGetDelivery(d.ID); got.State != sessions.Sending || got.Part != 1 || got.Attempt != 0 || len(got.Receipts) != 1 {
		f.Fatalf("%+v", got)
	}
	f.Equal(f.MustBeginSend(d.ID).Attempt, 1)
	f.OK(f.PartSent(f.Context(), d.ID, r2, true))
	f.OK(f.PartSent(f.Context(), d.ID, r2, true)) // repeated
	got := f.MustGetDelivery(d.ID)
	if got.State != sessions.Sent || got.Part != 2 {
		f.Errorf("%+v", got)
	}
	f.Equal(got.Receipts, []channels.Receipt{r1, r2})
	f.ErrorIs(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "3", At: at}, true), sessions.ErrConflict)
}

func retry(f *fixture.Store) {
	d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
	at := time.Now().Add(time.Minute)
	f.ErrorIs(f.Retry(f.Context(), d.ID, at, "why", sessions.NotArrived), sessions.ErrConflict)
	f.MustBeginSend(d.ID)
	f.OK(f.Retry(f.Context(), d.ID, at, "429", sessions.UnknownMayRepeat))
	f.OK(f.Retry(f.Context(), d.ID, at, "429", sessions.UnknownMayRepeat)) // repeated
	got := f.MustGetDelivery(d.ID)
	if got.State != sessions.Pending || got.NotBefore.UnixMilli() != at.UnixMilli() || got.Error != "429" || !got.Repeat || got.Attempt != 1 {
		f.Errorf("%+v", got)
	}
	f.Equal(f.MustBeginSend(d.ID).Attempt, 2)
	f.OK(f.Retry(f.Context(), d.ID, at, "again", sessions.NotArrived))
	got = f.MustGetDelivery(d.ID)
	f.Equal(got.Repeat, true) // once a repeat, always
	if len(got.Tries) != 2 || got.Tries[0].Error != "429" || got.Tries[1].Error != "again" || got.Tries[1].At.IsZero() {
		f.Errorf("tries %+v", got.Tries)
	}
	f.MustBeginSend(d.ID)
	f.OK(f.EndDelivery(f.Context(), d.ID, sessions.DeliveryFail, "refused"))
	if tries := f.MustGetDelivery(d.ID).Tries; len(tries) != 3 || tries[2].Error != "refused" {
		f.Errorf("tries %+v", tries)
	}
}

// What is not sent in the end says whether an earlier try may have arrived.
func unclearEnd(f *fixture.Store) {
	deny := func(sessions.Session) policy.Verdict { return policy.Verdict{Action: policy.Deny, Reason: "no"} }
	for _, x := range []struct {
		tries   []sessions.TryEnd
		sending bool // the last one goes on
		unclear bool
	}{
		{nil, false, false},
		{nil, true, true},
		{[]sessions.TryEnd{sessions.NotArrived}, false, false},
		{[]sessions.TryEnd{sessions.UnknownIdempotent}, false, true},
		{[]sessions.TryEnd{sessions.UnknownIdempotent, sessions.NotArrived}, false, true},
		{[]sessions.TryEnd{sessions.UnknownMayRepeat}, false, true},
		{[]sessions.TryEnd{sessions.UnknownIdempotent, sessions.ConfirmedAbsent}, false, false},
	} {
		d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
		for _, end := range x.tries {
			f.MustBeginSend(d.ID)
			f.OK(f.Retry(f.Context(), d.ID, time.Now(), "why", end))
		}
		if x.sending {
			f.MustBeginSend(d.ID)
		}
		got, err := f.BeginSend(f.Context(), d.ID, time.Now(), deny, sessions.FirstContactQuota{})
		f.OK(err)
		doubts := int32(0)
		for _, end := range x.tries {
			if end == sessions.UnknownMayRepeat {
				doubts++
			} else if end == sessions.ConfirmedAbsent {
				doubts = 0
			}
		}
		f.Equal(f.MustGetDelivery(d.ID).AmbiguousTries, doubts)
		if says := strings.Contains(got.Error, sessions.MayHaveArrived); got.State != sessions.Withheld || got.Ambiguous != x.unclear || says != x.unclear || f.MustGetDelivery(d.ID).Ambiguous != x.unclear {
			f.Errorf("%+v: %+v", x, got)
		}
	}
	oneOfTwo := func() sessions.DeliveryID {
		d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
		f.MustBeginSend(d.ID)
		f.OK(f.Retry(f.Context(), d.ID, time.Now(), "why", sessions.UnknownIdempotent))
		f.MustBeginSend(d.ID)
		f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "1", At: time.Now()}, false))
		f.Equal(f.MustGetDelivery(d.ID).Ambiguous, false) // it is there
		return d.ID
	}
	for _, begun := range []bool{false, true} { // of the second part
		denied, ended := oneOfTwo(), oneOfTwo()
		if begun {
			f.MustBeginSend(denied)
			f.MustBeginSend(ended)
		}
		got, err := f.BeginSend(f.Context(), denied, time.Now(), deny, sessions.FirstContactQuota{})
		f.OK(err)
		f.Equal(strings.Contains(got.Error, sessions.MayHaveArrived), begun)
		f.Equal(f.MustGetDelivery(denied).Ambiguous, begun)
		f.OK(f.EndDelivery(f.Context(), ended, sessions.Expired, "why"))
		f.Equal(f.MustGetDelivery(ended).Ambiguous, begun)
	}
}

func endDelivery(f *fixture.Store) {
	for _, state := range []sessions.DeliveryState{sessions.DeliveryFail, sessions.Dropped, sessions.Held, sessions.Expired, sessions.Withheld} {
		d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
		f.MustBeginSend(d.ID)
		f.OK(f.EndDelivery(f.Context(), d.ID, state, "why"))
		f.OK(f.EndDelivery(f.Context(), d.ID, state, "other")) // repeated
		if got := f.MustGetDelivery(d.ID); got.State != state || got.Error != "why" {
			f.Errorf("%+v", got)
		}
	}
	d := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
	f.OK(f.EndDelivery(f.Context(), d.ID, sessions.Held, "ambiguous"))
	f.OK(f.EndDelivery(f.Context(), d.ID, sessions.Dropped, "by a person"))
	s := f.QueueDelivery(fixture.NewDelivery("", fixture.Address("1"), "x"))
	f.Deliver(s.ID)
	f.ErrorIs(f.EndDelivery(f.Context(), s.ID, sessions.Dropped, "x"), sessions.ErrConflict)
	if err := f.EndDelivery(f.Context(), s.ID, sessions.Pending, "x"); err == nil {
		f.Error("ended as pending")
	}
	f.ErrorIs(f.EndDelivery(f.Context(), "nobody", sessions.Dropped, "x"), sessions.ErrNotFound)
}

// invite: the words of a notice with a pairing code are there until it is final, however it ends, and in no place after that.
func invite(f *fixture.Store) {
	const code = "ABCD2345"
	post := func(chat string) sessions.Delivery {
		x := fixture.NewDelivery("", fixture.Address(chat), "your code: "+code)
		x.Kind = sessions.Invite
		return f.QueueDelivery(x)
	}
	kept := func(d sessions.DeliveryID, want bool) {
		f.Helper()
		list, err := f.ListDeliveries(f.Context(), sessions.DeliveryQuery{Limit: 1})
		f.OK(err)
		for _, x := range []sessions.Delivery{f.MustGetDelivery(d), list[0]} {
			if strings.Contains(x.Text, code) != want || x.Text == "" || x.Kind != sessions.Invite {
				f.Errorf("%s: %q", x.State, x.Text)
			}
		}
	}
	sent := post("1")
	f.MustBeginSend(sent.ID)
	f.OK(f.Retry(f.Context(), sent.ID, time.Now(), "the network", sessions.NotArrived))
	kept(sent.ID, true)
	f.MustBeginSend(sent.ID)
	f.OK(f.PartSent(f.Context(), sent.ID, channels.Receipt{ID: "a"}, false))
	kept(sent.ID, true)
	f.MustBeginSend(sent.ID)
	f.OK(f.PartSent(f.Context(), sent.ID, channels.Receipt{ID: "b"}, true))
	kept(sent.ID, false)
	for _, id := range []channels.MessageID{"a", "b"} {
		if m, own, err := f.OwnMessage(f.Context(), fixture.Address("1"), id); err != nil || !own || strings.Contains(m.Text, code) {
			f.Errorf("%+v %v %v", m, own, err)
		}
	}
	for _, end := range []sessions.DeliveryState{sessions.DeliveryFail, sessions.Held, sessions.Dropped} {
		d := post("2")
		f.OK(f.EndDelivery(f.Context(), d.ID, end, "x"))
		kept(d.ID, false)
		_, err := f.Requeue(f.Context(), d.ID, time.Now().Add(time.Hour))
		f.ErrorIs(err, sessions.ErrConflict)
	}
	no := post("3")
	if d, err := f.BeginSend(f.Context(), no.ID, time.Now(), fixture.Deny, sessions.FirstContactQuota{}); err != nil || strings.Contains(d.Text, code) {
		f.Errorf("%+v %v", d, err)
	}
	kept(no.ID, false)
}

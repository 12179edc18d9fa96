package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

var denied = policy.Verdict{Action: policy.Deny, Rule: "session.sendPolicy.rules[0]", Reason: "no groups"}

func deny(sessions.Session) policy.Verdict { return denied }

// proves: P5, P6
func beginSend(_ *testing.T, f *fixture) {
	d := f.post(delivery("", addr("1"), "x"))
	got := f.begin(d.ID)
	if got.State != sessions.Sending || got.Attempt != 1 || got.Verdict == nil || *got.Verdict != allowed {
		f.t.Fatalf("%+v", got)
	}
	f.equal(f.delivery(d.ID), got)
	f.equal(f.begin(d.ID).Attempt, 2) // the same part again
	no := f.post(delivery("", addr("1"), "x"))
	got, err := f.BeginSend(f.ctx, no.ID, time.Now(), deny, sessions.FirstContactQuota{})
	f.ok(err)
	if got.State != sessions.Withheld || got.Attempt != 0 || *got.Verdict != denied {
		f.t.Errorf("%+v", got)
	}
	f.equal(f.delivery(no.ID), got)
	again, err := f.BeginSend(f.ctx, no.ID, time.Now(), func(sessions.Session) policy.Verdict {
		f.t.Error("a final delivery was decided again")
		return allowed
	}, sessions.FirstContactQuota{})
	f.ok(err)
	f.equal(again, got)
	// Denied between two parts.
	if got, err = f.BeginSend(f.ctx, d.ID, time.Now(), deny, sessions.FirstContactQuota{}); err != nil || got.State != sessions.Withheld {
		f.t.Error(got, err)
	}
	_, err = f.BeginSend(f.ctx, "nobody", time.Now(), allow, sessions.FirstContactQuota{})
	f.is(err, sessions.ErrNotFound)
}

func beginSendExpired(_ *testing.T, f *fixture) {
	now := fromMilli(time.Now())
	d := delivery("", addr("1"), "x")
	d.Expires = now.Add(time.Minute)
	f.post(d)
	never := func(sessions.Session) policy.Verdict {
		f.t.Error("decided about what is past its time")
		return allowed
	}
	got, err := f.BeginSend(f.ctx, d.ID, now.Add(time.Minute), never, sessions.FirstContactQuota{})
	f.ok(err)
	if got.State != sessions.Expired || got.Error == "" {
		f.t.Errorf("%+v", got)
	}
	fresh := delivery("", addr("1"), "x")
	fresh.Expires = now.Add(time.Minute)
	f.post(fresh)
	if got, err = f.BeginSend(f.ctx, fresh.ID, now, allow, sessions.FirstContactQuota{}); err != nil || got.State != sessions.Sending {
		f.t.Error(got, err)
	}
}

func beginSendGranted(_ *testing.T, f *fixture) {
	d := delivery("", addr("1"), "send policy: off")
	granted := policy.Verdict{Action: policy.Allow, Rule: "before the flip", Reason: "answer to /send"}
	d.PreAuthorized = &granted
	f.post(d)
	got, err := f.BeginSend(f.ctx, d.ID, time.Now(), deny, sessions.FirstContactQuota{})
	f.ok(err)
	if got.State != sessions.Sending || *got.Verdict != granted {
		f.t.Errorf("%+v", got)
	}
}

// proves: P7
func beginSendSession(_ *testing.T, f *fixture) {
	k := key("1")
	f.session(k)
	d := f.post(delivery(k, addr("1"), "x"))
	off := policy.Deny
	if _, err := f.Patch(f.ctx, k, sessions.Patch{SendPolicy: &off}); err != nil {
		f.t.Fatal(err)
	}
	got, err := f.BeginSend(f.ctx, d.ID, time.Now(), func(s sessions.Session) policy.Verdict {
		if s.Key != k {
			f.t.Errorf("decided about session %q", s.Key)
		}
		return policy.Verdict{Action: s.Settings.SendPolicy}
	}, sessions.FirstContactQuota{})
	f.ok(err)
	f.equal(got.State, sessions.Withheld) // the flip was committed before
	none := f.post(delivery("", addr("1"), "x"))
	if _, err := f.BeginSend(f.ctx, none.ID, time.Now(), func(s sessions.Session) policy.Verdict {
		f.equal(s, sessions.Session{})
		return allowed
	}, sessions.FirstContactQuota{}); err != nil {
		f.t.Fatal(err)
	}
	gone := f.post(delivery(key("gone"), addr("1"), "x"))
	if _, err := f.BeginSend(f.ctx, gone.ID, time.Now(), func(s sessions.Session) policy.Verdict {
		f.equal(s.Key, key("gone")) // rules about keys still apply
		return allowed
	}, sessions.FirstContactQuota{}); err != nil {
		f.t.Fatal(err)
	}
}

func parts(_ *testing.T, f *fixture) {
	d := f.post(delivery("", addr("1"), "long"))
	at := time.UnixMilli(1_700_000_000_000)
	r1, r2 := channels.Receipt{ID: "1", At: at, LeftOut: "the file q3.pdf"}, channels.Receipt{ID: "2", At: at}
	f.is(f.PartSent(f.ctx, d.ID, r1, false), sessions.ErrConflict) // not begun
	f.begin(d.ID)
	f.ok(f.PartSent(f.ctx, d.ID, r1, false))
	f.ok(f.PartSent(f.ctx, d.ID, r1, false)) // repeated
	if got := f.delivery(d.ID); got.State != sessions.Sending || got.Part != 1 || got.Attempt != 0 || len(got.Receipts) != 1 {
		f.t.Fatalf("%+v", got)
	}
	f.equal(f.begin(d.ID).Attempt, 1)
	f.ok(f.PartSent(f.ctx, d.ID, r2, true))
	f.ok(f.PartSent(f.ctx, d.ID, r2, true)) // repeated
	got := f.delivery(d.ID)
	if got.State != sessions.Sent || got.Part != 2 {
		f.t.Errorf("%+v", got)
	}
	f.equal(got.Receipts, []channels.Receipt{r1, r2})
	f.is(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "3", At: at}, true), sessions.ErrConflict)
}

func retry(_ *testing.T, f *fixture) {
	d := f.post(delivery("", addr("1"), "x"))
	at := time.Now().Add(time.Minute)
	f.is(f.Retry(f.ctx, d.ID, at, "why", sessions.NotArrived), sessions.ErrConflict)
	f.begin(d.ID)
	f.ok(f.Retry(f.ctx, d.ID, at, "429", sessions.UnknownMayRepeat))
	f.ok(f.Retry(f.ctx, d.ID, at, "429", sessions.UnknownMayRepeat)) // repeated
	got := f.delivery(d.ID)
	if got.State != sessions.Pending || got.NotBefore.UnixMilli() != at.UnixMilli() || got.Error != "429" || !got.Repeat || got.Attempt != 1 {
		f.t.Errorf("%+v", got)
	}
	f.equal(f.begin(d.ID).Attempt, 2)
	f.ok(f.Retry(f.ctx, d.ID, at, "again", sessions.NotArrived))
	got = f.delivery(d.ID)
	f.equal(got.Repeat, true) // once a repeat, always
	if len(got.Tries) != 2 || got.Tries[0].Error != "429" || got.Tries[1].Error != "again" || got.Tries[1].At.IsZero() {
		f.t.Errorf("tries %+v", got.Tries)
	}
	f.begin(d.ID)
	f.ok(f.EndDelivery(f.ctx, d.ID, sessions.DeliveryFail, "refused"))
	if tries := f.delivery(d.ID).Tries; len(tries) != 3 || tries[2].Error != "refused" {
		f.t.Errorf("tries %+v", tries)
	}
}

// What is not sent in the end says whether an earlier try may have arrived.
func unclearEnd(_ *testing.T, f *fixture) {
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
		d := f.post(delivery("", addr("1"), "x"))
		for _, end := range x.tries {
			f.begin(d.ID)
			f.ok(f.Retry(f.ctx, d.ID, time.Now(), "why", end))
		}
		if x.sending {
			f.begin(d.ID)
		}
		got, err := f.BeginSend(f.ctx, d.ID, time.Now(), deny, sessions.FirstContactQuota{})
		f.ok(err)
		doubts := 0
		for _, end := range x.tries {
			if end == sessions.UnknownMayRepeat {
				doubts++
			} else if end == sessions.ConfirmedAbsent {
				doubts = 0
			}
		}
		f.equal(f.delivery(d.ID).AmbiguousTries, doubts)
		if says := strings.Contains(got.Error, sessions.MayHaveArrived); got.State != sessions.Withheld || got.Ambiguous != x.unclear || says != x.unclear || f.delivery(d.ID).Ambiguous != x.unclear {
			f.t.Errorf("%+v: %+v", x, got)
		}
	}
	oneOfTwo := func() sessions.DeliveryID {
		d := f.post(delivery("", addr("1"), "x"))
		f.begin(d.ID)
		f.ok(f.Retry(f.ctx, d.ID, time.Now(), "why", sessions.UnknownIdempotent))
		f.begin(d.ID)
		f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "1", At: time.Now()}, false))
		f.equal(f.delivery(d.ID).Ambiguous, false) // it is there
		return d.ID
	}
	for _, begun := range []bool{false, true} { // of the second part
		denied, ended := oneOfTwo(), oneOfTwo()
		if begun {
			f.begin(denied)
			f.begin(ended)
		}
		got, err := f.BeginSend(f.ctx, denied, time.Now(), deny, sessions.FirstContactQuota{})
		f.ok(err)
		f.equal(strings.Contains(got.Error, sessions.MayHaveArrived), begun)
		f.equal(f.delivery(denied).Ambiguous, begun)
		f.ok(f.EndDelivery(f.ctx, ended, sessions.Expired, "why"))
		f.equal(f.delivery(ended).Ambiguous, begun)
	}
}

func endDelivery(_ *testing.T, f *fixture) {
	for _, state := range []sessions.DeliveryState{sessions.DeliveryFail, sessions.Dropped, sessions.Held, sessions.Expired, sessions.Withheld} {
		d := f.post(delivery("", addr("1"), "x"))
		f.begin(d.ID)
		f.ok(f.EndDelivery(f.ctx, d.ID, state, "why"))
		f.ok(f.EndDelivery(f.ctx, d.ID, state, "other")) // repeated
		if got := f.delivery(d.ID); got.State != state || got.Error != "why" {
			f.t.Errorf("%+v", got)
		}
	}
	d := f.post(delivery("", addr("1"), "x"))
	f.ok(f.EndDelivery(f.ctx, d.ID, sessions.Held, "ambiguous"))
	f.ok(f.EndDelivery(f.ctx, d.ID, sessions.Dropped, "by a person"))
	s := f.post(delivery("", addr("1"), "x"))
	f.sent(s.ID)
	f.is(f.EndDelivery(f.ctx, s.ID, sessions.Dropped, "x"), sessions.ErrConflict)
	if err := f.EndDelivery(f.ctx, s.ID, sessions.Pending, "x"); err == nil {
		f.t.Error("ended as pending")
	}
	f.is(f.EndDelivery(f.ctx, "nobody", sessions.Dropped, "x"), sessions.ErrNotFound)
}

func requeue(_ *testing.T, f *fixture) {
	until := time.Now().Add(time.Hour)
	for _, state := range []sessions.DeliveryState{sessions.DeliveryFail, sessions.Expired, sessions.Held, sessions.Dropped} {
		d := f.post(delivery("", addr("1"), "x"))
		f.begin(d.ID)
		f.ok(f.EndDelivery(f.ctx, d.ID, state, "why"))
		got, err := f.Requeue(f.ctx, d.ID, until)
		f.ok(err)
		if got.State != sessions.Pending || got.Expires.UnixMilli() != until.UnixMilli() || got.Error != "" || got.Attempt != 0 || !got.NotBefore.IsZero() {
			f.t.Errorf("%s: %+v", state, got)
		}
		f.equal(got.Repeat, state == sessions.Held) // it may have arrived
		f.equal(f.delivery(d.ID), got)
	}
	for _, end := range []func(sessions.DeliveryID){f.sent, func(d sessions.DeliveryID) { f.begin(d) }} {
		d := f.post(delivery("", addr("1"), "x"))
		end(d.ID)
		_, err := f.Requeue(f.ctx, d.ID, until)
		f.is(err, sessions.ErrConflict)
		f.equal(err.Error(), fmt.Sprintf("delivery %s is %s: only failed, expired, held or dropped deliveries can be sent again", d.ID, f.delivery(d.ID).State))
	}
}

func readdress(_ *testing.T, f *fixture) {
	from := channels.Address{Channel: "telegram", Account: "default", Chat: "-5", Type: channels.Group}
	to := from
	to.Chat = "-1005"
	topic, moved := from, to
	topic.Thread, moved.Thread = "7", "7"
	near := from
	near.Chat = "-50"
	k := sessions.Key("agent:main:telegram:group:-5")
	for i, a := range []channels.Address{from, topic, near} {
		f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k + sessions.Key(fmt.Sprint(":", i)), Agent: "main", Last: a}}})
	}
	open, inTopic, other, sending, done := f.post(delivery("", from, "x")), f.post(delivery("", topic, "x")), f.post(delivery("", near, "x")), f.post(delivery("", from, "x")), f.post(delivery("", from, "x"))
	f.begin(sending.ID)
	f.sent(done.ID)
	f.ok(f.Readdress(f.ctx, from, to))
	f.ok(f.Readdress(f.ctx, from, to))
	for d, want := range map[sessions.DeliveryID]channels.Address{open.ID: to, inTopic.ID: moved, other.ID: near, sending.ID: to, done.ID: from} {
		f.equal(f.delivery(d).To, want)
	}
	for i, want := range []channels.Address{to, moved, near} {
		f.equal(f.get(k+sessions.Key(fmt.Sprint(":", i))).Last, want)
	}
}

func due(_ *testing.T, f *fixture) {
	var all []sessions.Delivery
	for i := range 6 {
		d := delivery(key("1"), addr(fmt.Sprint(i%2)), fmt.Sprint(i))
		d.NotBefore = time.Now().Add(time.Hour) // ignored here
		all = append(all, f.post(d))
		if i > 0 && all[i].Seq <= all[i-1].Seq {
			f.t.Fatalf("numbers %d, %d", all[i-1].Seq, all[i].Seq)
		}
	}
	f.sent(all[0].ID)
	f.begin(all[1].ID)
	f.ok(f.EndDelivery(f.ctx, all[2].ID, sessions.Dropped, "x"))
	got, err := f.Due(f.ctx, 10, 0)
	f.ok(err)
	f.equal(got, all[3:])
	got, err = f.Due(f.ctx, 1, all[3].Seq)
	f.ok(err)
	f.equal(got, all[4:5])
	// A retry keeps its place.
	f.ok(f.Retry(f.ctx, all[1].ID, time.Now(), "r", sessions.NotArrived))
	got, err = f.Due(f.ctx, 1, 0)
	f.ok(err)
	f.equal(got[0].ID, all[1].ID)

	for _, c := range []struct {
		q    sessions.DeliveryQuery
		want []int
	}{
		{sessions.DeliveryQuery{}, []int{5, 4, 3, 2, 1, 0}}, {sessions.DeliveryQuery{Limit: 2}, []int{5, 4}}, {sessions.DeliveryQuery{Before: all[2].Seq}, []int{1, 0}},
		{sessions.DeliveryQuery{State: sessions.Sent}, []int{0}}, {sessions.DeliveryQuery{State: sessions.Pending, Limit: 1}, []int{5}},
		{sessions.DeliveryQuery{Session: key("1"), State: sessions.Dropped}, []int{2}}, {sessions.DeliveryQuery{Session: key("2")}, nil},
	} {
		list, err := f.ListDeliveries(f.ctx, c.q)
		f.ok(err)
		var got []int
		for _, d := range list {
			for i := range all {
				if all[i].ID == d.ID {
					got = append(got, i)
				}
			}
		}
		f.equal(got, c.want)
	}
	// The same delivery again makes no second one.
	again := all[3]
	again.Text = "other"
	f.equal(f.post(again), all[3])
}

func countDeliveries(_ *testing.T, f *fixture) {
	n, err := f.CountDeliveries(f.ctx, sessions.DeliveryQuery{})
	f.ok(err)
	f.equal(len(n), 0)
	for range 3 {
		f.sent(f.post(delivery("", addr("1"), "x")).ID)
	}
	f.begin(f.post(delivery("", addr("1"), "x")).ID)
	f.post(delivery("", addr("1"), "x"))
	n, err = f.CountDeliveries(f.ctx, sessions.DeliveryQuery{})
	f.ok(err)
	f.equal(n, map[sessions.DeliveryState]int{sessions.Sent: 3, sessions.Sending: 1, sessions.Pending: 1})
	// Those of a session, and of a run.
	run := f.accept(message("1", "1", "q")).Run
	f.claim(run.Key)
	d := delivery(run.Key, addr("1"), "x")
	d.Run = run.ID
	_, err = f.Finish(f.ctx, run.ID, sessions.Outcome{Status: sessions.Done, Deliveries: []sessions.Delivery{d}})
	f.ok(err)
	f.post(delivery(run.Key, addr("1"), "x"))
	for want, q := range map[int]sessions.DeliveryQuery{2: {Session: run.Key, State: sessions.Sent, Before: 1}, 1: {Run: run.ID}, 0: {Session: run.Key, Run: "none"}} {
		n, err = f.CountDeliveries(f.ctx, q)
		f.ok(err)
		f.equal(n[sessions.Pending], want)
		f.equal(len(n), min(want, 1))
	}
}

// proves: T2, P5
func marks(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	m := assistant("answer")
	step := assistant("step")
	f.ok(f.Record(f.ctx, a.Run.ID, step))
	d1, d2 := delivery(key("1"), addr("1"), "answer"), delivery(key("1"), addr("2"), "answer")
	d1.Message, d2.Message = m.ID, m.ID
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}, Deliveries: []sessions.Delivery{d1, d2}})
	late := delivery(key("1"), addr("3"), "step")
	late.Message = step.ID
	f.post(late) // made after its message
	f.sent(d1.ID)
	if _, err := f.BeginSend(f.ctx, d2.ID, time.Now(), deny, sessions.FirstContactQuota{}); err != nil {
		f.t.Fatal(err)
	}
	got := f.tail(a.Session.ID, sessions.TailQuery{})
	f.equal(got[2].Deliveries, []sessions.Mark{{Delivery: d1.ID, State: sessions.Sent, To: addr("1").String(), Rule: allowed.Rule}, {Delivery: d2.ID, State: sessions.Withheld, To: addr("2").String(), Rule: denied.Rule}})
	f.equal(got[1].Deliveries, []sessions.Mark{{Delivery: late.ID, State: sessions.Pending, To: addr("3").String()}})
	f.equal(len(got[0].Deliveries), 0)
}

// proves: P5
func finishBegin(_ *testing.T, f *fixture) {
	n := 0
	finish := func(d sessions.Delivery, o sessions.Outcome) sessions.Accepted {
		f.t.Helper()
		n++
		run := f.accept(message("1", fmt.Sprint("begin", n), "q")).Run
		f.claim(key("1"))
		d.Run, o.Deliveries = run.ID, []sessions.Delivery{d}
		return f.finish(run.ID, o)
	}
	begin := func(d sessions.Delivery, check func(sessions.Session) policy.Verdict, want sessions.DeliveryState) sessions.Delivery {
		f.t.Helper()
		acc := finish(d, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: d.ID, Check: check}})
		if len(acc.Deliveries) != 1 || acc.Deliveries[0].State != want {
			f.t.Fatalf("%+v", acc.Deliveries)
		}
		f.equal(f.delivery(d.ID), acc.Deliveries[0])
		return acc.Deliveries[0]
	}
	d := begin(delivery(key("1"), addr("1"), "one"), func(s sessions.Session) policy.Verdict {
		f.equal(s.Key, key("1"))
		return allowed
	}, sessions.Sending)
	if d.Attempt != 1 || d.Verdict == nil || *d.Verdict != allowed {
		f.t.Errorf("%+v", d)
	}
	topic := addr("1")
	topic.Thread = "7"
	behind := begin(delivery(key("1"), topic, "two"), allow, sessions.Pending) // the first one is on its way to the chat
	if behind.Attempt != 0 || behind.Verdict != nil {
		f.t.Errorf("%+v", behind)
	}
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "r", At: time.Now()}, true))
	begin(delivery(key("1"), addr("1"), "three"), allow, sessions.Pending) // and now the second
	f.sent(behind.ID)
	begin(delivery(key("1"), addr("2"), "elsewhere"), allow, sessions.Sending)
	no := begin(delivery(key("1"), addr("3"), "no"), deny, sessions.Withheld)
	if no.Attempt != 0 || *no.Verdict != denied || no.Ambiguous {
		f.t.Errorf("%+v", no)
	}
	// One that is there already is somebody else's.
	there := f.post(delivery(key("1"), addr("4"), "x"))
	acc := finish(there, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: there.ID, Check: deny}})
	f.equal(acc.Deliveries[0].State, sessions.Pending)
	// Only the one that is named begins, and an account that opens no more chats today lets it wait.
	other := delivery(key("1"), addr("5"), "x")
	acc = finish(other, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: "another", Check: deny}})
	f.equal(acc.Deliveries[0].State, sessions.Pending)
	news := delivery(key("1"), addr("6"), "news")
	news.Kind = sessions.Announce
	until := fromMilli(time.Now()).Add(time.Hour)
	full := sessions.FirstContactQuota{Limit: 1, Since: until.Add(-2 * time.Hour), Until: until}
	first := news
	first.ID, first.To = "first", addr("7")
	f.post(first)
	_, err := f.BeginSend(f.ctx, first.ID, time.Now(), allow, full)
	f.ok(err)
	acc = finish(news, sessions.Outcome{Begin: &sessions.BeginSend{Delivery: news.ID, Check: allow, Quota: full}})
	if got := acc.Deliveries[0]; got.State != sessions.Pending || !got.NotBefore.Equal(until) || got.Error == "" {
		f.t.Errorf("%+v", got)
	}
}

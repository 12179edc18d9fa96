package stoptest

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// What the runs have made and what has not left is withdrawn; parts that have arrived stay, and the answers to commands go.
//
// proves: X1, T2
func stopWithdraws(f *fixture.Store) {
	k, other := fixture.Key("1"), fixture.Key("2")
	f.MakeSession(k)
	f.MakeSession(other)
	run := f.QueueTurn(k, fixture.Address("1"), "long")
	f.MustClaim(k)
	post := func(by sessions.RunID, kind sessions.DeliveryKind) sessions.Delivery {
		d := fixture.NewDelivery(k, fixture.Address("1"), "x")
		d.Run, d.Kind = by, kind
		return f.QueueDelivery(d)
	}
	sending, waiting := post(run.ID, sessions.Reply), post(run.ID, sessions.Reply)
	command := post("", sessions.Notice)
	foreign := post(f.QueueTurn(other, fixture.Address("2"), "x").ID, sessions.Posted)
	f.MustFinish(run.ID, sessions.Outcome{Status: sessions.Done})
	f.MustBeginSend(sending.ID)
	f.OK(f.PartSent(f.Context(), sending.ID, channels.Receipt{ID: "1", At: time.Now()}, false))
	f.MustBeginSend(sending.ID)
	got, err := f.Stoppable(f.Context(), k)
	f.OK(err)
	f.Equal([]int{len(got.Runs), len(got.Deliveries)}, []int{0, 2})
	acc := f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}}}})
	f.Equal(len(acc.Withdrawn), 2)
	f.Equal(f.MustGetDelivery(sending.ID).Ambiguous, true) // its second part is under way
	f.OK(f.PartSent(f.Context(), sending.ID, channels.Receipt{ID: "2", At: time.Now()}, false))
	now := f.MustGetDelivery(sending.ID)
	f.Equal([]any{now.State, now.Part, len(now.Receipts), now.Ambiguous, now.Error}, []any{sessions.DeliveryStopped, 2, 2, false, "stopped by a person"})
	f.OK(f.Retry(f.Context(), sending.ID, time.Now(), "late", sessions.NotArrived))
	f.OK(f.EndDelivery(f.Context(), sending.ID, sessions.DeliveryFail, "late"))
	f.Equal(f.MustBeginSend(sending.ID).State, sessions.DeliveryStopped)
	f.Equal(f.MustGetDelivery(waiting.ID).State, sessions.DeliveryStopped)
	f.OK(f.PartSent(f.Context(), sending.ID, channels.Receipt{ID: "3", At: time.Now()}, true)) // it was the last one
	f.Equal(f.MustGetDelivery(sending.ID).State, sessions.Sent)
	f.Equal([]any{f.MustGetDelivery(command.ID).State, f.MustGetDelivery(foreign.ID).State}, []any{sessions.Pending, sessions.Pending})
	_, found, err := f.Recover(f.Context())
	f.OK(err)
	f.Equal(len(found), 0)
}

// What a tool posts and a stop ends stands in the transcript of its chat if people may have read it, and otherwise does not.
//
// proves: X1, T2
func stopKeepsRead(f *fixture.Store) {
	for _, begun := range []bool{true, false} {
		k, other := fixture.Key(fmt.Sprint("s", begun)), fixture.Key(fmt.Sprint("t", begun))
		f.MakeSession(k)
		f.MakeSession(other)
		run := f.QueueTurn(k, fixture.Address("1"), "x")
		f.MustClaim(k)
		words := fixture.NewRun(other, "posted")
		words.Kind = sessions.PostRun
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: other}}, Run: &sessions.Enqueue{Run: *words}})
		d := fixture.NewDelivery(other, fixture.Address("2"), "posted")
		d.Run, d.Kind, d.Message = run.ID, sessions.Posted, words.Input.ID
		f.QueueDelivery(d)
		if begun {
			f.MustBeginSend(d.ID)
		}
		f.StopSessions(k)
		if status := f.MustGetRun(words.ID).Status; (status == sessions.Stopped) == begun {
			f.Errorf("its send had begun %v: the post is %s", begun, status)
		}
	}
}

// A run that was stopped before its end was committed ends as stopped, with who did it, and a note stands behind its words.
//
// proves: X1, N15
func stopFirst(f *fixture.Store) {
	for _, by := range []sessions.Stopper{sessions.ByPerson, sessions.ByOperator, sessions.ByParent, sessions.ByDeletion} {
		for _, dies := range []bool{false, true} {
			k := fixture.Key(string(by) + fmt.Sprint(dies))
			s := f.MakeSession(k)
			run := f.QueueTurn(k, fixture.Address("1"), "hello")
			f.MustClaim(k)
			f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: []sessions.Key{k}, By: by}}})
			if dies {
				_, _, err := f.Recover(f.Context())
				f.OK(err)
			} else {
				acc := f.MustFinish(run.ID, sessions.Outcome{Status: sessions.Done, Result: "ready", Deliveries: []sessions.Delivery{fixture.NewDelivery(k, fixture.Address("1"), "ready")}})
				f.Equal([]any{len(acc.Deliveries), acc.Stopped}, []any{0, []sessions.StoppedRun{{Key: k, ID: run.ID}}})
			}
			now := f.MustGetRun(run.ID)
			f.Equal([]any{now.Status, now.Error, now.Result}, []any{sessions.Stopped, by.Words(), ""})
			msgs := f.MustTail(s.ID, sessions.TailQuery{})
			if last := msgs[len(msgs)-1]; last.Provenance == nil || last.Provenance.Tool != sessions.StopNote {
				f.Errorf("%q: the transcript ends with %+v", by, last)
			}
		}
	}
}

package storetest

import (
	"testing"

	"parley/sessions"
)

// A run that only sums up is no turn: what it was asked is in no transcript, and it says nothing about how the last turn ended.
func compactRun(_ *testing.T, f *fixture) {
	k := key("1")
	a := f.accept(message("1", "1", "q"))
	f.claim(k)
	f.finish(a.Run.ID, sessions.Outcome{Status: sessions.Stopped})
	run := newRun(k, "look at the numbers")
	run.Kind = sessions.CompactRun
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *run}})
	f.equal(f.claim(k).Input.Text(), "look at the numbers")
	d := delivery(k, addr("1"), "done")
	f.finish(run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{d}})
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{})), []string{"q"})
	if s := f.get(k); s.Turns != 1 || !s.Aborted {
		f.t.Errorf("%d turns, aborted %v", s.Turns, s.Aborted)
	}
}

// A reset of one certain transcript happens once, also for repeated requests.
func resetOf(_ *testing.T, f *fixture) {
	k := key("1")
	old := f.session(k)
	one := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}, Ops: []sessions.SessionOp{sessions.ResetSession{IfID: old.ID}}}, Run: &sessions.Enqueue{Run: *newRun(k, "a")}})
	two := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}, Ops: []sessions.SessionOp{sessions.ResetSession{IfID: old.ID}}}, Run: &sessions.Enqueue{Run: *newRun(k, "b")}})
	if one.Session.ID == old.ID || two.Session.ID != one.Session.ID || two.Run.Session != one.Run.Session {
		f.t.Errorf("%s, then %s, then %s", old.ID, one.Session.ID, two.Session.ID)
	}
}

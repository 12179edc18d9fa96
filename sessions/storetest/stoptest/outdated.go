package stoptest

import (
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// The result of a call says that a run goes on only as long as that is so: behind the end of the run, its stop or its deletion it is refused and nothing is
// recorded. Other results are, and so is one that had been before.
//
// proves: S15
func outdatedResult(f *fixture.Store) {
	for name, x := range map[string]struct {
		tool, says string
		end        func(run sessions.Run)
		refused    bool
	}{
		"it is at work":             {"sessions_send", "timeout", nil, false},
		"it has ended":              {"sessions_send", "timeout", func(r sessions.Run) { f.MustFinish(r.ID, sessions.Outcome{Status: sessions.Failed, Error: "x"}) }, true},
		"its session is stopped":    {"sessions_send", "timeout", func(r sessions.Run) { f.StopSessions(r.Key) }, true},
		"it is stopped":             {"sessions_send", "timeout", func(r sessions.Run) { f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.StopRun{ID: r.ID}}}) }, true},
		"its session is deleted":    {"sessions_send", "timeout", func(r sessions.Run) { f.OK(f.Delete(f.Context(), r.Key)) }, true},
		"the result says how":       {"sessions_send", "error", func(r sessions.Run) { f.StopSessions(r.Key) }, false},
		"the result of another one": {"lookup", "timeout", func(r sessions.Run) { f.StopSessions(r.Key) }, false},
	} {
		a, b := fixture.Key("a"+name), fixture.Key("b"+name)
		f.MakeSession(a)
		f.MakeSession(b)
		asker, run := f.QueueTurn(a, fixture.Address("1"), "ask b"), queueChained(f, b, sessions.AskRun, sessions.Chain{Kind: "ask", Requester: a, Target: b, Waited: true})
		f.MustClaim(a)
		f.MustClaim(b)
		result := func() sessions.Message {
			m := fixture.ToolResult("c1", `{"runId":"`+string(run.ID)+`","status":"`+x.says+`"}`)
			m.ToolName = x.tool
			return m
		}
		before := result()
		f.OK(f.Record(f.Context(), asker.ID, before))
		if x.end != nil {
			x.end(run)
		}
		f.OK(f.Record(f.Context(), asker.ID, before))
		want := 2
		if x.refused {
			want = 1
			f.ErrorIs(f.Record(f.Context(), asker.ID, result()), sessions.ErrOutdated)
		} else {
			f.OK(f.Record(f.Context(), asker.ID, result()))
		}
		steps, err := f.Steps(f.Context(), asker.ID)
		f.OK(err)
		if len(steps) != want {
			f.Errorf("%s: %d results are recorded, want %d", name, len(steps), want)
		}
	}
}

// What follows on an exchange whose end was worked out while its call waited goes by what the call has answered when the end is committed.
//
// proves: S15
func answeredMeanwhile(f *fixture.Store) {
	for name, x := range map[string]struct {
		status  string // that the call was answered with; "" = it waits
		stopped bool   // the turn that asked
		late    bool
	}{
		"it waits": {}, "it has the failure": {status: "error"}, "it is out of time": {status: "timeout", late: true}, "its people have stopped": {status: "timeout", stopped: true},
	} {
		a, b := fixture.Key("a"+name), fixture.Key("b"+name)
		f.MakeSession(a)
		f.MakeSession(b)
		asker := f.QueueTurn(a, fixture.Address("1"), "ask b")
		f.MustClaim(a)
		r := fixture.NewRun(b, "how is it?")
		r.Kind, r.Source = sessions.AskRun, "tool:"+string(asker.ID)+":c1"
		r.Chain = &sessions.Chain{Kind: "ask", Root: r.ID, Requester: a, Target: b, Waited: true, Back: fixture.Address("1")}
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: b}}, Run: &sessions.Enqueue{Run: *r}})
		f.MustClaim(b)
		if x.status != "" {
			m := fixture.ToolResult("c1", `{"runId":"`+string(r.ID)+`","status":"`+x.status+`"}`)
			m.ToolName = "sessions_send"
			f.OK(f.Record(f.Context(), asker.ID, m))
		}
		if x.stopped {
			f.MustFinish(asker.ID, sessions.Outcome{Status: sessions.Stopped, Error: "stopped by a person"})
		}
		next := func(words string) *sessions.Change {
			return &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: a}, Mode: sessions.Require}, Run: &sessions.Enqueue{Run: *fixture.NewRun(a, words)}}
		}
		acc := f.MustFinish(r.ID, sessions.Outcome{Status: sessions.Failed, Error: "x", Next: next("in time"), IfAnswered: next("late")})
		want := "in time"
		if x.late {
			want = "late"
		}
		if got := acc.Run.Input.Text(); got != want {
			f.Errorf("%s: what follows is %q, want %q", name, got, want)
		}
	}
}

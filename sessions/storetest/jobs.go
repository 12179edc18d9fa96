package storetest

import (
	"testing"
	"time"

	"parley/sessions"
)

func (f *fixture) jobs(agent sessions.AgentID) []sessions.Job {
	f.t.Helper()
	out, err := f.ListJobs(f.ctx, agent)
	f.ok(err)
	return out
}

// A job fires once for each time that it is due, in one commit with its work, and ends when it has no next time.
func jobs(_ *testing.T, f *fixture) {
	k, due := key("1"), time.UnixMilli(1_700_000_000_000)
	f.session(k)
	daily := sessions.Job{ID: "daily", Name: "report", Agent: "main", Cron: "0 7 * * *", Zone: "Europe/Berlin", Message: "report", From: k, Owner: true, Next: due, Created: due.Add(-time.Hour)}
	once := sessions.Job{ID: "once", Agent: "ops", At: due.Add(-time.Minute), Message: "x", Next: due.Add(-time.Minute)}
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "daily", Agent: "ops", Next: due}}})
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(daily)}})
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(once)}})
	f.equal(f.jobs(""), []sessions.Job{once, daily})
	f.equal(f.jobs("main"), []sessions.Job{daily})
	if _, err := f.Submit(f.ctx, sessions.Change{Ops: []sessions.Op{sessions.PutJob{Agent: "main"}}}); err == nil {
		f.t.Error("a job without an id was taken")
	}

	work := func(source string) sessions.Change {
		r := newRun(k, "report")
		r.Kind = sessions.JobRun
		return sessions.Change{IdempotencyKey: source, Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}
	}
	next := due.Add(24 * time.Hour)
	acc, err := f.Fire(f.ctx, sessions.Firing{Job: "daily", Due: due, Next: next, Change: work("daily:1")})
	f.ok(err)
	f.equal(f.claim(k).ID, acc.Run.ID)
	f.finish(acc.Run.ID, sessions.Outcome{})
	got := f.jobs("main")[0]
	if got.Last.IsZero() || !got.Next.Equal(next) || got.Message != "report" {
		f.t.Errorf("%+v", got)
	}
	_, err = f.Fire(f.ctx, sessions.Firing{Job: "daily", Due: due, Next: next, Change: work("daily:2")})
	f.is(err, sessions.ErrConflict)

	// What cannot be submitted leaves the job as it was.
	bad := work("daily:3")
	bad.Session = &sessions.Target{Session: sessions.Session{Key: "agent:main:gone"}, Mode: sessions.Require}
	_, err = f.Fire(f.ctx, sessions.Firing{Job: "daily", Due: next, Next: next.Add(time.Hour), Times: []sessions.Occurrence{{Due: next}}, Change: bad})
	f.is(err, sessions.ErrNotFound)
	if got := f.jobs("main")[0]; !got.Next.Equal(next) {
		f.t.Errorf("%+v", got)
	}

	if acc, err = f.Fire(f.ctx, sessions.Firing{Job: "once", Due: once.Next, Change: work("once:1")}); err != nil || acc.Run.ID == "" {
		f.t.Fatal(acc, err)
	}
	f.equal(len(f.jobs("ops")), 0)
	_, err = f.Fire(f.ctx, sessions.Firing{Job: "once", Due: once.Next, Change: work("once:2")})
	f.is(err, sessions.ErrConflict)
	f.equal(f.claim(k).ID, acc.Run.ID)
	f.finish(acc.Run.ID, sessions.Outcome{})
	f.nothingToClaim(k)
	for range 2 {
		f.submit(sessions.Change{Ops: []sessions.Op{sessions.DeleteJob{ID: "daily"}}})
	}
	f.equal(len(f.jobs("")), 0)
}

func (f *fixture) occurrences(job string) []sessions.Occurrence {
	f.t.Helper()
	out, err := f.Occurrences(f.ctx, job, 0)
	f.ok(err)
	return out
}

// What became of each time of a job is in its history, in the commit that began it or left it out, and stays when the job is over.
func occurrences(t *testing.T, f *fixture) {
	k, due := key("1"), time.UnixMilli(1_700_000_000_000)
	f.session(k)
	at, next := due.Add(time.Second), due.Add(time.Hour)
	made := sessions.Job{ID: "j", Name: "report", Agent: "main", Every: time.Hour, Message: "report", To: addr("1"), Model: "p/m", Thinking: "high", Timeout: time.Minute, Next: due, Created: due.Add(-time.Hour)}
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(made)}})
	got, err := f.GetJob(f.ctx, "j")
	f.ok(err)
	f.equal(got, made)
	_, err = f.GetJob(f.ctx, "other")
	f.is(err, sessions.ErrNotFound)

	begin := func(x sessions.Firing, source string) sessions.Accepted {
		t.Helper()
		r := newRun(k, "report")
		r.Kind, r.ID = sessions.JobRun, sessions.RunID(source)
		x.Job, x.At = "j", at
		x.Change = sessions.Change{IdempotencyKey: source, Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}
		x.Times = append(x.Times, sessions.Occurrence{Due: x.Due, Run: r.ID, Forced: x.Due.IsZero()})
		acc, err := f.Fire(f.ctx, x)
		f.ok(err)
		return acc
	}
	begin(sessions.Firing{Due: due, Next: next, Times: []sessions.Occurrence{{Due: due.Add(-time.Hour), Skipped: "too late"}}}, "one")
	first := []sessions.Occurrence{{Job: "j", Name: "report", Agent: "main", Due: due, At: at, Run: "one"}, {Job: "j", Name: "report", Agent: "main", Due: due.Add(-time.Hour), At: at, Skipped: "too late"}}
	f.equal(f.occurrences("j"), first)

	// A person asks for it: Next stays. The same once more is the same run.
	for _, again := range []bool{false, true} {
		if acc := begin(sessions.Firing{}, "two"); acc.Duplicate != again || acc.Run.ID != "two" {
			t.Errorf("%v: %+v", again, acc)
		}
		f.equal(f.occurrences("j"), append([]sessions.Occurrence{{Job: "j", Name: "report", Agent: "main", At: at, Forced: true, Run: "two"}}, first...))
	}
	if got := f.jobs("")[0]; !got.Next.Equal(next) || !got.Last.Equal(at) {
		t.Errorf("%+v", got)
	}

	// A turn that must begin alone does not beside another one of its session, and moves nothing; the same once more is the same run.
	alone := newRun(k, "report")
	alone.Kind, alone.ID = sessions.JobRun, "three"
	_, err = f.Fire(f.ctx, sessions.Firing{Job: "j", At: at, Due: next, Next: next.Add(time.Hour), Exclusive: true, Times: []sessions.Occurrence{{Due: next, Run: "three"}},
		Change: sessions.Change{IdempotencyKey: "three", Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *alone}}})
	f.is(err, sessions.ErrBusy)
	for _, id := range []sessions.RunID{"one", "two"} {
		f.equal(f.claim(k).ID, id)
		f.finish(id, sessions.Outcome{})
	}
	if got := f.jobs("")[0]; !got.Next.Equal(next) || len(f.occurrences("j")) != 3 {
		t.Errorf("%+v", got)
	}
	for _, again := range []bool{false, true} {
		if acc := begin(sessions.Firing{Exclusive: true}, "four"); acc.Duplicate != again || acc.Run.ID != "four" {
			t.Errorf("%v: %+v", again, acc)
		}
	}

	// A time that has begun before, because the job was changed meanwhile, only moves on; Last does not go back.
	made.Next = due
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(made)}})
	if got := f.jobs("")[0]; !got.Next.Equal(due) || !got.Last.Equal(at) {
		t.Errorf("%+v", got)
	}
	if acc := begin(sessions.Firing{Due: due, Next: next}, "one"); !acc.Duplicate {
		t.Errorf("%+v", acc)
	}
	f.equal(len(f.occurrences("")), 4)

	// It cannot go on: it is kept, without a next time.
	_, err = f.Fire(f.ctx, sessions.Firing{Job: "j", Due: next, At: next, Off: true, Times: []sessions.Occurrence{{Due: next, Skipped: "no such zone"}}})
	f.ok(err)
	if got := f.jobs("")[0]; !got.Off || !got.Next.IsZero() || !got.Last.Equal(next) || got.Message != "report" {
		t.Errorf("%+v", got)
	}
	_, err = f.Fire(f.ctx, sessions.Firing{Job: "j", Due: next})
	f.is(err, sessions.ErrConflict)

	f.submit(sessions.Change{Ops: []sessions.Op{sessions.DeleteJob{ID: "j"}}})
	_, err = f.Fire(f.ctx, sessions.Firing{Job: "j"})
	f.is(err, sessions.ErrNotFound)
	f.equal(len(f.occurrences("j")), 5)
	f.equal(len(f.occurrences("other")), 0)
	list, err := f.Occurrences(f.ctx, "", 1)
	f.ok(err)
	f.equal(list, []sessions.Occurrence{{Job: "j", Name: "report", Agent: "main", Due: next, At: next, Skipped: "no such zone"}})

	for _, x := range []struct{ days, left int }{{89, 5}, {91, 0}} {
		_, err = f.Expire(f.ctx, at.Add(time.Duration(x.days)*24*time.Hour), time.Hour)
		f.ok(err)
		f.equal(len(f.occurrences("")), x.left)
	}
}

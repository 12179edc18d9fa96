package runtest

import (
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func listJobs(f *fixture.Store, agent sessions.AgentID) []sessions.Job {
	f.Helper()
	out, err := f.ListJobs(f.Context(), agent)
	f.OK(err)
	return out
}

// A job fires once for each time that it is due, in one commit with its work, and ends when it has no next time.
func jobs(f *fixture.Store) {
	k, due := fixture.Key("1"), time.UnixMilli(1_700_000_000_000)
	f.MakeSession(k)
	daily := sessions.Job{ID: "daily", Name: "report", Agent: "main", Cron: "0 7 * * *", Zone: "Europe/Berlin", Message: "report", From: k, Owner: true, Next: due, Created: due.Add(-time.Hour)}
	once := sessions.Job{ID: "once", Agent: "ops", At: due.Add(-time.Minute), Message: "x", Next: due.Add(-time.Minute)}
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: "daily", Agent: "ops", Next: due}}})
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(daily)}})
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(once)}})
	f.Equal(listJobs(f, ""), []sessions.Job{once, daily})
	f.Equal(listJobs(f, "main"), []sessions.Job{daily})
	if _, err := f.Submit(f.Context(), sessions.Change{Ops: []sessions.Op{sessions.PutJob{Agent: "main"}}}); err == nil {
		f.Error("a job without an id was taken")
	}

	work := func(source string) sessions.Change {
		r := fixture.NewRun(k, "report")
		r.Kind = sessions.JobRun
		return sessions.Change{IdempotencyKey: source, Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}
	}
	next := due.Add(24 * time.Hour)
	acc, err := f.Fire(f.Context(), sessions.Firing{Job: "daily", Due: due, Next: next, Change: work("daily:1")})
	f.OK(err)
	f.Equal(f.MustClaim(k).ID, acc.Run.ID)
	f.MustFinish(acc.Run.ID, sessions.Outcome{})
	got := listJobs(f, "main")[0]
	if got.Last.IsZero() || !got.Next.Equal(next) || got.Message != "report" {
		f.Errorf("%+v", got)
	}
	_, err = f.Fire(f.Context(), sessions.Firing{Job: "daily", Due: due, Next: next, Change: work("daily:2")})
	f.ErrorIs(err, sessions.ErrConflict)

	// What cannot be submitted leaves the job as it was.
	bad := work("daily:3")
	bad.Session = &sessions.Target{Session: sessions.Session{Key: "agent:main:gone"}, Mode: sessions.Require}
	_, err = f.Fire(f.Context(), sessions.Firing{Job: "daily", Due: next, Next: next.Add(time.Hour), Times: []sessions.Occurrence{{Due: next}}, Change: bad})
	f.ErrorIs(err, sessions.ErrNotFound)
	if got := listJobs(f, "main")[0]; !got.Next.Equal(next) {
		f.Errorf("%+v", got)
	}

	if acc, err = f.Fire(f.Context(), sessions.Firing{Job: "once", Due: once.Next, Change: work("once:1")}); err != nil || acc.Run.ID == "" {
		f.Fatal(acc, err)
	}
	f.Equal(len(listJobs(f, "ops")), 0)
	_, err = f.Fire(f.Context(), sessions.Firing{Job: "once", Due: once.Next, Change: work("once:2")})
	f.ErrorIs(err, sessions.ErrConflict)
	f.Equal(f.MustClaim(k).ID, acc.Run.ID)
	f.MustFinish(acc.Run.ID, sessions.Outcome{})
	f.NothingToClaim(k)
	for range 2 {
		f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DeleteJob{ID: "daily"}}})
	}
	f.Equal(len(listJobs(f, "")), 0)
}

func listOccurrences(f *fixture.Store, job string) []sessions.Occurrence {
	f.Helper()
	out, err := f.Occurrences(f.Context(), job, 0)
	f.OK(err)
	return out
}

// What became of each time of a job is in its history, in the commit that began it or left it out, and stays when the job is over.
func occurrences(f *fixture.Store) {
	k, due := fixture.Key("1"), time.UnixMilli(1_700_000_000_000)
	f.MakeSession(k)
	at, next := due.Add(time.Second), due.Add(time.Hour)
	made := sessions.Job{ID: "j", Name: "report", Agent: "main", Every: time.Hour, Message: "report", To: fixture.Address("1"), Model: "p/m", Thinking: "high", Timeout: time.Minute, Next: due, Created: due.Add(-time.Hour)}
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(made)}})
	got, err := f.GetJob(f.Context(), "j")
	f.OK(err)
	f.Equal(got, made)
	_, err = f.GetJob(f.Context(), "other")
	f.ErrorIs(err, sessions.ErrNotFound)

	begin := func(x sessions.Firing, source string) sessions.Accepted {
		f.Helper()
		r := fixture.NewRun(k, "report")
		r.Kind, r.ID = sessions.JobRun, sessions.RunID(source)
		x.Job, x.At = "j", at
		x.Change = sessions.Change{IdempotencyKey: source, Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *r}}
		x.Times = append(x.Times, sessions.Occurrence{Due: x.Due, Run: r.ID, Forced: x.Due.IsZero()})
		acc, err := f.Fire(f.Context(), x)
		f.OK(err)
		return acc
	}
	begin(sessions.Firing{Due: due, Next: next, Times: []sessions.Occurrence{{Due: due.Add(-time.Hour), Skipped: "too late"}}}, "one")
	first := []sessions.Occurrence{{Job: "j", Name: "report", Agent: "main", Due: due, At: at, Run: "one"}, {Job: "j", Name: "report", Agent: "main", Due: due.Add(-time.Hour), At: at, Skipped: "too late"}}
	f.Equal(listOccurrences(f, "j"), first)

	// A person asks for it: Next stays. The same once more is the same run.
	for _, again := range []bool{false, true} {
		if acc := begin(sessions.Firing{}, "two"); acc.Duplicate != again || acc.Run.ID != "two" {
			f.Errorf("%v: %+v", again, acc)
		}
		f.Equal(listOccurrences(f, "j"), append([]sessions.Occurrence{{Job: "j", Name: "report", Agent: "main", At: at, Forced: true, Run: "two"}}, first...))
	}
	if got := listJobs(f, "")[0]; !got.Next.Equal(next) || !got.Last.Equal(at) {
		f.Errorf("%+v", got)
	}

	// A turn that must begin alone does not beside another one of its session, and moves nothing; the same once more is the same run.
	alone := fixture.NewRun(k, "report")
	alone.Kind, alone.ID = sessions.JobRun, "three"
	_, err = f.Fire(f.Context(), sessions.Firing{Job: "j", At: at, Due: next, Next: next.Add(time.Hour), Exclusive: true, Times: []sessions.Occurrence{{Due: next, Run: "three"}},
		Change: sessions.Change{IdempotencyKey: "three", Session: &sessions.Target{Session: sessions.Session{Key: k}}, Run: &sessions.Enqueue{Run: *alone}}})
	f.ErrorIs(err, sessions.ErrBusy)
	for _, id := range []sessions.RunID{"one", "two"} {
		f.Equal(f.MustClaim(k).ID, id)
		f.MustFinish(id, sessions.Outcome{})
	}
	if got := listJobs(f, "")[0]; !got.Next.Equal(next) || len(listOccurrences(f, "j")) != 3 {
		f.Errorf("%+v", got)
	}
	for _, again := range []bool{false, true} {
		if acc := begin(sessions.Firing{Exclusive: true}, "four"); acc.Duplicate != again || acc.Run.ID != "four" {
			f.Errorf("%v: %+v", again, acc)
		}
	}

	// A time that has begun before, because the job was changed meanwhile, only moves on; Last does not go back.
	made.Next = due
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.PutJob(made)}})
	if got := listJobs(f, "")[0]; !got.Next.Equal(due) || !got.Last.Equal(at) {
		f.Errorf("%+v", got)
	}
	if acc := begin(sessions.Firing{Due: due, Next: next}, "one"); !acc.Duplicate {
		f.Errorf("%+v", acc)
	}
	f.Equal(len(listOccurrences(f, "")), 4)

	// It cannot go on: it is kept, without a next time.
	_, err = f.Fire(f.Context(), sessions.Firing{Job: "j", Due: next, At: next, Off: true, Times: []sessions.Occurrence{{Due: next, Skipped: "no such zone"}}})
	f.OK(err)
	if got := listJobs(f, "")[0]; !got.Off || !got.Next.IsZero() || !got.Last.Equal(next) || got.Message != "report" {
		f.Errorf("%+v", got)
	}
	_, err = f.Fire(f.Context(), sessions.Firing{Job: "j", Due: next})
	f.ErrorIs(err, sessions.ErrConflict)

	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.DeleteJob{ID: "j"}}})
	_, err = f.Fire(f.Context(), sessions.Firing{Job: "j"})
	f.ErrorIs(err, sessions.ErrNotFound)
	f.Equal(len(listOccurrences(f, "j")), 5)
	f.Equal(len(listOccurrences(f, "other")), 0)
	list, err := f.Occurrences(f.Context(), "", 1)
	f.OK(err)
	f.Equal(list, []sessions.Occurrence{{Job: "j", Name: "report", Agent: "main", Due: next, At: next, Skipped: "no such zone"}})

	for _, x := range []struct{ days, left int }{{89, 5}, {91, 0}} {
		_, err = f.Expire(f.Context(), at.Add(time.Duration(x.days)*24*time.Hour), time.Hour)
		f.OK(err)
		f.Equal(len(listOccurrences(f, "")), x.left)
	}
}

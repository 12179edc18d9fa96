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
	f.submit(sessions.Effects{Job: &sessions.Job{ID: "daily", Agent: "ops", Next: due}})
	f.submit(sessions.Effects{Job: &daily})
	f.submit(sessions.Effects{Job: &once})
	f.equal(f.jobs(""), []sessions.Job{once, daily})
	f.equal(f.jobs("main"), []sessions.Job{daily})
	if _, err := f.Submit(f.ctx, sessions.Effects{Job: &sessions.Job{Agent: "main"}}); err == nil {
		f.t.Error("a job without an id was taken")
	}

	work := func(source string) sessions.Effects {
		r := newRun(k, "report")
		r.Kind = sessions.JobRun
		return sessions.Effects{Source: source, Session: &sessions.Session{Key: k}, Run: r}
	}
	next := due.Add(24 * time.Hour)
	acc, err := f.Fire(f.ctx, "daily", due, next, work("daily:1"))
	f.ok(err)
	f.equal(f.claim(k).ID, acc.Run.ID)
	f.finish(acc.Run.ID, sessions.Outcome{})
	got := f.jobs("main")[0]
	if got.Last.IsZero() || !got.Next.Equal(next) || got.Message != "report" {
		f.t.Errorf("%+v", got)
	}
	_, err = f.Fire(f.ctx, "daily", due, next, work("daily:2"))
	f.is(err, sessions.ErrConflict)

	// What cannot be submitted leaves the job as it was.
	bad := work("daily:3")
	bad.Existing, bad.Session = true, &sessions.Session{Key: "agent:main:gone"}
	_, err = f.Fire(f.ctx, "daily", next, next.Add(time.Hour), bad)
	f.is(err, sessions.ErrNotFound)
	if got := f.jobs("main")[0]; !got.Next.Equal(next) {
		f.t.Errorf("%+v", got)
	}

	if acc, err = f.Fire(f.ctx, "once", once.Next, time.Time{}, work("once:1")); err != nil || acc.Run.ID == "" {
		f.t.Fatal(acc, err)
	}
	f.equal(len(f.jobs("ops")), 0)
	_, err = f.Fire(f.ctx, "once", once.Next, time.Time{}, work("once:2"))
	f.is(err, sessions.ErrConflict)
	f.equal(f.claim(k).ID, acc.Run.ID)
	f.finish(acc.Run.ID, sessions.Outcome{})
	f.nothingToClaim(k)
	for range 2 {
		f.submit(sessions.Effects{DropJob: "daily"})
	}
	f.equal(len(f.jobs("")), 0)
}

package cron

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/router/event"
	"parley/sessions"
	"parley/tools"
)

// jobsInterval is how long the scheduler sleeps at most: the clock may be set meanwhile.
const jobsInterval = 30 * time.Second

// Jobs implements tools.Host.
func (s *Scheduler) Jobs(ctx context.Context, id sessions.AgentID) ([]sessions.Job, error) {
	return s.store.ListJobs(ctx, id)
}

// The bounds of the jobs that agents make, over all sessions of the host. Turns of others than owners leave room for those of owners, and
// one person leaves room for others.
const (
	maxAgentJobs  = 1000
	maxGuestJobs  = 500
	MaxPersonJobs = maxGuestJobs / 4
)

// AddJob implements tools.Host.
func (s *Scheduler) AddJob(ctx context.Context, source string, j sessions.Job) error {
	all, err := s.store.ListJobs(ctx, "")
	if err != nil {
		return err
	}
	agents, guests, own := 0, 0, 0
	for _, x := range all {
		switch {
		case x.ID == j.ID: // the same call again
			agents, guests, own = -maxAgentJobs, -maxAgentJobs, -maxAgentJobs
		case x.From != "" && !x.Owner:
			guests++
			agents++
			if x.Asker == j.Asker {
				own++
			}
		case x.From != "":
			agents++
		}
	}
	if !j.Owner && j.Asker != "" && own >= MaxPersonJobs {
		return &tools.Refused{Reason: "This person has the maximum number of scheduled jobs, in all chats together. No job was added; remove some first."}
	}
	if agents >= maxAgentJobs || !j.Owner && guests >= maxGuestJobs {
		return &tools.Refused{Reason: "This host accepts no more scheduled jobs now. No job was added; tell the person."}
	}
	_, err = s.commit.Submit(ctx, sessions.Change{IdempotencyKey: source, Ops: []sessions.Op{sessions.PutJob(j)}})
	s.wakeJobs()
	return err
}

// DropJob implements tools.Host.
func (s *Scheduler) DropJob(ctx context.Context, source, id string) error {
	_, err := s.commit.Submit(ctx, sessions.Change{IdempotencyKey: source, Ops: []sessions.Op{sessions.DeleteJob{ID: id}}})
	return err
}

func (s *Scheduler) wakeJobs() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run begins the turns of jobs when their time has come, until ctx ends.
func (s *Scheduler) Run(ctx context.Context) {
	for {
		wait, now := jobsInterval, s.now()
		if next := s.fireDue(ctx, now); !next.IsZero() {
			wait = min(wait, next.Sub(now))
		}
		timer := time.NewTimer(max(wait, 0))
		select {
		case <-timer.C:
		case <-s.wake:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// fireDue begins the turns of all jobs whose time has come, and gives the time of the next one.
func (s *Scheduler) fireDue(ctx context.Context, now time.Time) (again time.Time) {
	jobs, err := s.store.ListJobs(ctx, "")
	if err != nil {
		if ctx.Err() == nil {
			s.log.Error("cannot list the scheduled jobs", keyErr, err)
		}
		return now.Add(time.Second)
	}
	for _, j := range jobs {
		next := j.Next
		switch {
		case j.Off:
			continue
		case j.Last.After(now.Add(minClockSetBack)):
			err = s.resetJob(ctx, j, now)
		case next.After(now):
			if again.IsZero() || next.Before(again) {
				again = next
			}
			continue
		default:
			err = s.fire(ctx, j, now)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Error("cannot start a scheduled job", keyJob, j.ID, keyErr, err)
		}
		again = now // check the next time at once
		if err != nil {
			again = now.Add(time.Second)
		}
	}
	return again
}

// minClockSetBack is how far back the clock must have been set for a job's next time to be computed again. Below that every time still comes
// once, by the clock: what has begun before the clock was set back does not begin again.
const minClockSetBack = 25 * time.Hour

// resetJob gives a job whose newest time lies in the future, because the clock was wrong then, its next time by the clock of now. A time that
// has begun before does not begin again: its source is known.
func (s *Scheduler) resetJob(ctx context.Context, j sessions.Job, now time.Time) error {
	next, err := j.After(now)
	if err != nil || next.IsZero() {
		next = now // fire sees to it
	}
	s.log.Warn("clock moved back; rescheduled a job", keyJob, j.ID)
	_, err = s.fired(ctx, sessions.Firing{Job: j.ID, Due: j.Next, At: now, Next: next})
	return err
}

// fire commits that a job's time has come: its turn and its next time are one commit, so each time counts once over restarts. What
// was missed while the host was down is made up for once, by its newest time, unless that is older than what a job says may be late. A
// time is left out while the turn of an earlier one is not over. Whatever happens is in the job's history.
func (s *Scheduler) fire(ctx context.Context, j sessions.Job, now time.Time) error {
	return unlessBusy(func() error { return s.tryFire(ctx, j, now) })
}

// unlessBusy tries once more where a turn of the job began between the look at its turns and the commit: the next look sees it.
func unlessBusy(try func() error) (err error) {
	for range 3 { // that turn may end, and another one begin
		if err = try(); !errors.Is(err, sessions.ErrBusy) {
			break
		}
	}
	return err
}

// tryFire is fire, and gives ErrBusy where a turn of the job began meanwhile.
func (s *Scheduler) tryFire(ctx context.Context, j sessions.Job, now time.Time) error {
	f := sessions.Firing{Job: j.ID, Due: j.Next, At: now}
	next, err := j.After(now)
	if err != nil { // a time zone that is gone: it never comes again
		f.Off = true
		return s.leaveOut(ctx, f, j.Next, "switched off: "+err.Error())
	}
	f.Next = next
	due, missed := s.newest(j, now)
	if missed {
		f.Times = append(f.Times, sessions.Occurrence{Due: j.Next, Skipped: "missed; a later run replaces it"})
	}
	from, why, err := s.leftOut(ctx, j, due, now)
	if err != nil {
		return err
	}
	if errors.Is(why, errEnds) {
		f.Next = time.Time{}
	}
	if why != nil {
		return s.leaveOut(ctx, f, due, why.Error())
	}
	chat, err := s.gate.LastChat(ctx, from)
	if err != nil {
		return err
	}
	f.Change, f.Exclusive = jobTurn(j, from, chat, dueSource(j, due), now, next.IsZero()), true
	f.Times = append(f.Times, sessions.Occurrence{Due: due, Run: f.Change.Run.ID})
	_, err = s.fired(ctx, f)
	return err
}

// leaveOut commits that a time of a job begins nothing.
func (s *Scheduler) leaveOut(ctx context.Context, f sessions.Firing, due time.Time, why string) error {
	s.log.Warn("skipped a run of a scheduled job", keyJob, f.Job, keyReason, why)
	f.Times = append(f.Times, sessions.Occurrence{Due: due, Skipped: why})
	_, err := s.fired(ctx, f)
	return err
}

// fired commits a firing and sets in motion what it made.
func (s *Scheduler) fired(ctx context.Context, f sessions.Firing) (sessions.Accepted, error) {
	acc, err := s.commit.Fire(ctx, f)
	if errors.Is(err, sessions.ErrConflict) && !errors.Is(err, sessions.ErrBusy) && !f.Due.IsZero() {
		return acc, nil // it was changed or removed meanwhile
	}
	if err == nil {
		s.tellTimes(f, acc)
	}
	return acc, err
}

// tellTimes tells those who watch what became of a job's times.
func (s *Scheduler) tellTimes(f sessions.Firing, acc sessions.Accepted) {
	if acc.Duplicate {
		return
	}
	e := event.Event{Kind: event.KindJob, Phase: event.PhaseChanged, Job: f.Job, Run: acc.Run.ID, RunKind: acc.Run.Kind, Session: acc.Run.Key}
	switch {
	case acc.Run.ID != "":
		e.Phase = event.PhaseFired
	case len(f.Times) > 0:
		e.Phase = event.PhaseSkipped
	}
	s.watchers.Publish(e)
}

// newest gives the newest time of a job that has come, and whether it makes up for earlier ones that were missed. One that is too
// late for anything makes up for none.
func (s *Scheduler) newest(j sessions.Job, now time.Time) (due time.Time, missed bool) {
	due, err := j.Newest(j.Next, now)
	if err != nil || !due.After(j.Next) || !due.After(now.Add(-s.settings().Delivery.JobTTL())) {
		return j.Next, false
	}
	return due, true
}

// errEnds ends a job before its time: the session that made it was deleted.
var errEnds = errors.New("the session that made the job is deleted: the job ends")

// leftOut says why a time of a job that has come is left out; nil = it is not. from is the session that made the job, if one did.
func (s *Scheduler) leftOut(ctx context.Context, j sessions.Job, due, now time.Time) (from sessions.Session, why, err error) {
	if j.From != "" {
		if from, err = s.store.Get(ctx, j.From); errors.Is(err, sessions.ErrNotFound) {
			return from, errEnds, nil
		} else if err != nil {
			return from, nil, err
		}
	}
	set := s.settings()
	if ids, _ := set.Agents.IDs(); !slices.Contains(ids, j.Agent) {
		return from, fmt.Errorf("agent %q no longer exists", j.Agent), nil
	}
	if late := now.Sub(due); late > set.Delivery.JobTTL() {
		return from, errors.New("it is " + late.Round(time.Second).String() + " late"), nil
	}
	open, err := sessions.OpenRuns(ctx, s.store, sessions.RunQuery{Key: JobKey(j), Limit: 1})
	if len(open) > 0 {
		return from, fmt.Errorf("%w: run %s is %s", errBusy, open[0].ID, open[0].Status), err
	}
	return from, nil, err
}

var errBusy = errors.New("an earlier turn of the job has not ended")

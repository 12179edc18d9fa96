package router

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// chainJob is the kind of the chain that a scheduled job's turn carries: its result goes into the chat of the session that made it.
const chainJob = "job"

// jobsEvery is how long the scheduler sleeps at most: the clock may be set meanwhile.
const jobsEvery = 30 * time.Second

// Jobs implements tools.Host.
func (r *Router) Jobs(ctx context.Context, id sessions.AgentID) ([]sessions.Job, error) {
	return r.store.ListJobs(ctx, id)
}

// AddJob implements tools.Host.
func (r *Router) AddJob(ctx context.Context, source string, j sessions.Job) error {
	_, err := r.Submit(ctx, sessions.Effects{Source: source, Job: &j})
	r.wakeJobs()
	return err
}

// DropJob implements tools.Host.
func (r *Router) DropJob(ctx context.Context, source, id string) error {
	_, err := r.Submit(ctx, sessions.Effects{Source: source, DropJob: id})
	return err
}

func (r *Router) wakeJobs() {
	select {
	case r.jobs <- struct{}{}:
	default:
	}
}

// schedule begins the turns of jobs when their time has come, until ctx ends.
func (r *Router) schedule(ctx context.Context) {
	for {
		wait := jobsEvery
		if next := r.fireDue(ctx, time.Now()); !next.IsZero() {
			wait = min(wait, time.Until(next))
		}
		timer := time.NewTimer(max(wait, 0))
		select {
		case <-timer.C:
		case <-r.jobs:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// fireDue begins the turns of all jobs whose time has come, and gives the time of the next one.
func (r *Router) fireDue(ctx context.Context, now time.Time) (next time.Time) {
	jobs, err := r.store.ListJobs(ctx, "")
	if err != nil {
		if ctx.Err() == nil {
			r.log.Error("cannot list the scheduled jobs", keyErr, err)
		}
		return now.Add(time.Second)
	}
	for _, j := range jobs {
		if j.Next.After(now) {
			return j.Next
		}
		if err := r.fire(ctx, j, now); err != nil && ctx.Err() == nil {
			r.log.Error("cannot begin a scheduled job", keyJob, j.ID, keyErr, err)
			next = now.Add(time.Second)
		}
	}
	return next
}

// fire commits that a job's time has come: its turn and its next time are one commit, so each time counts once over restarts. What
// was missed while the host was down is made up for once, unless it is older than what a job says may be late.
func (r *Router) fire(ctx context.Context, j sessions.Job, now time.Time) error {
	next, err := j.After(now)
	if err != nil { // a time zone that is gone: it never comes again
		r.log.Error("a scheduled job ends", keyJob, j.ID, keyReason, err)
	}
	var e sessions.Effects
	if late := now.Sub(j.Next); late > r.settings.Load().Delivery.cronTTL() {
		r.log.Warn("a scheduled job is left out", keyJob, j.ID, keyReason, "it is "+late.Round(time.Second).String()+" late")
	} else if e, err = r.jobTurn(ctx, j, now); err != nil {
		return err
	}
	acc, err := r.store.Fire(ctx, j.ID, j.Next, next, e)
	if errors.Is(err, sessions.ErrConflict) {
		return nil // it was changed or removed meanwhile
	}
	if err == nil {
		r.follow(acc)
	}
	return err
}

// jobTurn is the turn that a job begins, in the job's own session (contract K3).
func (r *Router) jobTurn(ctx context.Context, j sessions.Job, now time.Time) (sessions.Effects, error) {
	var to channels.Address
	from, err := r.store.Get(ctx, j.From)
	switch {
	case err == nil:
		to = from.Last
	case !errors.Is(err, sessions.ErrNotFound):
		return sessions.Effects{}, err
	}
	key := sessions.Parts{Form: sessions.FormCron, Agent: j.Agent, ID: j.ID}.Key()
	id := sessions.RunID(uuid.NewString())
	source := "job:" + j.ID + ":" + strconv.FormatInt(j.Next.UnixMilli(), 10)
	return sessions.Effects{
		Source: source, Session: &sessions.Session{Key: key, Agent: j.Agent, Title: j.Name},
		Run: &sessions.Run{ID: id, Kind: sessions.JobRun, Key: key, Agent: j.Agent, Source: source, Label: j.Name,
			Chain: &sessions.Chain{Kind: chainJob, Root: id, Requester: j.From, Target: key, Request: j.Message, From: to, Origin: to, Owner: j.Owner},
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(j.Message), Time: now, Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Source: j.From, Tool: "cron", Owner: j.Owner}}},
	}, nil
}

// jobEnded posts what a job's turn says into the chat of the session that made it, whose transcript has it too. A turn that failed
// is told as well: nobody is there to miss it.
func (r *Router) jobEnded(ctx context.Context, set *Settings, run sessions.Run, c sessions.Chain, out agent.Outcome, notice string, o *sessions.Outcome) bool {
	text := out.Text
	if o.Status != sessions.Done {
		text = "⏰ " + firstOf(run.Label, "A scheduled job") + ": " + notice
	} else if !spoke(out) {
		return true
	}
	from, found, ok := r.find(ctx, c.Requester)
	if !ok {
		return false
	}
	if !found || c.Origin.IsZero() {
		r.log.Warn("a scheduled job has no chat to report to", keyRun, run.ID, keySession, run.Key)
		return true
	}
	d := r.announce(set, run, c, "", text)
	d.Expires = time.Now().Add(set.Delivery.cronTTL())
	o.Next = r.posted(from.Key, from.Agent, run.Source, text)
	d.Message = o.Next.Run.Input.ID
	o.Deliveries = append(o.Deliveries, d)
	return true
}

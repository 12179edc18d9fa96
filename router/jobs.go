package router

import (
	"context"
	"errors"
	"slices"
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
func (r *Router) fireDue(ctx context.Context, now time.Time) (again time.Time) {
	jobs, err := r.store.ListJobs(ctx, "")
	if err != nil {
		if ctx.Err() == nil {
			r.log.Error("cannot list the scheduled jobs", keyErr, err)
		}
		return now.Add(time.Second)
	}
	for _, j := range jobs {
		if j.Next.After(now) {
			if again.IsZero() || j.Next.Before(again) {
				again = j.Next
			}
			return again
		}
		if err := r.fire(ctx, j, now); err != nil && ctx.Err() == nil {
			r.log.Error("cannot begin a scheduled job", keyJob, j.ID, keyErr, err)
			again = now.Add(time.Second)
		}
	}
	return again
}

// fire commits that a job's time has come: its turn and its next time are one commit, so each time counts once over restarts. What
// was missed while the host was down is made up for once, unless it is older than what a job says may be late. A time is left out
// while the turn of an earlier one is not over, and a job ends with the session that made it: nobody would read its answers.
func (r *Router) fire(ctx context.Context, j sessions.Job, now time.Time) error {
	next, err := j.After(now)
	if err != nil { // a time zone that is gone: it never comes again
		r.log.Error("a scheduled job ends", keyJob, j.ID, keyReason, err)
	}
	var e sessions.Effects
	from, err := r.store.Get(ctx, j.From)
	if errors.Is(err, sessions.ErrNotFound) {
		r.log.Warn("a scheduled job ends", keyJob, j.ID, keyReason, "the session that made it is gone")
		next, err = time.Time{}, nil
	} else if err == nil {
		var why string
		if why, err = r.leftOut(ctx, j, now); err == nil && why != "" {
			r.log.Warn("a time of a scheduled job is left out", keyJob, j.ID, keyReason, why)
		} else if err == nil {
			e = jobTurn(j, from, now, next.IsZero())
		}
	}
	if err != nil {
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

// leftOut says why a time of a job that has come is left out; "" = it is not.
func (r *Router) leftOut(ctx context.Context, j sessions.Job, now time.Time) (string, error) {
	if late := now.Sub(j.Next); late > r.settings.Load().Delivery.cronTTL() {
		return "it is " + late.Round(time.Second).String() + " late", nil
	}
	open, err := r.open(ctx, sessions.RunQuery{Key: jobKey(j), Limit: 1})
	if len(open) > 0 {
		return "the turn of an earlier time is not over", err
	}
	return "", err
}

// jobKey is the job's own session (contract K4).
func jobKey(j sessions.Job) sessions.Key {
	return sessions.Parts{Form: sessions.FormCron, Agent: j.Agent, ID: j.ID}.Key()
}

// jobKept is how long the session of a job that is over stays.
const jobKept = 24 * time.Hour

// jobTurn is the turn that a job begins. It uses the budget of the session that made the job.
func jobTurn(j sessions.Job, from sessions.Session, now time.Time, last bool) sessions.Effects {
	key, to := jobKey(j), from.Last
	own := &sessions.Session{Key: key, Agent: j.Agent, Title: j.Name, Top: payer(from)}
	if last {
		own.ArchiveAt = now.Add(jobKept)
	}
	id := sessions.RunID(uuid.NewString())
	source := "job:" + j.ID + ":" + strconv.FormatInt(j.Next.UnixMilli(), 10)
	return sessions.Effects{
		Source: source, Session: own,
		Run: &sessions.Run{ID: id, Kind: sessions.JobRun, Key: key, Agent: j.Agent, Source: source, Label: j.Name,
			Chain: &sessions.Chain{Kind: chainJob, Root: id, Requester: j.From, Target: key, Request: j.Message, From: to, Origin: to, Owner: j.Owner},
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(j.Message), Time: now, Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Source: j.From, Tool: "cron", Owner: j.Owner}}},
	}
}

// jobsAtWork lists the jobs' sessions in which a turn of a job that this session made is queued or at work.
func (r *Router) jobsAtWork(ctx context.Context, from sessions.Key) (keys []sessions.Key, err error) {
	open, err := r.open(ctx, sessions.RunQuery{Limit: stopMost})
	for _, run := range open {
		if run.Kind == sessions.JobRun && run.Chain != nil && run.Chain.Requester == from && !slices.Contains(keys, run.Key) {
			keys = append(keys, run.Key)
		}
	}
	return keys, err
}

// voice is the session in whose name something is posted into a chat: of a job's session, which has no chat of its own, the one that
// heard from that chat last. ok is false when the store could not be asked before the host stopped.
func (r *Router) voice(ctx context.Context, s sessions.Session, to channels.Address) (voice sessions.Session, ok bool) {
	if s.Key.Kind() != sessions.KindCron || to.IsZero() {
		return s, true
	}
	var keys []sessions.Key
	ok = r.insist(ctx, "known", func(ctx context.Context) (err error) {
		keys, err = r.store.Known(ctx, to)
		return err
	})
	if !ok || len(keys) == 0 {
		return s, ok
	}
	chat, found, ok := r.find(ctx, keys[0])
	if !found {
		return s, ok
	}
	return chat, ok
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

package cron

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/router/budget"
	"parley/router/chain"
	"parley/sessions"
)

// JobKey is the job's own session (contract K4).
func JobKey(j sessions.Job) sessions.Key {
	return sessions.Parts{Form: sessions.FormCron, Agent: j.Agent, ID: j.ID}.Key()
}

// jobRetention is how long the session of a job that is over stays.
const jobRetention = 24 * time.Hour

// dueSource returns the idempotency key of one due time of a job: each time counts once, also where the clock changes meanwhile.
func dueSource(j sessions.Job, due time.Time) string {
	return "job:" + j.ID + ":" + strconv.FormatInt(due.UnixMilli(), 10)
}

// jobTurn is the turn that a job begins; chat is the one that the job reports to when it names none. It uses the budget of the session that made the job; one that a person made uses its own.
func jobTurn(j sessions.Job, from sessions.Session, chat channels.Address, source string, now time.Time, last bool) sessions.Change {
	key, to := JobKey(j), j.To
	if to.IsZero() {
		to = chat
	}
	own := sessions.Session{Key: key, Agent: j.Agent, Title: j.Name, Top: budget.BillingSession(from)}
	if last {
		own.ArchiveAt = now.Add(jobRetention)
	}
	id := sessions.RunID(sessions.IDFor(source, "run"))
	return sessions.Change{
		IdempotencyKey: source,
		Session:        &sessions.Target{Session: own},
		Run: &sessions.Enqueue{Run: sessions.Run{ID: id, Kind: sessions.JobRun, Key: key, Agent: j.Agent, Source: source, Label: j.Name, Model: j.Model, Thinking: j.Thinking, Timeout: j.Timeout,
			Chain: &sessions.Chain{Kind: chain.Job, Root: id, Requester: j.From, Target: key, Request: j.Message, From: to, Origin: to, Owner: j.Owner, Asker: j.Asker},
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(j.Message), Time: now, Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Source: j.From, Tool: "cron", Owner: j.Owner}}}},
	}
}

// KeysAtWork lists the jobs' sessions in which a turn is queued or at work, or has ended and its words have not left: of jobs that a session made,
// and of those that post into one of its chats or into those that are named.
func (s *Scheduler) KeysAtWork(ctx context.Context, of sessions.Key, chats ...channels.Address) (keys []sessions.Key, err error) {
	own, err := s.store.Writers(ctx, of)
	if err != nil {
		return nil, err
	}
	chats = append(own, chats...)
	open, err := sessions.OpenRuns(ctx, s.store, sessions.RunQuery{Limit: maxStop})
	if err != nil {
		return nil, err
	}
	for _, state := range []sessions.DeliveryState{sessions.Pending, sessions.Sending} {
		leaving, err := s.store.ListDeliveries(ctx, sessions.DeliveryQuery{State: state, Limit: maxStop})
		if err != nil {
			return nil, err
		}
		for _, d := range leaving {
			if !slices.Contains(chats, d.To) {
				continue
			}
			if run, err := s.store.GetRun(ctx, d.Run); err == nil { // else it is no run's
				open = append(open, run)
			}
		}
	}
	for _, run := range open {
		if run.Kind == sessions.JobRun && run.Chain != nil && (run.Chain.Requester == of || slices.Contains(chats, s.settings().Moved.Current(run.Chain.Origin))) && !slices.Contains(keys, run.Key) {
			keys = append(keys, run.Key)
		}
	}
	return keys, nil
}

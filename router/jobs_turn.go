package router

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// chainJob is the kind of the chain that a scheduled job's turn carries: its result goes into the chat of the session that made it, or where
// the person who made it said.
const chainJob = "job"

// jobKey is the job's own session (contract K4).
func jobKey(j sessions.Job) sessions.Key {
	return sessions.Parts{Form: sessions.FormCron, Agent: j.Agent, ID: j.ID}.Key()
}

// jobKept is how long the session of a job that is over stays.
const jobKept = 24 * time.Hour

// dueSource is what makes a time of a job count once: whoever begins it, and whatever the clock does meanwhile.
func dueSource(j sessions.Job, due time.Time) string {
	return "job:" + j.ID + ":" + strconv.FormatInt(due.UnixMilli(), 10)
}

// jobTurn is the turn that a job begins. It uses the budget of the session that made the job; one that a person made uses its own.
func jobTurn(j sessions.Job, from sessions.Session, source string, now time.Time, last bool) sessions.Effects {
	key, to := jobKey(j), j.To
	if to.IsZero() {
		to = from.Last
	}
	own := &sessions.Session{Key: key, Agent: j.Agent, Title: j.Name, Top: payer(from)}
	if last {
		own.ArchiveAt = now.Add(jobKept)
	}
	id := sessions.RunID(sessions.IDFor(source, "run"))
	return sessions.Effects{
		Source: source, Session: own,
		Run: &sessions.Run{ID: id, Kind: sessions.JobRun, Key: key, Agent: j.Agent, Source: source, Label: j.Name, Model: j.Model, Thinking: j.Thinking, Timeout: j.Timeout,
			Chain: &sessions.Chain{Kind: chainJob, Root: id, Requester: j.From, Target: key, Request: j.Message, From: to, Origin: to, Owner: j.Owner, Asker: j.Asker},
			Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(j.Message), Time: now, Run: id,
				Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Source: j.From, Tool: "cron", Owner: j.Owner}}},
	}
}

// jobsAtWork lists the jobs' sessions in which a turn of a job that this session made is queued or at work.
func (r *Router) jobsAtWork(ctx context.Context, from sessions.Key) (keys []sessions.Key, err error) {
	open, err := sessions.OpenRuns(ctx, r.store, sessions.RunQuery{Limit: stopMost})
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
	ok = r.retry.Do(ctx, "known", func(ctx context.Context) (err error) {
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

// jobEnded posts what a job's turn says into its chat: that of the session that made it, or the one that the person who made it named. The
// transcript of the chat's session has it too. A turn that failed is told as well: nobody is there to miss it.
func (r *Router) jobEnded(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, out agent.Outcome, notice string, o *sessions.Outcome) bool {
	text := out.Text
	if o.Status != sessions.Done {
		text = "⏰ " + cmp.Or(run.Label, "A scheduled job") + ": " + notice
	} else if !spoke(out) {
		return true
	}
	speaker, ok := r.speaker(ctx, run, c)
	if !ok {
		return false
	}
	if c.Origin.IsZero() || speaker.Key == "" {
		if c.Requester != "" {
			r.log.Warn("a scheduled job has no chat to report to", keyRun, run.ID, keySession, run.Key)
		}
		return true
	}
	d := r.announce(set, run, c, "", text)
	d.Expires, d.Session = time.Now().Add(set.Delivery.JobTTL()), speaker.Key
	if speaker.Key == run.Key { // its transcript has it
		d.Message = o.Messages[len(o.Messages)-1].ID
	} else {
		o.Next = postedBy(r.posted(speaker.Key, speaker.Agent, run.Source, text), run.Key, "cron")
		d.Message = o.Next.Run.Input.ID
	}
	o.Deliveries = append(o.Deliveries, d)
	return true
}

// speaker is the session in whose name a job's turn speaks, and whose send policy decides: the one that made the job, or that of the chat
// that a person named. It is zero when there is none any more. ok is false when the store could not be asked before the host stopped.
func (r *Router) speaker(ctx context.Context, run sessions.Run, c sessions.Chain) (s sessions.Session, ok bool) {
	if c.Requester == "" {
		return r.voice(ctx, sessions.Session{Key: run.Key, Agent: run.Agent}, c.Origin)
	}
	s, found, ok := r.find(ctx, c.Requester)
	if !found {
		return sessions.Session{}, ok
	}
	return s, ok
}

package chain

import (
	"cmp"
	"context"
	"time"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// Job is the kind of the chain that a scheduled job's turn carries: its result goes into the chat of the session that made it, or where
// the person who made it said.
const Job = "job"

// onJobDone posts what a job's turn says into its chat: that of the session that made it, or the one that the person who made it named. The
// transcript of the chat's session has it too. A turn that failed is told as well: nobody is there to miss it.
func (a *Advancer) onJobDone(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, out agent.Outcome, notice string, o *sessions.Outcome) bool {
	text := out.Text
	if o.Status != sessions.Done {
		text = "⏰ " + cmp.Or(run.Label, "A scheduled job") + ": " + notice
	} else if !spoke(out) {
		return true
	}
	speaker, ok := a.speaker(ctx, run, c)
	if !ok {
		return false
	}
	if c.Origin.IsZero() || speaker.Key == "" {
		if c.Requester != "" {
			a.log.Warn("a scheduled job has no chat to report to", keyRun, run.ID, keySession, run.Key)
		}
		return true
	}
	d := a.announce(set, run, c, "", text)
	d.Expires, d.Session = time.Now().Add(set.Delivery.JobTTL()), speaker.Key
	if speaker.Key == run.Key { // its transcript has it
		d.Message = o.Messages[len(o.Messages)-1].ID
	} else {
		o.Next = PostedBy(a.Posted(speaker.Key, speaker.Agent, run.Source, text), run.Key, "cron")
		d.Message = o.Next.Run.Input.ID
	}
	o.Deliveries = append(o.Deliveries, d)
	return true
}

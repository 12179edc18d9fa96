package event

import "parley/sessions"

// Run tells how a run stands.
func (b *Bus) Run(run sessions.Run, status sessions.RunStatus) {
	b.Publish(Event{Kind: KindRun, Session: run.Key, Run: run.ID, RunKind: run.Kind, Status: status, Batch: run.MergedInto})
}

// Messages tells of messages that are in the transcript now.
func (b *Bus) Messages(run sessions.Run, msgs ...sessions.Message) {
	for _, m := range msgs {
		b.Publish(Event{Kind: KindMessage, Session: run.Key, Run: run.ID, RunKind: run.Kind, Message: m.ID})
	}
}

// End tells how a run has ended; acc is what its end committed.
func (b *Bus) End(run sessions.Run, o sessions.Outcome, acc sessions.Accepted) {
	if o.Next != nil {
		b.Change(*o.Next, acc)
	}
	b.Messages(run, o.Messages...)
	b.Run(run, o.Status)
}

// Delivery tells how a delivery stands.
func (b *Bus) Delivery(d sessions.Delivery) {
	e := Event{Kind: KindDelivery, Session: d.Session, Run: d.Run, Message: d.Message, Delivery: d.ID, State: d.State, Channel: d.To.Channel, Account: d.To.Account}
	if d.Verdict != nil {
		e.Rule = d.Verdict.Rule
	}
	b.Publish(e)
}

// Change tells what a commit did besides runs and deliveries.
func (b *Bus) Change(c sessions.Change, acc sessions.Accepted) {
	if acc.Duplicate {
		return
	}
	if s := acc.Session; s.Key != "" {
		named := c.Session != nil && c.Session.Mode == sessions.Reference
		for _, x := range []struct {
			did   bool
			phase string
		}{{!named && s.Created.Equal(s.Updated), PhaseNew}, {has[sessions.ResetSession](c), PhaseReset}, {has[sessions.PatchSession](c), PhasePatched},
			{has[sessions.ArchiveSession](c), PhaseArchived}, {has[sessions.DeleteSession](c), PhaseDeleted}} {
			if x.did {
				b.Publish(Event{Kind: KindSession, Phase: x.phase, Session: s.Key})
			}
		}
	}
	for _, op := range c.Ops {
		switch op := op.(type) {
		case sessions.DecidePairing:
			b.Publish(Event{Kind: KindPairing, Phase: PhaseDecided, Channel: op.Channel})
		case sessions.GrantOwner:
			b.Publish(Event{Kind: KindPairing, Phase: PhaseDecided, Channel: op.Channel, Account: op.Account})
		case sessions.RevokePairing:
			b.Publish(Event{Kind: KindPairing, Phase: PhaseDecided, Channel: op.Channel, Account: op.Account})
		case sessions.PutJob:
			b.Publish(Event{Kind: KindJob, Phase: PhaseChanged, Session: op.From, Job: op.ID})
		case sessions.DeleteJob:
			b.Publish(Event{Kind: KindJob, Phase: PhaseChanged, Job: op.ID})
		}
	}
}

func has[T sessions.SessionOp](c sessions.Change) bool {
	_, ok := sessions.FindOp[T](c)
	return ok
}

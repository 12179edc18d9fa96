package event

import "parley/sessions"

// Run tells how a run stands.
func (b *Bus) Run(run sessions.Run, status sessions.RunStatus) {
	b.Publish(Event{Kind: KindRun, Session: run.Key, Run: run.ID, RunKind: run.Kind, Status: status, Batch: run.Batch})
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
		b.Effects(*o.Next, acc)
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

// Effects tells what a commit did besides runs and deliveries.
func (b *Bus) Effects(e sessions.Effects, acc sessions.Accepted) {
	if acc.Duplicate {
		return
	}
	if s := acc.Session; s.Key != "" {
		for _, x := range []struct {
			did   bool
			phase string
		}{{!e.Quiet && s.Created.Equal(s.Updated), PhaseNew}, {e.Reset, PhaseReset}, {e.Patch != nil, PhasePatched}, {e.Archive, PhaseArchived}, {e.Delete, PhaseDeleted}} {
			if x.did {
				b.Publish(Event{Kind: KindSession, Phase: x.phase, Session: s.Key})
			}
		}
	}
	if e.Pairing != nil {
		b.Publish(Event{Kind: KindPairing, Phase: PhaseDecided, Channel: e.Pairing.Channel})
	}
	if e.Unpair != nil {
		b.Publish(Event{Kind: KindPairing, Phase: PhaseDecided, Channel: e.Unpair.Channel, Account: e.Unpair.Account})
	}
	if e.Job != nil {
		b.Publish(Event{Kind: KindJob, Phase: PhaseChanged, Session: e.Job.From, Job: e.Job.ID})
	}
	if e.DropJob != "" {
		b.Publish(Event{Kind: KindJob, Phase: PhaseChanged, Job: e.DropJob})
	}
}

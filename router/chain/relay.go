package chain

import (
	"context"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// Relay is the kind of the chain of a turn whose answer goes into the chat of another session.
const Relay = "said"

// onRelayDone posts what a turn says into the chat that its words named, whose session knows of it. A turn that failed is told as well.
func (a *Advancer) onRelayDone(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, out agent.Outcome, notice string, o *sessions.Outcome) bool {
	text := out.Text
	if o.Status != sessions.Done {
		text = notice
	} else if !spoke(out) {
		return true
	}
	to, found, ok := a.find(ctx, c.Requester)
	own, _, ok2 := a.find(ctx, run.Key)
	if !ok || !ok2 {
		return false
	}
	if !found { // deleted meanwhile
		a.log.Warn("the chat that an answer is for has no session any more", keyRun, run.ID, keySession, c.Requester)
		return true
	}
	voice := own
	if a.settings().Decide(c.Origin)(own).Allowed() && !a.retry.Do(ctx, "known", func(ctx context.Context) (err error) {
		voice, err = a.Strictest(ctx, to, c.Origin)
		return err
	}) {
		return false
	}
	d := a.announce(set, run, c, "", text)
	d.Session = voice.Key
	o.Next = a.Posted(to.Key, to.Agent, run.Source, text)
	d.Message = o.Next.Run.Input.ID
	o.Deliveries = append(o.Deliveries, d)
	return true
}

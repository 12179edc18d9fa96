package command

import (
	"cmp"
	"context"
	"slices"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/router/chain"
	"parley/sessions"
)

// Reported says in a few words what became of a sub-agent's report (contract N15); "" when nothing is known of it.
func (t *Table) Reported(ctx context.Context, child sessions.Run) (string, error) {
	if child.Chain == nil {
		return "", nil
	}
	runs, err := t.store.ListRuns(ctx, sessions.RunQuery{Root: child.Chain.Root})
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(runs, func(x sessions.Run) bool { return !x.Status.Final() }) {
		return "running", nil
	}
	// A message that was merged into a running turn has no turn of its own.
	last := slices.IndexFunc(runs, func(x sessions.Run) bool { return x.Status != sessions.Done || x.Attempt > 0 })
	if last < 0 {
		return "", nil
	}
	run := runs[last]
	sent, err := t.store.ListDeliveries(ctx, sessions.DeliveryQuery{Run: run.ID})
	if err != nil {
		return "", err
	}
	for _, d := range sent {
		if d.Kind == sessions.Announce {
			return t.arrived(d), nil
		}
	}
	switch {
	case run.Status == sessions.Stopped:
		return "none, stopped: " + t.brief(cmp.Or(run.Error, "by a person")), nil
	case run.Status != sessions.Done:
		return "failed: " + t.brief(cmp.Or(run.Error, string(run.Status))), nil
	case chain.Silence(run) != agent.Speak:
		return "silent: " + string(chain.Silence(run)), nil
	}
	return "told to " + channels.Code(string(run.Chain.Requester), maxLine), nil
}

// arrived returns the state of a report's delivery.
func (t *Table) arrived(d sessions.Delivery) string {
	switch d.State {
	case sessions.Sent:
		return "announced"
	case sessions.Withheld:
		v := policy.Verdict{}
		if d.Verdict != nil {
			v = *d.Verdict
		}
		return chain.Withheld(channels.Code(v.Rule, maxLine))
	case sessions.Pending, sessions.Sending:
		return "pending"
	case sessions.Held:
		return "held: " + t.brief(d.Error)
	}
	return "failed: " + t.brief(cmp.Or(d.Error, string(d.State)))
}

// brief shows the reason of an end without secrets.
func (t *Table) brief(reason string) string {
	if t.tools.Redact != nil {
		reason = t.tools.Redact(reason)
	}
	return channels.Code(reason, maxLine)
}

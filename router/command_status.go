package router

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/policy"
	"parley/sessions"
)

func cmdStatus(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	s := c.session
	v := c.set.Session.SendPolicy.Decide(policy.Subject{Key: string(s.Key), StrippedKey: s.Key.Stripped(), PlainKey: string(s.Key.Plain()), To: c.in.Address, Override: s.Settings.SendPolicy})
	queued, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: s.Key, Status: sessions.Queued, Limit: 100})
	if err != nil {
		return "", sessions.Effects{}, err
	}
	counts, err := r.store.CountDeliveries(ctx)
	if err != nil {
		return "", sessions.Effects{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**parley %s**, up %s\n\n", r.deps.Version, time.Since(r.started).Round(time.Second))
	fmt.Fprintf(&b, "- Session: `%s`", s.Key.Display(s.Agent, c.set.Session.Scope))
	if s.ID != "" {
		fmt.Fprintf(&b, " (%s)", s.ID)
	}
	fmt.Fprintf(&b, "\n- Agent: %s, model %s\n", s.Agent, firstOf(s.Settings.Model, c.set.entry(s.Agent).Model))
	fmt.Fprintf(&b, "- Tokens: %s in, %s out; context %s\n", short(s.Usage.Input), short(s.Usage.Output), short(s.Context))
	fmt.Fprintf(&b, "- Waiting here: %d\n", len(queued))
	fmt.Fprintf(&b, "- Sending: %s (%s)\n", v.Action, v.Rule)
	fmt.Fprintf(&b, "- Deliveries: %d pending, %d failed, %d withheld\n", counts[sessions.Pending]+counts[sessions.Sending], counts[sessions.DeliveryFail]+counts[sessions.Expired]+counts[sessions.Held], counts[sessions.Withheld])
	for _, line := range r.gate.states() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String(), sessions.Effects{}, nil
}

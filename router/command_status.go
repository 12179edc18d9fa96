package router

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// cmdStatus says how the session is, and to owners how the host is.
func cmdStatus(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	lines := r.sessionLines(c)
	for _, more := range []func(context.Context, commandCall) ([]string, error){r.queueLines, r.useLines, r.hostLines} {
		l, err := more(ctx, c)
		if err != nil {
			return "", sessions.Effects{}, err
		}
		lines = append(lines, l...)
	}
	head := fmt.Sprintf("**parley %s**, up %s\n\n- ", r.deps.Version, time.Since(r.started).Round(time.Second))
	return head + strings.Join(lines, "\n- "), sessions.Effects{}, nil
}

// sessionLines say how the session is set.
func (r *Router) sessionLines(c commandCall) []string {
	s := c.session
	v := c.set.Session.SendPolicy.Decide(c.set.PolicySubject(s, c.in.Address))
	session := "Session: " + channels.Code(string(s.Key.Display(s.Agent, c.set.Session.Scope)), lineMost)
	if s.ID != "" {
		session += fmt.Sprintf(" (%s), %s", s.ID, channels.Plural(s.Turns, "turn"))
	}
	lines := []string{
		session,
		"Agent: " + string(s.Agent) + ", model " + r.modelWords(c.set, s),
		"Thinking: " + thinkingWords(c.set, s),
		fmt.Sprintf("Tokens: %s in, %s out; context %s", sessions.ShortCount(s.Usage.Input), sessions.ShortCount(s.Usage.Output), r.fill(c.set, s)),
		"Sending: " + string(v.Action) + " (" + v.Rule + ")",
	}
	if c.in.Address.Type.Several() {
		lines = append(lines, "Activation: "+activationWords(c))
	}
	return lines
}

// fill says how full the window of the session's model is.
func (r *Router) fill(set *settings.Snapshot, s sessions.Session) string {
	m, err := r.deps.Model(set.ModelOf(s))
	if err != nil || m.Facts.ContextWindow <= 0 {
		return sessions.ShortCount(s.Context)
	}
	return fmt.Sprintf("%s of %s (%d%%)", sessions.ShortCount(s.Context), sessions.ShortCount(m.Facts.ContextWindow), 100*s.Context/m.Facts.ContextWindow)
}

// activationWords says when the agent answers in the chat.
func activationWords(c commandCall) string {
	words := "always"
	about := policy.Facts{Address: c.set.ConfigAddress(c.in.Address), Parent: c.in.Parent, Activation: c.session.Settings.Activation}
	if access := c.set.Accounts[settings.Ref(c.in.Address)].Access; access.NeedsMention(about) {
		words = "when I am mentioned or replied to"
		if about.Private = c.in.Private; !access.NeedsMention(about) {
			words = "what you write here, and what others write when I am mentioned or replied to"
		}
	}
	if c.session.Settings.Activation != "" {
		words += " (set for this session)"
	}
	return words
}

// useLines say what was used since midnight, the host's time.
func (r *Router) useLines(ctx context.Context, c commandCall) ([]string, error) {
	since, until := clock.Day(time.Now())
	ask := []struct {
		who string
		q   sessions.SpentQuery
	}{{"this session", sessions.SpentQuery{Payer: c.session.Key, Since: since, Until: until}},
		{"this agent", sessions.SpentQuery{Agent: c.session.Agent, Since: since, Until: until}}, {"the host", sessions.SpentQuery{Since: since, Until: until}}}
	if !c.owner {
		ask = ask[:1] // the others count what other people's sessions used (contract V4)
	}
	var parts []string
	for _, a := range ask {
		sum, err := r.store.Spent(ctx, a.q)
		if err != nil {
			return nil, err
		}
		part := a.who + " " + sessions.ShortCount(sum.Usage.Total())
		if sum.Usage.Cost > 0 {
			part += fmt.Sprintf(" ($%.2f)", float64(sum.Usage.Cost)/1e6)
		}
		parts = append(parts, part)
	}
	return []string{"Tokens today: " + strings.Join(parts, ", ")}, nil
}

// hostLines say how the host is: to owners.
func (r *Router) hostLines(ctx context.Context, c commandCall) ([]string, error) {
	if !c.owner {
		return nil, nil
	}
	counts, err := r.store.CountDeliveries(ctx, sessions.DeliveryQuery{})
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("Deliveries: %d pending, %d failed, %d withheld", counts[sessions.Pending]+counts[sessions.Sending],
		counts[sessions.DeliveryFail]+counts[sessions.Expired]+counts[sessions.Held], counts[sessions.Withheld])}
	for _, more := range []func() []string{r.deps.Accounts, r.deps.Troubles} {
		if more != nil {
			lines = append(lines, more()...)
		}
	}
	return lines, nil
}

package command

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
func cmdStatus(ctx context.Context, r *Table, c Call) (Result, error) {
	lines := r.sessionLines(c)
	for _, more := range []func(context.Context, Call) ([]string, error){r.queueLines, r.useLines, r.hostLines} {
		l, err := more(ctx, c)
		if err != nil {
			return Result{}, err
		}
		lines = append(lines, l...)
	}
	head := fmt.Sprintf("**parley %s**, up %s\n\n- ", r.version, time.Since(r.started).Round(time.Second))
	return Result{Text: head + strings.Join(lines, "\n- ")}, nil
}

// sessionLines say how the session is set.
func (t *Table) sessionLines(c Call) []string {
	s := c.Session
	v := c.Set.Session.SendPolicy.Evaluate(c.Set.PolicySubject(s, c.In.Address))
	session := "Session: " + channels.Code(string(s.Key.Display(s.Agent, c.Set.Session.Scope)), maxLine)
	if s.ID != "" {
		session += fmt.Sprintf(" (%s), %s", s.ID, channels.Plural(s.Turns, "turn"))
	}
	lines := []string{
		session,
		"Agent: " + string(s.Agent) + ", model " + t.modelWords(c.Set, s),
		"Thinking: " + t.thinkingWords(c.Set, s),
		fmt.Sprintf("Tokens: %s in, %s out; context %s", sessions.ShortCount(s.Usage.Input), sessions.ShortCount(s.Usage.Output), t.fill(c.Set, s)),
		"Sending: " + string(v.Action) + " (" + v.Rule + ")",
	}
	if c.In.Address.Type.Several() {
		lines = append(lines, "Activation: "+activationWords(c))
	}
	return lines
}

// fill says how full the window of the session's model is.
func (t *Table) fill(set *settings.Snapshot, s sessions.Session) string {
	m, err := t.model(set.ModelOf(s))
	if err != nil || m.Facts.ContextWindow <= 0 {
		return sessions.ShortCount(s.Context)
	}
	return fmt.Sprintf("%s of %s (%d%%)", sessions.ShortCount(s.Context), sessions.ShortCount(m.Facts.ContextWindow), 100*s.Context/m.Facts.ContextWindow)
}

// activationWords says when the agent answers in the chat.
func activationWords(c Call) string {
	words := "always"
	about := policy.Facts{Address: c.Set.ConfigAddress(c.In.Address), Parent: c.In.Parent, Activation: c.Session.Settings.Activation}
	if access := c.Set.Accounts[settings.Ref(c.In.Address)].Access; access.NeedsMention(about) {
		words = "when a message mentions me or replies to me"
		if about.Private = c.In.Private; !access.NeedsMention(about) {
			words = "for your messages, and for those of others that mention me or reply to me"
		}
	}
	if c.Session.Settings.Activation != "" {
		words += " (set for this session)"
	}
	return words
}

// useLines say what was used since midnight, the host's time.
func (t *Table) useLines(ctx context.Context, c Call) ([]string, error) {
	since, until := clock.Day(time.Now())
	ask := []struct {
		who string
		q   sessions.SpentQuery
	}{{"this session", sessions.SpentQuery{BilledTo: c.Session.Key, Since: since, Until: until}},
		{"this agent", sessions.SpentQuery{Agent: c.Session.Agent, Since: since, Until: until}}, {"the host", sessions.SpentQuery{Since: since, Until: until}}}
	if !c.Owner {
		ask = ask[:1] // the others count what other people's sessions used (contract V4)
	}
	var parts []string
	for _, a := range ask {
		sum, err := t.store.Spent(ctx, a.q)
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
func (t *Table) hostLines(ctx context.Context, c Call) ([]string, error) {
	if !c.Owner {
		return nil, nil
	}
	counts, err := t.store.CountDeliveries(ctx, sessions.DeliveryQuery{})
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("Deliveries: %d pending, %d failed, %d withheld", counts[sessions.Pending]+counts[sessions.Sending],
		counts[sessions.DeliveryFail]+counts[sessions.Expired]+counts[sessions.Held], counts[sessions.Withheld])}
	for _, more := range []func() []string{t.accounts, t.troubles} {
		if more != nil {
			lines = append(lines, more()...)
		}
	}
	return lines, nil
}

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/router/budget"
	"parley/router/clock"
	"parley/router/turn"
	"parley/sessions"
)

// cmdUsage shows today's use and its budgets, sets the usage footer of replies, and lifts a budget.
func cmdUsage(ctx context.Context, r *Table, c Call) (Result, error) {
	word, what, _ := strings.Cut(strings.ToLower(c.Arg), " ")
	switch {
	case word == "":
		text, err := r.usageWords(ctx, c)
		return Result{Text: text}, err
	case what == "" && word == "off":
		return Result{Text: "⚙️ Usage footer: off.", Change: onSession(sessions.PatchSession{Footer: new("")})}, nil
	case what == "" && (word == turn.FooterTokens || word == turn.FooterFull):
		return Result{Text: "⚙️ Each reply now ends with its usage, like this:" + turn.FooterWords(word, sessions.Usage{Input: 1200, Output: 300, Cost: 4000}), Change: onSession(sessions.PatchSession{Footer: &word})}, nil
	case word == "lift":
		_, what, _ = strings.Cut(c.Arg, " ") // keys tell capitals apart
		return r.liftBudget(ctx, c, strings.TrimSpace(what))
	}
	return Result{Text: "⚙️ Usage: /usage [off|tokens|full|lift [session|agent|host|key]]"}, nil
}

// usageWords lists today's use, the budgets, and for owners the host's use by model.
func (t *Table) usageWords(ctx context.Context, c Call) (string, error) {
	began, ends := clock.Day(time.Now())
	lifts, err := t.store.Suspensions(ctx, time.Now())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Used since %s**\n\n", began.Format("2006-01-02 15:04"))
	for _, l := range budget.LimitsOf(c.Set, c.Session, c.Session.Agent) {
		if !c.Owner && kindOf(l.Scope) != "session" { // what other people's sessions used (contract V4)
			continue
		}
		l.Query.Since, l.Query.Until = began, ends
		sum, err := t.store.Spent(ctx, l.Query)
		if err != nil {
			return "", err
		}
		lifted := slices.ContainsFunc(lifts, func(x sessions.BudgetSuspension) bool { return x.Scope == l.Scope })
		fmt.Fprintf(&b, "- This %s: %s%s\n", kindOf(l.Scope), spentWords(sum), countWords(budget.AmountOf(sum.Usage), l.Max, lifted, ends))
	}
	if c.Owner {
		rows, err := t.store.Spending(ctx, sessions.SpentQuery{Since: began, Until: ends}, time.Local)
		if err != nil {
			return "", err
		}
		b.WriteString(modelWords(rows))
	}
	fmt.Fprintf(&b, "\nUsage footer: %s (`/usage off|tokens|full`)", cmp.Or(c.Session.Settings.Footer, "off"))
	return b.String(), nil
}

// modelWords lists use by model.
func modelWords(rows []sessions.Spending) string {
	sums := make(map[string]sessions.Spent)
	for _, x := range rows {
		was := sums[x.Model]
		sums[x.Model] = sessions.Spent{Calls: was.Calls + x.Calls, Usage: was.Usage.Add(x.Usage)}
	}
	var names []string
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return sums[b].Usage.Total() - sums[a].Usage.Total() })
	var b strings.Builder
	for _, name := range names[:min(len(names), maxModelsShown)] {
		fmt.Fprintf(&b, "- %s: %s\n", channels.Code(name, 100), spentWords(sums[name]))
	}
	return b.String()
}

func kindOf(scope string) string {
	kind, _, _ := strings.Cut(scope, ":")
	return kind
}

func spentWords(x sessions.Spent) string {
	words := fmt.Sprintf("%s tokens (%s in, %s out) in %s", sessions.ShortCount(x.Usage.Total()), sessions.ShortCount(x.Usage.Input), sessions.ShortCount(x.Usage.Output), channels.Plural(x.Calls, "call"))
	if x.Usage.Cost > 0 {
		words += ", " + budget.Dollars(x.Usage.Cost)
	}
	return words
}

// countWords says how much of a budget is used.
func countWords(used, most budget.Amount, lifted bool, ends time.Time) string {
	var parts []string
	if most.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%s tokens (%d%%)", sessions.ShortCount(int(most.Tokens)), 100*used.Tokens/most.Tokens))
	}
	if most.Cost > 0 {
		parts = append(parts, fmt.Sprintf("%s (%d%%)", budget.Dollars(most.Cost), 100*used.Cost/most.Cost))
	}
	if len(parts) == 0 {
		return ""
	}
	words := "; of " + strings.Join(parts, " and ") + " a day"
	switch {
	case lifted:
		words += ", lifted until " + ends.Format("15:04")
	case used.Reaches(most):
		words += ", exhausted until " + ends.Format("15:04")
	}
	return words
}

// liftBudget takes a budget that is used up out of force until the next midnight. Without a word it is the first such of this
// session; the key or id of any session of the host names that one's.
func (t *Table) liftBudget(ctx context.Context, c Call, what string) (Result, error) {
	if !c.Owner {
		return Result{Text: "Only an owner can lift a budget." + c.howToOwn()}, nil
	}
	kind, which := strings.ToLower(what), "this "+strings.ToLower(what)
	in := budget.LimitsOf(c.Set, c.Session, c.Session.Agent)
	if kind != "" && !slices.ContainsFunc(in, func(l budget.Limit) bool { return kindOf(l.Scope) == kind }) {
		s, err := t.sessionNamed(ctx, what)
		if errors.Is(err, sessions.ErrNotFound) {
			return Result{Text: "⚙️ Usage: /usage lift [session|agent|host|the key or id of a session]"}, nil
		}
		if err != nil {
			return Result{}, err
		}
		kind, which, in = "session", channels.Code(string(budget.BillingSession(s)), 200), budget.LimitsOf(c.Set, s, s.Agent)
	}
	began, ends := clock.Day(time.Now())
	for _, l := range in {
		switch {
		case kind != "" && kindOf(l.Scope) != kind:
			continue
		case l.Max != (budget.Amount{}):
		case kind == "":
			continue
		default:
			return Result{Text: fmt.Sprintf("⚙️ There is no budget for %s.", which)}, nil
		}
		l.Query.Since, l.Query.Until = began, ends
		sum, err := t.store.Spent(ctx, l.Query)
		switch {
		case err != nil:
			return Result{}, err
		case budget.AmountOf(sum.Usage).Reaches(l.Max):
			if kind == "" {
				which += kindOf(l.Scope)
			}
			return Result{Text: fmt.Sprintf("⚙️ The budget of %s is lifted: it has no limit until %s.", which, ends.Format("15:04")), Change: &sessions.Change{Ops: []sessions.Op{sessions.SuspendBudget{Scope: l.Scope, Until: ends}}}}, nil
		case kind != "":
			return Result{Text: fmt.Sprintf("⚙️ The budget of %s is not exhausted, so there is nothing to lift.", which)}, nil
		}
	}
	return Result{Text: "⚙️ No budget is exhausted here, so there is nothing to lift."}, nil
}

// sessionNamed finds a session by its key or id.
func (t *Table) sessionNamed(ctx context.Context, name string) (sessions.Session, error) {
	s, err := t.store.Get(ctx, sessions.Key(name))
	if errors.Is(err, sessions.ErrNotFound) {
		return t.store.GetByID(ctx, sessions.ID(name))
	}
	return s, err
}

package router

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/sessions"
)

// cmdUsage shows what was used today and what may be, sets what stands below replies, and lifts a budget.
func cmdUsage(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	word, what, _ := strings.Cut(strings.ToLower(c.arg), " ")
	switch {
	case word == "":
		text, err := r.usageWords(ctx, c)
		return text, sessions.Effects{}, err
	case what == "" && word == "off":
		return "⚙️ Replies have no figures below them.", sessions.Effects{Patch: &sessions.Patch{Footer: new("")}}, nil
	case what == "" && (word == footerTokens || word == footerFull):
		return "⚙️ Below each reply stands what it took, like this:" + footerWords(word, sessions.Usage{Input: 1200, Output: 300, Cost: 4000}), sessions.Effects{Patch: &sessions.Patch{Footer: &word}}, nil
	case word == "lift":
		return r.liftBudget(ctx, c, strings.TrimSpace(what))
	}
	return "⚙️ Usage: /usage [off|tokens|full|lift [session|agent|host]]", sessions.Effects{}, nil
}

// usageWords lists what was used today, the budgets, and to owners the host's use by model.
func (r *Router) usageWords(ctx context.Context, c commandCall) (string, error) {
	began, ends := today(time.Now())
	lifts, err := r.store.Lifts(ctx, time.Now())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Used since %s**\n\n", began.Format("2006-01-02 15:04"))
	for _, l := range c.set.limits(c.session, c.session.Agent) {
		if l.scope == "host" && !c.owner {
			continue
		}
		l.query.Since = began
		sum, err := r.store.Spent(ctx, l.query)
		if err != nil {
			return "", err
		}
		lifted := slices.ContainsFunc(lifts, func(x sessions.Lift) bool { return x.Scope == l.scope })
		fmt.Fprintf(&b, "- This %s: %s%s\n", kindOf(l.scope), spentWords(sum), mostWords(amountOf(sum.Usage), l.most, lifted, ends))
	}
	if c.owner {
		rows, err := r.store.Spending(ctx, sessions.SpentQuery{Since: began}, time.Local)
		if err != nil {
			return "", err
		}
		b.WriteString(modelWords(rows))
	}
	fmt.Fprintf(&b, "\nBelow replies: %s (`/usage off|tokens|full`)", firstOf(c.session.Settings.Footer, "off"))
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
	for _, name := range names[:min(len(names), modelsShown)] {
		fmt.Fprintf(&b, "- %s: %s\n", code(name, 100), spentWords(sums[name]))
	}
	return b.String()
}

func kindOf(scope string) string {
	kind, _, _ := strings.Cut(scope, ":")
	return kind
}

func spentWords(x sessions.Spent) string {
	words := fmt.Sprintf("%s tokens (%s in, %s out) in %d calls", short(x.Usage.Total()), short(x.Usage.Input), short(x.Usage.Output), x.Calls)
	if x.Usage.Cost > 0 {
		words += ", " + dollars(x.Usage.Cost)
	}
	return words
}

// mostWords says how much of a budget is used.
func mostWords(used, most amount, lifted bool, ends time.Time) string {
	var parts []string
	if most.tokens > 0 {
		parts = append(parts, fmt.Sprintf("%s tokens (%d%%)", short(int(most.tokens)), 100*used.tokens/most.tokens))
	}
	if most.cost > 0 {
		parts = append(parts, fmt.Sprintf("%s (%d%%)", dollars(most.cost), 100*used.cost/most.cost))
	}
	if len(parts) == 0 {
		return ""
	}
	words := "; of " + strings.Join(parts, " and ") + " a day"
	switch {
	case lifted:
		words += ", lifted until " + ends.Format("15:04")
	case used.reaches(most):
		words += ", used up until " + ends.Format("15:04")
	}
	return words
}

// dollars writes millionths of a dollar: to the cent, or where that says nothing, to the first two digits.
func dollars(cost int64) string {
	switch d := float64(cost) / 1e6; {
	case cost >= 100_000 || cost == 0:
		return fmt.Sprintf("$%.2f", d)
	case cost >= 1000:
		return fmt.Sprintf("$%.3f", d)
	default:
		return fmt.Sprintf("$%.6f", d)
	}
}

// liftBudget takes a budget out of force until the next midnight. Without a word it is the one that is used up.
func (r *Router) liftBudget(ctx context.Context, c commandCall, what string) (string, sessions.Effects, error) {
	if !c.owner {
		return "Only an owner can lift a budget.", sessions.Effects{}, nil
	}
	began, ends := today(time.Now())
	var found *limit
	for _, l := range c.set.limits(c.session, c.session.Agent) {
		switch {
		case kindOf(l.scope) == what:
			found = &l
		case what == "" && found == nil && l.most != (amount{}):
			l.query.Since = began
			sum, err := r.store.Spent(ctx, l.query)
			if err != nil {
				return "", sessions.Effects{}, err
			}
			if amountOf(sum.Usage).reaches(l.most) {
				found = &l
			}
		}
	}
	switch {
	case found == nil && what == "":
		return "⚙️ No budget is used up. `/usage lift session|agent|host` lifts one all the same.", sessions.Effects{}, nil
	case found == nil:
		return "⚙️ Usage: /usage lift [session|agent|host]", sessions.Effects{}, nil
	case found.most == (amount{}):
		return fmt.Sprintf("⚙️ This %s has no budget.", kindOf(found.scope)), sessions.Effects{}, nil
	}
	return fmt.Sprintf("⚙️ The budget of this %s is lifted until %s.", kindOf(found.scope), ends.Format("15:04")), sessions.Effects{Lift: &sessions.Lift{Scope: found.scope, Until: ends}}, nil
}

// What stands below replies (Settings.Footer).
const (
	footerTokens = "tokens"
	footerFull   = "full"
)

// footer is what stands below a run's reply: what its calls took, where the session wants that.
func (r *Router) footer(ctx context.Context, run sessions.Run, u sessions.Usage) string {
	s, err := r.store.Get(ctx, run.Key)
	if err != nil {
		return "" // finishing the run says why
	}
	return footerWords(s.Settings.Footer, u)
}

func footerWords(footer string, u sessions.Usage) string {
	switch {
	case footer == "":
		return ""
	case footer == footerFull && u.Cost > 0:
		return fmt.Sprintf("\n\n· %s in, %s out, %s", short(u.Input), short(u.Output), dollars(u.Cost))
	}
	return fmt.Sprintf("\n\n· %s in, %s out", short(u.Input), short(u.Output))
}

package router

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"parley/agent"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// usualAnswer is how long an answer is taken to become, in tokens, as long as none of the day was longer.
const usualAnswer = 4096

// amount is a use of models, or a bound of it; in a bound 0 = any amount.
type amount struct{ tokens, cost int64 }

func amountOf(u sessions.Usage) amount { return amount{int64(u.Total()), u.Cost} }

func (a amount) plus(b amount) amount { return amount{a.tokens + b.tokens, a.cost + b.cost} }

func (a amount) minus(b amount) amount { return amount{a.tokens - b.tokens, a.cost - b.cost} }

func (a amount) reaches(most amount) bool {
	return most.tokens > 0 && a.tokens >= most.tokens || most.cost > 0 && a.cost >= most.cost
}

// limit is what may be spent in a day by whatever a scope names.
type limit struct {
	scope string // session:<key>, agent:<id>, host
	query sessions.SpentQuery
	most  amount
}

// limits gives the budgets that a session's calls count in, those without a bound too.
func limitsOf(s *settings.Snapshot, x sessions.Session, by sessions.AgentID) []limit {
	millionths := func(d float64) int64 { return int64(math.Round(d * 1e6)) }
	key, owner := payer(x), x.Agent
	if n := len(x.Above); n > 0 {
		owner = x.Above[n-1]
	}
	own, agents := budgetOf(s, owner), budgetOf(s, by)
	return []limit{
		{"session:" + string(key), sessions.SpentQuery{Payer: key}, amount{int64(own.SessionTokens), millionths(own.SessionCost)}},
		{"agent:" + string(by), sessions.SpentQuery{Agent: by}, amount{int64(agents.AgentTokens), millionths(agents.AgentCost)}},
		{"host", sessions.SpentQuery{}, amount{int64(s.Models.DayTokens), millionths(s.Models.DayCost)}},
	}
}

// payable says why a model may not be asked: one without a price would never reach a bound in dollars. A lift changes nothing
// in that. nil = it may.
func payable(limits []limit, m agent.Candidate) *agent.ModelError {
	if m.Facts.Priced() {
		return nil
	}
	for _, l := range limits {
		if l.most.cost > 0 {
			return &agent.ModelError{Class: agent.Unpriced, Provider: m.Label, Err: fmt.Errorf("no price in models.providers.*.models.*, and the budget of %s is in dollars", l.scope)}
		}
	}
	return nil
}

// payer is the session whose budget a session uses: the one above all.
func payer(s sessions.Session) sessions.Key {
	if s.Top != "" {
		return s.Top
	}
	return s.Key
}

// budget finds what an agent may spend.
func budgetOf(s *settings.Snapshot, id sessions.AgentID) agent.Budget {
	if b := s.Entry(id).Budget; b != nil {
		return *b
	}
	return s.Agents.Defaults.Budget
}

// purse is what was spent today in one scope, and what the calls under way may still cost.
type purse struct {
	spent, held amount
	beyond      amount // the most that a call cost beyond what its prompt was taken to cost
	lifted      time.Time
}

// budgets says which model calls may be made. It counts in memory, from what the ledger says when a scope is first asked for: from
// then on each call that counts there is reserved and settled here. A scope without a bound is not counted.
type budgets struct {
	store sessions.Ledger

	mu     sync.Mutex
	day    time.Time // its first moment
	purses map[string]*purse
	moved  chan struct{}   // closed when a call is settled
	told   map[string]bool // chats, and which budget they know to be used up
}

func newBudgets(store sessions.Ledger) *budgets {
	return &budgets{store: store, moved: make(chan struct{})}
}

// afford reserves a model call in all scopes, and gives the func that settles it. Near a bound calls go one after the other: one
// that might pass it together with those under way waits for them. So a bound is passed by one call at most, as far as no call
// costs more beyond its prompt than any other of the day and than a usual answer.
func (b *budgets) afford(ctx context.Context, limits []limit, want amount) (settle func(amount), err error) {
	for {
		if err := b.load(ctx, limits); err != nil {
			return nil, err
		}
		settle, over, wait := b.reserve(limits, want)
		switch {
		case settle != nil:
			return settle, nil
		case over != "":
			if ok, err := b.lift(ctx, over); err != nil {
				return nil, err
			} else if !ok {
				_, until := clock.Day(time.Now())
				return nil, &agent.BudgetError{Scope: over, Until: until}
			}
			continue
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// load makes sure that what was spent before is known.
func (b *budgets) load(ctx context.Context, limits []limit) error {
	b.mu.Lock()
	day := b.turn()
	var missing []limit
	for _, l := range limits {
		if l.most != (amount{}) && b.purses[l.scope] == nil {
			missing = append(missing, l)
		}
	}
	b.mu.Unlock()
	for _, l := range missing {
		q := l.query
		q.Since, q.Until = clock.Day(day)
		sum, err := b.store.Spent(ctx, q)
		if err != nil {
			return err
		}
		b.mu.Lock()
		if b.turn().Equal(day) && b.purses[l.scope] == nil {
			b.purses[l.scope] = &purse{spent: amountOf(sum.Usage)}
		}
		b.mu.Unlock()
	}
	return nil
}

// turn begins a new day when it has come. What is under way then counts on the day on which it ends.
func (b *budgets) turn() time.Time {
	day, _ := clock.Day(time.Now())
	if day.Equal(b.day) {
		return day
	}
	was := b.purses
	b.day, b.purses, b.told = day, make(map[string]*purse), make(map[string]bool)
	for scope, p := range was {
		if p.held != (amount{}) {
			p.spent, p.beyond = amount{}, amount{}
			b.purses[scope] = p
		}
	}
	return day
}

// reserve takes a call up, or names the scope that is used up, or gives what to wait for.
func (b *budgets) reserve(limits []limit, want amount) (settle func(amount), over string, wait <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	var in []*purse
	now := time.Now()
	for _, l := range limits {
		if l.most == (amount{}) {
			continue
		}
		p := b.purses[l.scope]
		switch {
		case p == nil: // the day is over
			return nil, "", closedNow
		case p.lifted.After(now):
		case p.spent.reaches(l.most):
			return nil, l.scope, nil
		case p.spent.plus(p.held).reaches(l.most):
			wait = b.moved
		}
		in = append(in, p)
	}
	if wait != nil {
		return nil, "", wait
	}
	held := make([]amount, len(in))
	for i, p := range in {
		held[i] = want.plus(p.beyond)
		p.held = p.held.plus(held[i])
	}
	return func(cost amount) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turn()
		more := cost.minus(want)
		for i, p := range in {
			p.held, p.spent = p.held.minus(held[i]), p.spent.plus(cost)
			p.beyond = amount{max(p.beyond.tokens, more.tokens), max(p.beyond.cost, more.cost)}
		}
		close(b.moved)
		b.moved = make(chan struct{})
	}, "", nil
}

var closedNow = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// lift looks whether an owner has lifted a budget that is used up.
func (b *budgets) lift(ctx context.Context, scope string) (bool, error) {
	now := time.Now()
	_, ends := clock.Day(now)
	lifts, err := b.store.Lifts(ctx, now)
	for _, l := range lifts {
		if l.Scope != scope || l.Until.After(ends) { // the clock was set back since
			continue
		}
		b.mu.Lock()
		if p := b.purses[scope]; p != nil {
			p.lifted = l.Until
		}
		b.mu.Unlock()
		return true, err
	}
	return false, err
}

// tell reports whether a chat is to be told that a budget is used up: once a day.
func (b *budgets) tell(chat string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	first := !b.told[chat]
	b.told[chat] = true
	return first
}

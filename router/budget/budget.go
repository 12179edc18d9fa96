package budget

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"parley/agent"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// UsualAnswer is the length that is reserved for an answer, in tokens, until one of the day was longer.
const UsualAnswer = 4096

// Amount is a use of models, or a bound of it; in a bound 0 = any amount.
type Amount struct{ Tokens, Cost int64 }

// AmountOf returns what a call used and cost.
func AmountOf(u sessions.Usage) Amount { return Amount{int64(u.Total()), u.Cost} }

func (a Amount) plus(b Amount) Amount { return Amount{a.Tokens + b.Tokens, a.Cost + b.Cost} }

func (a Amount) minus(b Amount) Amount { return Amount{a.Tokens - b.Tokens, a.Cost - b.Cost} }

// Reaches reports whether a has come up to one of the bounds of most.
func (a Amount) Reaches(most Amount) bool {
	return most.Tokens > 0 && a.Tokens >= most.Tokens || most.Cost > 0 && a.Cost >= most.Cost
}

// Limit is the daily budget of a scope: a session, an agent or the host.
type Limit struct {
	Scope string // session:<key>, agent:<id>, host
	Query sessions.SpentQuery
	Max   Amount
}

// LimitsOf returns the budgets that a session's calls count in, those without a bound too.
func LimitsOf(s *settings.Snapshot, x sessions.Session, by sessions.AgentID) []Limit {
	return payerOf(x).limits(s, by)
}

// payer is whose budget a session uses: the session above all, and its agent.
type payer struct {
	key   sessions.Key
	agent sessions.AgentID
}

func payerOf(x sessions.Session) payer {
	p := payer{BillingSession(x), x.Agent}
	if n := len(x.Above); n > 0 {
		p.agent = x.Above[n-1]
	}
	return p
}

func (p payer) limits(s *settings.Snapshot, by sessions.AgentID) []Limit {
	millionths := func(d float64) int64 { return int64(math.Round(d * 1e6)) }
	own, agents := budgetOf(s, p.agent), budgetOf(s, by)
	return []Limit{
		{"session:" + string(p.key), sessions.SpentQuery{BilledTo: p.key}, Amount{int64(own.SessionTokens), millionths(own.SessionCost)}},
		{"agent:" + string(by), sessions.SpentQuery{Agent: by}, Amount{int64(agents.AgentTokens), millionths(agents.AgentCost)}},
		{"host", sessions.SpentQuery{}, Amount{int64(s.Models.DayTokens), millionths(s.Models.DayCost)}},
	}
}

// CheckPriced says why a model may not be asked: one without a price would never reach a bound in dollars. A lift changes nothing
// in that. nil = it may.
func CheckPriced(limits []Limit, m agent.Candidate) *agent.ModelError {
	if m.Facts.Priced() {
		return nil
	}
	for _, l := range limits {
		if l.Max.Cost > 0 {
			return &agent.ModelError{Class: agent.Unpriced, Provider: m.Label, Err: fmt.Errorf("the budget of %s is in dollars, and models.providers.*.models.* has no price for this model", l.Scope)}
		}
	}
	return nil
}

// BillingSession is the session whose budget a session uses: the one above all.
func BillingSession(s sessions.Session) sessions.Key {
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

// Balance is one scope's spending of today, and the reservations of the calls under way.
type Balance struct {
	spent, Reserved Amount
	beyond          Amount // the most that a call cost beyond what its prompt was taken to cost
	suspended       time.Time
}

// Sessions reads sessions.
type Sessions interface {
	Get(ctx context.Context, key sessions.Key) (sessions.Session, error)
}

// Config has what a Tracker works with.
type Config struct {
	Ledger   sessions.Ledger
	Sessions Sessions
	Settings func() *settings.Snapshot
	Retry    *clock.Retrier
	Log      *slog.Logger
}

// Tracker says which model calls may be made. It counts in memory, from what the ledger says when a scope is first asked for: from
// then on each call that counts there is reserved and settled here. A scope without a bound is not counted.
type Tracker struct {
	ledger   sessions.Ledger
	sessions Sessions
	settings func() *settings.Snapshot
	retry    *clock.Retrier
	log      *slog.Logger

	mu       sync.Mutex
	day      time.Time // its first moment
	Balances map[string]*Balance
	moved    chan struct{}   // closed when a call is settled
	told     map[string]bool // chats, and which budget they know to be used up
}

// New returns a Tracker.
func New(c Config) *Tracker {
	return &Tracker{ledger: c.Ledger, sessions: c.Sessions, settings: c.Settings, retry: c.Retry, log: c.Log, moved: make(chan struct{})}
}

// reserve reserves a model call in all scopes, and gives the func that settles it. Near a bound calls go one after the other: one
// that might pass it together with those under way waits for them. So a bound is passed by one call at most, as far as no call
// costs more beyond its prompt than any other of the day and than a usual answer.
func (b *Tracker) reserve(ctx context.Context, limits []Limit, want Amount) (settle func(Amount), err error) {
	for {
		if err := b.load(ctx, limits); err != nil {
			return nil, err
		}
		settle, over, wait := b.tryReserve(limits, want)
		switch {
		case settle != nil:
			return settle, nil
		case over != "":
			if ok, err := b.suspend(ctx, over); err != nil {
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
func (b *Tracker) load(ctx context.Context, limits []Limit) error {
	b.mu.Lock()
	day := b.turn()
	var missing []Limit
	for _, l := range limits {
		if l.Max != (Amount{}) && b.Balances[l.Scope] == nil {
			missing = append(missing, l)
		}
	}
	b.mu.Unlock()
	for _, l := range missing {
		q := l.Query
		q.Since, q.Until = clock.Day(day)
		sum, err := b.ledger.Spent(ctx, q)
		if err != nil {
			return err
		}
		b.mu.Lock()
		if b.turn().Equal(day) && b.Balances[l.Scope] == nil {
			b.Balances[l.Scope] = &Balance{spent: AmountOf(sum.Usage)}
		}
		b.mu.Unlock()
	}
	return nil
}

// turn begins a new day when it has come. What is under way then counts on the day on which it ends.
func (b *Tracker) turn() time.Time {
	day, _ := clock.Day(time.Now())
	if day.Equal(b.day) {
		return day
	}
	was := b.Balances
	b.day, b.Balances, b.told = day, make(map[string]*Balance), make(map[string]bool)
	for scope, p := range was {
		if p.Reserved != (Amount{}) {
			p.spent, p.beyond = Amount{}, Amount{}
			b.Balances[scope] = p
		}
	}
	return day
}

// tryReserve reserves a call, or names the scope that is used up, or gives what to wait for.
func (b *Tracker) tryReserve(limits []Limit, want Amount) (settle func(Amount), over string, wait <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	var in []*Balance
	now := time.Now()
	for _, l := range limits {
		if l.Max == (Amount{}) {
			continue
		}
		p := b.Balances[l.Scope]
		switch {
		case p == nil: // the day is over
			return nil, "", closedNow
		case p.suspended.After(now):
		case p.spent.Reaches(l.Max):
			return nil, l.Scope, nil
		case p.spent.plus(p.Reserved).Reaches(l.Max):
			wait = b.moved
		}
		in = append(in, p)
	}
	if wait != nil {
		return nil, "", wait
	}
	held := make([]Amount, len(in))
	for i, p := range in {
		held[i] = want.plus(p.beyond)
		p.Reserved = p.Reserved.plus(held[i])
	}
	return func(cost Amount) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turn()
		more := cost.minus(want)
		for i, p := range in {
			p.Reserved, p.spent = p.Reserved.minus(held[i]), p.spent.plus(cost)
			p.beyond = Amount{max(p.beyond.Tokens, more.Tokens), max(p.beyond.Cost, more.Cost)}
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

// suspend looks whether an owner has lifted a budget that is used up.
func (b *Tracker) suspend(ctx context.Context, scope string) (bool, error) {
	now := time.Now()
	_, ends := clock.Day(now)
	lifts, err := b.ledger.Suspensions(ctx, now)
	for _, l := range lifts {
		if l.Scope != scope || l.Until.After(ends) { // the clock was set back since
			continue
		}
		b.mu.Lock()
		if p := b.Balances[scope]; p != nil {
			p.suspended = l.Until
		}
		b.mu.Unlock()
		return true, err
	}
	return false, err
}

// Tell reports whether a chat must be told that a budget is used up: once a day.
func (b *Tracker) Tell(chat string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	first := !b.told[chat]
	b.told[chat] = true
	return first
}

package budget

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/router/chain"
	"parley/sessions"
)

// Meter charges the model calls of one run: it asks the budgets before a call, and writes into the ledger what no
// message of the transcript brings there.
type Meter struct {
	r   *Tracker
	key sessions.Key // of the session
	run sessions.RunID
	by  sessions.AgentID // of the run
	of  payer
}

// Meter returns the meter of a session's run.
func (b *Tracker) Meter(s sessions.Session, run sessions.Run) *Meter {
	return &Meter{r: b, key: s.Key, run: run.ID, by: run.Agent, of: payerOf(s)}
}

// reserveBeforeCall asks for a call of a prompt of so many tokens to one of the models, and gives the func that settles it. The bounds are
// those in force at the moment. The error is an *agent.BudgetError, an *agent.ModelError that says that the first of the models has
// no price, ctx's, or the store's.
func (m *Meter) reserveBeforeCall(ctx context.Context, tokens int, models ...agent.Candidate) (func(sessions.Usage), error) {
	want := Amount{Tokens: int64(tokens + UsualAnswer)}
	for _, c := range models {
		want.Cost = max(want.Cost, c.Facts.Cost(sessions.Usage{Input: tokens, Output: UsualAnswer}))
	}
	limits := m.Limits()
	if no := CheckPriced(limits, models[0]); no != nil {
		return nil, no
	}
	settle, err := m.r.reserve(ctx, limits, want)
	if err != nil {
		return nil, err
	}
	return func(u sessions.Usage) { settle(AmountOf(u)) }, nil
}

// Limits returns the budgets that the run's calls count in, by the settings in force.
func (m *Meter) Limits() []Limit { return m.of.limits(m.r.settings(), m.by) }

// Spend writes what a call cost that leaves no message; purpose says why. ctx may have ended: the money is gone all the same.
func (m *Meter) Spend(ctx context.Context, purpose, model string, u sessions.Usage) {
	m.keep(ctx, m.row(uuid.NewString(), purpose, model, time.Now(), u))
}

// unrecorded writes what messages cost that may not have come into the transcript. Those that have are there with their id.
func (m *Meter) unrecorded(ctx context.Context, msgs ...sessions.Message) {
	var rows []sessions.Spend
	for _, x := range msgs {
		if x.Role == sessions.Assistant && x.Usage != nil {
			rows = append(rows, m.row(x.ID, "", x.Model, x.Time, *x.Usage))
		}
	}
	if len(rows) > 0 {
		m.keep(ctx, rows...)
	}
}

func (m *Meter) row(id, purpose, model string, at time.Time, u sessions.Usage) sessions.Spend {
	return sessions.Spend{ID: id, Time: at, Run: m.run, Key: m.key, BilledTo: m.of.key, Agent: m.by, Model: model, Purpose: purpose, Usage: u}
}

func (m *Meter) keep(ctx context.Context, rows ...sessions.Spend) {
	m.r.retry.Do(ctx, "spend", func(ctx context.Context) error { return m.r.ledger.Spend(ctx, rows...) })
}

// KeepUnrecorded writes what a run's last words cost when its end is not committed, or may not be: it was stopped or deleted meanwhile, or the
// host stops.
func (b *Tracker) KeepUnrecorded(ctx context.Context, run sessions.Run, msgs ...sessions.Message) {
	s := sessions.Session{Key: run.Key}
	for _, key := range []sessions.Key{run.Key, chain.Requester(run)} {
		x, err := b.sessions.Get(context.WithoutCancel(ctx), key)
		if err == nil {
			s.Top = BillingSession(x)
			break
		}
	}
	b.Meter(s, run).unrecorded(ctx, msgs...)
}

// Reserve has a turn's calls reserved at the price of the dearest of its models. Fallbacks without a price are left out where a
// budget is in dollars.
func (m *Meter) Reserve(t *agent.Turn) {
	limits := m.Limits()
	t.Fallbacks = slices.DeleteFunc(slices.Clone(t.Fallbacks), func(c agent.Candidate) bool {
		no := CheckPriced(limits, c)
		if no != nil {
			m.r.log.Warn("skipped a fallback model", keyRun, m.run, keyErr, no)
		}
		return no != nil
	})
	models := append([]agent.Candidate{{Label: t.Label, Facts: t.Facts}}, t.Fallbacks...)
	t.Afford = func(ctx context.Context, tokens int) (func(sessions.Usage), error) {
		return m.reserveBeforeCall(ctx, tokens, models...)
	}
}

// Pay has a turn's calls paid for.
func (m *Meter) Pay(ctx context.Context, t *agent.Turn) {
	m.Reserve(t)
	t.Spent = func(model string, u sessions.Usage) { m.Spend(ctx, "failed", model, u) }
	record := t.Record
	t.Record = func(msgs ...sessions.Message) error {
		err := record(msgs...)
		if err != nil {
			m.unrecorded(ctx, msgs...)
		}
		return err
	}
}

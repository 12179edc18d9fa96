package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/channels"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// meter is what the model calls of one run are paid from: it asks the budgets before a call, and writes into the ledger what no
// message of the transcript brings there.
type meter struct {
	r       *Router
	session sessions.Session
	run     sessions.Run
}

func (r *Router) meter(s sessions.Session, run sessions.Run) meter { return meter{r, s, run} }

// afford asks for a call of a prompt of so many tokens to one of the models, and gives the func that settles it. The bounds are
// those in force at the moment. The error is an *agent.BudgetError, an *agent.ModelError that says that the first of the models has
// no price, ctx's, or the store's.
func (m meter) afford(ctx context.Context, tokens int, models ...agent.Candidate) (func(sessions.Usage), error) {
	want := amount{tokens: int64(tokens + usualAnswer)}
	for _, c := range models {
		want.cost = max(want.cost, c.Facts.Cost(sessions.Usage{Input: tokens, Output: usualAnswer}))
	}
	limits := m.limits()
	if no := payable(limits, models[0]); no != nil {
		return nil, no
	}
	settle, err := m.r.budgets.afford(ctx, limits, want)
	if err != nil {
		return nil, err
	}
	return func(u sessions.Usage) { settle(amountOf(u)) }, nil
}

func (m meter) limits() []limit { return limitsOf(m.r.settings.Load(), m.session, m.run.Agent) }

// spend writes what a call cost that leaves no message; purpose says why. ctx may have ended: the money is gone all the same.
func (m meter) spend(ctx context.Context, purpose, model string, u sessions.Usage) {
	m.keep(ctx, m.row(uuid.NewString(), purpose, model, time.Now(), u))
}

// unkept writes what messages cost that may not have come into the transcript. Those that have are there with their id.
func (m meter) unkept(ctx context.Context, msgs ...sessions.Message) {
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

func (m meter) row(id, purpose, model string, at time.Time, u sessions.Usage) sessions.Spend {
	return sessions.Spend{ID: id, Time: at, Run: m.run.ID, Key: m.session.Key, Payer: payer(m.session), Agent: m.run.Agent, Model: model, Purpose: purpose, Usage: u}
}

func (m meter) keep(ctx context.Context, rows ...sessions.Spend) {
	m.r.retry.Do(ctx, "spend", func(ctx context.Context) error { return m.r.store.Spend(ctx, rows...) })
}

// unkept writes what a run's last words cost when its end is not committed, or may not be: it was stopped or deleted meanwhile, or the
// host stops.
func (r *Router) unkept(ctx context.Context, run sessions.Run, msgs ...sessions.Message) {
	s := sessions.Session{Key: run.Key}
	for _, key := range []sessions.Key{run.Key, requester(run)} {
		x, err := r.store.Get(context.WithoutCancel(ctx), key)
		if err == nil {
			s.Top = payer(x)
			break
		}
	}
	r.meter(s, run).unkept(ctx, msgs...)
}

// requester is the session that a sub-agent's run works for.
func requester(run sessions.Run) sessions.Key {
	if c := run.Chain; c != nil && c.Kind == chainSpawn {
		return c.Requester
	}
	return ""
}

// reserve has a turn's calls reserved at the price of the dearest of its models. Fallbacks without a price are left out where a
// budget is in dollars.
func (m meter) reserve(t *agent.Turn) {
	limits := m.limits()
	t.Fallbacks = slices.DeleteFunc(slices.Clone(t.Fallbacks), func(c agent.Candidate) bool {
		no := payable(limits, c)
		if no != nil {
			m.r.log.Warn("a fallback is left out", keyRun, m.run.ID, keyErr, no)
		}
		return no != nil
	})
	models := append([]agent.Candidate{{Label: t.Label, Facts: t.Facts}}, t.Fallbacks...)
	t.Afford = func(ctx context.Context, tokens int) (func(sessions.Usage), error) {
		return m.afford(ctx, tokens, models...)
	}
}

// pay has a turn's calls paid for.
func (m meter) pay(ctx context.Context, t *agent.Turn) {
	m.reserve(t)
	t.Spent = func(model string, u sessions.Usage) { m.spend(ctx, "failed", model, u) }
	record := t.Record
	t.Record = func(msgs ...sessions.Message) error {
		err := record(msgs...)
		if err != nil {
			m.unkept(ctx, msgs...)
		}
		return err
	}
}

// overBudget ends a run whose next call may not be made. Its chat is told once until the budget counts anew; after that the run
// says so on its row, and nothing leaves. What sub-agents have brought so far is posted as it is: that costs nothing.
func (r *Router) overBudget(ctx context.Context, set *settings.Snapshot, run sessions.Run, e *agent.BudgetError) *sessions.Outcome {
	to := run.Reply
	if c := run.Chain; c != nil && (run.Kind == sessions.ChildRun || run.Kind == sessions.JobRun) {
		to = c.Origin
	}
	notice := budgetNotice(e, to)
	switch run.Kind {
	case sessions.TurnRun:
	case sessions.ChildRun, sessions.JobRun:
		if run.Chain == nil || run.Chain.Parent != nil || answer(r.steps(ctx, run)) != "" {
			return r.failure(ctx, set, run, sessions.Failed, notice, e)
		}
	default:
		return r.failure(ctx, set, run, sessions.Failed, notice, e)
	}
	o := &sessions.Outcome{Status: sessions.Failed, Error: e.Error(), Usage: used(r.steps(ctx, run)...)}
	msg := sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(notice), Time: time.Now(), Run: run.ID, Model: sessions.NoticeModel, Stop: "error", Error: e.Error()}
	d := r.reply(set, run, sessions.Notice, msg.ID, notice)
	d.To = to
	if c := run.Chain; c != nil {
		d.Session, d.ReplyTo = c.Requester, "" // the policy of the chat that it goes to
		if c.Requester == "" {
			voice, ok := r.voice(ctx, sessions.Session{Key: run.Key}, to)
			if !ok {
				return nil
			}
			d.Session = voice.Key
		}
	}
	if to.IsZero() || !r.budgets.tell(to.String()+" "+e.Scope) || r.toldBefore(ctx, d) {
		r.log.Debug("a run ends in silence: a budget is used up", keyRun, run.ID, keySession, run.Key, keyErr, e)
		return o
	}
	r.log.Warn("a budget is used up", keyRun, run.ID, keySession, run.Key, keyErr, e)
	o.Messages, o.Deliveries = []sessions.Message{msg}, []sessions.Delivery{d}
	return o
}

// toldBefore reports whether an earlier process told a chat of today's end of a budget: the notice itself is looked for, as a run may
// have failed in the same way without one.
func (r *Router) toldBefore(ctx context.Context, notice sessions.Delivery) bool {
	sent, err := r.store.ListDeliveries(ctx, sessions.DeliveryQuery{Session: notice.Session, Limit: 100})
	if err != nil && !errors.Is(err, context.Canceled) {
		r.log.Error("cannot read the newest deliveries of a session", keySession, notice.Session, keyErr, err)
	}
	began, _ := clock.Day(time.Now())
	return slices.ContainsFunc(sent, func(d sessions.Delivery) bool {
		return d.Kind == notice.Kind && d.To == notice.To && d.Text == notice.Text && !d.Created.Before(began)
	})
}

// budgetNotice is one plain sentence for the chat. An owner is not in somebody else's direct chat: there it names the session by its
// key, which can be written from anywhere.
func budgetNotice(e *agent.BudgetError, to channels.Address) string {
	kind, what, _ := strings.Cut(e.Scope, ":")
	if kind != "session" || to.Type != channels.Direct {
		what = kind
	}
	return fmt.Sprintf("This %s has used up its budget for today. I can go on at %s, or when an owner lifts it with `/usage lift %s`.", kind, e.Until.Format("15:04"), what)
}

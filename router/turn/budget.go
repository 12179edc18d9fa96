package turn

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

// overBudget ends a run whose next call may not be made. Its chat is told once until the budget counts again; after that the run
// says so on its row, and nothing leaves. What sub-agents have brought so far is posted as it is: that costs nothing.
func (w *Worker) overBudget(ctx context.Context, set *settings.Snapshot, run sessions.Run, e *agent.BudgetError) *sessions.Outcome {
	to := run.Reply
	if c := run.Chain; c != nil && (run.Kind == sessions.ChildRun || run.Kind == sessions.JobRun) {
		to = c.Origin
	}
	notice := budgetNotice(e, to)
	switch run.Kind {
	case sessions.TurnRun:
	case sessions.ChildRun, sessions.JobRun:
		if run.Chain == nil || run.Chain.Parent != nil || answer(w.steps(ctx, run)) != "" {
			return w.failure(ctx, set, run, sessions.Failed, notice, e)
		}
	default:
		return w.failure(ctx, set, run, sessions.Failed, notice, e)
	}
	o := &sessions.Outcome{Status: sessions.Failed, Error: e.Error(), Usage: sumUsage(w.steps(ctx, run)...)}
	msg := sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(notice), Time: time.Now(), Run: run.ID, Model: sessions.NoticeModel, Stop: "error", Error: e.Error()}
	d := w.reply(set, run, sessions.Notice, msg.ID, notice)
	d.To = to
	if c := run.Chain; c != nil {
		d.Session, d.ReplyTo = c.Requester, "" // the policy of the chat that it goes to
		if c.Requester == "" {
			speaker, ok := w.chain.SpeakingSession(ctx, sessions.Session{Key: run.Key}, to)
			if !ok {
				return nil
			}
			d.Session = speaker.Key
		}
	}
	if to.IsZero() || !w.budgets.Tell(to.String()+" "+e.Scope) || w.toldBefore(ctx, d) {
		w.log.Debug("budget exhausted; run ends without an answer", keyRun, run.ID, keySession, run.Key, keyErr, e)
		return o
	}
	w.log.Warn("budget exhausted", keyRun, run.ID, keySession, run.Key, keyErr, e)
	o.Messages, o.Deliveries = []sessions.Message{msg}, []sessions.Delivery{d}
	return o
}

// toldBefore reports whether an earlier process told a chat of today's end of a budget: the notice itself is looked for, as a run may
// have failed in the same way without one.
func (w *Worker) toldBefore(ctx context.Context, notice sessions.Delivery) bool {
	sent, err := w.store.ListDeliveries(ctx, sessions.DeliveryQuery{Session: notice.Session, Limit: 100})
	if err != nil && !errors.Is(err, context.Canceled) {
		w.log.Error("cannot read the newest deliveries of a session", keySession, notice.Session, keyErr, err)
	}
	began, _ := clock.Day(time.Now())
	return slices.ContainsFunc(sent, func(d sessions.Delivery) bool {
		return d.Kind == notice.Kind && d.To == notice.To && d.Text == notice.Text && !d.Created.Before(began)
	})
}

// budgetNotice is one plain sentence for the chat. An owner is not in another person's direct chat: there it names the session by its
// key, which can be written from anywhere.
func budgetNotice(e *agent.BudgetError, to channels.Address) string {
	kind, what, _ := strings.Cut(e.Scope, ":")
	if kind != "session" || to.Type != channels.Direct {
		what = kind
	}
	return fmt.Sprintf("This %s has exhausted its budget for today. I can continue at %s, or when an owner lifts the budget with `/usage lift %s`.", kind, e.Until.Format("15:04"), what)
}

package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/agent/control"
	"parley/channels"
	"parley/router/chain"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
)

// MaxAttempts bounds how often a run is resumed after the host died on it.
const MaxAttempts = 10

// maxChild bounds a sub-agent that was given no time limit (contract N2): everything that waits has a deadline.
const maxChild = 24 * time.Hour

// turn has the agent answer and says how the run ended; nil when the host stops and the run is resumed later. at becomes the run as its last try has read it.
func (w *Worker) turn(ctx context.Context, at *sessions.Run) *sessions.Outcome {
	run := *at
	set := w.settings()
	switch {
	case w.ages.Age(w.latest(ctx, run)) > maxAnswerAge(set, run):
		return w.expire(ctx, set, run)
	case run.Attempt > MaxAttempts:
		return w.failure(ctx, set, run, sessions.Failed, "I could not answer this message: the host stopped during each attempt.", fmt.Errorf("given up after %d attempts", run.Attempt-1))
	}
	limit := limitOf(set, run)
	wait, waited := context.WithTimeout(ctx, w.left(limit, run))
	lane.RegainSlot(lane.WithEnd(wait))
	waited()
	work, cancel := context.WithTimeout(ctx, w.left(limit, run))
	defer cancel()

	out, err := w.thinkUntil(sessions.WaitForStore(lane.WithEnd(work)), set, at)
	run = *at
	switch {
	case err == nil:
		return w.success(ctx, set, run, out)
	case lane.EndedBy(ctx) != nil:
		return &sessions.Outcome{Status: sessions.Stopped, Error: lane.EndedBy(ctx).Error()}
	case ctx.Err() != nil:
		return nil
	case errors.Is(work.Err(), context.DeadlineExceeded):
		return w.failure(ctx, set, run, sessions.TimedOut, fmt.Sprintf("I ran out of time (%s) and stopped working on this.", limit.Round(time.Second)),
			fmt.Errorf("timed out after %s", limit))
	}
	if e, ok := errors.AsType[*agent.BudgetError](err); ok {
		return w.overBudget(ctx, set, run, e)
	}
	notice := "Something went wrong while I was working on this. The details are in the log."
	if me, ok := errors.AsType[*agent.ModelError](err); ok {
		notice = me.Notice()
		if run.Kind == sessions.CompactRun && agent.IsRefusal(nil, err) {
			notice = "I could not summarize this conversation: the language model's provider refused every part of it. Nothing has changed, and you can continue here. `/model` lists other models, which may accept it."
		}
	} else if errors.Is(err, agent.ErrTooManySteps) {
		notice = "I stopped: this answer needed more steps than the limit allows."
	}
	return w.failure(ctx, set, run, sessions.Failed, notice, err)
}

// latest is when the newest message was accepted that a run answers: one that was running may have taken others up.
func (w *Worker) latest(ctx context.Context, run sessions.Run) time.Time {
	at := run.Created
	if run.Attempt > 1 {
		for _, m := range w.steps(ctx, run) {
			if m.Role == sessions.User && m.Time.After(at) {
				at = m.Time
			}
		}
	}
	return at
}

// maxAnswerAge is how old a run may be that begins or is resumed (contract D8): what it has to say may be as late as its kind, and one that
// was running may have had all of its time before.
func maxAnswerAge(set *settings.Snapshot, run sessions.Run) (most time.Duration) {
	switch run.Kind {
	case sessions.TurnRun, sessions.CompactRun:
		most = set.Delivery.TTL(sessions.Reply)
	case sessions.JobRun:
		most = set.Delivery.JobTTL()
	default:
		most = set.Delivery.TTL(sessions.Announce)
	}
	if run.Attempt > 1 {
		most += limitOf(set, run)
	}
	return most
}

// expire ends a run that is past its time to live. It hands nothing on and tells no chat: that would be as late.
func (w *Worker) expire(ctx context.Context, set *settings.Snapshot, run sessions.Run) *sessions.Outcome {
	why := fmt.Sprintf("the run is %s old: its answer would be too late", w.ages.Age(run.Created).Round(time.Second))
	w.log.Warn("run exceeded its time to live", keyRun, run.ID, keySession, run.Key, keyReason, why)
	o := &sessions.Outcome{Status: sessions.Failed, Error: why}
	if run.Attempt > 1 { // what earlier attempts have paid for counts as well
		o.Usage = sumUsage(w.steps(ctx, run)...)
	}
	if !w.chain.CompleteExpired(ctx, set, run, o) {
		return nil
	}
	return o
}

// minTurn is the shortest time that a sub-agent's further run is begun for (contract N9).
const minTurn = time.Second

// limitOf says how long a run may take.
func limitOf(set *settings.Snapshot, run sessions.Run) time.Duration {
	switch {
	case run.Timeout > 0:
		return run.Timeout
	case run.Kind == sessions.ChildRun:
		return maxChild
	}
	return set.Timeout()
}

// left says how long a run that begins, or is resumed, may still take: no setting of the clock makes that longer than its limit,
// or shorter. What a sub-agent is asked later ends with its first time limit.
func (w *Worker) left(limit time.Duration, run sessions.Run) time.Duration {
	left := limit
	if !run.Deadline.IsZero() {
		left = min(left, w.ages.Left(run.Deadline, run.Started))
	}
	if run.Kind != sessions.ChildRun || run.Chain == nil || run.Chain.Until.IsZero() {
		return left
	}
	if left = min(left, w.chain.LeftAbove(*run.Chain)); run.Attempt <= 1 && left < minTurn {
		return 0
	}
	return left
}

// think builds the turn and runs the loop; again says that it did so before for this attempt. What is merged into the turn changes what
// the run's answer refers to.
func (w *Worker) think(ctx context.Context, set *settings.Snapshot, run *sessions.Run, again bool) (out agent.Outcome, err error) {
	defer channels.RecoverPanic(w.log, "turn", &err)
	s, err := w.store.Get(ctx, run.Key)
	if err != nil {
		return out, fmt.Errorf("read the session: %w", err)
	}
	t, err := w.Compose(ctx, set, s, run, again)
	if err != nil {
		return out, err
	}
	if !run.Reply.IsZero() {
		shown := w.gate.Show(ctx, *run, t)
		defer shown()
	}
	w.watchText(*run, t)
	if run.Kind == sessions.CompactRun {
		return w.compact(ctx, set, s, *run, t)
	}
	return w.loop.Run(ctx, *t)
}

// success turns what the agent said into what is committed; nil when the host stops before that is known.
func (w *Worker) success(ctx context.Context, set *settings.Snapshot, run sessions.Run, out agent.Outcome) *sessions.Outcome {
	if run.Kind == sessions.CompactRun { // leaves the transcript as it is
		o := &sessions.Outcome{Status: sessions.Done, Result: out.Text}
		if !run.Reply.IsZero() {
			o.Deliveries = []sessions.Delivery{w.reply(set, run, sessions.Notice, "", out.Text)}
		}
		return o
	}
	o := &sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{out.Final}, Result: resultOf(out), Usage: out.Usage, Context: out.Context}
	if run.Attempt > 1 { // what earlier attempts have paid for counts as well
		o.Usage = sumUsage(append(w.steps(ctx, run), out.Final)...)
	}
	speaks := out.Control == agent.Speak && run.Kind == sessions.TurnRun
	if out.Control == agent.Speak && !speaks && out.Text != "" {
		out.Text += chain.CutOff(out.Final.Stop)
		o.Result = out.Text
	}
	if out.Control == agent.Speak && out.Text == "" && (run.Kind == sessions.AskRun || run.Kind == sessions.JobRun) { // the answer was the point of it (contract N12)
		o.Status, o.Error = sessions.Failed, chain.Wordless(out.Final.Stop)
	}
	if speaks && out.Text == "" { // the caller that waits for the run reads it too
		o.Error = chain.Wordless(out.Final.Stop)
	} else if speaks {
		note := w.unansweredWords(ctx, run, out.Final)
		out.Text, o.Result = out.Text+chain.CutOff(out.Final.Stop)+note, o.Result+note
	}
	switch {
	case !speaks || run.Reply.IsZero():
	case out.Text == "":
		o.Deliveries = []sessions.Delivery{w.reply(set, run, sessions.Notice, out.Final.ID, o.Error)}
	default:
		o.Deliveries = []sessions.Delivery{w.reply(set, run, sessions.Reply, cmp.Or(out.From, out.Final.ID), out.Text+w.footer(ctx, run, o.Usage))}
	}
	w.deleteTakenUp(ctx, run)
	if !w.chain.Complete(ctx, set, run, out, o.Error, o) {
		w.budgets.KeepUnrecorded(ctx, run, o.Messages...)
		return nil
	}
	return o
}

// failure ends a run with a plain short notice to the chat; the details go to the log and the run's row.
func (w *Worker) failure(ctx context.Context, set *settings.Snapshot, run sessions.Run, status sessions.RunStatus, notice string, err error) *sessions.Outcome {
	w.log.Error("run failed", keyRun, run.ID, keySession, run.Key, keyErr, err)
	msg := sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(notice), Time: time.Now(), Run: run.ID, Model: sessions.NoticeModel, Stop: "error", Error: err.Error()}
	if refused, by := isRefused(run, err); refused {
		msg.SetRefused(by)
	}
	steps := w.steps(ctx, run)
	o := &sessions.Outcome{Status: status, Error: err.Error(), Messages: []sessions.Message{msg}, Usage: sumUsage(steps...)}
	if !run.Reply.IsZero() && (run.Kind == sessions.TurnRun || run.Kind == sessions.CompactRun) {
		o.Deliveries = []sessions.Delivery{w.reply(set, run, sessions.Notice, msg.ID, notice+w.providerWords(run, steps, err))}
	}
	w.deleteTakenUp(ctx, run)
	if !w.chain.Complete(ctx, set, run, partial(steps), notice, o) {
		return nil
	}
	return o
}

// steps returns the recorded messages of a run; on an error it logs and returns none.
func (w *Worker) steps(ctx context.Context, run sessions.Run) []sessions.Message {
	steps, err := w.store.Steps(context.WithoutCancel(ctx), run.ID)
	if err != nil {
		w.log.Error("cannot read the steps of a run", keyRun, run.ID, keyErr, err)
	}
	return steps
}

// sumUsage sums up the tokens of model calls.
func sumUsage(steps ...sessions.Message) (sum sessions.Usage) {
	counted := make(map[string]bool)
	for _, m := range steps {
		if m.Usage != nil && !counted[m.ID] {
			counted[m.ID], sum = true, sum.Add(*m.Usage)
		}
	}
	return sum
}

// partial is what a turn that failed had: its newest words, and its newest tool result (contract N17).
func partial(steps []sessions.Message) (out agent.Outcome) {
	for _, m := range steps {
		switch text := control.Read(m.Text()).Text; {
		case m.Role == sessions.Assistant && text != "":
			out.Text = text
		case m.Role == sessions.ToolResult:
			out.Newest = m.Text()
		}
	}
	return out
}

// answer is what a turn that broke off had answered before: a sub-agent that waited for its own has.
func answer(steps []sessions.Message) string {
	for _, m := range slices.Backward(steps) {
		if m.Role == sessions.Assistant {
			if len(m.ToolCalls()) > 0 {
				return ""
			}
			return control.Read(m.Text()).Text
		}
	}
	return ""
}

func (w *Worker) reply(set *settings.Snapshot, run sessions.Run, kind sessions.DeliveryKind, msg, text string) sessions.Delivery {
	d := sessions.NewDelivery(kind, run.Key, run.Reply, text, time.Now().Add(set.Delivery.TTL(kind)))
	d.Run, d.Message, d.ReplyTo = run.ID, msg, run.ReplyTo
	return d
}

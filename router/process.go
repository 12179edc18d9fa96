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
	"parley/router/chain"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
)

// maxAttempts bounds how often a run is taken up again after the host died on it.
const maxAttempts = 10

// longestChild bounds a sub-agent that was given no time limit (contract N2): everything that waits has a deadline.
const longestChild = 24 * time.Hour

// process claims the next run of a session, unless one is claimed already, and brings it to its end. It reports whether there may be
// more. When ctx ends because the host stops, the run stays claimed in the store and the next process takes it up where it stood.
func (r *Router) process(ctx context.Context, key sessions.Key, claimed *sessions.Run) (more bool) {
	if r.deps.Turn != nil {
		ctx = r.deps.Turn(ctx, key)
	}
	run, ok := r.next(ctx, key, claimed)
	if !ok {
		return false
	}
	r.lanes.SetRunning(key, run.ID, r.settings.Load().Asker(key, &run))
	r.lanes.EnterHome(ctx, key, run.Home)
	r.watchers.Run(run, sessions.Running)
	switch {
	case run.Attempt > 1:
		r.histories.Drop(run.Session)
	case run.Kind != sessions.CompactRun: // whose input is no message
		r.histories.add(run.Session, r.readMost(), run.Input)
		r.watchers.Messages(run, run.Input)
	}
	began := time.Now()
	out := &sessions.Outcome{Status: sessions.Done} // of a post: its input is all that there is to it
	if run.Kind != sessions.PostRun {
		if out = r.stopped(ctx, run, r.turn(ctx, run)); out == nil {
			return false // handed over
		}
	} else if !r.Advancer.Advance(ctx, r.settings.Load(), run, agent.Outcome{}, "", out) {
		return false
	}
	r.lanes.MarkIdle(key)
	out.Summary = r.histories.takeOwed(run.Session)
	var acc sessions.Accepted
	lane := r.lanes.Reserve(out.Next, r.settings.Load())
	defer func() { lane.End(acc, nil) }()
	booking := r.gate.Reserve(out)
	defer booking.End(r.lanes.Host(ctx))
	if acc, ok = r.finish(ctx, run, *out, booking); !ok {
		return false
	}
	if run.Kind != sessions.PostRun { // which is no turn
		r.metrics.ofTurns().ran(run.Kind, out.Status, time.Since(began))
	}
	r.log.Debug("run ended", keyRun, run.ID, keySession, key, keyState, out.Status)
	r.Committer.Waiters.Notify(string(run.ID))
	r.watchers.End(run, *out, acc)
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the gate looks again when this fails
	r.gate.RetractPreview(look, run.ID)
	cancel()
	if len(acc.Deliveries) == 0 { // otherwise they are seen first
		r.gate.RemoveReactions(run.ID)
	}
	r.Committer.AfterCommit(ctx, acc)
	return true
}

// stopped makes the outcome of a run that a person stopped, or a newer message interrupted. An answer that was ready leaves all the
// same; a sub-agent that was stopped reports nothing, whatever it had.
func (r *Router) stopped(ctx context.Context, run sessions.Run, out *sessions.Outcome) *sessions.Outcome {
	why := lane.EndedBy(ctx)
	switch {
	case why == nil:
		return out
	case out == nil || out.Status != sessions.Done:
		stopped := &sessions.Outcome{Status: sessions.Stopped, Error: why.Error()}
		if out != nil {
			stopped.Usage = out.Usage
		}
		if errors.Is(why, lane.ErrStopped) && run.Kind != sessions.CompactRun { // whose input is no message
			stopped.Messages = []sessions.Message{sessions.StoppedMessage(run.ID, time.Now())}
		}
		return stopped
	case run.Kind == sessions.ChildRun:
		out.Status, out.Error, out.Next, out.Delete = sessions.Stopped, why.Error(), nil, nil
	}
	return out
}

// turn has the agent answer and says how the run ended; nil when the host stops and the run is to be taken up later.
func (r *Router) turn(ctx context.Context, run sessions.Run) *sessions.Outcome {
	set := r.settings.Load()
	switch {
	case r.ages.Age(r.latest(ctx, run)) > answerable(set, run):
		return r.outdated(ctx, set, run)
	case run.Attempt > maxAttempts:
		return r.failure(ctx, set, run, sessions.Failed, "This message could not be answered: the host stopped each time it tried.", fmt.Errorf("given up after %d attempts", run.Attempt-1))
	}
	limit := limitOf(set, run)
	wait, waited := context.WithTimeout(ctx, r.left(limit, run))
	lane.RegainSlot(lane.WithEnd(wait))
	waited()
	work, cancel := context.WithTimeout(ctx, r.left(limit, run))
	defer cancel()

	out, err := r.thinkUntil(lane.WithEnd(work), set, &run)
	switch {
	case err == nil:
		return r.success(ctx, set, run, out)
	case lane.EndedBy(ctx) != nil:
		return &sessions.Outcome{Status: sessions.Stopped, Error: lane.EndedBy(ctx).Error()}
	case ctx.Err() != nil:
		return nil
	case errors.Is(work.Err(), context.DeadlineExceeded):
		return r.failure(ctx, set, run, sessions.TimedOut, fmt.Sprintf("I ran out of time (%s) and stopped working on this.", limit.Round(time.Second)),
			fmt.Errorf("timed out after %s", limit))
	}
	if e, ok := errors.AsType[*agent.BudgetError](err); ok {
		return r.overBudget(ctx, set, run, e)
	}
	notice := "Something went wrong while I was working on this. The details are in the log."
	if me, ok := errors.AsType[*agent.ModelError](err); ok {
		notice = me.Notice()
		if run.Kind == sessions.CompactRun && agent.IsRefusal(nil, err) {
			notice = "I could not sum this conversation up: the language model's provider refused every part of it that I showed. Nothing has changed, and you can go on here. `/model` lists other models, which may take it."
		}
	} else if errors.Is(err, agent.ErrTooManySteps) {
		notice = "I stopped: this took more steps than one answer may take."
	}
	return r.failure(ctx, set, run, sessions.Failed, notice, err)
}

// latest is when the newest message was accepted that a run answers: one that was at work may have taken others up.
func (r *Router) latest(ctx context.Context, run sessions.Run) time.Time {
	at := run.Created
	if run.Attempt > 1 {
		for _, m := range r.steps(ctx, run) {
			if m.Role == sessions.User && m.Time.After(at) {
				at = m.Time
			}
		}
	}
	return at
}

// answerable is how old a run may be that begins or is taken up again (contract D8): what it has to say may be as late as its kind, and one that
// was at work may have had all of its time before.
func answerable(set *settings.Snapshot, run sessions.Run) (most time.Duration) {
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

// outdated ends a run that is past its time to live. Nothing is handed on and nobody is told: that would be as late.
func (r *Router) outdated(ctx context.Context, set *settings.Snapshot, run sessions.Run) *sessions.Outcome {
	why := fmt.Sprintf("it is %s old: what it has to say would be too late", r.ages.Age(run.Created).Round(time.Second))
	r.log.Warn("a run is past its time to live", keyRun, run.ID, keySession, run.Key, keyReason, why)
	o := &sessions.Outcome{Status: sessions.Failed, Error: why}
	if run.Attempt > 1 { // what earlier attempts have paid for counts as well
		o.Usage = used(r.steps(ctx, run)...)
	}
	if run.Chain != nil && !r.Advancer.DeleteLate(ctx, set, run, *run.Chain, o) {
		return nil
	}
	return o
}

// leastTurn is the shortest time that a sub-agent's further run is begun for (contract N9).
const leastTurn = time.Second

// limitOf says how long a run may take.
func limitOf(set *settings.Snapshot, run sessions.Run) time.Duration {
	switch {
	case run.Timeout > 0:
		return run.Timeout
	case run.Kind == sessions.ChildRun:
		return longestChild
	}
	return set.Timeout()
}

// left says how long a run that begins, or is taken up again, may still take: no setting of the clock makes that longer than its limit,
// or shorter. What a sub-agent is asked later ends with its first time limit.
func (r *Router) left(limit time.Duration, run sessions.Run) time.Duration {
	left := limit
	if !run.Deadline.IsZero() {
		left = min(left, r.ages.Left(run.Deadline, run.Started))
	}
	if run.Kind != sessions.ChildRun || run.Chain == nil || run.Chain.Until.IsZero() {
		return left
	}
	if left = min(left, r.Advancer.LeftAbove(*run.Chain)); run.Attempt <= 1 && left < leastTurn {
		return 0
	}
	return left
}

// think builds the turn and runs the loop; again says that it did so before for this attempt. What the turn takes up changes what the run's answer refers to.
func (r *Router) think(ctx context.Context, set *settings.Snapshot, run *sessions.Run, again bool) (out agent.Outcome, err error) {
	defer channels.RecoverPanic(r.log, "turn", &err)
	s, err := r.store.Get(ctx, run.Key)
	if err != nil {
		return out, fmt.Errorf("reading the session: %w", err)
	}
	t, err := r.compose(ctx, set, s, run, again)
	if err != nil {
		return out, err
	}
	if !run.Reply.IsZero() {
		shown := r.gate.Show(ctx, *run, &t)
		defer shown()
	}
	r.watchText(*run, &t)
	if run.Kind == sessions.CompactRun {
		return r.compact(ctx, set, s, *run, &t)
	}
	return r.loop.Run(ctx, t)
}

// success turns what the agent said into what is committed; nil when the host stops before that is known.
func (r *Router) success(ctx context.Context, set *settings.Snapshot, run sessions.Run, out agent.Outcome) *sessions.Outcome {
	if run.Kind == sessions.CompactRun { // leaves the transcript as it is
		o := &sessions.Outcome{Status: sessions.Done, Result: out.Text}
		if !run.Reply.IsZero() {
			o.Deliveries = []sessions.Delivery{r.reply(set, run, sessions.Notice, "", out.Text)}
		}
		return o
	}
	o := &sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{out.Final}, Result: out.Final.Text(), Usage: out.Usage, Context: out.Context}
	if run.Attempt > 1 { // what earlier attempts have paid for counts as well
		o.Usage = used(append(r.steps(ctx, run), out.Final)...)
	}
	speaks := out.Control == agent.Speak && run.Kind == sessions.TurnRun
	if speaks && out.Text == "" { // whoever waits for the run reads it too
		o.Error = chain.Wordless(out.Final.Stop)
	} else if speaks {
		note := r.unansweredWords(ctx, run, out.Final)
		out.Text, o.Result = out.Text+cutOff(out.Final.Stop)+note, o.Result+note
	}
	switch {
	case !speaks || run.Reply.IsZero():
	case out.Text == "":
		o.Deliveries = []sessions.Delivery{r.reply(set, run, sessions.Notice, out.Final.ID, o.Error)}
	default:
		o.Deliveries = []sessions.Delivery{r.reply(set, run, sessions.Reply, out.Final.ID, out.Text+r.footer(ctx, run, o.Usage))}
	}
	if !r.Advancer.Advance(ctx, set, run, out, "", o) {
		r.Budgets.KeepUnrecorded(ctx, run, o.Messages...)
		return nil
	}
	return o
}

// failure ends a run with a plain short notice to the chat; the details go to the log and the run's row.
func (r *Router) failure(ctx context.Context, set *settings.Snapshot, run sessions.Run, status sessions.RunStatus, notice string, err error) *sessions.Outcome {
	r.log.Error("a run failed", keyRun, run.ID, keySession, run.Key, keyErr, err)
	msg := sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(notice), Time: time.Now(), Run: run.ID, Model: sessions.NoticeModel, Stop: "error", Error: err.Error()}
	msg.Refused, msg.RefusedBy = isRefused(run, err)
	steps := r.steps(ctx, run)
	o := &sessions.Outcome{Status: status, Error: err.Error(), Messages: []sessions.Message{msg}, Usage: used(steps...)}
	if !run.Reply.IsZero() && (run.Kind == sessions.TurnRun || run.Kind == sessions.CompactRun) {
		o.Deliveries = []sessions.Delivery{r.reply(set, run, sessions.Notice, msg.ID, notice+r.providerWords(run, steps, err))}
	}
	if !r.Advancer.Advance(ctx, set, run, agent.Outcome{Text: answer(steps)}, notice, o) {
		return nil
	}
	return o
}

// steps gives what a run has recorded, for its figures and what it had to say: an error is logged and leaves them out.
func (r *Router) steps(ctx context.Context, run sessions.Run) []sessions.Message {
	steps, err := r.store.Steps(context.WithoutCancel(ctx), run.ID)
	if err != nil {
		r.log.Error("cannot read what a run has recorded", keyRun, run.ID, keyErr, err)
	}
	return steps
}

// used sums up the tokens of model calls.
func used(steps ...sessions.Message) (sum sessions.Usage) {
	counted := make(map[string]bool)
	for _, m := range steps {
		if m.Usage != nil && !counted[m.ID] {
			counted[m.ID], sum = true, sum.Add(*m.Usage)
		}
	}
	return sum
}

// answer is what a turn that broke off had answered before: a sub-agent that waited for its own has.
func answer(steps []sessions.Message) string {
	for _, m := range slices.Backward(steps) {
		if m.Role == sessions.Assistant {
			if len(m.ToolCalls()) > 0 {
				return ""
			}
			text := strings.TrimSpace(m.Text())
			if slices.Contains([]agent.Control{agent.NoReply, agent.ReplySkip, agent.AnnounceSkip}, agent.Control(text)) {
				return ""
			}
			return text
		}
	}
	return ""
}

func (r *Router) reply(set *settings.Snapshot, run sessions.Run, kind sessions.DeliveryKind, msg, text string) sessions.Delivery {
	return sessions.Delivery{ID: sessions.DeliveryID(uuid.NewString()), Kind: kind, Session: run.Key, Run: run.ID, Message: msg, To: run.Reply, ReplyTo: run.ReplyTo,
		Text: text, Expires: time.Now().Add(set.Delivery.TTL(kind))}
}

func (r *Router) historyLimit() int {
	return settings.OrDefault(r.settings.Load().Agents.Defaults.HistoryLimit, 400)
}

// waitingLanes gives the lanes of the sessions that have work: who asked for it, and when the run that an earlier process was at has to end.
func (r *Router) waitingLanes(ctx context.Context, keys []sessions.Key) (map[sessions.Key]waitingLane, error) {
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Status: sessions.Queued, Limit: 10_000})
	begun, set := make(map[sessions.Key]waitingLane), r.settings.Load()
	for _, key := range keys {
		begun[key] = waitingLane{who: set.AskerOf(key, nil)} // unless it is known better
	}
	for _, run := range runs {
		x := begun[run.Key]
		if who := set.Asker(run.Key, &run); who == settings.OfOwners || x.who != settings.OfOwners {
			x.who = who
		}
		if run.Attempt > 0 && !run.Deadline.IsZero() {
			x.by = run.Deadline
		}
		begun[run.Key] = x
	}
	return begun, err
}

// waitingLane is who wants a session's next run, and by when it begins without a slot.
type waitingLane struct {
	who string
	by  time.Time
}

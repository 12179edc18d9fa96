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
	"parley/sessions"
)

// maxAttempts bounds how often a run is taken up again after the host died on it.
const maxAttempts = 10

// longestChild bounds a sub-agent that was given no time limit (contract N2): everything that waits has a deadline.
const longestChild = 24 * time.Hour

// process claims the next run of a session, unless one is claimed already, and brings it to its end. It reports whether there may be
// more. When ctx ends because the host stops, the run stays claimed in the store and the next process takes it up where it stood.
func (r *Router) process(ctx context.Context, key sessions.Key, claimed *sessions.Run) (more bool) {
	run, ok := r.next(ctx, key, claimed)
	if !ok {
		return false
	}
	r.lanes.at(key, run.ID, r.settings.Load().asker(key, &run))
	r.tellRun(run, sessions.Running)
	switch {
	case run.Attempt > 1:
		r.histories.drop(run.Session)
	case run.Kind != sessions.CompactRun: // whose input is no message
		r.histories.add(run.Session, r.readMost(), run.Input)
		r.tellMessages(run, run.Input)
	}
	began := time.Now()
	out := &sessions.Outcome{Status: sessions.Done} // of a post: its input is all that there is to it
	if run.Kind != sessions.PostRun {
		if out = r.stopped(ctx, run, r.turn(ctx, run)); out == nil {
			return false // handed over
		}
	} else if !r.handOn(ctx, r.settings.Load(), run, agent.Outcome{}, "", out) {
		return false
	}
	r.lanes.rest(key)
	out.Summary = r.histories.takeOwed(run.Session)
	var acc sessions.Accepted
	lane := r.lanes.reserve(out.Next, r.settings.Load())
	defer func() { lane.end(acc, nil) }()
	booking := r.gate.book(out)
	defer booking.end(r.lanes.host(ctx))
	if acc, ok = r.finish(ctx, run, *out, booking); !ok {
		return false
	}
	if run.Kind != sessions.PostRun { // which is no turn
		r.metrics.ran(run.Kind, out.Status, time.Since(began))
	}
	r.log.Debug("run ended", keyRun, run.ID, keySession, key, keyState, out.Status)
	r.ends.tell(string(run.ID))
	r.tellEnd(run, *out, acc)
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // the gate looks again when this fails
	r.gate.unanswered(look, run.ID)
	cancel()
	if len(acc.Deliveries) == 0 { // otherwise they are seen first
		r.unack(run.ID)
	}
	r.follow(ctx, acc)
	return true
}

// stopped makes the outcome of a run that a person stopped, or a newer message interrupted. An answer that was ready leaves all the
// same; a sub-agent that was stopped reports nothing, whatever it had.
func (r *Router) stopped(ctx context.Context, run sessions.Run, out *sessions.Outcome) *sessions.Outcome {
	why := endedBy(ctx)
	switch {
	case why == nil:
		return out
	case out == nil || out.Status != sessions.Done:
		stopped := &sessions.Outcome{Status: sessions.Stopped, Error: why.Error()}
		if out != nil {
			stopped.Usage = out.Usage
		}
		if errors.Is(why, errStopped) && run.Kind != sessions.CompactRun { // whose input is no message
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
	case r.ages.age(r.latest(ctx, run)) > answerable(set, run):
		return r.outdated(ctx, set, run)
	case run.Attempt > maxAttempts:
		return r.failure(ctx, set, run, sessions.Failed, "This message could not be answered: the host stopped each time it tried.", fmt.Errorf("given up after %d attempts", run.Attempt-1))
	}
	limit := limitOf(set, run)
	work, cancel := context.WithTimeout(ctx, r.left(limit, run))
	defer cancel()

	out, err := r.thinkUntil(timed(work), set, &run)
	switch {
	case err == nil:
		return r.success(ctx, set, run, out)
	case endedBy(ctx) != nil:
		return &sessions.Outcome{Status: sessions.Stopped, Error: endedBy(ctx).Error()}
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
func answerable(set *Settings, run sessions.Run) (most time.Duration) {
	switch run.Kind {
	case sessions.TurnRun, sessions.CompactRun:
		most = set.Delivery.ttl(sessions.Reply)
	case sessions.JobRun:
		most = set.Delivery.cronTTL()
	default:
		most = set.Delivery.ttl(sessions.Announce)
	}
	if run.Attempt > 1 {
		most += limitOf(set, run)
	}
	return most
}

// outdated ends a run that is past its time to live. Nothing is handed on and nobody is told: that would be as late.
func (r *Router) outdated(ctx context.Context, set *Settings, run sessions.Run) *sessions.Outcome {
	why := fmt.Sprintf("it is %s old: what it has to say would be too late", r.ages.age(run.Created).Round(time.Second))
	r.log.Warn("a run is past its time to live", keyRun, run.ID, keySession, run.Key, keyReason, why)
	o := &sessions.Outcome{Status: sessions.Failed, Error: why}
	if run.Attempt > 1 { // what earlier attempts have paid for counts as well
		o.Usage = used(r.steps(ctx, run)...)
	}
	if run.Chain != nil && !r.deleteLate(ctx, set, run, *run.Chain, o) {
		return nil
	}
	return o
}

// leastTurn is the shortest time that a sub-agent's further run is begun for (contract N9).
const leastTurn = time.Second

// limitOf says how long a run may take.
func limitOf(set *Settings, run sessions.Run) time.Duration {
	switch {
	case run.Timeout > 0:
		return run.Timeout
	case run.Kind == sessions.ChildRun:
		return longestChild
	}
	return set.timeout()
}

// left says how long a run that begins, or is taken up again, may still take: no setting of the clock makes that longer than its limit,
// or shorter. What a sub-agent is asked later ends with its first time limit.
func (r *Router) left(limit time.Duration, run sessions.Run) time.Duration {
	left := limit
	if !run.Deadline.IsZero() {
		left = min(left, r.ages.left(run.Deadline, run.Started))
	}
	if run.Kind != sessions.ChildRun || run.Chain == nil || run.Chain.Until.IsZero() {
		return left
	}
	if left = min(left, r.leftAbove(*run.Chain)); run.Attempt <= 1 && left < leastTurn {
		return 0
	}
	return left
}

// leftAbove is how long the further turns of a sub-agent may still take, of whose chain Until is set.
func (r *Router) leftAbove(c sessions.Chain) time.Duration {
	if c.StartedMs == 0 { // as earlier versions have stored it
		return c.Until.Sub(r.ages.now())
	}
	return r.ages.left(c.Until, time.UnixMilli(c.StartedMs))
}

// think builds the turn and runs the loop; again says that it did so before for this attempt. What the turn takes up changes what the run's answer refers to.
func (r *Router) think(ctx context.Context, set *Settings, run *sessions.Run, again bool) (out agent.Outcome, err error) {
	defer r.fence("turn", &err)
	s, err := r.store.Get(ctx, run.Key)
	if err != nil {
		return out, fmt.Errorf("reading the session: %w", err)
	}
	t, err := r.compose(ctx, set, s, run, again)
	if err != nil {
		return out, err
	}
	if !run.Reply.IsZero() {
		shown := r.show(ctx, *run, &t)
		defer shown()
	}
	r.watchText(*run, &t)
	if run.Kind == sessions.CompactRun {
		return r.compact(ctx, set, s, *run, &t)
	}
	return r.loop.Run(ctx, t)
}

// success turns what the agent said into what is committed; nil when the host stops before that is known.
func (r *Router) success(ctx context.Context, set *Settings, run sessions.Run, out agent.Outcome) *sessions.Outcome {
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
		o.Error = wordless(out.Final.Stop)
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
	if !r.handOn(ctx, set, run, out, "", o) {
		r.unkept(ctx, run, o.Messages...)
		return nil
	}
	return o
}

// failure ends a run with a plain short notice to the chat; the details go to the log and the run's row.
func (r *Router) failure(ctx context.Context, set *Settings, run sessions.Run, status sessions.RunStatus, notice string, err error) *sessions.Outcome {
	r.log.Error("a run failed", keyRun, run.ID, keySession, run.Key, keyErr, err)
	msg := sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(notice), Time: time.Now(), Run: run.ID, Model: sessions.NoticeModel, Stop: "error", Error: err.Error()}
	msg.Refused, msg.RefusedBy = isRefused(run, err)
	steps := r.steps(ctx, run)
	o := &sessions.Outcome{Status: status, Error: err.Error(), Messages: []sessions.Message{msg}, Usage: used(steps...)}
	if !run.Reply.IsZero() && (run.Kind == sessions.TurnRun || run.Kind == sessions.CompactRun) {
		o.Deliveries = []sessions.Delivery{r.reply(set, run, sessions.Notice, msg.ID, notice+r.providerWords(run, steps, err))}
	}
	if !r.handOn(ctx, set, run, agent.Outcome{Text: answer(steps)}, notice, o) {
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

func (r *Router) reply(set *Settings, run sessions.Run, kind sessions.DeliveryKind, msg, text string) sessions.Delivery {
	return sessions.Delivery{ID: sessions.DeliveryID(uuid.NewString()), Kind: kind, Session: run.Key, Run: run.ID, Message: msg, To: run.Reply, ReplyTo: run.ReplyTo,
		Text: text, Expires: time.Now().Add(set.Delivery.ttl(kind))}
}

func (r *Router) historyLimit() int {
	return orDefault(r.settings.Load().Agents.Defaults.HistoryLimit, 400)
}

// waitingLanes gives the lanes of the sessions that have work: who asked for it, and when the run that an earlier process was at has to end.
func (r *Router) waitingLanes(ctx context.Context, keys []sessions.Key) (map[sessions.Key]lane, error) {
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Status: sessions.Queued, Limit: 10_000})
	begun, set := make(map[sessions.Key]lane), r.settings.Load()
	for _, key := range keys {
		begun[key] = lane{who: set.askerOf(key, nil)} // unless it is known better
	}
	for _, run := range runs {
		x := begun[run.Key]
		if who := set.asker(run.Key, &run); who == ofOwners || x.who != ofOwners {
			x.who = who
		}
		if run.Attempt > 0 && !run.Deadline.IsZero() {
			x.by = run.Deadline
		}
		begun[run.Key] = x
	}
	return begun, err
}

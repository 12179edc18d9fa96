package operations

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/agent/control"
	"parley/gateway/api"
	"parley/sessions"
)

// untilShutdown ends with the request, after a time, or when the host begins to stop: what waits must not hold that up.
func (o *Runs) untilShutdown(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, most)
	go func() {
		select {
		case <-o.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (o *Runs) waitRun(ctx context.Context, q api.WaitQuery) (api.Waited, error) {
	id, err := o.names.wholeRun(ctx, q.ID)
	if err != nil {
		return api.Waited{}, err
	}
	q.ID = id
	limited, cancel := o.untilShutdown(ctx, time.Duration(q.Timeout)*time.Millisecond)
	defer cancel()
	run, err := o.router.Outcome(limited, q.ID)
	if err != nil && limited.Err() != nil && ctx.Err() == nil { // how it stands, then
		look, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		run, err = o.runState(look, q.ID)
	}
	if err != nil {
		return api.Waited{}, err
	}
	x := api.Waited{Run: q.ID, Status: "timeout", State: run.Status, Final: run.Status.Final(), Started: run.Started, Ended: run.Ended}
	switch {
	case !x.Final:
		return x, nil
	case run.MergedInto != "": // its answer is another run's, which goes on
		x.Final = false
		return x, nil
	case run.Status == sessions.Done:
		x.Status = "ok"
	default:
		x.Status = "error"
	}
	x.Error, x.Usage = run.Error, run.Usage
	x.Reply, x.Silent = splitReply(run.Result)
	x.Deliveries, err = o.answerMarks(ctx, run)
	x.Outcome, x.Rule = api.OutcomeOf(x)
	return x, err
}

// answerMarks says what became of the deliveries of a run's answer, oldest first. What the tool message posted is none: its result told the agent.
// A mark has the rule that keeps it from leaving, also where the policy is asked only in a moment.
func (o *Runs) answerMarks(ctx context.Context, run sessions.Run) (marks []sessions.Mark, err error) {
	left, err := o.store.ListDeliveries(ctx, sessions.DeliveryQuery{Of: []sessions.Run{run}})
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(left) {
		if d.Kind == sessions.Posted && run.Kind != sessions.PostRun {
			continue
		}
		m := sessions.Mark{Delivery: d.ID, State: d.State, To: d.To.String()}.WithError(d.Error)
		if d.State == sessions.Pending || d.State == sessions.Withheld {
			v, err := o.router.ToolHost.VerdictOf(ctx, d)
			if err != nil {
				return nil, err
			}
			if !v.Allowed() {
				m.Rule = v.Rule
			}
		}
		marks = append(marks, m)
	}
	return marks, nil
}

// runState gives a run as it stands, or the one whose turn answers its message.
func (o *Runs) runState(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	run, err := o.store.GetRun(ctx, id)
	for range 1000 { // each of them came later
		if err != nil || run.MergedInto == "" {
			break
		}
		next, gone := o.store.GetRun(ctx, run.MergedInto)
		if errors.Is(gone, sessions.ErrNotFound) {
			break
		}
		run, err = next, gone
	}
	return run, err
}

// splitReply is what an agent said for others to read; silent is the control word that it ended with instead.
func splitReply(result string) (text, silent string) {
	if r := control.Read(result); r.Word != control.Speak && r.Text == "" {
		return "", string(r.Word)
	}
	return result, ""
}

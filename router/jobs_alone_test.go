package router_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// slowFire is a store in which a second lies between the look at a job's turns and the commit of a further one.
type slowFire struct{ sessions.Store }

func (s slowFire) Fire(ctx context.Context, f sessions.Firing) (sessions.Accepted, error) {
	channels.Sleep(ctx, time.Second)
	return s.Store.Fire(ctx, f)
}

// TestOneTurnOfAJob: a time of a job that comes while a person's turn of it is being committed is left out, and of two people one is told of
// the other's turn.
func TestOneTurnOfAJob(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return slowFire{s} })
		g.Say(routertest.Group("a"), routertest.Guest, "hello")
		g.Shown(1)
		g.Idle(1)
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Minute)
			return routertest.Text("done"), ctx.Err()
		})
		j := g.Make(sessions.Job{Every: time.Hour})
		<-time.After(time.Until(j.Next) - time.Second/2)
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = g.Router.Scheduler.RunJob(t.Context(), "", j.ID) })
		}
		wg.Wait()
		if err := errors.Join(errs...); !errors.Is(err, sessions.ErrConflict) || errs[0] != nil && errs[1] != nil || !strings.Contains(err.Error(), "an earlier turn of the job has not ended: run ") {
			t.Errorf("two people at once: %v", errs)
		}
		<-time.After(2 * time.Minute)
		history := g.History(j.ID)
		if len(history) != 2 || !history[0].Forced || !strings.Contains(history[1].Skipped, "an earlier turn of the job has not ended: run ") {
			t.Errorf("%+v", history)
		}
	})
}

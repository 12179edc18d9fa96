package turn_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/lane"
	"parley/router/routertest"
	"parley/sessions"
)

// runReads is a store that says when a run is read.
type runReads struct {
	sessions.Store
	on *atomic.Pointer[func() error]
}

func (s runReads) GetRun(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	if f := s.on.Load(); f != nil {
		if err := (*f)(); err != nil {
			return sessions.Run{}, err
		}
	}
	return s.Store.GetRun(ctx, id)
}

// One more message comes in the moment in which the turn that it belongs to begins for the last time, and then the run cannot be read: what
// the store says is the turn's error, not that it was to begin again.
func TestRunCannotBeReadAgain(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		to := routertest.Direct(routertest.Guest)
		var on atomic.Pointer[func() error]
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return runReads{s, &on} })
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			<-ctx.Done()
			return agent.Answer{}, ctx.Err()
		})
		g.Say(to, routertest.Guest, "What do you think?")
		forward := func(n int) {
			g.Happens(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: fmt.Sprint("We offer you ", n), Forwarded: true})
		}
		var reads atomic.Int32
		begins, told := make(chan struct{}), make(chan struct{})
		last := func() error {
			switch reads.Add(1) {
			case 1:
				close(begins)
				<-told
			case 101:
				on.Store(nil)
				return errors.New("the disk says no")
			}
			return nil
		}
		for n := 1; n <= lane.MaxRestarts; n++ {
			g.Until("it is at work", func() bool { return g.Model.Count() == n })
			if n == lane.MaxRestarts {
				on.Store(&last)
			}
			forward(n)
		}
		<-begins
		forward(100)
		reads.Store(100)
		close(told)
		g.Until("the store has said no", func() bool { return on.Load() == nil })
		runs := g.Runs()
		if runs[0].Error != "read the run: the disk says no" {
			t.Errorf("the turn failed with %q", runs[0].Error)
		}
	})
}

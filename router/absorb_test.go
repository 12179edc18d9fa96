package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
	"parley/tools"
)

// brittle is a store whose host dies at a commit.
type brittle struct {
	sessions.Store
	die func() // after a MergeQueued that took something up; nil = it lives
}

func (b *brittle) MergeQueued(ctx context.Context, run sessions.RunID, q sessions.MergeQuery) ([]sessions.Message, error) {
	taken, err := b.Store.MergeQueued(ctx, run, q)
	if b.die != nil && len(taken) > 0 {
		b.die()
		b.die = nil
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return taken, err
}

// TestTakenUpOnceOverARestart kills the host between the commit that takes a result up and the model call that answers it.
//
// proves: N15
func TestTakenUpOnceOverARestart(t *testing.T) {
	for name, more := range map[string]string{"the result alone": "", "a message with it": "hurry"} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, 2)
				var shown []string
				x.Does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if channels.Sleep(ctx, 30*time.Second); more != "" {
						x.Steer("outer", more)
					}
					return routertest.Text("done inner"), nil
				})
				b := &brittle{}
				x.Wrap = func(s sessions.Store) sessions.Store { b.Store = s; return b }
				x.Stop()
				x.Start()
				dead := make(chan struct{})
				b.die = func() { close(dead) }
				x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					shown = routertest.WordsOf(p)
					if len(p.Messages) == 3 {
						channels.Sleep(ctx, time.Minute) // the result is there when this call ends
					}
					return routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Text("not yet"), routertest.Text("both done"))(ctx, p)
				})
				x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
				<-dead
				x.Stop()
				x.Start()
				posts := x.Ended(2)
				count := strings.Count(strings.Join(shown, "\n"), "user:Status: success")
				if count != 1 || len(shown) != 5+len(more)/5 || shown[3] != "assistant:not yet" || more != "" && strings.Count(strings.Join(shown, "\n"), "user:"+more) != 1 {
					t.Errorf("the resumed turn is shown\n%q", shown)
				}
				if outer := x.Task("outer"); outer[0].Attempt != 2 || outer[0].Status != sessions.Done || outer[0].Result != "both done" {
					t.Errorf("attempt %d, %s: %s", outer[0].Attempt, outer[0].Status, outer[0].Result)
				}
				if !strings.HasPrefix(posts[1].Text, "Status: success") || x.Called("inner") != 1 {
					t.Errorf("%d calls of the inner one; posted\n%s", x.Called("inner"), posts[1].Text)
				}
				x.Steer("outer", "and then?")
				x.Ended(3)
				if got := strings.Count(strings.Join(shown, "\n"), "user:Status: success"); got != 1 || shown[len(shown)-1] != "user:and then?" {
					t.Errorf("the turn after it is shown\n%q", shown)
				}
			})
		})
	}
}

// TestTakenUpIsInTheHistory compares what a sub-agent's later turn is shown with what the store holds.
func TestTakenUpIsInTheHistory(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		var shown []string
		x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			shown = routertest.WordsOf(p)
			return routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("both done"))(ctx, p)
		})
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		x.Ended(2)
		x.Steer("outer", "and then?")
		x.Ended(3)
		msgs := x.Transcript(x.Task("outer")[0].Key)
		i := len(msgs) - 1
		for ; i > 0 && msgs[i].Text() != "and then?"; i-- {
		}
		if want := routertest.WordsOf(agent.Prompt{Messages: msgs[:i+1]}); strings.Join(shown, "\n") != strings.Join(want, "\n") || len(want) != 10 {
			t.Errorf("it is shown\n%q, the store holds\n%q", shown, want)
		}
	})
}

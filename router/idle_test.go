package router_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/commit"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// resumed begins the result of sessions_yield in a sub-agent.
const resumed = `toolResult:{"status":"resumed"`

// TestRestEnds has a sub-agent wait for one of its own that ends, or is ended, after a minute.
//
// proves: N15, N16
func TestRestEnds(t *testing.T) {
	type world struct {
		*routertest.Tree
		inner sessions.Key
	}
	failing := func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
		channels.Sleep(ctx, time.Minute)
		return agent.Answer{}, errors.New("scripted")
	}
	skipping := func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
		channels.Sleep(ctx, time.Minute)
		return routertest.Text("ANNOUNCE_SKIP"), nil
	}
	for name, c := range map[string]struct {
		inner func(context.Context, agent.Prompt) (agent.Answer, error)
		after func(w world) // a minute later
		lost  bool          // nobody tells of it: it is found by looking
		shown string        // what the outer one is shown last
	}{
		"done":    {inner: routertest.Slowly(time.Minute), shown: "user:Status: success"},
		"failed":  {inner: failing, shown: "user:Status: error"},
		"skipped": {inner: skipping, shown: resumed},
		"stopped": {after: func(w world) { _, _ = w.Router.ToolHost.Cancel(w.T.Context(), "stop", w.inner) }, shown: resumed},
		"deleted": {after: func(w world) { _ = w.Store.Delete(w.T.Context(), w.inner) }, lost: true, shown: resumed},
		"a message comes": {after: func(w world) {
			w.Steer("outer", "hurry")
			<-time.After(time.Second)
			w.Cancel("inner") // for which it would wait at its end
		}, shown: "user:hurry"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := routertest.NewTree(t, 2)
				var ended time.Time
				x.Does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if len(p.Messages) == 3 {
						return routertest.Resting("c2"), nil
					}
					if len(p.Messages) > 3 && ended.IsZero() {
						ended = time.Now()
						if got := routertest.WordsOf(p)[len(p.Messages)-1]; !strings.HasPrefix(got, c.shown) {
							t.Errorf("it is shown %q", got)
						}
					}
					return routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Text(""), routertest.Text("both done"))(ctx, p)
				})
				if x.Does("inner", c.inner); c.inner == nil {
					x.Does("inner", routertest.Slowly(2*time.Hour))
				}
				began := time.Now()
				x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
				<-time.After(time.Minute)
				if c.after != nil {
					c.after(world{x, x.Task("inner")[0].Key})
				}
				posts := x.Ended(2)
				late := ended.Sub(began) - time.Minute
				if late < 0 || !c.lost && late > time.Second || late > commit.RecheckInterval {
					t.Errorf("it rested for %s", ended.Sub(began))
				}
				if !strings.HasPrefix(posts[1].Text, "Status: success") {
					t.Errorf("%s", posts[1].Text)
				}
			})
		})
	}
}

// proves: N16
func TestRestWithNothingToWaitFor(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Resting("c1"), routertest.Text("done")))
		began := time.Now()
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		x.Ended(2)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it rested for %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		x.Does("long", routertest.Slowly(time.Hour))
		x.Spawn(tools.SpawnRequest{Source: "s2", Task: "long"})
		if err := x.Router.Committer.Idle(ctx, tools.Caller{Session: x.Session(routertest.KeyA), Run: sessions.Run{Key: routertest.KeyA}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("resting until its time was up: %v", err)
		}
	})
}

// TestRestingHoldsNoSlot has as many sub-agents wait for one of theirs as there are slots, and the host restart on them.
//
// proves: N15, N16
func TestRestingHoldsNoSlot(t *testing.T) {
	for name, restart := range map[string]bool{"one host": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				const n = 8
				x := routertest.NewTree(t, 2, func(s *settings.Snapshot) {
					s.Agents.Defaults.Subagents.MaxConcurrent, s.Agents.Defaults.Subagents.MaxChildrenPerAgent = n, n
				})
				began := time.Now()
				for i := range n {
					outer, inner := fmt.Sprint("outer", i), fmt.Sprint("inner", i)
					x.Does(outer, routertest.Steps(routertest.Delegate("c1", inner), routertest.Resting("c2"), routertest.Text("both done")))
					x.Does(inner, routertest.Slowly(time.Minute))
					x.Spawn(tools.SpawnRequest{Source: outer, Task: outer})
				}
				<-time.After(30 * time.Second)
				if restart {
					x.Stop()
					x.Start()
				}
				posts := x.Ended(1 + n)
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it took %s", took)
				}
				for i := range n {
					if x.Called(fmt.Sprint("outer", i)) != 3 {
						t.Errorf("model calls %v", x.Counts())
					}
				}
				for _, d := range posts[1:] {
					if !strings.HasPrefix(d.Text, "Status: success") {
						t.Errorf("%s", d.Text)
					}
				}
			})
		})
	}
}

// TestRestUntilAMessageIsTakenUp has a sub-agent wait for the newest run of another one, a message that is then taken up by the
// turn at work there: such a run ends without a turn.
//
// proves: N16
func TestRestUntilAMessageIsTakenUp(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Resting("c3"), routertest.Text("all done")))
		x.Does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if len(p.Messages) == 1 {
				channels.Sleep(ctx, 40*time.Second)
				return routertest.Text("as far as I am"), nil
			}
			return routertest.Text("ANNOUNCE_SKIP"), nil
		})
		began := time.Now()
		x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(30 * time.Second)
		x.Steer("inner", "hurry")
		<-time.After(time.Second)
		x.Steer("outer", "and you")
		x.Ended(2)
		if took := time.Since(began); !around(took, 40*time.Second) || x.Called("outer") != 4 || x.Called("inner") != 2 {
			t.Errorf("it took %s, model calls %v", took, x.Counts())
		}
		if got := routertest.Kinds(x.Task("inner")); got != "child done, child done" {
			t.Errorf("the inner one: %s", got)
		}
	})
}

// TestRestAfterAReset has a message for a sub-agent's new transcript wait while its turn in the old one rests: that turn cannot take
// it up, and rests on.
func TestRestAfterAReset(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := routertest.NewTree(t, 2)
		x.Does("outer", routertest.Steps(routertest.Delegate("c1", "inner"), routertest.Resting("c2"), routertest.Text("both done")))
		x.Does("inner", routertest.Slowly(time.Minute))
		run := x.Spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(time.Second)
		if _, err := x.Store.Reset(t.Context(), run.Key); err != nil {
			t.Fatal(err)
		}
		x.Steer("outer", "begin anew")
		<-time.After(50 * time.Second)
		if got := routertest.Kinds(x.Task("outer")); got != "child running, child queued" || x.Called("outer") != 2 {
			t.Errorf("%s after %d model calls", got, x.Called("outer"))
		}
		x.Ended(3)
	})
}

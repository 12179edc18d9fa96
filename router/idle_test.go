package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
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
		*tree
		inner sessions.Key
	}
	failing := func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
		sleep(ctx, time.Minute)
		return agent.Answer{}, errors.New("scripted")
	}
	skipping := func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
		sleep(ctx, time.Minute)
		return text("ANNOUNCE_SKIP"), nil
	}
	for name, c := range map[string]struct {
		inner func(context.Context, agent.Prompt) (agent.Answer, error)
		after func(w world) // a minute later
		lost  bool          // nobody tells of it: it is found by looking
		shown string        // what the outer one is shown last
	}{
		"done":    {inner: slowly(time.Minute), shown: "user:Status: success"},
		"failed":  {inner: failing, shown: "user:Status: error"},
		"skipped": {inner: skipping, shown: resumed},
		"stopped": {after: func(w world) { _, _ = w.r.Cancel(w.t.Context(), "stop", w.inner) }, shown: resumed},
		"deleted": {after: func(w world) { _ = w.store.Delete(w.t.Context(), w.inner) }, lost: true, shown: resumed},
		"a message comes": {after: func(w world) {
			w.steer("outer", "hurry")
			<-time.After(time.Second)
			w.cancel("inner") // for which it would wait at its end
		}, shown: "user:hurry"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := newTree(t, 2)
				var ended time.Time
				x.does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if len(p.Messages) == 3 {
						return resting("c2"), nil
					}
					if len(p.Messages) > 3 && ended.IsZero() {
						ended = time.Now()
						if got := wordsOf(p)[len(p.Messages)-1]; !strings.HasPrefix(got, c.shown) {
							t.Errorf("it is shown %q", got)
						}
					}
					return steps(delegate("c1", "inner"), text(""), text("both done"))(ctx, p)
				})
				if x.does("inner", c.inner); c.inner == nil {
					x.does("inner", slowly(2*time.Hour))
				}
				began := time.Now()
				x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
				<-time.After(time.Minute)
				if c.after != nil {
					c.after(world{x, x.task("inner")[0].Key})
				}
				posts := x.ended(2)
				late := ended.Sub(began) - time.Minute
				if late < 0 || !c.lost && late > time.Second || late > lookAgainEvery {
					t.Errorf("it rested for %s", ended.Sub(began))
				}
				if !strings.HasPrefix(posts[1].Text, "Status: success") {
					t.Errorf("%s", posts[1].Text)
				}
			})
		})
	}
}

// steer sends a message to the sub-agent that has a task.
func (x *tree) steer(task, words string) sessions.Run {
	x.t.Helper()
	run, err := x.r.Steer(x.t.Context(), tools.SteerRequest{Source: "steer " + words, From: x.session(keyA), Child: x.task(task)[0].Key, Message: words})
	if err != nil {
		x.t.Fatal(err)
	}
	return run
}

// proves: N16
func TestRestWithNothingToWaitFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", steps(resting("c1"), text("done")))
		began := time.Now()
		x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		x.ended(2)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it rested for %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		x.does("long", slowly(time.Hour))
		x.spawn(tools.SpawnRequest{Source: "s2", Task: "long"})
		if err := x.r.Idle(ctx, tools.Caller{Session: x.session(keyA), Run: sessions.Run{Key: keyA}}); !errors.Is(err, context.DeadlineExceeded) {
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
			bubble(t, func(t *testing.T) {
				const n = 8
				x := newTree(t, 2, func(s *Settings) {
					s.Agents.Defaults.Subagents.MaxConcurrent, s.Agents.Defaults.Subagents.MaxChildrenPerAgent = n, n
				})
				began := time.Now()
				for i := range n {
					outer, inner := fmt.Sprint("outer", i), fmt.Sprint("inner", i)
					x.does(outer, steps(delegate("c1", inner), resting("c2"), text("both done")))
					x.does(inner, slowly(time.Minute))
					x.spawn(tools.SpawnRequest{Source: outer, Task: outer})
				}
				<-time.After(30 * time.Second)
				if restart {
					x.stop()
					x.start()
				}
				posts := x.ended(1 + n)
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it took %s", took)
				}
				for i := range n {
					if x.called(fmt.Sprint("outer", i)) != 3 {
						t.Errorf("model calls %v", x.counts())
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
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", steps(delegate("c1", "inner"), resting("c2"), resting("c3"), text("all done")))
		x.does("inner", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if len(p.Messages) == 1 {
				sleep(ctx, 40*time.Second)
				return text("as far as I am"), nil
			}
			return text("ANNOUNCE_SKIP"), nil
		})
		began := time.Now()
		x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(30 * time.Second)
		x.steer("inner", "hurry")
		<-time.After(time.Second)
		x.steer("outer", "and you")
		x.ended(2)
		if took := time.Since(began); !around(took, 40*time.Second) || x.called("outer") != 4 || x.called("inner") != 2 {
			t.Errorf("it took %s, model calls %v", took, x.counts())
		}
		if got := kinds(x.task("inner")); got != "child done, child done" {
			t.Errorf("the inner one: %s", got)
		}
	})
}

// TestRestAfterAReset has a message for a sub-agent's new transcript wait while its turn in the old one rests: that turn cannot take
// it up, and rests on.
func TestRestAfterAReset(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", steps(delegate("c1", "inner"), resting("c2"), text("both done")))
		x.does("inner", slowly(time.Minute))
		run := x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(time.Second)
		if _, err := x.store.Reset(t.Context(), run.Key); err != nil {
			t.Fatal(err)
		}
		x.steer("outer", "begin anew")
		<-time.After(50 * time.Second)
		if got := kinds(x.task("outer")); got != "child running, child queued" || x.called("outer") != 2 {
			t.Errorf("%s after %d model calls", got, x.called("outer"))
		}
		x.ended(3)
	})
}

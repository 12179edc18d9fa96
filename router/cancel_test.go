package router

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
	"parley/tools"
)

// cancel ends what the sub-agent with a task is at.
func (x *tree) cancel(task string) int {
	x.t.Helper()
	n, err := x.r.Cancel(x.t.Context(), "cancel "+task, x.task(task)[0].Key)
	if err != nil {
		x.t.Fatal(err)
	}
	return len(n)
}

// TestCanceledChildReportsNothing cancels a sub-agent at work. Its lane goes on: told something later, it does that and reports.
//
// proves: N15, N16
func TestCanceledChildReportsNothing(t *testing.T) {
	for _, mode := range []string{"direct", "requester"} {
		t.Run(mode, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := newTree(t, 1, func(s *Settings) { s.Agents.Defaults.Subagents.Announce = mode })
				x.does("long", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if len(p.Messages) == 1 {
						<-ctx.Done()
						return agent.Answer{}, ctx.Err()
					}
					return text("done after all"), nil
				})
				x.spawn(tools.SpawnRequest{Source: "s", Task: "long", Cleanup: "delete"})
				<-time.After(time.Minute)
				began := time.Now()
				if n := x.cancel("long"); n != 1 {
					t.Errorf("%d runs ended", n)
				}
				<-time.After(time.Minute)
				run := x.task("long")[0]
				if list := x.runs(); len(list) != 2 || run.Status != sessions.Stopped || run.Error == "" || run.Ended.Sub(began) > time.Second {
					t.Errorf("%s, %q after %s", kinds(list), run.Error, run.Ended.Sub(began))
				}
				if d := x.deliveries(); len(d) != 1 {
					t.Errorf("posted: %s", d[1].Text)
				}
				if !x.session(run.Key).Aborted {
					t.Error("the session does not say that its last run was stopped")
				}
				x.steer("long", "go on")
				if d := x.ended(2)[1]; d.State != sessions.Sent {
					t.Errorf("%+v", d)
				}
			})
		})
	}
}

// TestCancelReachesBelow cancels a sub-agent that waits for one of its own, and once only that one.
//
// proves: N15, N16
func TestCancelReachesBelow(t *testing.T) {
	for name, c := range map[string]struct {
		cancel       string
		ended, posts int
		outer, inner string
	}{
		"both":           {"outer", 2, 0, "child aborted", "child aborted"},
		"the lower only": {"inner", 1, 1, "child done, announce done", "child aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				x := newTree(t, 2)
				x.does("outer", steps(delegate("c1", "inner"), resting("c2"), text("one of them was stopped")))
				x.does("inner", slowly(time.Hour))
				x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
				<-time.After(time.Minute)
				if n := x.cancel(c.cancel); n != c.ended {
					t.Errorf("%d runs ended, want %d", n, c.ended)
				}
				<-time.After(2 * time.Hour)
				if outer, inner := kinds(x.task("outer")), kinds(x.task("inner")); outer != c.outer || inner != c.inner {
					t.Errorf("the outer one: %s; the inner one: %s", outer, inner)
				}
				if d := x.deliveries(); len(d) != 1+c.posts {
					t.Errorf("%d posts, want %d", len(d)-1, c.posts)
				}
			})
		})
	}
}

// TestCanceledOverARestart kills the host between the commit of a cancel and the end of what it cancels.
//
// proves: N15
func TestCanceledOverARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", steps(delegate("c1", "inner"), resting("c2"), text("done")))
		x.does("inner", slowly(time.Hour))
		x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(time.Minute)
		inner := x.task("inner")[0].Key
		if _, err := x.store.Submit(t.Context(), sessions.Effects{Stop: []sessions.Key{inner}}); err != nil { // nobody is told of it
			t.Fatal(err)
		}
		x.stop()
		x.start()
		if d := x.ended(2)[1]; !strings.HasPrefix(d.Text, "Status: success") {
			t.Errorf("%s", d.Text)
		}
		if inner := x.task("inner"); len(inner) != 1 || inner[0].Status != sessions.Stopped {
			t.Errorf("the inner one: %s", kinds(inner))
		}
	})
}

// hooked is a store that calls something before it reads a session.
type hooked struct {
	sessions.Store
	get func(sessions.Key)
}

func (h hooked) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	h.get(key)
	return h.Store.Get(ctx, key)
}

// TestCanceledAsItEnds cancels a sub-agent whose answer is there already: it reports nothing all the same.
//
// proves: N15, N16
func TestCanceledAsItEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var g *rig
		var child atomic.Pointer[sessions.Run]
		var armed atomic.Bool
		g = rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return hooked{s, func(key sessions.Key) {
				if key == keyA && armed.CompareAndSwap(true, false) {
					if n, err := g.r.Cancel(t.Context(), "cancel", child.Load().Key); len(n) != 1 || err != nil {
						t.Errorf("%d runs ended (%v)", len(n), err)
					}
				}
			}}
		})
		g.say(groupChat("a"), guest, "hello")
		g.idle(1)
		g.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			sleep(ctx, time.Minute)
			armed.Store(true)
			return text("done"), nil
		})
		run := g.spawn(tools.SpawnRequest{Source: "s", Cleanup: "delete"})
		child.Store(&run)
		<-time.After(2 * time.Minute)
		list := g.runs()
		if len(list) != 2 || list[1].Status != sessions.Stopped || len(g.deliveries()) != 1 {
			t.Errorf("%s, %d deliveries", kinds(list), len(g.deliveries()))
		}
		if msgs := g.transcript(run.Key); len(msgs) != 2 || msgs[1].Text() != "done" {
			t.Errorf("the answer is lost: %+v", msgs)
		}
	})
}

// TestResultOfAStoppedParent has a sub-agent end whose parent was stopped before, or deleted: its run is listed with the reason.
//
// proves: N15
func TestResultOfAStoppedParent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 2)
		x.does("outer", steps(delegate("c1", "inner"), resting("c2"), text("done")))
		x.does("inner", slowly(time.Minute))
		x.spawn(tools.SpawnRequest{Source: "s", Task: "outer"})
		<-time.After(30 * time.Second)
		x.cancel("outer")
		<-time.After(time.Second)
		last := func() sessions.Run {
			<-time.After(2 * time.Minute)
			list := x.task("inner")
			return list[len(list)-1]
		}
		x.steer("inner", "go on alone")
		if run := last(); run.Status != sessions.Stopped || !strings.Contains(run.Error, "was stopped") || run.Result != "echo: go on alone" || len(x.deliveries()) != 1 {
			t.Errorf("%s: %s, %d deliveries", run.Status, run.Error, len(x.deliveries()))
		}
		x.does("outer", func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.HasPrefix(lastUser(p), "go on") {
				sleep(ctx, time.Minute)
			}
			return text("done"), nil
		})
		x.does("inner", nil)
		x.steer("outer", "go on")
		<-time.After(time.Second)
		x.steer("inner", "go on with it")
		if run := last(); run.Status != sessions.Done || len(x.ended(2)) != 2 {
			t.Errorf("%s: %s", run.Status, run.Error)
		}
		if err := x.store.Delete(t.Context(), x.task("outer")[0].Key); err != nil {
			t.Fatal(err)
		}
		x.steer("inner", "go on to nowhere")
		if run := last(); run.Status != sessions.Stopped || !strings.Contains(run.Error, "does not exist") || len(x.deliveries()) != 2 {
			t.Errorf("%s: %s", run.Status, run.Error)
		}
		synctest.Wait()
	})
}

// TestStoppedWhileClaimed aborts a run between the commit of its claim and the moment that its lane knows of it.
func TestStoppedWhileClaimed(t *testing.T) {
	for id, want := range map[sessions.RunID]bool{"r1": true, "r2": false} {
		cause := make(chan error, 1)
		var l *lanes
		l = newLanes(func(ctx context.Context, key sessions.Key, _ *sessions.Run) bool {
			l.Abort([]sessions.StoppedRun{{Key: key, ID: id}}, errStopped)
			l.SetRunning(key, "r1", ofOwners)
			cause <- context.Cause(ctx)
			return false
		}, agent.Defaults{})
		l.Start(t.Context())
		l.Wake(keyA, "")
		if err := <-cause; errors.Is(err, errStopped) != want {
			t.Errorf("run r1, stopped %s: %v", id, err)
		}
		l.Stop()
	}
}

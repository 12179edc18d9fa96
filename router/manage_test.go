package router_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/inbound"
	"parley/router/routertest"
	"parley/sessions"
)

// Deleting a session stops what is running there and what waits, waits for the end of it, and leaves nothing; said again after a
// restart it does not touch the session that was made since.
func TestDeleteAtWork(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			<-ctx.Done()
			<-time.After(5 * time.Second) // it takes its time to stop
			return agent.Answer{}, ctx.Err()
		})
		first := g.Told(routertest.Me(true))
		g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
		second := g.Told(routertest.Me(true))
		began := time.Now()
		if err := g.Router.Delete(t.Context(), "delete 1", routertest.HookKey); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 5*time.Second || took > (15*time.Second) {
			t.Errorf("it took %s", took)
		}
		for _, h := range []inbound.Submitted{first, second} {
			if _, err := g.Store.GetRun(t.Context(), h.Run.ID); !errors.Is(err, sessions.ErrNotFound) {
				t.Errorf("a run is left: %v", err)
			}
		}
		if err := g.Router.Delete(t.Context(), "delete 1", routertest.HookKey); err != nil {
			t.Errorf("again: %v", err)
		}
		if err := g.Router.Delete(t.Context(), "delete 2", routertest.HookKey); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("of nothing: %v", err)
		}
		g.Model.Set(nil)
		g.Answered(g.Told(routertest.Me(true)))
		g.Stop()
		g.Start()
		if err := g.Router.Delete(t.Context(), "delete 1", routertest.HookKey); err != nil {
			t.Error(err)
		}
		if len(g.Transcript(routertest.HookKey)) != 2 {
			t.Error("the new session is gone, or not whole")
		}
	})
}

// What does not end in time is not deleted under its hands; the main session never is.
func TestDeleteRefused(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		free := make(chan struct{})
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			<-free // deaf
			return routertest.Text("late"), nil
		})
		g.Told(routertest.Me(true))
		g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
		began := time.Now()
		err := g.Router.Delete(t.Context(), "", routertest.HookKey)
		if !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), "try again later") || time.Since(began) != (15*time.Second) {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Router.Delete(ctx, "", routertest.HookKey); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		close(free)
		synctest.Wait()
		if err := g.Router.Delete(t.Context(), "", routertest.HookKey); err != nil {
			t.Error(err)
		}
		if err := g.Router.Delete(t.Context(), "", "agent:main:main"); !errors.Is(err, sessions.ErrBadRequest) {
			t.Errorf("%v", err)
		}
	})
}

// Each change of a session happens once for its source, also after a restart.
func TestManageOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Answered(g.Told(routertest.Me(true)))
		was := g.Session(routertest.HookKey)
		change := func() {
			t.Helper()
			if _, err := g.Router.PatchOnce(t.Context(), "p", routertest.HookKey, sessions.Patch{SendPolicy: new(policy.Deny), Thinking: new("low")}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := g.Router.Reset(t.Context(), "r", routertest.HookKey); err != nil {
				t.Fatal(err)
			}
			if s, err := g.Router.Archive(t.Context(), "a", routertest.HookKey); err != nil || s.Key != routertest.HookKey {
				t.Fatalf("%+v, %v", s, err)
			}
		}
		change()
		s := g.Session(routertest.HookKey)
		if s.ID == was.ID || !s.Archived || s.Settings.SendPolicy != policy.Deny || s.Settings.Thinking != "low" || s.Turns != 0 {
			t.Errorf("%+v", s)
		}
		if _, err := g.Router.Patch(t.Context(), routertest.HookKey, sessions.Patch{SendPolicy: new(policy.Inherit)}); err != nil {
			t.Fatal(err)
		}
		g.Answered(g.Told(routertest.Me(true)))
		g.Stop()
		g.Start()
		change()
		if now := g.Session(routertest.HookKey); now.ID != s.ID || now.Archived || now.Settings.SendPolicy != policy.Inherit || now.Turns != 1 {
			t.Errorf("%+v", now)
		}
	})
}

// A reset ends what the session is at.
func TestResetAtWork(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Blocked()
		h := g.Told(routertest.Me(true))
		g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
		if _, _, err := g.Router.Reset(t.Context(), "", routertest.HookKey); err != nil {
			t.Fatal(err)
		}
		if run := g.Answered(h); run.Status != sessions.Stopped || len(g.Transcript(routertest.HookKey)) != 0 {
			t.Errorf("%s, %d messages", run.Status, len(g.Transcript(routertest.HookKey)))
		}
	})
}

// One run is stopped, queued or at work; the others of its session are answered. A stop of the session stops all.
func TestCancelRun(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		release := g.Blocked()
		var said []inbound.Submitted
		for range 4 {
			said = append(said, g.Told(routertest.Me(true)))
			g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
		}
		for _, i := range []int{2, 0} {
			for n := range 2 {
				ids, _, err := g.Router.CancelRun(t.Context(), "cancel "+string(said[i].Run.ID), said[i].Run.ID)
				if err != nil || n == 0 && (len(ids) != 1 || ids[0] != said[i].Run.ID) || n == 1 && len(ids) != 0 {
					t.Errorf("%d, %d: %v, %v", i, n, ids, err)
				}
			}
		}
		g.Until("the next one is at work", func() bool { return g.Model.Count() > 1 })
		ids, _, err := g.Router.StopSession(t.Context(), "", routertest.HookKey)
		if err != nil || len(ids) != 2 {
			t.Errorf("%v, %v", ids, err)
		}
		for i, run := range g.Idle(4) {
			if run.Status != sessions.Stopped {
				t.Errorf("%d: %s", i, run.Status)
			}
		}
		release()
		if run := g.Answered(g.Told(routertest.Me(true))); run.Status != sessions.Done {
			t.Errorf("%s %s", run.Status, run.Error)
		}
		if ids, n, err := g.Router.CancelRun(t.Context(), "", said[1].Run.ID); err != nil || len(ids)+n != 0 {
			t.Errorf("%v, %d, %v", ids, n, err)
		}
		if _, _, err := g.Router.CancelRun(t.Context(), "", "nobody"); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

// Who waits for a run that another one took up has that one's answer.
func TestOutcomeOfABatch(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		release := g.Blocked()
		g.Told(routertest.Me(true))
		g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
		second, third := g.Told(routertest.Me(true)), g.Told(routertest.Me(true))
		release()
		if run := g.Answered(third); run.ID != second.Run.ID || run.Result != "echo: hello" {
			t.Errorf("%+v", run)
		}
		if _, err := g.Router.Outcome(t.Context(), "nobody"); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

// What comes while a session is being deleted is stopped as well, also when the deletion is asked for again with its source.
func TestDeleteWhileMoreComes(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		slow := 5 * time.Second
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			<-ctx.Done()
			<-time.After(slow) // it takes its time to stop
			return agent.Answer{}, ctx.Err()
		})
		begin := func() {
			t.Helper()
			n := g.Model.Count()
			g.Told(routertest.Me(true))
			g.Until("it is at work", func() bool { return g.Model.Count() > n })
		}
		begin()
		done := make(chan error)
		go func() { done <- g.Router.Delete(t.Context(), "delete 1", routertest.HookKey) }()
		<-time.After(time.Second)
		g.Told(routertest.Me(true))
		if err := <-done; err != nil {
			t.Error(err)
		}

		slow = (15 * time.Second) + time.Second
		begin()
		if err := g.Router.Delete(t.Context(), "delete 2", routertest.HookKey); !errors.Is(err, sessions.ErrConflict) {
			t.Error(err)
		}
		<-time.After(2 * time.Second)
		slow = 5 * time.Second
		begin()
		if err := g.Router.Delete(t.Context(), "delete 2", routertest.HookKey); err != nil {
			t.Error("again:", err)
		}
	})
}

// Summing up is a run like any other: its result says what was done, once, and goes into no chat.
func TestCompactOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hi")
		g.Shown(1)
		g.Idle(1)
		for range 2 {
			run, err := g.Router.Compact(t.Context(), "c", "agent:main:main", "the plants")
			if err != nil {
				t.Fatal(err)
			}
			if run = g.Answered(inbound.Submitted{Run: run}); run.Kind != sessions.CompactRun || !strings.Contains(run.Result, "nothing to compact yet") {
				t.Errorf("%+v", run)
			}
		}
		if n := len(g.Runs()); n != 2 || len(g.Deliveries()) != 1 {
			t.Errorf("%d runs, %d deliveries", n, len(g.Deliveries()))
		}
		if _, err := g.Router.Compact(t.Context(), "", routertest.HookKey, ""); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

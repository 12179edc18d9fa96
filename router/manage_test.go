package router

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
	"parley/sessions"
)

// Deleting a session stops what is at work there and what waits, waits for the end of it, and leaves nothing; said again after a
// restart it does not touch the session that was made since.
func TestDeleteAtWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			<-ctx.Done()
			<-time.After(5 * time.Second) // it takes its time to stop
			return agent.Answer{}, ctx.Err()
		})
		first := g.told(me(true))
		g.until("it is at work", func() bool { return g.model.count() > 0 })
		second := g.told(me(true))
		began := time.Now()
		if err := g.r.Delete(t.Context(), "delete 1", hookKey); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 5*time.Second || took > deleteWithin {
			t.Errorf("it took %s", took)
		}
		for _, h := range []Heard{first, second} {
			if _, err := g.store.GetRun(t.Context(), h.Run.ID); !errors.Is(err, sessions.ErrNotFound) {
				t.Errorf("a run is left: %v", err)
			}
		}
		if err := g.r.Delete(t.Context(), "delete 1", hookKey); err != nil {
			t.Errorf("again: %v", err)
		}
		if err := g.r.Delete(t.Context(), "delete 2", hookKey); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("of nothing: %v", err)
		}
		g.model.set(nil)
		g.answered(g.told(me(true)))
		g.stop()
		g.start()
		if err := g.r.Delete(t.Context(), "delete 1", hookKey); err != nil {
			t.Error(err)
		}
		if len(g.transcript(hookKey)) != 2 {
			t.Error("the new session is gone, or not whole")
		}
	})
}

// What does not end in time is not deleted under its hands; the main session never is.
func TestDeleteRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		free := make(chan struct{})
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			<-free // deaf
			return text("late"), nil
		})
		g.told(me(true))
		g.until("it is at work", func() bool { return g.model.count() > 0 })
		began := time.Now()
		err := g.r.Delete(t.Context(), "", hookKey)
		if !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), "try again later") || time.Since(began) != deleteWithin {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.r.Delete(ctx, "", hookKey); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		close(free)
		synctest.Wait()
		if err := g.r.Delete(t.Context(), "", hookKey); err != nil {
			t.Error(err)
		}
		if err := g.r.Delete(t.Context(), "", "agent:main:main"); !errors.Is(err, ErrWords) {
			t.Errorf("%v", err)
		}
	})
}

// Each change of a session happens once for its source, also after a restart.
func TestManageOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.answered(g.told(me(true)))
		was := g.session(hookKey)
		change := func() {
			t.Helper()
			if _, err := g.r.PatchOnce(t.Context(), "p", hookKey, sessions.Patch{SendPolicy: new(policy.Deny), Thinking: new("low")}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := g.r.Reset(t.Context(), "r", hookKey); err != nil {
				t.Fatal(err)
			}
			if s, err := g.r.Archive(t.Context(), "a", hookKey); err != nil || s.Key != hookKey {
				t.Fatalf("%+v, %v", s, err)
			}
		}
		change()
		s := g.session(hookKey)
		if s.ID == was.ID || !s.Archived || s.Settings.SendPolicy != policy.Deny || s.Settings.Thinking != "low" || s.Turns != 0 {
			t.Errorf("%+v", s)
		}
		if _, err := g.r.Patch(t.Context(), hookKey, sessions.Patch{SendPolicy: new(policy.Inherit)}); err != nil {
			t.Fatal(err)
		}
		g.answered(g.told(me(true)))
		g.stop()
		g.start()
		change()
		if now := g.session(hookKey); now.ID != s.ID || now.Archived || now.Settings.SendPolicy != policy.Inherit || now.Turns != 1 {
			t.Errorf("%+v", now)
		}
	})
}

// A reset ends what the session is at.
func TestResetAtWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.blocked()
		h := g.told(me(true))
		g.until("it is at work", func() bool { return g.model.count() > 0 })
		if _, _, err := g.r.Reset(t.Context(), "", hookKey); err != nil {
			t.Fatal(err)
		}
		if run := g.answered(h); run.Status != sessions.Stopped || len(g.transcript(hookKey)) != 0 {
			t.Errorf("%s, %d messages", run.Status, len(g.transcript(hookKey)))
		}
	})
}

// One run is stopped, queued or at work; the others of its session are answered. A stop of the session stops all.
func TestCancelRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		release := g.blocked()
		var said []Heard
		for range 4 {
			said = append(said, g.told(me(true)))
			g.until("it is at work", func() bool { return g.model.count() > 0 })
		}
		for _, i := range []int{2, 0} {
			for n := range 2 {
				ids, err := g.r.CancelRun(t.Context(), "cancel "+string(said[i].Run.ID), said[i].Run.ID)
				if err != nil || n == 0 && (len(ids) != 1 || ids[0] != said[i].Run.ID) || n == 1 && len(ids) != 0 {
					t.Errorf("%d, %d: %v, %v", i, n, ids, err)
				}
			}
		}
		g.until("the next one is at work", func() bool { return g.model.count() > 1 })
		ids, err := g.r.StopSession(t.Context(), "", hookKey)
		if err != nil || len(ids) != 2 {
			t.Errorf("%v, %v", ids, err)
		}
		for i, run := range g.idle(4) {
			if run.Status != sessions.Stopped {
				t.Errorf("%d: %s", i, run.Status)
			}
		}
		release()
		if run := g.answered(g.told(me(true))); run.Status != sessions.Done {
			t.Errorf("%s %s", run.Status, run.Error)
		}
		if ids, err := g.r.CancelRun(t.Context(), "", said[1].Run.ID); err != nil || len(ids) != 0 {
			t.Errorf("%v, %v", ids, err)
		}
		if _, err := g.r.CancelRun(t.Context(), "", "nobody"); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

// Who waits for a run that another one took up has that one's answer.
func TestOutcomeOfABatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		release := g.blocked()
		g.told(me(true))
		g.until("it is at work", func() bool { return g.model.count() > 0 })
		second, third := g.told(me(true)), g.told(me(true))
		release()
		if run := g.answered(third); run.ID != second.Run.ID || run.Result != "echo: hello" {
			t.Errorf("%+v", run)
		}
		if _, err := g.r.Outcome(t.Context(), "nobody"); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

// What comes while a session is being deleted is stopped as well, also when the deletion is asked for again with its source.
func TestDeleteWhileMoreComes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		slow := 5 * time.Second
		g.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			<-ctx.Done()
			<-time.After(slow) // it takes its time to stop
			return agent.Answer{}, ctx.Err()
		})
		begin := func() {
			t.Helper()
			n := g.model.count()
			g.told(me(true))
			g.until("it is at work", func() bool { return g.model.count() > n })
		}
		begin()
		done := make(chan error)
		go func() { done <- g.r.Delete(t.Context(), "delete 1", hookKey) }()
		<-time.After(time.Second)
		g.told(me(true))
		if err := <-done; err != nil {
			t.Error(err)
		}

		slow = deleteWithin + time.Second
		begin()
		if err := g.r.Delete(t.Context(), "delete 2", hookKey); !errors.Is(err, sessions.ErrConflict) {
			t.Error(err)
		}
		<-time.After(2 * time.Second)
		slow = 5 * time.Second
		begin()
		if err := g.r.Delete(t.Context(), "delete 2", hookKey); err != nil {
			t.Error("again:", err)
		}
	})
}

// Summing up is a run like any other: its result says what was done, once, and goes into no chat.
func TestCompactOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.say(direct(owner), owner, "hi")
		g.shown(1)
		g.idle(1)
		for range 2 {
			run, err := g.r.Compact(t.Context(), "c", "agent:main:main", "the plants")
			if err != nil {
				t.Fatal(err)
			}
			if run = g.answered(Heard{Run: run}); run.Kind != sessions.CompactRun || !strings.Contains(run.Result, "nothing to compact yet") {
				t.Errorf("%+v", run)
			}
		}
		if n := len(g.runs()); n != 2 || len(g.deliveries()) != 1 {
			t.Errorf("%d runs, %d deliveries", n, len(g.deliveries()))
		}
		if _, err := g.r.Compact(t.Context(), "", hookKey, ""); !errors.Is(err, sessions.ErrNotFound) {
			t.Error(err)
		}
	})
}

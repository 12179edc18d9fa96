package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/sessions"
)

// job has the agent of a chat make a job by its tool.
func job(g *routertest.Rig, args map[string]any) {
	g.T.Helper()
	args["action"] = "add"
	g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		if routertest.Last(p).Role == sessions.ToolResult {
			return routertest.Text("made"), nil
		}
		return routertest.Call("c1", "cron", args), nil
	})
	g.Say(routertest.Group("a"), routertest.Owner, "remind us")
	g.Shown(1)
	g.Idle(1)
	g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		return routertest.Text("at " + time.Now().UTC().Format("15:04") + ": " + routertest.LastUser(p)), nil
	})
}

// TestJob: each time of a job is one turn in the job's own session, and one message in the chat that it was made in.
func TestJob(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		began := time.Now()
		job(g, map[string]any{"message": "water the plants", "every": "1h"})
		<-time.After(3*time.Hour + time.Minute)
		calls := g.Shown(4)
		for i, c := range calls[1:] {
			want := began.Add(time.Duration(i+1) * time.Hour)
			if !strings.Contains(c.Out.Text, "water the plants") || c.Out.To != routertest.Group("a") || c.At.Sub(want) > time.Minute || c.At.Before(want.Truncate(time.Minute)) {
				t.Errorf("%d: %q to %s at %s, want %s", i, c.Out.Text, c.Out.To, c.At, want)
			}
		}
		g.Idle(7) // the first turn, and for each time a turn and a post
		for _, r := range g.Runs() {
			if r.Kind == sessions.JobRun && (r.Key.Kind() != sessions.KindCron || r.Status != sessions.Done || r.Input.Provenance.Tool != "cron" || !r.Chain.Owner) {
				t.Errorf("%+v", r)
			}
		}
		s, err := g.Store.Get(t.Context(), g.Runs()[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		msgs, err := g.Store.Tail(t.Context(), s.ID, sessions.TailQuery{})
		if err != nil || len(msgs) < 6 || !strings.Contains(msgs[len(msgs)-1].Text(), "water the plants") || len(msgs[len(msgs)-1].Deliveries()) != 1 {
			t.Errorf("the chat's transcript: %+v, %v", msgs, err)
		}
	})
}

// TestJobOverARestart: what was missed while the host was down is made up for once; what is too late is left out.
func TestJobOverARestart(t *testing.T) {
	for name, x := range map[string]struct {
		down  time.Duration
		shown int
	}{"a while": {3 * time.Hour, 2}, "too long": {6*time.Hour + 65*time.Minute, 1}} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				// Due once at 1 h. Down for longer than that.
				job(g, map[string]any{"message": "once", "in": "1h"})
				g.Stop()
				<-time.After(x.down)
				g.Start()
				<-time.After(time.Minute)
				if calls := g.Shown(x.shown); len(calls) != x.shown {
					t.Errorf("%d messages: %v", len(calls), calls)
				}
				if jobs, err := g.Store.ListJobs(t.Context(), ""); err != nil || len(jobs) != 0 {
					t.Errorf("%v, %v", jobs, err)
				}
			})
		})
	}
}

// TestJobOncePerTime: the process is killed softly again and again around the time, and it counts once.
func TestJobOncePerTime(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		job(g, map[string]any{"message": "once an hour", "every": "1h"})
		<-time.After(time.Hour - 3*time.Second)
		for range 8 {
			g.Stop()
			<-time.After(time.Second)
			g.Start()
		}
		<-time.After(time.Minute)
		n := 0
		for _, r := range g.Runs() {
			if r.Kind == sessions.JobRun {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d turns", n)
		}
		if calls := g.Shown(2); len(calls) != 2 {
			t.Errorf("%d messages", len(calls))
		}
	})
}

// TestJobUnderThePolicy: what a job says is withheld where the session that made it may not send; NO_REPLY posts nothing; a turn that
// fails is told.
//
// proves: P4
func TestJobUnderThePolicy(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		job(g, map[string]any{"name": "Plants", "message": "water the plants", "every": "1h"})
		key := g.Runs()[0].Key
		deny, inherit := policy.Deny, policy.Inherit
		if _, err := g.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour + time.Minute)
		ds := g.Deliveries()
		if d := ds[len(ds)-1]; d.State != sessions.Withheld || d.Session != key || !strings.Contains(d.Text, "water") {
			t.Errorf("denied: %+v", d)
		}
		if _, err := g.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: &inherit}); err != nil {
			t.Fatal(err)
		}
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return routertest.Text("NO_REPLY"), nil })
		<-time.After(time.Hour)
		if n := len(g.Deliveries()); n != len(ds) {
			t.Errorf("silence makes %d deliveries", n-len(ds))
		}
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			return agent.Answer{}, &agent.ModelError{Class: agent.BadKey, Err: context.Canceled}
		})
		<-time.After(time.Hour)
		if calls := g.Shown(2); !strings.HasPrefix(calls[1].Out.Text, "⏰ Plants: ") {
			t.Errorf("%q", calls[1].Out.Text)
		}
	})
}

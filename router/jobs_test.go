package router

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// job has the agent of a chat make a job by its tool.
func (g *rig) job(args map[string]any) {
	g.t.Helper()
	args["action"] = "add"
	g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		if last(p).Role == sessions.ToolResult {
			return text("made"), nil
		}
		return call("c1", "cron", args), nil
	})
	g.say(groupChat("a"), owner, "remind us")
	g.shown(1)
	g.idle(1)
	g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		return text("at " + time.Now().UTC().Format("15:04") + ": " + lastUser(p)), nil
	})
}

// TestJob: each time of a job is one turn in the job's own session, and one message in the chat that it was made in.
func TestJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		began := time.Now()
		g.job(map[string]any{"message": "water the plants", "every": "1h"})
		<-time.After(3*time.Hour + time.Minute)
		calls := g.shown(4)
		for i, c := range calls[1:] {
			want := began.Add(time.Duration(i+1) * time.Hour)
			if !strings.Contains(c.Out.Text, "water the plants") || c.Out.To != groupChat("a") || c.At.Sub(want) > time.Minute || c.At.Before(want.Truncate(time.Minute)) {
				t.Errorf("%d: %q to %s at %s, want %s", i, c.Out.Text, c.Out.To, c.At, want)
			}
		}
		g.idle(7) // the first turn, and for each time a turn and a post
		for _, r := range g.runs() {
			if r.Kind == sessions.JobRun && (r.Key.Kind() != sessions.KindCron || r.Status != sessions.Done || r.Input.Provenance.Tool != "cron" || !r.Chain.Owner) {
				t.Errorf("%+v", r)
			}
		}
		s, err := g.store.Get(t.Context(), g.runs()[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		msgs, err := g.store.Tail(t.Context(), s.ID, sessions.TailQuery{})
		if err != nil || len(msgs) < 6 || !strings.Contains(msgs[len(msgs)-1].Text(), "water the plants") || len(msgs[len(msgs)-1].Deliveries) != 1 {
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				// Due once at 1 h. Down for longer than that.
				g.job(map[string]any{"message": "once", "in": "1h"})
				g.stop()
				<-time.After(x.down)
				g.start()
				<-time.After(time.Minute)
				if calls := g.shown(x.shown); len(calls) != x.shown {
					t.Errorf("%d messages: %v", len(calls), calls)
				}
				if jobs, err := g.store.ListJobs(t.Context(), ""); err != nil || len(jobs) != 0 {
					t.Errorf("%v, %v", jobs, err)
				}
			})
		})
	}
}

// TestJobOncePerTime: the process is killed softly again and again around the time, and it counts once.
func TestJobOncePerTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.job(map[string]any{"message": "once an hour", "every": "1h"})
		<-time.After(time.Hour - 3*time.Second)
		for range 8 {
			g.stop()
			<-time.After(time.Second)
			g.start()
		}
		<-time.After(time.Minute)
		n := 0
		for _, r := range g.runs() {
			if r.Kind == sessions.JobRun {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d turns", n)
		}
		if calls := g.shown(2); len(calls) != 2 {
			t.Errorf("%d messages", len(calls))
		}
	})
}

// TestJobUnderThePolicy: what a job says is withheld where the session that made it may not send; NO_REPLY posts nothing; a turn that
// fails is told.
//
// proves: P4
func TestJobUnderThePolicy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.job(map[string]any{"name": "Plants", "message": "water the plants", "every": "1h"})
		key := g.runs()[0].Key
		deny, inherit := policy.Deny, policy.Inherit
		if _, err := g.r.Patch(t.Context(), key, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour + time.Minute)
		ds := g.deliveries()
		if d := ds[len(ds)-1]; d.State != sessions.Withheld || d.Session != key || !strings.Contains(d.Text, "water") {
			t.Errorf("denied: %+v", d)
		}
		if _, err := g.r.Patch(t.Context(), key, sessions.Patch{SendPolicy: &inherit}); err != nil {
			t.Fatal(err)
		}
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) { return text("NO_REPLY"), nil })
		<-time.After(time.Hour)
		if n := len(g.deliveries()); n != len(ds) {
			t.Errorf("silence makes %d deliveries", n-len(ds))
		}
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			return agent.Answer{}, &agent.ModelError{Class: agent.BadKey, Err: context.Canceled}
		})
		<-time.After(time.Hour)
		if calls := g.shown(2); !strings.HasPrefix(calls[1].Out.Text, "⏰ Plants: ") {
			t.Errorf("%q", calls[1].Out.Text)
		}
	})
}

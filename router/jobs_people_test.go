package router_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/cron"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// spokenIn is a rig in whose group a somebody has written.
func spokenIn(t *testing.T, tests ...func(*settings.Snapshot)) *routertest.Rig {
	t.Helper()
	g := routertest.New(t, channeltest.Options{}, tests...)
	g.Say(routertest.Group("a"), routertest.Guest, "hello")
	g.Shown(1)
	g.Idle(1)
	return g
}

// TestJobOfAPerson: what it says goes where the person said, is in the transcript of that chat's session, and leaves under its policy.
//
// proves: P4
func TestJobOfAPerson(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := spokenIn(t)
		key := g.Runs()[0].Key
		to, err := g.Router.Scheduler.ChatOf(t.Context(), "main", routertest.Group("a").String())
		if err != nil {
			t.Fatal(err)
		}
		j := g.Make(sessions.Job{Name: "Plants", Message: "water them", Every: time.Hour, To: to, Owner: true, Thinking: "high", Timeout: time.Minute})
		<-time.After(time.Hour + time.Minute)
		calls := g.Shown(2)
		if calls[1].Out.To != routertest.Group("a") || calls[1].Out.Text != "echo: water them" {
			t.Errorf("%+v", calls[1].Out)
		}
		if p := g.Model.Asked[len(g.Model.Asked)-1]; p.Thinking != "high" || !strings.Contains(p.System, "posted into the chat there") {
			t.Errorf("thinking %q, %s", p.Thinking, p.System)
		}
		ds := g.Deliveries()
		if d := ds[len(ds)-1]; d.Session != key || d.Message == "" {
			t.Errorf("%+v", d)
		}
		s, err := g.Store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if msgs, err := g.Store.Tail(t.Context(), s.ID, sessions.TailQuery{}); err != nil || msgs[len(msgs)-1].Text() != "echo: water them" || len(msgs[len(msgs)-1].Deliveries()) != 1 {
			t.Errorf("%+v, %v", msgs, err)
		}
		deny := policy.Deny
		if _, err := g.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		ds = g.Deliveries()
		if d := ds[len(ds)-1]; d.State != sessions.Withheld || d.Session != key || len(ds) != 3 {
			t.Errorf("denied: %+v", d)
		}
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
			return agent.Answer{}, &agent.ModelError{Class: agent.BadKey, Err: context.Canceled}
		})
		<-time.After(time.Hour)
		ds = g.Deliveries()
		if d := ds[len(ds)-1]; !strings.HasPrefix(d.Text, "⏰ Plants: ") || d.State != sessions.Withheld || d.Session != key {
			t.Errorf("failed: %+v", d)
		}
		if list := g.History(j.ID); len(list) != 3 {
			t.Errorf("%+v", list)
		}
	})
}

// TestJobForNobody: without an address the answer stays in the job's own session.
func TestJobForNobody(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := spokenIn(t)
		j := g.Make(sessions.Job{Every: time.Hour})
		<-time.After(2*time.Hour + time.Minute)
		if ds := g.Deliveries(); len(ds) != 1 {
			t.Errorf("%+v", ds)
		}
		s, err := g.Store.Get(t.Context(), cron.JobKey(j))
		if err != nil {
			t.Fatal(err)
		}
		if msgs, err := g.Store.Tail(t.Context(), s.ID, sessions.TailQuery{}); err != nil || len(msgs) != 4 || msgs[3].Text() != "echo: look" {
			t.Errorf("%+v, %v", msgs, err)
		}
		if p := g.Model.Asked[len(g.Model.Asked)-1]; !strings.Contains(p.System, "Nobody reads the answer") {
			t.Errorf("%s", p.System)
		}
	})
}

// TestRunJob: a turn that a person asks for leaves the next time alone, and is begun once for a source; while one is running there is no
// further one.
func TestRunJob(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := spokenIn(t)
		at := time.Now().Add(time.Hour)
		j := g.Make(sessions.Job{At: at, Off: true})
		if !j.Next.IsZero() {
			t.Errorf("%+v", j)
		}
		first, err := g.Router.Scheduler.RunJob(t.Context(), "api:k", j.ID)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // at work, and over
			if again, err := g.Router.Scheduler.RunJob(t.Context(), "api:k", j.ID); err != nil || again.ID != first.ID {
				t.Errorf("%+v, %v", again, err)
			}
			synctest.Wait()
		}
		if j, err = g.Router.Scheduler.ChangeJob(t.Context(), "", j.ID, func(j *sessions.Job) error { j.Off = false; return nil }); err != nil || !j.Next.Equal(at) {
			t.Errorf("%+v, %v", j, err)
		}
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Minute)
			return routertest.Text("done"), ctx.Err()
		})
		slow, err := g.Router.Scheduler.RunJob(t.Context(), "", j.ID)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := g.Router.Scheduler.RunJob(t.Context(), "", j.ID); !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), "has not ended: run "+string(slow.ID)+" is running") {
			t.Errorf("while one is at work: %v", err)
		}
		<-time.After(2 * time.Hour)
		forced := 0
		for _, o := range g.History(j.ID) {
			if o.Forced {
				forced++
			}
		}
		if n := len(g.Begun(j.ID)); n != 3 || forced != 2 {
			t.Errorf("%d times, %d of them forced", n, forced)
		}
		if _, err := g.Router.Scheduler.RunJob(t.Context(), "", j.ID); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("one that is over: %v", err)
		}
		if err := g.Router.Scheduler.RemoveJob(t.Context(), "", j.ID); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("one that is over: %v", err)
		}
	})
}

// TestChangeJob: a job that is off does not begin; a change of its schedule counts from now, and what has begun does not begin again when
// the clock was set back meanwhile.
func TestChangeJob(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, c := clocked(t, "2026-06-01T09:59:30Z")
		j := g.Make(sessions.Job{Cron: "0 * * * *", Zone: "UTC"})
		change := func(f func(*sessions.Job)) sessions.Job {
			t.Helper()
			j, err := g.Router.Scheduler.ChangeJob(t.Context(), "", j.ID, func(j *sessions.Job) error { f(j); return nil })
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		<-time.After(time.Minute)
		c.turn(-5 * time.Minute)
		if j := change(func(j *sessions.Job) { j.Cron = "0,30 * * * *" }); j.Next.Format("15:04") != "10:30" {
			t.Errorf("%+v", j)
		}
		// Whatever somebody writes into the row: the time that has begun is known.
		if _, err := g.Store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: j.ID, Agent: "main", Cron: "0,30 * * * *", Zone: "UTC", Message: "again", Next: j.Next, Created: j.Created}}}); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Minute)
		g.Same(g.Begun(j.ID), "06-01T10:00")
		if j := change(func(j *sessions.Job) { j.Off = true }); !j.Off || !j.Next.IsZero() {
			t.Errorf("%+v", j)
		}
		<-time.After(2 * time.Hour)
		g.Same(g.Begun(j.ID), "06-01T10:00")
		if j := change(func(j *sessions.Job) { j.Off, j.Message = false, "other" }); j.Next.Format("15:04") != "12:30" || j.Message != "other" {
			t.Errorf("%+v", j)
		}
		<-time.After(30 * time.Minute)
		g.Same(g.Begun(j.ID), "06-01T10:00 06-01T12:30")
		if err := g.Router.Scheduler.RemoveJob(t.Context(), "", j.ID); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		g.Same(g.Begun(j.ID), "06-01T10:00 06-01T12:30")
	})
}

// TestJobThatCannotGoOn: a zone that the system does not know any more switches the job off, an agent that is not configured any more
// leaves its times out; both are in the history.
func TestJobThatCannotGoOn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.List = []agent.Entry{{ID: "main"}, {ID: "ops"}} })
		ops := g.Make(sessions.Job{Agent: "ops", Every: time.Hour})
		zone := g.Make(sessions.Job{Cron: "0 * * * *", Zone: "UTC"})
		zone.Zone = "Mars/Base"
		if _, err := g.Store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.PutJob(zone)}}); err != nil {
			t.Fatal(err)
		}
		set := *g.Settings
		set.Agents.List = []agent.Entry{{ID: "main"}}
		if err := g.Router.Apply(t.Context(), &set); err != nil {
			t.Fatal(err)
		}
		<-time.After(2*time.Hour + time.Minute)
		if list := g.History(ops.ID); len(list) != 2 || !strings.Contains(list[0].Skipped, `agent "ops" no longer exists`) {
			t.Errorf("%+v", list)
		}
		if list := g.History(zone.ID); len(list) != 1 || !strings.Contains(list[0].Skipped, "switched off: unknown time zone \"Mars/Base\"") {
			t.Errorf("%+v", list)
		}
		j, err := g.Store.GetJob(t.Context(), zone.ID)
		if err != nil || !j.Off || !j.Next.IsZero() {
			t.Errorf("%+v, %v", j, err)
		}
		if _, err := g.Router.Scheduler.ChangeJob(t.Context(), "", zone.ID, func(j *sessions.Job) error { j.Off = false; return nil }); !errors.Is(err, sessions.ErrBadRequest) || !strings.Contains(err.Error(), "Mars/Base") {
			t.Errorf("%v", err)
		}
		if _, err := g.Router.Scheduler.ChangeJob(t.Context(), "", zone.ID, func(j *sessions.Job) error { j.Off, j.Zone = false, "UTC"; return nil }); err != nil {
			t.Error(err)
		}
		<-time.After(time.Hour)
		if list := g.History(zone.ID); len(list) != 2 || list[1].Run == "" {
			t.Errorf("%+v", list)
		}
	})
}

// TestWrongJobs: what a person asks for that cannot be is refused in words that say what to do.
func TestWrongJobs(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := spokenIn(t)
		hour := func(j sessions.Job) sessions.Job { j.Every = time.Hour; return j }
		for want, j := range map[string]sessions.Job{
			"message is required":  hour(sessions.Job{Message: " "}),
			"bytes":                hour(sessions.Job{Message: strings.Repeat("x", cron.MaxJobText+1)}),
			"80 characters":        hour(sessions.Job{Message: "x", Name: strings.Repeat("x", 81)}),
			`no agent "ops"`:       hour(sessions.Job{Message: "x", Agent: "ops"}),
			"model: unknown model": hour(sessions.Job{Message: "x", Model: "other/m"}),
			"is in the past":       {Message: "x", At: time.Now().Add(-time.Minute)},
			"exactly one":          {Message: "x"},
			`time zone "Mars"`:     {Message: "x", Cron: "0 9 * * *", Zone: "Mars"},
			"the minimum is 1m0s":  {Message: "x", Every: time.Second},
		} {
			if j, err := g.Router.Scheduler.MakeJob(t.Context(), "", j, ""); !errors.Is(err, sessions.ErrBadRequest) || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", j, err, want)
			}
		}
		for want, to := range map[string]string{"has never written": routertest.Group("b").String(), "not an address": "somewhere", "no last chat": cron.LastChat} {
			if _, err := g.Router.Scheduler.ChatOf(t.Context(), "main", to); !errors.Is(err, sessions.ErrBadRequest) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", to, err)
			}
		}
		if to, err := g.Router.Scheduler.ChatOf(t.Context(), "main", ""); err != nil || !to.IsZero() {
			t.Error(to, err)
		}
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		g.Shown(2)
		if to, err := g.Router.Scheduler.ChatOf(t.Context(), "main", cron.LastChat); err != nil || to != routertest.Direct(routertest.Owner) {
			t.Error(to, err)
		}
		if jobs, err := g.Store.ListJobs(t.Context(), ""); err != nil || len(jobs) > 0 {
			t.Error(jobs, err)
		}
	})
}

// TestAgentsSeeTheirJobs: the tool of agents neither shows nor removes what people made; a job that the turn of such a one makes reports
// to the same chat.
func TestAgentsSeeTheirJobs(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := spokenIn(t)
		j := g.Make(sessions.Job{Message: "make one", At: time.Now().Add(time.Hour), To: routertest.Group("a")})
		seen := make(chan string, 10)
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch l := routertest.Last(p); {
			case l.Role == sessions.ToolResult:
				seen <- l.Text()
				return routertest.Text("NO_REPLY"), nil
			case routertest.LastUser(p) == "again":
				return routertest.Text("said again"), nil
			case routertest.LastUser(p) == "make one":
				return routertest.Call("c1", "cron", map[string]any{"action": "add", "in": "1h", "message": "again"}), nil
			}
			return routertest.Call("c2", "cron", map[string]any{"action": "list"}), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "which jobs?")
		if list := <-seen; strings.Contains(list, j.ID) {
			t.Errorf("%s", list)
		}
		<-time.After(3 * time.Hour)
		calls := g.Shown(2)
		if calls[1].Out.Text != "said again" || calls[1].Out.To != routertest.Group("a") {
			t.Errorf("%+v", calls[1].Out)
		}
	})
}

package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/cron"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// plan gives the host a job of the guest's session, due in an hour and, with every, again and again.
func planJob(g *routertest.Rig, id string, every time.Duration) {
	g.T.Helper()
	j := sessions.Job{ID: id, Name: id, Agent: "main", From: routertest.GuestKey, Message: "look", Created: time.Now(), Next: time.Now().Add(time.Hour), Every: every}
	if every == 0 {
		j.At = j.Next
	} else {
		j.Next = j.Created.Add(every)
	}
	if err := g.Router.Scheduler.AddJob(g.T.Context(), "made "+id, j); err != nil {
		g.T.Fatal(err)
	}
}

// greeted is a rig whose guest has a session.
func greeted(t *testing.T, tests ...func(*settings.Snapshot)) *routertest.Rig {
	t.Helper()
	g := routertest.New(t, channeltest.Options{}, tests...)
	g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello")
	g.Shown(1)
	g.Idle(1)
	return g
}

// TestJobDoesNotPileUp: a time that comes while the turn of an earlier one is running is left out.
func TestJobDoesNotPileUp(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := greeted(t)
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, 9*time.Minute)
			return routertest.Text("NO_REPLY"), ctx.Err()
		})
		planJob(g, "often", time.Minute)
		<-time.After(3 * time.Hour)
		turns, open := 0, 0
		for _, run := range g.Runs() {
			if run.Kind == sessions.JobRun {
				turns++
				if !run.Status.Final() {
					open++
				}
			}
		}
		if turns < 17 || turns > 21 || open > 1 { // the next one begins in the minute in which the one before ends, or in the one after
			t.Errorf("%d turns, %d of them open", turns, open)
		}
	})
}

// TestStopEndsJobs: /stop in the chat that made a job ends the turn that it has begun.
func TestStopEndsJobs(t *testing.T) {
	for _, word := range []string{"/stop", "Stop!"} {
		t.Run(word, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := greeted(t)
				g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
					channels.Sleep(ctx, 9*time.Minute)
					return routertest.Text("too late"), ctx.Err()
				})
				planJob(g, "slow", 0)
				<-time.After(time.Hour + time.Minute)
				g.Say(routertest.Direct(routertest.Guest), routertest.Guest, word)
				if calls := g.Shown(2); calls[1].Out.Text != "⚙️ Stopped 1 scheduled job." {
					t.Errorf("%q", calls[1].Out.Text)
				}
				<-time.After(time.Hour)
				if calls := g.Shown(2); len(calls) != 2 {
					t.Errorf("%d messages", len(calls))
				}
			})
		})
	}
}

// /stop in the chat that a job posts into ends the turn of the job, whoever made it, and the rest of its words; its answer says so.
// source: openclaw/openclaw#120856
//
// proves: X1, X3
func TestStopEndsJobsThatPostHere(t *testing.T) {
	for name, late := range map[string]bool{"at work": false, "its words are on their way": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: 200}}, routertest.WithPacing(channels.Pacing{PerChatPerSecond: 1}))
				g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello")
				g.Shown(1)
				g.Idle(1)
				g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
					if late {
						return routertest.Text(strings.Repeat(strings.Repeat("word ", 36)+"\n\n", 35)), nil
					}
					channels.Sleep(ctx, 9*time.Minute)
					return routertest.Text("too late"), ctx.Err()
				})
				now := time.Now()
				if err := g.Router.Scheduler.AddJob(t.Context(), "job", sessions.Job{ID: "j", Agent: "main", Name: "slow", Message: "do it", At: now.Add(time.Hour), Next: now.Add(time.Hour), Created: now, To: routertest.Direct(routertest.Guest)}); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Hour + 2*time.Second)
				before := len(g.Fake.Shown(channels.Address{}))
				g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "/stop")
				<-time.After(time.Hour)
				calls := g.Fake.Shown(channels.Address{})
				want := map[bool]string{false: "⚙️ Stopped 1 scheduled job.", true: "⚙️ I will not send the rest of my message."}[late]
				if last := calls[len(calls)-1].Out.Text; last != want && !(late && slices.ContainsFunc(calls, func(c channeltest.Call) bool { return c.Out.Text == want })) || len(calls) > before+2 {
					t.Errorf("%d messages, then %d; the last is %q", before, len(calls), last)
				}
			})
		})
	}
}

// TestJobUsesTheBudgetOfItsMaker: jobs do not pay by themselves.
func TestJobUsesTheBudgetOfItsMaker(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := greeted(t, func(s *settings.Snapshot) { s.Agents.Defaults.Budget.SessionTokens = 40 }) // a call uses 15
		for i := range 8 {
			planJob(g, fmt.Sprint("job ", i), 0)
		}
		<-time.After(2 * time.Hour)
		if n := g.Model.Count(); n < 2 || n > 4 {
			t.Errorf("%d model calls", n)
		}
	})
}

// TestWhatAJobBegins: the result of a sub-agent, and of a further job, that a job's turn has begun goes into the chat of the session
// that made the job, under its send policy.
//
// proves: P4, N13
func TestWhatAJobBegins(t *testing.T) {
	for _, announce := range []string{"direct", "requester"} {
		for _, denied := range []bool{false, true} {
			t.Run(fmt.Sprint(announce, denied), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := greeted(t, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = announce })
					if denied {
						deny := policy.Deny
						if _, err := g.Router.Patch(t.Context(), routertest.GuestKey, sessions.Patch{SendPolicy: &deny}); err != nil {
							t.Fatal(err)
						}
					}
					g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
						switch said := routertest.LastUser(p); {
						case strings.Contains(p.System, "started for one task"):
							return routertest.Text("the result"), nil
						case routertest.Last(p).Role == sessions.ToolResult:
							return routertest.Text("NO_REPLY"), nil
						case strings.Contains(said, "look"):
							a := routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"})
							a.Content = append(a.Content, routertest.Call("c2", "cron", map[string]any{"action": "add", "in": "1h", "message": "again"}).Content...)
							return a, nil
						case strings.Contains(said, "again"):
							return routertest.Text("said again"), nil
						}
						return routertest.Text("it is: the result"), nil
					})
					planJob(g, "first", 0)
					<-time.After(5 * time.Hour)
					var said []string
					for _, d := range g.Deliveries()[1:] {
						if d.To != routertest.Direct(routertest.Guest) || d.Session != routertest.GuestKey || (d.State == sessions.Withheld) != denied || d.State == sessions.Pending {
							t.Errorf("%+v", d)
						}
						said = append(said, d.Text)
					}
					if len(said) != 2 || !strings.Contains(said[0], "the result") || said[1] != "said again" {
						t.Errorf("%q", said)
					}
				})
			})
		}
	}
}

// TestJobEndsWithItsSession: when the session that made it is deleted, nobody would read what it says.
func TestJobEndsWithItsSession(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := greeted(t)
		planJob(g, "first", time.Hour)
		if err := g.Store.Delete(t.Context(), routertest.GuestKey); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * time.Hour)
		if jobs, err := g.Store.ListJobs(t.Context(), ""); err != nil || len(jobs) > 0 || g.Model.Count() != 1 {
			t.Errorf("%v, %v; %d model calls", jobs, err, g.Model.Count())
		}
	})
}

// One person's jobs in all chats together leave room for those of others, and for the owners'.
// source: CWE-770
func TestJobsOfOnePersonAreBounded(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := greeted(t)
		add := func(i int, from sessions.Key, asker string, owner bool) error {
			id := fmt.Sprint(asker, from, i)
			return g.Router.Scheduler.AddJob(t.Context(), "made "+id, sessions.Job{ID: id, Agent: "main", From: from, Asker: asker, Owner: owner, Message: "look", Every: time.Hour, Created: time.Now(), Next: time.Now().Add(time.Hour)})
		}
		for i := range cron.MaxPersonJobs {
			if err := add(i, sessions.Key(fmt.Sprint("agent:main:x:group:", i%5)), "telegram:2", false); err != nil {
				t.Fatal(err)
			}
		}
		var refused *tools.Refused
		if err := add(cron.MaxPersonJobs, routertest.GuestKey, "telegram:2", false); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "maximum number") {
			t.Errorf("one more: %v", err)
		}
		if err := add(0, routertest.GuestKey, "telegram:3", false); err != nil {
			t.Errorf("another guest: %v", err)
		}
		if err := add(0, routertest.GuestKey, "", true); err != nil {
			t.Errorf("an owner: %v", err)
		}
		if jobs, err := g.Store.ListJobs(t.Context(), "main"); err != nil || jobs[0].Asker == "" && jobs[1].Asker == "" {
			t.Errorf("who asked is not kept: %v", err)
		}
	})
}

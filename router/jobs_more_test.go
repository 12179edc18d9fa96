package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// plan gives the host a job of the guest's session, due in an hour and, with every, again and again.
func (g *rig) plan(id string, every time.Duration) {
	g.t.Helper()
	j := sessions.Job{ID: id, Name: id, Agent: "main", From: guestKey, Message: "look", Created: time.Now(), Next: time.Now().Add(time.Hour), Every: every}
	if every == 0 {
		j.At = j.Next
	} else {
		j.Next = j.Created.Add(every)
	}
	if err := g.r.AddJob(g.t.Context(), "made "+id, j); err != nil {
		g.t.Fatal(err)
	}
}

// greeted is a rig whose guest has a session.
func greeted(t *testing.T, tests ...func(*Settings)) *rig {
	t.Helper()
	g := newRig(t, channeltest.Options{}, tests...)
	g.say(direct(guest), guest, "hello")
	g.shown(1)
	g.idle(1)
	return g
}

// TestJobDoesNotPileUp: a time that comes while the turn of an earlier one is at work is left out.
func TestJobDoesNotPileUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := greeted(t)
		g.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			sleep(ctx, 9*time.Minute)
			return text("NO_REPLY"), ctx.Err()
		})
		g.plan("often", time.Minute)
		<-time.After(3 * time.Hour)
		turns, open := 0, 0
		for _, run := range g.runs() {
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
			bubble(t, func(t *testing.T) {
				g := greeted(t)
				g.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
					sleep(ctx, 9*time.Minute)
					return text("too late"), ctx.Err()
				})
				g.plan("slow", 0)
				<-time.After(time.Hour + time.Minute)
				g.say(direct(guest), guest, word)
				if calls := g.shown(2); calls[1].Out.Text != "⚙️ Stopped 1 scheduled job." {
					t.Errorf("%q", calls[1].Out.Text)
				}
				<-time.After(time.Hour)
				if calls := g.shown(2); len(calls) != 2 {
					t.Errorf("%d messages", len(calls))
				}
			})
		})
	}
}

// TestJobUsesTheBudgetOfItsMaker: jobs do not pay by themselves.
func TestJobUsesTheBudgetOfItsMaker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := greeted(t, func(s *Settings) { s.Agents.Defaults.Budget.SessionTokens = 40 }) // a call uses 15
		for i := range 8 {
			g.plan(fmt.Sprint("job ", i), 0)
		}
		<-time.After(2 * time.Hour)
		if n := g.model.count(); n < 2 || n > 4 {
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
				bubble(t, func(t *testing.T) {
					g := greeted(t, func(s *Settings) { s.Agents.Defaults.Subagents.Announce = announce })
					if denied {
						deny := policy.Deny
						if _, err := g.r.Patch(t.Context(), guestKey, sessions.Patch{SendPolicy: &deny}); err != nil {
							t.Fatal(err)
						}
					}
					g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
						switch said := lastUser(p); {
						case strings.Contains(p.System, "started for one task"):
							return text("the result"), nil
						case last(p).Role == sessions.ToolResult:
							return text("NO_REPLY"), nil
						case strings.Contains(said, "look"):
							a := call("c1", "sessions_spawn", map[string]any{"task": "compute"})
							a.Content = append(a.Content, call("c2", "cron", map[string]any{"action": "add", "in": "1h", "message": "again"}).Content...)
							return a, nil
						case strings.Contains(said, "again"):
							return text("said again"), nil
						}
						return text("it is: the result"), nil
					})
					g.plan("first", 0)
					<-time.After(5 * time.Hour)
					var said []string
					for _, d := range g.deliveries()[1:] {
						if d.To != direct(guest) || d.Session != guestKey || (d.State == sessions.Withheld) != denied || d.State == sessions.Pending {
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
	bubble(t, func(t *testing.T) {
		g := greeted(t)
		g.plan("first", time.Hour)
		if err := g.store.Delete(t.Context(), guestKey); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * time.Hour)
		if jobs, err := g.store.ListJobs(t.Context(), ""); err != nil || len(jobs) > 0 || g.model.count() != 1 {
			t.Errorf("%v, %v; %d model calls", jobs, err, g.model.count())
		}
	})
}

// One person's jobs in all chats together leave room for those of others, and for the owners'.
// source: CWE-770
func TestJobsOfOnePersonAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := greeted(t)
		add := func(i int, from sessions.Key, asker string, owner bool) error {
			id := fmt.Sprint(asker, from, i)
			return g.r.AddJob(t.Context(), "made "+id, sessions.Job{ID: id, Agent: "main", From: from, Asker: asker, Owner: owner, Message: "look", Every: time.Hour, Created: time.Now(), Next: time.Now().Add(time.Hour)})
		}
		for i := range personJobsMost {
			if err := add(i, sessions.Key(fmt.Sprint("agent:main:x:group:", i%5)), "telegram:2", false); err != nil {
				t.Fatal(err)
			}
		}
		var refused *tools.Refused
		if err := add(personJobsMost, guestKey, "telegram:2", false); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "one person") {
			t.Errorf("one more: %v", err)
		}
		if err := add(0, guestKey, "telegram:3", false); err != nil {
			t.Errorf("another guest: %v", err)
		}
		if err := add(0, guestKey, "", true); err != nil {
			t.Errorf("an owner: %v", err)
		}
		if jobs, err := g.store.ListJobs(t.Context(), "main"); err != nil || jobs[0].Asker == "" && jobs[1].Asker == "" {
			t.Errorf("who asked is not kept: %v", err)
		}
	})
}

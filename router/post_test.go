package router_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// TestReportIsKnownWhereItIsPosted has a sub-agent's report in the transcript of the session whose chat shows it, as its agent's
// words, with what became of it; its agent's next turn is shown it.
//
// proves: N10, N15, T2, P5
func TestReportIsKnownWhereItIsPosted(t *testing.T) {
	for name, state := range map[policy.Override]sessions.DeliveryState{policy.Inherit: sessions.Sent, policy.Deny: sessions.Withheld} {
		t.Run(string(state), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Parent(t, routertest.Child{})
				reg := prometheus.NewRegistry()
				g.Stop()
				g.Deps = func(d *router.Deps) { d.Metrics = router.NewMetrics(reg) }
				g.Start()
				if _, err := g.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &name}); err != nil {
					t.Fatal(err)
				}
				run := g.Spawn(tools.SpawnRequest{Source: "s"})
				list := g.Idle(4)
				d := g.Ended(2)[1]
				if post := list[3]; post.Kind != sessions.PostRun || post.Key != routertest.KeyA || post.Status != sessions.Done || post.Attempt != 1 || g.Model.Count() != 3 {
					t.Errorf("%+v after %d model calls", post, g.Model.Count())
				}
				msgs := g.Transcript(routertest.KeyA)
				m := msgs[len(msgs)-1]
				if len(msgs) != 3 || m.Role != sessions.Assistant || m.Text() != d.Text || m.Model != "parley/post" || len(m.Deliveries()) != 1 || m.Deliveries()[0].State != state {
					t.Errorf("the transcript ends with %+v", m)
				}
				for _, m := range g.Transcript(run.Key) {
					if len(m.Deliveries()) > 0 {
						t.Errorf("a mark in the sub-agent's transcript: %+v", m)
					}
				}
				if families, err := reg.Gather(); err != nil || !strings.Contains(fmt.Sprint(families), `"announce"`) || strings.Contains(fmt.Sprint(families), `"post"`) {
					t.Errorf("counted as turns: %v (%v)", families, err)
				}
				if s := g.Session(routertest.KeyA); s.Turns != 1 || s.ByAgents != 0 {
					t.Errorf("%d turns, %d by agents: a post is none", s.Turns, s.ByAgents)
				}
				g.Say(routertest.Group("a"), routertest.Guest, "and?")
				g.Idle(5)
				if got := g.LastPrompt(); len(got) != 4 || got[2] != "assistant:"+d.Text {
					t.Errorf("the next turn is shown %q", got)
				}
			})
		})
	}
}

// TestPostWaitsForTheTurnAtWork spawns from a turn that is still at work when the report is posted: the post comes behind it.
//
// proves: H4, N10
func TestPostWaitsForTheTurnAtWork(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Parent(t, routertest.Child{})
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "sub-agent"):
				return routertest.Child{}.Answer(ctx, p)
			case m.Role == sessions.ToolResult:
				channels.Sleep(ctx, time.Minute)
				return routertest.Text("I have delegated it"), nil
			}
			return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.Say(routertest.Group("a"), routertest.Guest, "delegate")
		g.Shown(3)
		list := g.Idle(5)
		if got := path(list); !strings.HasPrefix(got, "turn a, turn a, child ") || !strings.HasSuffix(got, "post a") {
			t.Errorf("%s", got)
		}
		var roles []string
		for _, m := range g.Transcript(routertest.KeyA)[2:] {
			roles = append(roles, string(m.Role))
		}
		if got := strings.Join(roles, " "); got != "user assistant toolResult assistant assistant" {
			t.Errorf("the transcript is %s", got)
		}
		if calls := g.Shown(3); !strings.HasPrefix(calls[1].Out.Text, "Status: success") {
			t.Errorf("people wait for the turn to read %q", calls[1].Out.Text)
		}
	})
}

// TestReportWithoutRequester has the session that asked be deleted while its sub-agent is working: its chat gets the report.
//
// proves: N10, N15
func TestReportWithoutRequester(t *testing.T) {
	for _, mode := range []string{"direct", "requester"} {
		t.Run(mode, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Parent(t, routertest.Child{Work: routertest.Slowly(time.Minute)}, func(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = mode })
				run := g.Spawn(tools.SpawnRequest{Source: "s"})
				<-time.After(time.Second)
				if err := g.Store.Delete(t.Context(), routertest.KeyA); err != nil {
					t.Fatal(err)
				}
				list := g.Idle(2)
				d := g.Ended(2)[1]
				if d.State != sessions.Sent || d.To != routertest.Group("a") || len(list) != 2 || list[1].Kind != sessions.AnnounceRun {
					t.Errorf("%s to %s; %s", d.State, d.To, path(list))
				}
				if _, err := g.Store.Get(t.Context(), routertest.KeyA); err == nil {
					t.Error("the report has made the session again")
				}
				if msgs := g.Transcript(run.Key); len(msgs[len(msgs)-1].Deliveries()) != 1 {
					t.Errorf("the report is marked nowhere: %+v", msgs)
				}
			})
		})
	}
}

// TestNobodyToReportTo has a sub-agent end whose requester has no chat and is deleted.
//
// proves: N15
func TestNobodyToReportTo(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(routertest.Child{Work: routertest.Slowly(time.Minute)}.Answer)
		job := chatless(g)
		run := g.Spawn(tools.SpawnRequest{Source: "s", From: tools.Caller{Session: job}, Cleanup: "delete"})
		<-time.After(time.Second)
		if err := g.Store.Delete(t.Context(), job.Key); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Minute)
		got, err := g.Store.GetRun(t.Context(), run.ID)
		if err != nil || got.Status != sessions.Stopped || !strings.Contains(got.Error, "no longer exists") || got.Result == "" {
			t.Errorf("%+v (%v)", got, err)
		}
		if list := g.Runs(); len(list) != 1 || len(g.Deliveries()) != 0 {
			t.Errorf("%s, %d deliveries", path(list), len(g.Deliveries()))
		}
	})
}

// chatless makes a session that has no chat.
func chatless(g *routertest.Rig) sessions.Session {
	g.T.Helper()
	acc, err := g.Router.Committer.Submit(g.T.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: "agent:main:hook:nightly", Agent: "main"}}})
	if err != nil {
		g.T.Fatal(err)
	}
	return acc.Session
}

// TestPost has an agent post into another chat: once, known there, marked, under both policies.
//
// proves: S14, P4, P5, T2
func TestPost(t *testing.T) {
	deny := policy.Deny
	for name, c := range map[string]struct {
		own, target policy.Override
		state       sessions.DeliveryState // "" = nothing is made
	}{
		"allowed":             {"", "", sessions.Sent},
		"denied to the agent": {deny, "", ""},
		"denied in the chat":  {"", deny, sessions.Withheld},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.TwoChats(t, nil)
				for key, o := range map[sessions.Key]*policy.Override{routertest.KeyA: &c.own, routertest.KeyB: &c.target} {
					if _, err := g.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: o}); err != nil {
						t.Fatal(err)
					}
				}
				run := g.Runs()[0]
				q := tools.PostRequest{Source: "tool:r1:c1", From: tools.Caller{Session: g.Session(routertest.KeyA), Run: run}, Session: routertest.KeyB, To: routertest.Group("b"), Text: "news"}
				res, err := g.Router.ToolHost.Post(t.Context(), q)
				if err != nil || res.Verdict.Allowed() != (c.state == sessions.Sent) || (res.Delivery == "") != (c.state == "") {
					t.Fatalf("%+v (%v)", res, err)
				}
				g.Idle(2)
				if c.state == "" {
					if len(g.Deliveries()) != 2 || len(g.Runs()) != 2 {
						t.Errorf("%d deliveries, %d runs", len(g.Deliveries()), len(g.Runs()))
					}
					return
				}
				d := g.Ended(3)[2]
				if _, err := g.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &deny}); err != nil {
					t.Fatal(err)
				}
				again, err := g.Router.ToolHost.Post(t.Context(), q) // after a crash; the policy has changed since
				if err != nil || again.Delivery != res.Delivery || len(g.Ended(3)) != 3 {
					t.Errorf("again: %+v (%v)", again, err)
				}
				if d.ID != res.Delivery || d.State != c.state || d.Kind != sessions.Posted || d.Session != routertest.KeyB || d.Run != run.ID || d.To != routertest.Group("b") {
					t.Errorf("%+v", d)
				}
				msgs := g.Transcript(routertest.KeyB)
				if m := msgs[len(msgs)-1]; len(msgs) != 3 || m.Text() != "news" || m.Role != sessions.Assistant || len(m.Deliveries()) != 1 || m.Deliveries()[0].State != c.state {
					t.Errorf("the transcript ends with %+v", m)
				}
			})
		})
	}
}

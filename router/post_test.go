package router

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// transcript gives a session's messages, oldest first.
func (g *rig) transcript(key sessions.Key) []sessions.Message {
	g.t.Helper()
	msgs, err := g.store.Tail(g.t.Context(), g.session(key).ID, sessions.TailQuery{Limit: 1000, IncludeTool: true})
	if err != nil {
		g.t.Fatal(err)
	}
	return msgs
}

// TestReportIsKnownWhereItIsPosted has a sub-agent's report in the transcript of the session whose chat shows it, as its agent's
// words, with what became of it; its agent's next turn is shown it.
//
// proves: N10, N15, T2, P5
func TestReportIsKnownWhereItIsPosted(t *testing.T) {
	for name, state := range map[policy.Override]sessions.DeliveryState{policy.Inherit: sessions.Sent, policy.Deny: sessions.Withheld} {
		t.Run(string(state), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := parent(t, child{})
				reg := prometheus.NewRegistry()
				g.r.metrics = NewMetrics(reg)
				if _, err := g.r.Patch(t.Context(), keyA, sessions.Patch{SendPolicy: &name}); err != nil {
					t.Fatal(err)
				}
				run := g.spawn(tools.SpawnRequest{Source: "s"})
				list := g.idle(4)
				d := g.ended(2)[1]
				if post := list[3]; post.Kind != sessions.PostRun || post.Key != keyA || post.Status != sessions.Done || post.Attempt != 1 || g.model.count() != 3 {
					t.Errorf("%+v after %d model calls", post, g.model.count())
				}
				msgs := g.transcript(keyA)
				m := msgs[len(msgs)-1]
				if len(msgs) != 3 || m.Role != sessions.Assistant || m.Text() != d.Text || m.Model != postModel || len(m.Deliveries) != 1 || m.Deliveries[0].State != state {
					t.Errorf("the transcript ends with %+v", m)
				}
				for _, m := range g.transcript(run.Key) {
					if len(m.Deliveries) > 0 {
						t.Errorf("a mark in the sub-agent's transcript: %+v", m)
					}
				}
				if families, err := reg.Gather(); err != nil || !strings.Contains(fmt.Sprint(families), `"announce"`) || strings.Contains(fmt.Sprint(families), `"post"`) {
					t.Errorf("counted as turns: %v (%v)", families, err)
				}
				if s := g.session(keyA); s.Turns != 1 || s.ByAgents != 0 {
					t.Errorf("%d turns, %d by agents: a post is none", s.Turns, s.ByAgents)
				}
				g.say(groupChat("a"), guest, "and?")
				g.idle(5)
				if got := g.lastPrompt(); len(got) != 4 || got[2] != "assistant:"+d.Text {
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
	bubble(t, func(t *testing.T) {
		g := parent(t, child{})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := last(p); {
			case strings.Contains(p.System, "sub-agent"):
				return child{}.answer(ctx, p)
			case m.Role == sessions.ToolResult:
				sleep(ctx, time.Minute)
				return text("I have delegated it"), nil
			}
			return call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.say(groupChat("a"), guest, "delegate")
		g.shown(3)
		list := g.idle(5)
		if got := path(list); !strings.HasPrefix(got, "turn a, turn a, child ") || !strings.HasSuffix(got, "post a") {
			t.Errorf("%s", got)
		}
		var roles []string
		for _, m := range g.transcript(keyA)[2:] {
			roles = append(roles, string(m.Role))
		}
		if got := strings.Join(roles, " "); got != "user assistant toolResult assistant assistant" {
			t.Errorf("the transcript is %s", got)
		}
		if calls := g.shown(3); !strings.HasPrefix(calls[1].Out.Text, "Status: success") {
			t.Errorf("people wait for the turn to read %q", calls[1].Out.Text)
		}
	})
}

// TestReportWithoutRequester has the session that asked be deleted while its sub-agent is at work: its chat gets the report.
//
// proves: N10, N15
func TestReportWithoutRequester(t *testing.T) {
	for _, mode := range []string{"direct", "requester"} {
		t.Run(mode, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := parent(t, child{work: slowly(time.Minute)}, func(s *Settings) { s.Agents.Defaults.Subagents.Announce = mode })
				run := g.spawn(tools.SpawnRequest{Source: "s"})
				<-time.After(time.Second)
				if err := g.store.Delete(t.Context(), keyA); err != nil {
					t.Fatal(err)
				}
				list := g.idle(2)
				d := g.ended(2)[1]
				if d.State != sessions.Sent || d.To != groupChat("a") || len(list) != 2 || list[1].Kind != sessions.AnnounceRun {
					t.Errorf("%s to %s; %s", d.State, d.To, path(list))
				}
				if _, err := g.store.Get(t.Context(), keyA); err == nil {
					t.Error("the report has made the session again")
				}
				if msgs := g.transcript(run.Key); len(msgs[len(msgs)-1].Deliveries) != 1 {
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(child{work: slowly(time.Minute)}.answer)
		job := g.chatless()
		run := g.spawn(tools.SpawnRequest{Source: "s", From: tools.Caller{Session: job}, Cleanup: "delete"})
		<-time.After(time.Second)
		if err := g.store.Delete(t.Context(), job.Key); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Minute)
		got, err := g.store.GetRun(t.Context(), run.ID)
		if err != nil || got.Status != sessions.Stopped || !strings.Contains(got.Error, "does not exist any more") || got.Result == "" {
			t.Errorf("%+v (%v)", got, err)
		}
		if list := g.runs(); len(list) != 1 || len(g.deliveries()) != 0 {
			t.Errorf("%s, %d deliveries", path(list), len(g.deliveries()))
		}
	})
}

// chatless makes a session that has no chat.
func (g *rig) chatless() sessions.Session {
	g.t.Helper()
	acc, err := g.r.Submit(g.t.Context(), sessions.Effects{Session: &sessions.Session{Key: "agent:main:hook:nightly", Agent: "main"}})
	if err != nil {
		g.t.Fatal(err)
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
			bubble(t, func(t *testing.T) {
				g := twoChats(t, nil)
				for key, o := range map[sessions.Key]*policy.Override{keyA: &c.own, keyB: &c.target} {
					if _, err := g.r.Patch(t.Context(), key, sessions.Patch{SendPolicy: o}); err != nil {
						t.Fatal(err)
					}
				}
				run := g.runs()[0]
				q := tools.PostRequest{Source: "tool:r1:c1", From: tools.Caller{Session: g.session(keyA), Run: run}, Session: keyB, To: groupChat("b"), Text: "news"}
				res, err := g.r.Post(t.Context(), q)
				if err != nil || res.Verdict.Allowed() != (c.state == sessions.Sent) || (res.Delivery == "") != (c.state == "") {
					t.Fatalf("%+v (%v)", res, err)
				}
				g.idle(2)
				if c.state == "" {
					if len(g.deliveries()) != 2 || len(g.runs()) != 2 {
						t.Errorf("%d deliveries, %d runs", len(g.deliveries()), len(g.runs()))
					}
					return
				}
				d := g.ended(3)[2]
				if _, err := g.r.Patch(t.Context(), keyA, sessions.Patch{SendPolicy: &deny}); err != nil {
					t.Fatal(err)
				}
				again, err := g.r.Post(t.Context(), q) // after a crash; the policy has changed since
				if err != nil || again.Delivery != res.Delivery || len(g.ended(3)) != 3 {
					t.Errorf("again: %+v (%v)", again, err)
				}
				if d.ID != res.Delivery || d.State != c.state || d.Kind != sessions.Posted || d.Session != keyB || d.Run != run.ID || d.To != groupChat("b") {
					t.Errorf("%+v", d)
				}
				msgs := g.transcript(keyB)
				if m := msgs[len(msgs)-1]; len(msgs) != 3 || m.Text() != "news" || m.Role != sessions.Assistant || len(m.Deliveries) != 1 || m.Deliveries[0].State != c.state {
					t.Errorf("the transcript ends with %+v", m)
				}
			})
		})
	}
}

package router_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/chain"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// toRequester has results go to the agent that asked for them.
func toRequester(s *settings.Snapshot) { s.Agents.Defaults.Subagents.Announce = "requester" }

// worded scripts a child that finds 42 and a requester's agent that says words of it; "!" fails.
func worded(words string, seen *atomic.Pointer[agent.Prompt]) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		switch {
		case strings.Contains(p.System, "You are a sub-agent"):
			return routertest.Text("Result: 42\nNotes: it took a while"), nil
		case !strings.Contains(p.System, "has ended"):
			return routertest.Text("echo: " + routertest.LastUser(p)), nil
		case words == "!":
			return agent.Answer{}, errors.New("dial 10.1.2.3")
		}
		if seen != nil {
			seen.Store(&p)
		}
		return routertest.Text(words), nil
	}
}

// TestResultGoesToTheRequester has the agent that asked word what its chat reads of a sub-agent's result.
//
// proves: N11, N14, N15, N16, S8, P5
func TestResultGoesToTheRequester(t *testing.T) {
	report := "Status: success\n\nResult:\n42\n\nNotes:\nit took a while\n\nStats: `compute` • runtime"
	for name, c := range map[string]struct {
		words  string
		policy policy.Override
		posted string // what the post begins with; "" = silence
		state  sessions.DeliveryState
	}{
		"worded":            {"It is 42.", "", "It is 42.", sessions.Sent},
		"denied":            {"It is 42.", policy.Deny, "It is 42.", sessions.Withheld},
		"nothing to say":    {" NO_REPLY\n", "", "", ""},
		"skipped":           {"ANNOUNCE_SKIP", "", "", ""},
		"another word":      {"**REPLY_SKIP**", "", "", ""},
		"words and a word":  {"It is 42.\nNO_REPLY", "", "", ""},
		"an empty reply":    {"", "", report, sessions.Sent},
		"the step fails":    {"!", "", report, sessions.Sent},
		"it fails, denied":  {"!", policy.Deny, report, sessions.Withheld},
		"words, not a word": {"NO_REPLY, but 42", "", "NO_REPLY, but 42", sessions.Sent},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				var seen atomic.Pointer[agent.Prompt]
				g := routertest.Parent(t, routertest.Child{}, toRequester)
				g.Model.Set(worded(c.words, &seen))
				if _, err := g.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &c.policy}); err != nil {
					t.Fatal(err)
				}
				run := g.Spawn(tools.SpawnRequest{Source: "s", Cleanup: "delete"})
				g.Until("the chain is over", func() bool { list := g.Runs(); return len(list) == 2 && list[1].Status.Final() })
				res := g.Idle(2)[1] // the first turn, and the result: the child's session is deleted with its run
				in := res.Input
				if res.Kind != sessions.ResultRun || res.Key != routertest.KeyA || res.Reply != routertest.Group("a") || !strings.HasPrefix(in.Text(), report) || !strings.Contains(in.Text(), string(run.Key)) {
					t.Errorf("%s in %s, answered to %s: %s", res.Kind, res.Key, res.Reply, in.Text())
				}
				if p := in.Provenance; p == nil || p.Kind != sessions.InterSession || p.Source != run.Key || p.Tool != "sessions_spawn" {
					t.Errorf("the report comes from %+v", in.Provenance)
				}
				if _, err := g.Store.Get(t.Context(), run.Key); !errors.Is(err, sessions.ErrNotFound) {
					t.Errorf("the child's session: %v", err)
				}
				if p := seen.Load(); p != nil && (!strings.Contains(p.System, `Task: "compute"`) || len(p.Tools) == 0) {
					t.Errorf("%d tools, told %s", len(p.Tools), p.System)
				}
				if s := g.Session(routertest.KeyA); s.ByAgents != 1 || s.Turns != 2 {
					t.Errorf("%d turns, %d by agents", s.Turns, s.ByAgents)
				}
				posts := g.Ended(1 + map[bool]int{true: 1}[c.posted != ""])[1:]
				if len(posts) == 0 {
					return
				}
				d := posts[0]
				if !strings.HasPrefix(d.Text, c.posted) || d.State != c.state || d.Kind != sessions.Announce || d.Session != routertest.KeyA || d.To != routertest.Group("a") || strings.Contains(d.Text, "10.1.2.3") {
					t.Errorf("%+v", d)
				}
				msgs := g.Transcript(routertest.KeyA)
				m := msgs[len(msgs)-1]
				if m.Role != sessions.Assistant || m.Text() != d.Text || len(m.Deliveries()) != 1 || m.Deliveries()[0].State != c.state {
					t.Errorf("the transcript ends with %+v", m)
				}
				if left := d.Expires.Sub(d.Created); left < 23*time.Hour || left > 25*time.Hour {
					t.Errorf("it may wait %s", left)
				}
			})
		})
	}
}

// TestResultWithoutChat has a session without a chat get the result of its sub-agent, whatever the setting.
//
// proves: N15, N16
func TestResultWithoutChat(t *testing.T) {
	for _, words := range []string{"noted", "!"} {
		t.Run(words, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				var seen atomic.Pointer[agent.Prompt]
				g := routertest.New(t, channeltest.Options{})
				g.Model.Set(worded(words, &seen))
				job := chatless(g)
				g.Spawn(tools.SpawnRequest{Source: "s", From: tools.Caller{Session: job}})
				list := g.Idle(2)
				if len(list) != 2 || list[1].Kind != sessions.ResultRun || list[1].Key != job.Key || !strings.HasPrefix(list[1].Input.Text(), "Status: success") {
					t.Errorf("%s", path(list))
				}
				if d := g.Deliveries(); len(d) != 0 {
					t.Errorf("delivered to nobody: %+v", d[0])
				}
				if p := seen.Load(); p != nil && !strings.Contains(p.System, "There is no chat") {
					t.Errorf("the step is told %s", p.System)
				}
			})
		})
	}
}

// TestTypingForAResult shows in the chat that the agent words a result, unless the policy holds it back.
//
// proves: P4, N16
func TestTypingForAResult(t *testing.T) {
	for name, o := range map[string]policy.Override{"allowed": policy.Inherit, "denied": policy.Deny} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Parent(t, routertest.Child{}, toRequester)
				inner := worded("It is 42.", nil)
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if strings.Contains(p.System, "has ended") {
						channels.Sleep(ctx, 20*time.Second)
					}
					return inner(ctx, p)
				})
				if _, err := g.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &o}); err != nil {
					t.Fatal(err)
				}
				before := len(g.Fake.Calls())
				g.Spawn(tools.SpawnRequest{Source: "s"})
				g.Ended(2)
				calls := g.Fake.Calls()[before:]
				if (len(calls) > 3) != (name == "allowed") || name == "denied" && len(calls) > 0 {
					t.Errorf("%d calls to the platform", len(calls))
				}
			})
		})
	}
}

// In a group that nobody's mention woke, a text beside a control word is silent; behind a mention and in a direct chat it is delivered
// without the word. The transcript keeps all of it.
// source: openclaw/openclaw#64976
// proves: W2
func TestWordBesideText(t *testing.T) {
	for name, c := range map[string]struct {
		to     channels.Address
		called bool
		posted string
	}{
		"a direct chat": {routertest.Direct("a"), false, "Nothing new today."},
		"a mention":     {routertest.Group("a"), true, "Nothing new today."},
		"group talk":    {routertest.Group("a"), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				no := false
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
					a := s.Accounts[routertest.Account]
					a.Access.Groups = map[string]policy.GroupAccess{"*": {RequireMention: &no}}
					s.Accounts[routertest.Account] = a
				})
				g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) {
					return routertest.Text("Nothing new today.\n\n**NO_REPLY**"), nil
				})
				g.Fake.Say(channels.Inbound{Address: c.to, Sender: channels.Sender{ID: routertest.Owner}, Text: "hello", Mentioned: c.called})
				run := g.Idle(1)[0]
				switch list := g.Deliveries(); {
				case c.posted == "" && (len(list) != 0 || chain.Silence(run) != agent.NoReply):
					t.Errorf("%d deliveries, the run says %q", len(list), chain.Silence(run))
				case c.posted != "" && (len(list) != 1 || list[0].Text != c.posted):
					t.Errorf("delivered %+v", list)
				}
				msgs := g.Transcript(run.Key)
				if got := msgs[len(msgs)-1].Text(); got != "Nothing new today.\n\n**NO_REPLY**" {
					t.Errorf("the transcript has %q", got)
				}
			})
		})
	}
}

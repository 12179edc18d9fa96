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
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// path words the kinds and chats of runs.
func path(list []sessions.Run) string {
	var out []string
	for _, r := range list {
		out = append(out, string(r.Kind)+" "+string(r.Key[len(r.Key)-1:]))
	}
	return strings.Join(out, ", ")
}

func askB(g *routertest.Rig, source string) sessions.Run {
	g.T.Helper()
	run, err := g.Router.ToolHost.Ask(g.T.Context(), tools.AskRequest{Source: source, From: tools.Caller{Session: g.Session(routertest.KeyA)}, To: routertest.KeyB, Message: "how are you?"})
	if err != nil {
		g.T.Fatal(err)
	}
	return run
}

// proves: S9, S10
func TestPathOfAnAsk(t *testing.T) {
	kinds := fmt.Sprint
	ask, reply, announce := string(sessions.AskRun), string(sessions.ReplyRun), string(sessions.AnnounceRun)
	full := kinds(ask, " b, ", reply, " a, ", reply, " b, ", reply, " a, ", reply, " b, ", reply, " a, ", announce, " b")
	none := kinds(ask, " b, ", announce, " b")
	for name, c := range map[string]struct {
		turns         int
		first, second string // the answers of the ask and of the second reply step; "!" fails
		announce      string
		path          string
		shown         string
	}{
		"five turns":             {5, "fine", "go on", "news", full, "news"},
		"no turns":               {0, "fine", "go on", "news", none, "news"},
		"two turns":              {2, "fine", "go on", "news", kinds(ask, " b, ", reply, " a, ", reply, " b, ", announce, " b"), "news"},
		"skip":                   {5, "fine", " REPLY_SKIP\n", "news", kinds(ask, " b, ", reply, " a, ", reply, " b, ", announce, " b"), "news"},
		"a reply fails":          {5, "fine", "!", "news", kinds(ask, " b, ", reply, " a, ", reply, " b, ", announce, " b"), "news"},
		"an empty reply":         {5, "fine", "", "news", kinds(ask, " b, ", reply, " a, ", reply, " b, ", announce, " b"), "news"},
		"the ask fails":          {5, "!", "", "news", kinds(ask, " b"), ""},
		"the ask is skipped":     {5, "REPLY_SKIP", "", "news", none, "news"},
		"silent announce":        {0, "fine", "", "ANNOUNCE_SKIP", none, ""},
		"announce without words": {0, "fine", "", " ", none, ""},
		"the announce fails":     {0, "fine", "", "!", none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				replies := 0
				say := func(s string) (agent.Answer, error) {
					if s == "!" {
						return agent.Answer{}, errors.New("scripted")
					}
					return routertest.Text(s), nil
				}
				withTools := 0
				g := routertest.TwoChats(t, func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					step := strings.Contains(p.System, "announce step") || strings.Contains(p.System, "reply step")
					if step && len(p.Tools) > 0 || !step && len(p.Tools) == 0 {
						withTools++
					}
					switch {
					case strings.Contains(p.System, "announce step"):
						return say(c.announce)
					case strings.Contains(p.System, "reply step"):
						if replies++; replies == 2 || replies == 3 && c.second == "" { // an empty one is asked for once more
							return say(c.second)
						}
						return say("go on")
					}
					return say(c.first)
				}, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxPingPongTurns = c.turns })
				askB(g, "x")
				<-time.After(time.Minute)
				if got := path(g.Idle(3)[2:]); got != c.path {
					t.Errorf("the path is\n%s, want\n%s", got, c.path)
				}
				shown := ""
				for _, d := range g.Deliveries()[2:] {
					shown += string(d.To.Chat) + ":" + d.Text
				}
				if want := map[bool]string{true: "b:" + c.shown}[c.shown != ""]; shown != want {
					t.Errorf("delivered %q, want %q", shown, want)
				}
				if withTools > 0 {
					t.Errorf("%d steps with tools that should have none, or the other way round", withTools)
				}
			})
		})
	}
}

// proves: S8, S10, S14
func TestWhatAnAskStores(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch {
			case strings.Contains(p.System, "announce step"):
				for _, want := range []string{`Original request: "how are you?"`, `Round 1 reply: "first"`, `Latest reply: "third"`} {
					if !strings.Contains(p.System, want) {
						t.Errorf("the announce step is not told %q:\n%s", want, p.System)
					}
				}
				return routertest.Text("ANNOUNCE_SKIP"), nil
			case strings.Contains(p.System, "turn 1 of"):
				return routertest.Text("second"), nil
			case strings.Contains(p.System, "turn 2 of"):
				return routertest.Text("third"), nil
			case strings.Contains(p.System, "reply step"):
				return routertest.Text("REPLY_SKIP"), nil
			}
			return routertest.Text("first"), nil
		})
		one := askB(g, "tool:r1:c1")
		if two := askB(g, "tool:r1:c1"); two.ID != one.ID {
			t.Errorf("the same call made the runs %s and %s", one.ID, two.ID)
		}
		list := g.Idle(7)[2:]
		if len(list) != 5 {
			t.Fatalf("%s", path(list))
		}
		for i, want := range []struct {
			words  string
			kind   string
			source sessions.Key
		}{
			{"how are you?", sessions.InterSession, routertest.KeyA}, {"first", sessions.InterSession, routertest.KeyB}, {"second", sessions.InterSession, routertest.KeyA},
			{"third", sessions.InterSession, routertest.KeyB}, {"Announce step.", sessions.InternalSystem, routertest.KeyA},
		} {
			in := list[i].Input
			if in.Text() != want.words || in.Provenance == nil || in.Provenance.Kind != want.kind || in.Provenance.Source != want.source || !list[i].Reply.IsZero() {
				t.Errorf("step %d: %q from %+v, answered to %s; want %+v", i, in.Text(), in.Provenance, list[i].Reply, want)
			}
		}
		if p := list[0].Input.Provenance; p.Channel != routertest.Kind || p.Tool != "sessions_send" {
			t.Errorf("the source of the ask is %+v", p)
		}
	})
}

// proves: S12
func TestHopsOfAnAskInsideAnAsk(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, nil)
		one := askB(g, "x")
		if !slices.Equal(one.Chain.Hops, []sessions.Key{routertest.KeyA}) || one.Chain.Root != one.ID {
			t.Errorf("hops %v, root %s", one.Chain.Hops, one.Chain.Root)
		}
		two, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "y", From: tools.Caller{Session: g.Session(routertest.KeyB), Run: one}, To: routertest.KeyA, Message: "and you?"})
		if err != nil || !slices.Equal(two.Chain.Hops, []sessions.Key{routertest.KeyA, routertest.KeyB}) || len(one.Chain.Hops) != 1 {
			t.Errorf("hops %v after %v (%v)", two.Chain.Hops, one.Chain.Hops, err)
		}
		if _, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "z", From: tools.Caller{Session: g.Session(routertest.KeyB)}, To: "agent:main:fake:group:nobody"}); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("asking nobody: %v", err)
		}
	})
}

// proves: P4, P5
func TestAnnounceOfAnAskMeetsItsTargetsPolicy(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, nil, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxPingPongTurns = 0 })
		deny := policy.Deny
		if _, err := g.Router.Patch(t.Context(), routertest.KeyB, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		askB(g, "x")
		if d := g.Ended(3)[2]; d.State != sessions.Withheld || d.Session != routertest.KeyB || d.Kind != sessions.Announce || d.Message == "" {
			t.Errorf("%+v", d)
		}
	})
}

// TestTurnsByAgentsAreCapped ends an exchange when the session whose turn would be next has had its share of turns by other agents
// within the hour. What is left to say is announced.
//
// proves: S9, S10, S12
func TestTurnsByAgentsAreCapped(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.TwoChats(t, nil, func(s *settings.Snapshot) { s.Session.AgentToAgent.MaxTurnsPerHour = 2 })
		ask, reply, announce := string(sessions.AskRun), string(sessions.ReplyRun), string(sessions.AnnounceRun)
		n := 2
		for i, want := range []string{
			fmt.Sprint(ask, " b, ", reply, " a, ", reply, " b, ", reply, " a, ", announce, " b"), // then both have had two
			fmt.Sprint(ask, " b, ", announce, " b"),
		} {
			askB(g, fmt.Sprint("x", i))
			list := g.Ended(3 + i)
			if d := list[2+i]; d.Kind != sessions.Announce || d.State != sessions.Sent {
				t.Errorf("%+v", d)
			}
			all := g.Idle(n + 2)
			if got := path(all[n:]); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			n = len(all)
		}
		<-time.After(61 * time.Minute)
		askB(g, "x2")
		g.Ended(5)
		if got := path(g.Idle(n + 5)[n:]); strings.Count(got, reply) != 3 {
			t.Errorf("an hour later: %s", got)
		}
	})
}

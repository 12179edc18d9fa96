package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

const (
	keyA = sessions.Key("agent:main:fake:group:a")
	keyB = sessions.Key("agent:main:fake:group:b")
)

// runs lists every run, oldest first.
func (g *rig) runs() []sessions.Run {
	g.t.Helper()
	list, err := g.store.ListRuns(g.t.Context(), sessions.RunQuery{Limit: 1000})
	if err != nil {
		g.t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// idle waits until every run is final, n in all, and lists them.
func (g *rig) idle(n int) (list []sessions.Run) {
	g.t.Helper()
	g.until(fmt.Sprintf("%d ended runs", n), func() bool {
		list = g.runs()
		return len(list) >= n && !slices.ContainsFunc(list, func(r sessions.Run) bool { return !r.Status.Final() })
	})
	return list
}

func (g *rig) session(key sessions.Key) sessions.Session {
	g.t.Helper()
	s, err := g.store.Get(g.t.Context(), key)
	if err != nil {
		g.t.Fatal(err)
	}
	return s
}

// path words the kinds and chats of runs.
func path(list []sessions.Run) string {
	var out []string
	for _, r := range list {
		out = append(out, string(r.Kind)+" "+string(r.Key[len(r.Key)-1:]))
	}
	return strings.Join(out, ", ")
}

// twoChats makes the sessions a and b and then has what may happen between them be scripted.
func twoChats(t *testing.T, answer func(context.Context, agent.Prompt) (agent.Answer, error), fs ...func(*Settings)) *rig {
	t.Helper()
	g := newRig(t, channeltest.Options{}, fs...)
	g.say(groupChat("a"), guest, "hello")
	g.say(groupChat("b"), guest, "hello")
	g.shown(2)
	g.idle(2)
	g.model.set(answer)
	return g
}

func (g *rig) askB(source string) sessions.Run {
	g.t.Helper()
	run, err := g.r.Ask(g.t.Context(), tools.AskRequest{Source: source, From: tools.Caller{Session: g.session(keyA)}, To: keyB, Message: "how are you?"})
	if err != nil {
		g.t.Fatal(err)
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
			bubble(t, func(t *testing.T) {
				replies := 0
				say := func(s string) (agent.Answer, error) {
					if s == "!" {
						return agent.Answer{}, errors.New("scripted")
					}
					return text(s), nil
				}
				withTools := 0
				g := twoChats(t, func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
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
				}, func(s *Settings) { s.Session.AgentToAgent.MaxPingPongTurns = c.turns })
				g.askB("x")
				<-time.After(time.Minute)
				if got := path(g.idle(3)[2:]); got != c.path {
					t.Errorf("the path is\n%s, want\n%s", got, c.path)
				}
				shown := ""
				for _, d := range g.deliveries()[2:] {
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
	bubble(t, func(t *testing.T) {
		g := twoChats(t, func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch {
			case strings.Contains(p.System, "announce step"):
				for _, want := range []string{`Original request: "how are you?"`, `Round 1 reply: "first"`, `Latest reply: "third"`} {
					if !strings.Contains(p.System, want) {
						t.Errorf("the announce step is not told %q:\n%s", want, p.System)
					}
				}
				return text("ANNOUNCE_SKIP"), nil
			case strings.Contains(p.System, "turn 1 of"):
				return text("second"), nil
			case strings.Contains(p.System, "turn 2 of"):
				return text("third"), nil
			case strings.Contains(p.System, "reply step"):
				return text("REPLY_SKIP"), nil
			}
			return text("first"), nil
		})
		one := g.askB("tool:r1:c1")
		if two := g.askB("tool:r1:c1"); two.ID != one.ID {
			t.Errorf("the same call made the runs %s and %s", one.ID, two.ID)
		}
		list := g.idle(7)[2:]
		if len(list) != 5 {
			t.Fatalf("%s", path(list))
		}
		for i, want := range []struct {
			words  string
			kind   string
			source sessions.Key
		}{
			{"how are you?", sessions.InterSession, keyA}, {"first", sessions.InterSession, keyB}, {"second", sessions.InterSession, keyA},
			{"third", sessions.InterSession, keyB}, {"Announce step.", sessions.InternalSystem, keyA},
		} {
			in := list[i].Input
			if in.Text() != want.words || in.Provenance == nil || in.Provenance.Kind != want.kind || in.Provenance.Source != want.source || !list[i].Reply.IsZero() {
				t.Errorf("step %d: %q from %+v, answered to %s; want %+v", i, in.Text(), in.Provenance, list[i].Reply, want)
			}
		}
		if p := list[0].Input.Provenance; p.Channel != fakeKind || p.Tool != "sessions_send" {
			t.Errorf("the source of the ask is %+v", p)
		}
	})
}

// proves: S12
func TestHopsOfAnAskInsideAnAsk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := twoChats(t, nil)
		one := g.askB("x")
		if !slices.Equal(one.Chain.Hops, []sessions.Key{keyA}) || one.Chain.Root != one.ID {
			t.Errorf("hops %v, root %s", one.Chain.Hops, one.Chain.Root)
		}
		two, err := g.r.Ask(t.Context(), tools.AskRequest{Source: "y", From: tools.Caller{Session: g.session(keyB), Run: one}, To: keyA, Message: "and you?"})
		if err != nil || !slices.Equal(two.Chain.Hops, []sessions.Key{keyA, keyB}) || len(one.Chain.Hops) != 1 {
			t.Errorf("hops %v after %v (%v)", two.Chain.Hops, one.Chain.Hops, err)
		}
		if _, err := g.r.Ask(t.Context(), tools.AskRequest{Source: "z", From: tools.Caller{Session: g.session(keyB)}, To: "agent:main:fake:group:nobody"}); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("asking nobody: %v", err)
		}
	})
}

// proves: P4, P5
func TestAnnounceOfAnAskMeetsItsTargetsPolicy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := twoChats(t, nil, func(s *Settings) { s.Session.AgentToAgent.MaxPingPongTurns = 0 })
		deny := policy.Deny
		if _, err := g.r.Patch(t.Context(), keyB, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		g.askB("x")
		if d := g.ended(3)[2]; d.State != sessions.Withheld || d.Session != keyB || d.Kind != sessions.Announce || d.Message == "" {
			t.Errorf("%+v", d)
		}
	})
}

// TestTurnsByAgentsAreCapped ends an exchange when the session whose turn would be next has had its share of turns by other agents
// within the hour. What is left to say is announced.
//
// proves: S9, S10, S12
func TestTurnsByAgentsAreCapped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := twoChats(t, nil, func(s *Settings) { s.Session.AgentToAgent.MaxTurnsPerHour = 2 })
		ask, reply, announce := string(sessions.AskRun), string(sessions.ReplyRun), string(sessions.AnnounceRun)
		n := 2
		for i, want := range []string{
			fmt.Sprint(ask, " b, ", reply, " a, ", reply, " b, ", reply, " a, ", announce, " b"), // then both have had two
			fmt.Sprint(ask, " b, ", announce, " b"),
		} {
			g.askB(fmt.Sprint("x", i))
			list := g.ended(3 + i)
			if d := list[2+i]; d.Kind != sessions.Announce || d.State != sessions.Sent {
				t.Errorf("%+v", d)
			}
			all := g.idle(n + 2)
			if got := path(all[n:]); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			n = len(all)
		}
		<-time.After(61 * time.Minute)
		g.askB("x2")
		g.ended(5)
		if got := path(g.idle(n + 5)[n:]); strings.Count(got, reply) != 3 {
			t.Errorf("an hour later: %s", got)
		}
	})
}

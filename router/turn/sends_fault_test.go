package turn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// talkative are agents that send messages to each other wherever they can.
type talkative struct {
	*routertest.Rig
	chats []string
	mu    sync.Mutex
	rand  *rand.Rand
	calls int
}

func (x *talkative) draw(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.calls++
	return x.rand.IntN(n)
}

func keyOf(chat string) sessions.Key { return sessions.Key("agent:main:fake:group:" + chat) }

// answer sends to somebody, waits for a while or not at all, perhaps sends again, and says something in the end.
func (x *talkative) answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	if !channels.Sleep(ctx, time.Duration(x.draw(20_000))*time.Millisecond) {
		return agent.Answer{}, ctx.Err()
	}
	if len(p.Tools) == 0 || len(p.Messages) > 60 || x.draw(4) == 0 {
		return routertest.Text(fmt.Sprint("words ", x.draw(1000))), nil
	}
	id := fmt.Sprint("c", x.draw(1<<30))
	return routertest.Call(id, "sessions_send", map[string]any{"sessionKey": keyOf(x.chats[x.draw(len(x.chats))]), "message": "and you?", "timeoutSeconds": []int{0, 1, 30}[x.draw(3)]}), nil
}

// circle makes sessions for chats, and one for a chat that nobody sends to.
func circle(t *testing.T, seed uint64, n int, fs ...func(*settings.Snapshot)) *talkative {
	t.Helper()
	x := &talkative{Rig: routertest.New(t, channeltest.Options{}, fs...), rand: rand.New(rand.NewPCG(seed, 13))}
	for i := range n {
		x.chats = append(x.chats, fmt.Sprint("c", i))
		x.Say(routertest.Group(x.chats[i]), routertest.Guest, "hello")
	}
	x.Say(routertest.Group("bystander"), routertest.Guest, "hello")
	x.Shown(n + 1)
	x.Idle(n + 1)
	return x
}

// all gives every run, oldest first, however many there are.
func all(g *routertest.Rig) (list []sessions.Run) {
	g.T.Helper()
	synctest.Wait()
	list, err := g.Store.ListRuns(g.T.Context(), sessions.RunQuery{Limit: 100_000})
	if err != nil {
		g.T.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// TestFaultSendsInCircles has six agents send to each other wherever they can, over a restart: no chain goes through a session twice, each
// exchange has one first reply and one announcement at most, no session has more turns by others than it may within the hour, all of it
// ends, and nothing is said in a chat that nobody sent to.
func TestFaultSendsInCircles(t *testing.T) {
	const chats, most = 6, 12
	did := newTally()
	t.Run("all", func(t *testing.T) {
		for seed := range uint64(channeltest.Times(4, 300)) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					x := circle(t, seed, chats, func(s *settings.Snapshot) {
						s.Session.AgentToAgent = sessions.AgentToAgent{MaxPingPongTurns: 3, MaxTurnsPerHour: most, MaxHops: 4, MaxPerMinute: 10}
					})
					before := len(x.Fake.Shown(routertest.Group("bystander")))
					x.Model.Set(x.answer)
					x.Say(routertest.Group("c0"), routertest.Guest, "begin")
					x.Say(routertest.Group("c1"), routertest.Guest, "begin")
					<-time.After(5 * time.Minute)
					x.Stop()
					x.Start()
					<-time.After(50 * time.Minute)
					n, byAgents, full := x.exchanges(most)
					if now := len(x.Fake.Shown(routertest.Group("bystander"))); now != before {
						t.Errorf("%d messages in a chat that nobody sent to", now-before)
					}
					did.add("sends", n)
					did.add("turns by agents", byAgents)
					did.add("sessions at their cap", full)
				})
			})
		}
	})
	t.Log(did)
	if did.n["sends"] == 0 || did.n["sessions at their cap"] == 0 {
		t.Error("too little was sent")
	}
}

// exchanges counts what was sent between sessions and the turns that it caused, and fails where there is more than may be.
func (x *talkative) exchanges(most int) (asks, byAgents, full int) {
	x.T.Helper()
	turns, first, announces := map[sessions.Key]int{}, map[sessions.RunID]int{}, map[sessions.RunID]int{}
	for _, run := range all(x.Rig) {
		if !run.Status.Final() {
			x.T.Errorf("%s of %s is %s", run.Kind, run.Key, run.Status)
		}
		if run.Kind.ByAgent() {
			turns[run.Key]++
			byAgents++
		}
		if run.Chain == nil {
			continue
		}
		way := append(slices.Clone(run.Chain.Hops), run.Key)
		switch slices.Sort(way); run.Kind {
		case sessions.AskRun:
			asks++
			if len(slices.Compact(way)) != len(run.Chain.Hops)+1 {
				x.T.Errorf("a chain goes through a session twice: %v to %s", run.Chain.Hops, run.Key)
			}
		case sessions.ReplyRun:
			if run.Chain.Turn == 1 {
				first[run.Chain.Root]++
			}
		case sessions.AnnounceRun:
			announces[run.Chain.Root]++
		}
	}
	for key, n := range turns {
		if n == most {
			full++
		}
		if n > most {
			x.T.Errorf("%s has had %d turns by agents within the hour, %d are allowed", key, n, most)
		}
	}
	for root, n := range first {
		if n > 1 || announces[root] > 1 {
			x.T.Errorf("exchange %s has %d first replies and %d announcements", root, n, announces[root])
		}
	}
	return asks, byAgents, full
}

// TestFaultSendsFanOut has one agent send to fifty others at once and not wait long enough for any: each reply comes once, as its next
// message, and no chat reads anything of another's.
func TestFaultSendsFanOut(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		const n = 50
		x := circle(t, 1, n+1, func(s *settings.Snapshot) {
			s.Session.AgentToAgent = sessions.AgentToAgent{MaxPingPongTurns: 1, MaxTurnsPerHour: 200, MaxPerMinute: 10}
			s.Agents.Defaults.MaxSteps, s.Agents.Defaults.MaxConcurrent = 100, 100
		})
		x.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := routertest.Last(p); {
			case strings.Contains(p.System, "announce step"):
				return routertest.Text("ANNOUNCE_SKIP"), nil
			case strings.Contains(p.System, "reply step"):
				return routertest.Text("REPLY_SKIP"), nil
			case strings.Contains(p.System, "comes from another session"):
				channels.Sleep(ctx, 5*time.Minute)
				return routertest.Text("late"), nil
			case m.Role == sessions.ToolResult:
				return routertest.Text("sent"), nil
			}
			var a agent.Answer
			for i := range n {
				a.Content = append(a.Content, routertest.Call(fmt.Sprint("k", i), "sessions_send", map[string]any{"sessionKey": keyOf(x.chats[i+1]), "message": "how are you?", "timeoutSeconds": 1}).Content...)
			}
			a.Stop = "toolUse"
			return a, nil
		})
		x.Say(routertest.Group("c0"), routertest.Guest, "ask all")
		<-time.After(30 * time.Minute)
		replies, asked := map[sessions.Key]int{}, 0
		for _, run := range all(x.Rig) {
			switch run.Kind {
			case sessions.AskRun:
				asked++
			case sessions.ReplyRun:
				if run.Key != keyOf("c0") || run.Input.Text() != "late" {
					t.Errorf("a reply in %s: %q", run.Key, run.Input.Text())
				}
				replies[run.Input.Provenance.Source]++
			}
		}
		for from, n := range replies {
			if n != 1 {
				t.Errorf("%d replies of %s", n, from)
			}
		}
		if asked != n || len(replies) != n {
			t.Errorf("%d were asked, %d have answered", asked, len(replies))
		}
		for _, chat := range append(x.chats[1:], "bystander") {
			if shown := x.Fake.Shown(routertest.Group(chat)); len(shown) != 1 {
				t.Errorf("chat %s reads %d messages", chat, len(shown))
			}
		}
		if got := x.Fake.Shown(routertest.Group("c0")); len(got) != 2 {
			t.Errorf("%d messages in the chat that asked", len(got))
		}
	})
}

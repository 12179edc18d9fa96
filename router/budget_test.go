package router_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/clock"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

const noMore = "has exhausted its budget for today"

// Each bound stops what it is for, and nothing else. Its chat is told once; then the runs say why, and nothing leaves.
func TestBudgetScopes(t *testing.T) {
	for _, c := range []struct {
		name   string
		set    func(*settings.Snapshot)
		others bool // other chats go on
	}{
		{"session tokens", func(s *settings.Snapshot) { s.Agents.Defaults.Budget.SessionTokens = 30 }, true},
		{"session cost", func(s *settings.Snapshot) { s.Agents.Defaults.Budget.SessionCost = 0.00003 }, true},
		{"agent tokens", func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Budget: &agent.Budget{AgentTokens: 20}}}
		}, false},
		{"agent cost", func(s *settings.Snapshot) { s.Agents.Defaults.Budget.AgentCost = 0.000021 }, false},
		{"host tokens", func(s *settings.Snapshot) { s.Models.DayTokens = 16 }, false},
		{"host cost", func(s *settings.Snapshot) { s.Models.DayCost = 0.00002 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, c.set)
				priced(g, 1)
				for range 4 {
					g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hi")
					g.Deliveries()
				}
				g.WantTexts("echo: hi", "echo: hi", noMore)
				if g.Model.Count() != 2 {
					t.Errorf("%d calls", g.Model.Count())
				}
				runs, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Limit: 2})
				if err != nil || runs[0].Status != sessions.Failed || runs[0].Error != runs[1].Error || !strings.Contains(runs[0].Error, "budget of") {
					t.Errorf("%+v, %v", runs, err)
				}
				g.Say(routertest.Direct("3003"), "3003", "hello")
				if last := map[bool]string{true: "echo: hello", false: noMore}[c.others]; last != "" {
					g.WantTexts("echo: hi", "echo: hi", noMore, last)
				}
			})
		})
	}
}

// priced has each call of the script cost so many millionths of a dollar a token.
func priced(g *routertest.Rig, each float64) {
	g.Models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: g.Model, Name: "m", Label: name, Facts: agent.ModelFacts{Input: each, Output: each}}, nil
	}
}

// After a restart the sums of the day are those of the ledger, and nobody is told again. A new day begins at zero; an owner lifts a
// budget until then.
func TestBudgetLives(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.Budget.AgentTokens = 15 })
		say := func(text string) {
			g.Say(routertest.Direct(routertest.Guest), routertest.Guest, text)
			g.Deliveries()
		}
		say("one")
		say("two")
		want := []string{"echo: one", noMore}
		g.WantTexts(want...)
		g.Stop()
		g.Start()
		say("three")
		if n := len(g.Deliveries()); n != 2 || g.Model.Count() != 1 {
			t.Fatalf("%d deliveries, %d calls", n, g.Model.Count())
		}

		say("/usage lift agent")
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "/usage lift")
		g.Deliveries()
		say("four")
		say("five")
		wantsLast(g, "Only an owner", "of this agent is lifted: it has no limit until 00:00", "echo: four", "echo: five")

		_, ends := clock.Day(time.Now())
		<-time.After(time.Until(ends))
		say("six")
		say("seven")
		wantsLast(g, "echo: six", noMore)
	})
}

// wantsLast compares the newest deliveries.
func wantsLast(g *routertest.Rig, want ...string) {
	g.T.Helper()
	all := g.Deliveries()
	for i, d := range all[len(all)-len(want):] {
		if !strings.Contains(d.Text, want[i]) {
			g.T.Fatalf("%q, want %q in it", d.Text, want[i])
		}
	}
}

// The ledger has every call once: those whose answer is silence, tries that broke off, answers that nobody waited for any more or
// that came for a session that is gone.
func TestMeter(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		priced(g, 2)
		var counted atomic.Int64
		asked := make(chan struct{}, 10)
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			counted.Add(15)
			switch routertest.LastUser(p) {
			case "silence":
				return routertest.Text("NO_REPLY"), nil
			case "breaks":
				p.Spent(sessions.Usage{Input: 10, Output: 5})
				return agent.Answer{}, &agent.ModelError{Class: agent.Broken, Tries: 1, Err: errors.New("cut")}
			case "late": // the whole answer arrives, and no caller waits for it any more
				asked <- struct{}{}
				<-ctx.Done()
			case "gone", "gone at work":
				if err := g.Store.Delete(context.Background(), "agent:main:fake:direct:"+routertest.Guest); err != nil {
					return agent.Answer{}, err
				}
			}
			a := routertest.Text("fine")
			if routertest.LastUser(p) == "gone at work" {
				a.Content = append(a.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: "c", Name: "session_status", Arguments: []byte("{}")})
			}
			return a, nil
		})
		for _, words := range []string{"hello", "silence", "breaks", "late", "gone", "gone at work"} {
			g.Say(routertest.Direct(routertest.Guest), routertest.Guest, words)
			if words == "late" {
				<-asked
				g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "/stop")
			}
			g.Deliveries()
		}
		sum, err := g.Store.Spent(t.Context(), sessions.SpentQuery{})
		if err != nil || int64(sum.Usage.Total()) != counted.Load() || sum.Calls != 6 || sum.Usage.Cost != 2*counted.Load() {
			t.Errorf("%+v, %v; the model counted %d", sum, err, counted.Load())
		}
		mine, err := g.Store.Spent(t.Context(), sessions.SpentQuery{BilledTo: "agent:main:fake:direct:" + routertest.Guest})
		if err != nil || mine != sum {
			t.Errorf("%+v, %v", mine, err)
		}
	})
}

// Sub-agents use the budget of the session above all. When it is used up, their chat is told once; what they have brought is
// posted, and those that have nothing say so on their rows.
func TestBudgetBelow(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.Defaults.Budget.SessionTokens = 300
			s.Agents.Defaults.Subagents.MaxChildrenPerAgent, s.Agents.Defaults.Subagents.MaxConcurrent = 100, 50
		})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if u := routertest.LastUser(p); u != "go" || len(p.Messages) > 1 {
				return routertest.Text("done"), nil
			}
			a := agent.Answer{Stop: "toolUse", Usage: sessions.Usage{Input: 10, Output: 5}}
			for i := range 40 {
				a.Content = append(a.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: "c" + string(rune('A'+i)), Name: "sessions_spawn", Arguments: []byte(`{"task":"count"}`)})
			}
			return a, nil
		})
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "go")
		g.Until("all have ended", func() bool {
			runs, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Limit: 200})
			if err != nil || len(runs) < 41 {
				return false
			}
			for _, r := range runs {
				if !r.Status.Final() {
					return false
				}
			}
			return true
		})
		if n := g.Model.Count(); n != 20 {
			t.Errorf("%d calls of 15 tokens, the budget is 300", n)
		}
		told, reports := 0, 0
		for _, d := range g.Deliveries() {
			switch {
			case strings.HasPrefix(d.Text, "This session "+noMore):
				told++
			case strings.Contains(d.Text, "Status: success"):
				reports++
			case strings.Contains(d.Text, "budget"):
				t.Errorf("%q", d.Text)
			}
			if d.To != routertest.Direct(routertest.Guest) {
				t.Error(d.To)
			}
		}
		children, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Parent: "agent:main:fake:direct:" + routertest.Guest, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, r := range children {
			if r.Status == sessions.Done {
				done++
			} else if !strings.Contains(r.Error, "budget of session:agent:main:fake:direct:"+routertest.Guest) {
				t.Errorf("%+v", r)
			}
		}
		if told != 1 || len(children) != 40 || done == 0 || reports < done/2 {
			t.Errorf("told %d times; %d children, %d done, %d reports", told, len(children), done, reports)
		}
	})
}

// /usage shows the day and the bounds, to an owner the host as well; the figures below replies are as chosen.
func TestUsageCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.Defaults.Budget = agent.Budget{SessionTokens: 1000, AgentCost: 0.1}
			s.Accounts[routertest.Account] = named(s.Accounts[routertest.Account])
		})
		priced(g, 100)
		ask := func(from, text string) string {
			g.Say(routertest.Direct(from), from, text)
			all := g.Deliveries()
			return all[len(all)-1].Text
		}
		for _, c := range []struct{ from, say, want, not string }{
			{routertest.Guest, "hi", "echo: hi", "·"},
			{routertest.Guest, "/usage", "This session: 15 tokens (10 in, 5 out) in 1 call, $0.002; of 1.0k tokens (1%) a day", "host"},
			{routertest.Guest, "/usage full", "· 1.2k in, 300 out, $0.004", ""},
			{routertest.Guest, "hi", "echo: hi\n\n· 10 in, 5 out, $0.002", ""},
			{routertest.Guest, "/usage tokens", "· 1.2k in, 300 out", "$"},
			{routertest.Guest, "hi", "echo: hi\n\n· 10 in, 5 out", "$"},
			{routertest.Guest, "/usage off", "Usage footer: off", ""},
			{routertest.Guest, "hi", "echo: hi", "·"},
			{routertest.Guest, "/usage nonsense", "Usage: /usage", ""},
			{routertest.Owner, "/usage", "This agent: 60 tokens (40 in, 20 out) in 4 calls, $0.006; of $0.10 (6%) a day", "This session: 60"},
			{routertest.Owner, "/usage", "This host: 60 tokens (40 in, 20 out) in 4 calls, $0.006\n", ""},
			{routertest.Owner, "/usage", "- `mock/m`: 60 tokens", ""},
			{routertest.Owner, "/usage lift", "No budget is exhausted", ""},
			{routertest.Owner, "/usage lift host", "There is no budget for this host", ""},
			{routertest.Owner, "/usage lift session", "not exhausted, so there is nothing to lift", ""},
			{routertest.Owner, "/usage lift " + string(routertest.GuestKey), "not exhausted, so there is nothing to lift", ""},
			{routertest.Owner, "/usage", "This session", "lifted"},
			{routertest.Owner, "/usage lift everything", "Usage: /usage", ""},
		} {
			if got := ask(c.from, c.say); !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("%s: %q, want %q", c.say, got, c.want)
			}
		}
		msgs, err := g.Store.Tail(t.Context(), sessionOf(g, routertest.Guest).ID, sessions.TailQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range msgs {
			if strings.Contains(m.Text(), "·") {
				t.Errorf("the figures are in the transcript: %q", m.Text())
			}
		}
	})
}

func named(a settings.Account) settings.Account {
	a.Access.AllowFrom = []string{"*", routertest.Guest}
	return a
}

func sessionOf(g *routertest.Rig, who string) sessions.Session {
	g.T.Helper()
	s, err := g.Store.Get(g.T.Context(), sessions.Key("agent:main:fake:direct:"+who))
	if err != nil {
		g.T.Fatal(err)
	}
	return s
}

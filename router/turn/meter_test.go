package turn_test

import (
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/budget"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

const noMore = "has exhausted its budget for today"

// A chat is told that a budget is used up although another session's question has failed by it there before: nobody read that.
func TestBudgetNoticeBehindAFailedAsk(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.Budget.AgentTokens = 15 })
		g.Say(routertest.Direct("3003"), "3003", "hello")
		g.WantTexts("echo: hello")
		from := g.Session(g.Runs()[0].Key)
		if _, err := g.Store.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: routertest.GuestKey, Agent: "main", Last: routertest.Direct("a")}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "q", From: tools.Caller{Session: from}, To: routertest.GuestKey, Message: "hi"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		for range 2 {
			g.Say(routertest.Direct("a"), routertest.Guest, "anybody?")
			g.WantTexts("echo: hello", noMore)
		}
		g.Stop() // what the next process knows is in the store
		g.Start()
		g.Say(routertest.Direct("a"), routertest.Guest, "anybody now?")
		g.WantTexts("echo: hello", noMore)
	})
}

// A summary is reserved at the price of the model that writes it.
func TestSummaryIsReservedAtItsPrice(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Models.DayCost = 1000
			s.Agents.Defaults.Compaction.Model = "mock/dear"
		})
		g.Models = func(name string) (agent.Candidate, error) {
			price := map[string]float64{"mock/m": 1, "mock/dear": 50}[name]
			return agent.Candidate{Model: g.Model, Name: "m", Label: name, Facts: agent.ModelFacts{Input: price, Output: price}}, nil
		}
		set, s := g.Router.Settings(), sessions.Session{Key: routertest.GuestKey, Agent: "main"}
		m, err := g.Router.Worker.Model("mock/m")
		if err != nil {
			t.Fatal(err)
		}
		c := g.Router.Worker.Compacts(set, s, sessions.Run{Agent: "main"}, &agent.Turn{Model: m.Model, Label: m.Label, Facts: m.Facts})
		who, err := c.Writer(agent.Room{})
		if err != nil || who.Label != "mock/dear" {
			t.Fatalf("%q writes: %v", who.Label, err)
		}
		settle, err := who.Afford(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if held := g.Router.Budgets.Balances["host"].Reserved.Cost; held != 50*(1000+budget.UsualAnswer) {
			t.Errorf("reserved %d", held)
		}
		settle(sessions.Usage{})
	})
}

package router

import (
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
	"parley/tools"
)

// A chat is told that a budget is used up although another session's question has failed by it there before: nobody read that.
func TestBudgetNoticeBehindAFailedAsk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Agents.Defaults.Budget.AgentTokens = 15 })
		g.say(direct("3003"), "3003", "hello")
		g.wants("echo: hello")
		from := g.session(g.runs()[0].Key)
		if _, err := g.store.Submit(t.Context(), sessions.Effects{Session: &sessions.Session{Key: guestKey, Agent: "main", Last: direct("a")}}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.r.Ask(t.Context(), tools.AskRequest{Source: "q", From: tools.Caller{Session: from}, To: guestKey, Message: "hi"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		for range 2 {
			g.say(direct("a"), guest, "anybody?")
			g.wants("echo: hello", noMore)
		}
		g.stop() // what the next process knows is in the store
		g.start()
		g.say(direct("a"), guest, "anybody now?")
		g.wants("echo: hello", noMore)
	})
}

// A summary is reserved at the price of the model that writes it.
func TestSummaryIsReservedAtItsPrice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Models.DayCost = 1000
			s.Agents.Defaults.Compaction.Model = "mock/dear"
		})
		g.models = func(name string) (agent.Candidate, error) {
			price := map[string]float64{"mock/m": 1, "mock/dear": 50}[name]
			return agent.Candidate{Model: g.model, Name: "m", Label: name, Facts: agent.ModelFacts{Input: price, Output: price}}, nil
		}
		set, s := g.r.settings.Load(), sessions.Session{Key: guestKey, Agent: "main"}
		m, err := g.r.deps.Model("mock/m")
		if err != nil {
			t.Fatal(err)
		}
		c := g.r.compacts(set, s, sessions.Run{Agent: "main"}, &agent.Turn{Model: m.Model, Label: m.Label, Facts: m.Facts})
		who, err := c.writer(agent.Room{})
		if err != nil || who.Label != "mock/dear" {
			t.Fatalf("%q writes: %v", who.Label, err)
		}
		settle, err := who.Afford(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if held := g.r.budgets.purses["host"].held.cost; held != 50*(1000+usualAnswer) {
			t.Errorf("reserved %d", held)
		}
		settle(sessions.Usage{})
	})
}

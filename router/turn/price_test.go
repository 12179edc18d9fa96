package turn_test

import (
	"strings"
	"testing"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// With a budget in dollars no model is asked whose price nobody knows: not by /model, not by a setting that stands, not as a
// fallback, not for summaries. Without such a budget, and with one in tokens, each may be.
func TestNoModelWithoutPrice(t *testing.T) {
	const no = "this model has no price configured, and a budget in dollars is set"
	for name, c := range map[string]struct {
		set     func(*settings.Snapshot)
		refused bool
	}{
		"session": {func(s *settings.Snapshot) { s.Agents.Defaults.Budget.SessionCost = 1 }, true},
		"agent":   {func(s *settings.Snapshot) { s.Agents.Defaults.Budget.AgentCost = 1 }, true},
		"host":    {func(s *settings.Snapshot) { s.Models.DayCost = 1 }, true},
		"tokens":  {func(s *settings.Snapshot) { s.Models.DayTokens = 100_000 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, c.set, func(s *settings.Snapshot) { s.Agents.Defaults.Fallbacks = []string{"mock/dear", "mock/free"} })
				g.Models = func(name string) (agent.Candidate, error) {
					x := agent.Candidate{Model: g.Model, Name: name, Label: name}
					if name != "mock/free" {
						x.Facts.Input = 1
					}
					return x, nil
				}
				if got := g.Asks(routertest.Direct(routertest.Guest), routertest.Guest, "/model mock/free"); strings.Contains(got, no) != c.refused {
					t.Errorf("/model: %q", got)
				}
				if set := g.Session(routertest.GuestKey).Settings.Model; (set == "") != c.refused {
					t.Errorf("the model is %q", set)
				}
				if got := g.Asks(routertest.Direct(routertest.Guest), routertest.Guest, "hi"); got != "echo: hi" {
					t.Errorf("%q", got)
				}
				if _, err := g.Store.Patch(t.Context(), routertest.GuestKey, sessions.Patch{Model: new("mock/free")}); err != nil {
					t.Fatal(err)
				}
				before := g.Model.Count()
				if got := g.Asks(routertest.Direct(routertest.Guest), routertest.Guest, "ho"); strings.Contains(got, no) != c.refused || (g.Model.Count() == before) != c.refused {
					t.Errorf("%q after %d calls", got, g.Model.Count()-before)
				}
				withoutPrice(g, t, c.refused)
			})
		})
	}
}

// withoutPrice looks at a turn's fallbacks and at who writes its summaries.
func withoutPrice(g *routertest.Rig, t *testing.T, refused bool) {
	set, s := *g.Router.Settings(), g.Session(routertest.GuestKey)
	set.Agents.Defaults.Compaction.Model = "mock/free"
	run := sessions.Run{Agent: "main", Key: routertest.GuestKey, Session: s.ID}
	own, err := g.Router.Worker.Model("mock/m")
	if err != nil {
		t.Fatal(err)
	}
	turn := agent.Turn{Model: own.Model, Label: own.Label, Facts: own.Facts, Fallbacks: g.Router.Worker.Fallbacks(set.Entry("main"), "mock/m")}
	g.Router.Budgets.Meter(s, run).Reserve(&turn)
	if n := len(turn.Fallbacks); n != 1 && refused || n != 2 && !refused {
		t.Errorf("%d fallbacks", n)
	}
	who, err := g.Router.Worker.Compacts(&set, s, run, &turn).Writer(agent.Room{})
	if err != nil || (who.Label == "mock/m") != refused {
		t.Errorf("%s writes summaries, %v", who.Label, err)
	}
}

// The session of another person's direct chat is lifted by its key, which the notice there names, or by its id: by an owner, from
// any chat. Other sessions stay as they are.
func TestLiftSessionOfOthers(t *testing.T) {
	for name, byID := range map[string]bool{"key": false, "id": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.Budget.SessionTokens = 15 })
				for _, who := range []string{routertest.Guest, "3003", routertest.Owner} {
					g.Asks(routertest.Direct(who), who, "one")
				}
				notice := g.Asks(routertest.Direct(routertest.Guest), routertest.Guest, "two")
				_, lift, _ := strings.Cut(notice, "with `")
				lift, _, _ = strings.Cut(lift, "`")
				if lift != "/usage lift "+string(routertest.GuestKey) {
					t.Fatalf("%q", notice)
				}
				if byID {
					lift = "/usage lift " + string(g.Session(routertest.GuestKey).ID)
				}
				if got := g.Asks(routertest.Direct("3003"), "3003", lift); !strings.Contains(got, "Only an owner") {
					t.Errorf("%q", got)
				}
				if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, lift); !strings.Contains(got, "`"+string(routertest.GuestKey)+"` is lifted: it has no limit until 00:00") {
					t.Errorf("%q", got)
				}
				if got := g.Asks(routertest.Direct(routertest.Guest), routertest.Guest, "three"); got != "echo: three" {
					t.Errorf("%q", got)
				}
				if got := g.Asks(routertest.Direct("3003"), "3003", "four"); !strings.Contains(got, noMore) {
					t.Errorf("%q", got)
				}
				if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, "/usage lift agent:main:nobody"); !strings.Contains(got, "Usage: /usage lift") {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

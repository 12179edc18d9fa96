package router

import (
	"strings"
	"testing"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
)

// With a budget in dollars no model is asked whose price nobody knows: not by /model, not by a setting that stands, not as a
// fallback, not for summaries. Without such a budget, and with one in tokens, each may be.
func TestNoModelWithoutPrice(t *testing.T) {
	const no = "this model has no price configured, and a budget in dollars is set"
	for name, c := range map[string]struct {
		set     func(*Settings)
		refused bool
	}{
		"session": {func(s *Settings) { s.Agents.Defaults.Budget.SessionCost = 1 }, true},
		"agent":   {func(s *Settings) { s.Agents.Defaults.Budget.AgentCost = 1 }, true},
		"host":    {func(s *Settings) { s.Models.DayCost = 1 }, true},
		"tokens":  {func(s *Settings) { s.Models.DayTokens = 100_000 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, c.set, func(s *Settings) { s.Agents.Defaults.Fallbacks = []string{"mock/dear", "mock/free"} })
				g.models = func(name string) (agent.Candidate, error) {
					x := agent.Candidate{Model: g.model, Name: name, Label: name}
					if name != "mock/free" {
						x.Facts.Input = 1
					}
					return x, nil
				}
				if got := g.asks(direct(guest), guest, "/model mock/free"); strings.Contains(got, no) != c.refused {
					t.Errorf("/model: %q", got)
				}
				if set := g.session(guestKey).Settings.Model; (set == "") != c.refused {
					t.Errorf("the model is %q", set)
				}
				if got := g.asks(direct(guest), guest, "hi"); got != "echo: hi" {
					t.Errorf("%q", got)
				}
				if _, err := g.store.Patch(t.Context(), guestKey, sessions.Patch{Model: new("mock/free")}); err != nil {
					t.Fatal(err)
				}
				before := g.model.count()
				if got := g.asks(direct(guest), guest, "ho"); strings.Contains(got, no) != c.refused || (g.model.count() == before) != c.refused {
					t.Errorf("%q after %d calls", got, g.model.count()-before)
				}
				g.withoutPrice(t, c.refused)
			})
		})
	}
}

// withoutPrice looks at a turn's fallbacks and at who writes its summaries.
func (g *rig) withoutPrice(t *testing.T, refused bool) {
	set, s := *g.r.settings.Load(), g.session(guestKey)
	set.Agents.Defaults.Compaction.Model = "mock/free"
	run := sessions.Run{Agent: "main", Key: guestKey, Session: s.ID}
	own, err := g.r.deps.Model("mock/m")
	if err != nil {
		t.Fatal(err)
	}
	turn := agent.Turn{Model: own.Model, Label: own.Label, Facts: own.Facts, Fallbacks: g.r.fallbacks(set.Entry("main"), "mock/m")}
	g.r.meter(s, run).reserve(&turn)
	if n := len(turn.Fallbacks); n != 1 && refused || n != 2 && !refused {
		t.Errorf("%d fallbacks", n)
	}
	who, err := g.r.compacts(&set, s, run, &turn).writer(agent.Room{})
	if err != nil || (who.Label == "mock/m") != refused {
		t.Errorf("%s writes summaries, %v", who.Label, err)
	}
}

// The session of somebody else's direct chat is lifted by its key, which the notice there names, or by its id: by an owner, from
// any chat. Other sessions stay as they are.
func TestLiftSessionOfOthers(t *testing.T) {
	for name, byID := range map[string]bool{"key": false, "id": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Agents.Defaults.Budget.SessionTokens = 15 })
				for _, who := range []string{guest, "3003", owner} {
					g.asks(direct(who), who, "one")
				}
				notice := g.asks(direct(guest), guest, "two")
				_, lift, _ := strings.Cut(notice, "with `")
				lift, _, _ = strings.Cut(lift, "`")
				if lift != "/usage lift "+string(guestKey) {
					t.Fatalf("%q", notice)
				}
				if byID {
					lift = "/usage lift " + string(g.session(guestKey).ID)
				}
				if got := g.asks(direct("3003"), "3003", lift); !strings.Contains(got, "Only an owner") {
					t.Errorf("%q", got)
				}
				if got := g.asks(direct(owner), owner, lift); !strings.Contains(got, "`"+string(guestKey)+"` is lifted until 00:00") {
					t.Errorf("%q", got)
				}
				if got := g.asks(direct(guest), guest, "three"); got != "echo: three" {
					t.Errorf("%q", got)
				}
				if got := g.asks(direct("3003"), "3003", "four"); !strings.Contains(got, noMore) {
					t.Errorf("%q", got)
				}
				if got := g.asks(direct(owner), owner, "/usage lift agent:main:nobody"); !strings.Contains(got, "Usage: /usage lift") {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

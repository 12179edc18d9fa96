package router_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

func TestDuplicatesCauseOneTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		in := g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(1)
		for range 5 {
			if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		g.Stop()
		g.Start()
		if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if d := g.Deliveries(); len(d) != 1 || g.Model.Count() != 1 {
			t.Errorf("%d deliveries, %d model calls for one message", len(d), g.Model.Count())
		}
	})
}

// proves: K7, T2
func TestWhoseSession(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "mine")
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "secret canary")
		g.Shown(2)
		for key, want := range map[sessions.Key]string{"agent:main:main": "mine", "agent:main:fake:direct:" + routertest.Guest: "secret canary"} {
			s, err := g.Store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			msgs, err := g.Store.Tail(t.Context(), s.ID, sessions.TailQuery{})
			if err != nil || len(msgs) != 2 || msgs[0].Text() != want || msgs[0].Provenance.Kind != sessions.ExternalUser {
				t.Errorf("%s holds %+v (%v)", key, msgs, err)
			}
		}
	})
}

// commands by who may use them and what they change.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		from, words, answer string
		policy              policy.Override
		ids                 int // sessions that the key has had
	}{
		{routertest.Owner, "/send off", "⚙️ Send policy set to off.", policy.Deny, 1},
		{routertest.Owner, "/SEND: Off", "⚙️ Send policy set to off.", policy.Deny, 1},
		{routertest.Owner, "/send on", "⚙️ Send policy set to on.", policy.Allow, 1},
		{routertest.Owner, "/send inherit", "⚙️ Send policy set to inherit.", policy.Inherit, 1},
		{routertest.Owner, "/send maybe", "⚙️ Usage: /send on|off|inherit", policy.Inherit, 1},
		{routertest.Owner, "/send off the lights please", "echo: ", policy.Inherit, 1},
		{routertest.Guest, "/send off", "Only an owner can use /send.", policy.Inherit, 1},
		{routertest.Guest, "/status", "parley test", policy.Inherit, 1},
		{routertest.Guest, "/whoami", "fake:" + routertest.Guest, policy.Inherit, 1},
		{routertest.Guest, "/help", "/commands lists", policy.Inherit, 1},
		{routertest.Guest, "/commands", "/send on|off|inherit: Let my messages out of this session, or hold them back (owners)", policy.Inherit, 1},
		{routertest.Guest, "/new", "New session started", policy.Inherit, 2},
		{routertest.Guest, "/stop", "Nothing is running here.", policy.Inherit, 1},
		{routertest.Guest, "/unknown", "echo: ", policy.Inherit, 1},
		{routertest.Guest, "please /send off", "echo: ", policy.Inherit, 1},
	} {
		t.Run(c.from+c.words, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				to := routertest.Group("g")
				g.Say(to, c.from, "hello")
				g.Until("the answer is sent", func() bool { d := g.Deliveries(); return len(d) == 1 && d[0].State == sessions.Sent })
				key := sessions.Key("agent:main:fake:group:g")
				before, err := g.Store.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				g.Say(to, c.from, c.words)
				if got := g.Shown(2)[1].Out.Text; !strings.Contains(got, c.answer) {
					t.Errorf("%q was answered %q, want %q", c.words, got, c.answer)
				}
				s, err := g.Store.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				if s.Settings.SendPolicy != c.policy || (s.ID != before.ID) != (c.ids == 2) {
					t.Errorf("policy %q, new session %t", s.Settings.SendPolicy, s.ID != before.ID)
				}
			})
		})
	}
}

// proves: P3
func TestSendPolicySurvives(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("g")
		g.Say(to, routertest.Owner, "/send off")
		g.Shown(1)
		g.Say(to, routertest.Owner, "/new")
		g.Stop()
		g.Start()
		g.Say(to, routertest.Owner, "anybody?")
		g.Until("all are final", func() bool { d := g.Deliveries(); return len(d) == 3 && d[2].State.Final() })
		if d := g.Deliveries(); d[1].State != sessions.Withheld || d[2].State != sessions.Withheld {
			t.Errorf("after /new and a restart: %s, %s", d[1].State, d[2].State)
		}
	})
}

func TestRestartFinishesTheTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		g.Model.Set(routertest.Slowly(time.Hour))
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		g.Until("the model is asked", func() bool { return g.Model.Count() == 1 })
		g.Stop()
		g.Model.Set(nil)
		g.Start()
		calls := g.Shown(2)
		if calls[0].Out.Text != "echo: one" || calls[1].Out.Text != "echo: two" {
			t.Errorf("shown: %q, %q", calls[0].Out.Text, calls[1].Out.Text)
		}
		if d := g.Deliveries(); len(d) != 2 {
			t.Errorf("%d deliveries, not 2", len(d))
		}
	})
}

func TestStopEndsTheTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		g.Model.Set(routertest.Slowly(time.Hour))
		to := routertest.Direct(routertest.Owner)
		g.Say(to, routertest.Owner, "work")
		g.Say(to, routertest.Owner, "and this")
		g.Until("the model is asked", func() bool { return g.Model.Count() == 1 })
		g.Say(to, routertest.Owner, "/stop")
		if got := g.Shown(1)[0].Out.Text; got != "⚙️ Agent was aborted. Dropped 1 message that waited. Write again if I should continue." {
			t.Errorf("/stop was answered %q", got)
		}
		g.Until("both runs are stopped", func() bool {
			runs, err := g.Store.ListRuns(t.Context(), sessions.RunQuery{Key: "agent:main:main", Status: sessions.Stopped})
			return err == nil && len(runs) == 2
		})
		g.Model.Set(nil)
		g.Say(to, routertest.Owner, "hello again")
		if got := g.Shown(2)[1].Out.Text; got != "echo: hello again" {
			t.Errorf("after /stop: %q", got)
		}
	})
}

func TestModelFailures(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"unreachable": {&agent.ModelError{Class: agent.Unreachable, Provider: "mock", Err: errors.New("refused")}, "could not reach"},
		"other":       {errors.New("a bug"), "Something went wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, c.err })
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				if got := g.Shown(1)[0].Out.Text; !strings.Contains(got, c.want) || strings.Contains(got, "refused") || strings.Contains(got, "a bug") {
					t.Errorf("the chat reads %q", got)
				}
			})
		})
	}
}

func TestTurnTimeout(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Agents.Defaults.TimeoutSeconds = 60 })
		g.Model.Set(routertest.Slowly(time.Hour))
		began := time.Now()
		g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		call := g.Shown(1)[0]
		if !strings.Contains(call.Out.Text, "ran out of time") {
			t.Errorf("%q after %s", call.Out.Text, call.At.Sub(began))
		}
	})
}

func TestOddEvents(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Direct("-9223372036854775808")
		g.Fake.Say(channels.Inbound{Event: channels.Unreadable, Address: to, ID: "u1", Reason: "chat is missing", Raw: []byte(`{"update_id":1}`)})
		g.Fake.Say(channels.Inbound{Event: channels.Edited, Address: to, Sender: channels.Sender{ID: routertest.Guest}, Text: "edited"})
		g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: routertest.Guest}, Text: "   "})
		g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: routertest.Guest, Bot: true}, Text: "I am a bot"})
		g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: routertest.Guest}, Text: "echo", SentByThisLogin: true})
		g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: routertest.Guest}, Text: strings.Repeat("x", 1<<20)})
		g.Shown(1)
		if n := g.Model.Count(); n != 1 {
			t.Errorf("%d model calls, want one for the long text", n)
		}
		list, err := g.Store.Skipped(t.Context(), 10)
		if err != nil || len(list) != 1 || list[0].Reason != "chat is missing" {
			t.Errorf("listed: %+v (%v)", list, err)
		}
	})
}

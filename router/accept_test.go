package router

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
	"parley/sessions"
)

// slowly echoes after a while.
func slowly(d time.Duration) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		if !sleep(ctx, d) {
			return agent.Answer{}, ctx.Err()
		}
		return text("echo: " + lastUser(p)), nil
	}
}

func TestDuplicatesCauseOneTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		in := g.say(direct("a"), guest, "hello")
		g.shown(1)
		for range 5 {
			if err := g.r.Accept(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		g.stop()
		g.start()
		if err := g.r.Accept(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if d := g.deliveries(); len(d) != 1 || g.model.count() != 1 {
			t.Errorf("%d deliveries, %d model calls for one message", len(d), g.model.count())
		}
	})
}

// proves: K7, T2
func TestWhoseSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.say(direct(owner), owner, "mine")
		g.say(direct(guest), guest, "secret canary")
		g.shown(2)
		for key, want := range map[sessions.Key]string{"agent:main:main": "mine", "agent:main:fake:direct:" + guest: "secret canary"} {
			s, err := g.store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			msgs, err := g.store.Tail(t.Context(), s.ID, sessions.TailQuery{})
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
		{owner, "/send off", "⚙️ Send policy set to off.", policy.Deny, 1},
		{owner, "/SEND: Off", "⚙️ Send policy set to off.", policy.Deny, 1},
		{owner, "/send on", "⚙️ Send policy set to on.", policy.Allow, 1},
		{owner, "/send inherit", "⚙️ Send policy set to inherit.", policy.Inherit, 1},
		{owner, "/send maybe", "⚙️ Usage: /send on|off|inherit", policy.Inherit, 1},
		{owner, "/send off the lights please", "echo: ", policy.Inherit, 1},
		{guest, "/send off", "Only an owner can use /send.", policy.Inherit, 1},
		{guest, "/status", "parley test", policy.Inherit, 1},
		{guest, "/whoami", "fake:" + guest, policy.Inherit, 1},
		{guest, "/help", "/commands lists", policy.Inherit, 1},
		{guest, "/commands", "/send on|off|inherit: Let my messages out of this session, or hold them back (owners)", policy.Inherit, 1},
		{guest, "/new", "New session started", policy.Inherit, 2},
		{guest, "/stop", "Nothing is running here.", policy.Inherit, 1},
		{guest, "/unknown", "echo: ", policy.Inherit, 1},
		{guest, "please /send off", "echo: ", policy.Inherit, 1},
	} {
		t.Run(c.from+c.words, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				to := groupChat("g")
				g.say(to, c.from, "hello")
				g.shown(1)
				key := sessions.Key("agent:main:fake:group:g")
				before, err := g.store.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				g.say(to, c.from, c.words)
				if got := g.shown(2)[1].Out.Text; !strings.Contains(got, c.answer) {
					t.Errorf("%q was answered %q, want %q", c.words, got, c.answer)
				}
				s, err := g.store.Get(t.Context(), key)
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := groupChat("g")
		g.say(to, owner, "/send off")
		g.shown(1)
		g.say(to, owner, "/new")
		g.stop()
		g.start()
		g.say(to, owner, "anybody?")
		g.until("all are final", func() bool { d := g.deliveries(); return len(d) == 3 && d[2].State.Final() })
		if d := g.deliveries(); d[1].State != sessions.Withheld || d[2].State != sessions.Withheld {
			t.Errorf("after /new and a restart: %s, %s", d[1].State, d[2].State)
		}
	})
}

func TestRestartFinishesTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		g.model.set(slowly(time.Hour))
		g.say(direct("a"), guest, "one")
		g.say(direct("a"), guest, "two")
		g.until("the model is asked", func() bool { return g.model.count() == 1 })
		g.stop()
		g.model.set(nil)
		g.start()
		calls := g.shown(2)
		if calls[0].Out.Text != "echo: one" || calls[1].Out.Text != "echo: two" {
			t.Errorf("shown: %q, %q", calls[0].Out.Text, calls[1].Out.Text)
		}
		if d := g.deliveries(); len(d) != 2 {
			t.Errorf("%d deliveries, not 2", len(d))
		}
	})
}

func TestStopEndsTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		g.model.set(slowly(time.Hour))
		to := direct(owner)
		g.say(to, owner, "work")
		g.say(to, owner, "and this")
		g.until("the model is asked", func() bool { return g.model.count() == 1 })
		g.say(to, owner, "/stop")
		if got := g.shown(1)[0].Out.Text; got != "⚙️ Agent was aborted. Dropped 1 message that waited." {
			t.Errorf("/stop was answered %q", got)
		}
		g.until("both runs are stopped", func() bool {
			runs, err := g.store.ListRuns(t.Context(), sessions.RunQuery{Key: "agent:main:main", Status: sessions.Stopped})
			return err == nil && len(runs) == 2
		})
		g.model.set(nil)
		g.say(to, owner, "hello again")
		if got := g.shown(2)[1].Out.Text; got != "echo: hello again" {
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, c.err })
				g.say(direct("a"), guest, "hello")
				if got := g.shown(1)[0].Out.Text; !strings.Contains(got, c.want) || strings.Contains(got, "refused") || strings.Contains(got, "a bug") {
					t.Errorf("the chat reads %q", got)
				}
			})
		})
	}
}

func TestTurnTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Agents.Defaults.TimeoutSeconds = 60 })
		g.model.set(slowly(time.Hour))
		began := time.Now()
		g.say(direct("a"), guest, "hello")
		call := g.shown(1)[0]
		if !strings.Contains(call.Out.Text, "ran out of time") {
			t.Errorf("%q after %s", call.Out.Text, call.At.Sub(began))
		}
	})
}

func TestOddEvents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := direct("-9223372036854775808")
		g.fake.Say(channels.Inbound{Event: channels.Unreadable, Address: to, ID: "u1", Reason: "chat is missing", Raw: []byte(`{"update_id":1}`)})
		g.fake.Say(channels.Inbound{Event: channels.Edited, Address: to, Sender: channels.Sender{ID: guest}, Text: "edited"})
		g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: guest}, Text: "   "})
		g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: guest, Bot: true}, Text: "I am a bot"})
		g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: guest}, Text: "echo", SentByThisLogin: true})
		g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: guest}, Text: strings.Repeat("x", 1<<20)})
		g.shown(1)
		if n := g.model.count(); n != 1 {
			t.Errorf("%d model calls, want one for the long text", n)
		}
		list, err := g.store.Skipped(t.Context(), 10)
		if err != nil || len(list) != 1 || list[0].Reason != "chat is missing" {
			t.Errorf("listed: %+v (%v)", list, err)
		}
	})
}

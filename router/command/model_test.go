package command_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// newModelRig knows four models; each answers with its name.
func newModelRig(t *testing.T, more ...func(*router.Deps)) *routertest.Rig {
	return routertest.With(t, func(d *router.Deps) {
		d.Models = func() []string {
			return []string{"mock/m", "mock/small", "mock/Sonnet-4", "mock/sonnet-5", "other/small", "gone/x"}
		}
		for _, f := range more {
			f(d)
		}
	}, channeltest.Options{}, func(s *settings.Snapshot) {
		s.Agents.Defaults.Fallbacks, s.Agents.Defaults.Thinking = []string{"mock/small", "mock/m"}, "low"
	})
}

// proves: P3
func TestModelCommand(t *testing.T) {
	for words, c := range map[string]struct{ set, answer string }{
		"/model mock/small":   {"mock/small", "Model: `mock/small` (set for this session; the default is `mock/m`), then `mock/m`"},
		"/model Mock/SMALL":   {"mock/small", "Model: `mock/small`"},
		"/model net-5":        {"mock/sonnet-5", "Model: `mock/sonnet-5` (set for this session; the default is `mock/m`), then `mock/small`, `mock/m`"},
		"/model mock/fresh":   {"mock/fresh", "Model: `mock/fresh`"}, // of a provider that there is
		"/model sonnet":       {"mock/sonnet-4", "⚠️ `sonnet` matches several models:\n\n- `mock/Sonnet-4`\n- `mock/sonnet-5`\n"},
		"/model small":        {"mock/sonnet-4", "⚠️ `small` matches several models:\n\n- `mock/small`\n- `other/small`\n"},
		"/model nothing":      {"mock/sonnet-4", "⚠️ I do not know the model `nothing`."},
		"/model none/x":       {"mock/sonnet-4", "⚠️ I do not know the model `none/x`."},
		"/model gone/x":       {"mock/sonnet-4", "⚠️ I cannot use `gone/x`"},
		"/model default":      {"", "Model: `mock/m`, then `mock/small`"},
		"/model":              {"mock/sonnet-4", "- `mock/Sonnet-4`\n"},
		"/model is not right": {"mock/sonnet-4", ": /model is not right"},
	} {
		t.Run(words, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := newModelRig(t)
				g.Asks(routertest.Group("a"), routertest.Guest, "hello")
				if _, err := g.Store.Patch(t.Context(), routertest.KeyA, sessions.Patch{Model: new("mock/sonnet-4")}); err != nil {
					t.Fatal(err)
				}
				got := g.Asks(routertest.Group("a"), routertest.Guest, words)
				if !strings.Contains(got, c.answer) {
					t.Errorf("answered %q, want %q", got, c.answer)
				}
				if s := g.Session(routertest.KeyA); s.Settings.Model != c.set {
					t.Errorf("the model is %q, want %q", s.Settings.Model, c.set)
				}
			})
		})
	}
}

// TestModelIsUsed sees which model is asked after /model and /new.
func TestModelIsUsed(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newModelRig(t)
		var asked []string
		g.Models = func(name string) (agent.Candidate, error) {
			asked = append(asked, name)
			return agent.Candidate{Model: g.Model, Name: "m", Label: name}, nil
		}
		for words, want := range map[string]string{"/model sonnet-5": "mock/sonnet-5", "/new sonnet-4": "mock/Sonnet-4", "/reset mock/fresh": "mock/fresh"} {
			g.Asks(routertest.Group("a"), routertest.Guest, words)
			asked = nil
			g.Asks(routertest.Group("a"), routertest.Guest, "who are you?")
			if msgs := g.Transcript(routertest.KeyA); len(asked) == 0 || asked[0] != want || msgs[len(msgs)-1].Model != want {
				t.Errorf("after %s the models are %q, want %s first", words, asked, want)
			}
		}
	})
}

func TestThinkCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newModelRig(t)
		for _, c := range [][3]string{ // words, answer, what is set
			{"/think", "⚙️ Thinking: low.", ""},
			{"/think HIGH", "⚙️ Thinking: high (set for this session).", "high"},
			{"/thinking: minimal", "⚙️ Thinking: minimal (set for this session).", "minimal"},
			{"/t hard", "⚙️ Usage: /think off|minimal|low|medium|high|default", "minimal"},
			{"/think about it", "echo: /think about it", "minimal"},
			{"/think default", "⚙️ Thinking: low.", ""},
		} {
			got := g.Asks(routertest.Direct(routertest.Guest), routertest.Guest, c[0])
			if s := g.Session("agent:main:fake:direct:" + routertest.Guest); got != c[1] || s.Settings.Thinking != c[2] {
				t.Errorf("%s: %q, set %q", c[0], got, s.Settings.Thinking)
			}
		}
	})
}

// TestNewWithText starts over with a first message: one commit, the notice, then the answer.
func TestNewWithText(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newModelRig(t)
		to := routertest.Group("a")
		g.Asks(to, routertest.Guest, "an old secret")
		before := g.Session(routertest.KeyA)
		in := g.Say(to, routertest.Guest, "/new small things, please")
		g.Shown(3)
		if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		g.Idle(2)
		texts := g.Fake.Texts(to)
		if len(texts) != 3 || texts[1] != "✅ New session started · model: mock/m" || !strings.HasSuffix(texts[2], "small things, please") {
			t.Errorf("the chat reads %q", texts)
		}
		if got := g.LastPrompt(); len(got) != 1 || !strings.HasSuffix(got[0], "small things, please") {
			t.Errorf("the model reads %q", got)
		}
		after := g.Session(routertest.KeyA)
		runs := g.Runs()
		if after.ID == before.ID || len(runs) != 2 || !slices.ContainsFunc(runs, func(r sessions.Run) bool { return r.Session == after.ID && r.ReplyTo == in.ID }) {
			t.Errorf("session %s after %s, runs %s", after.ID, before.ID, routertest.Kinds(runs))
		}
	})
}

// TestCommandsOfOthers leaves alone what is meant for another bot.
func TestCommandsOfOthers(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Group("a"), routertest.Owner, "/send@otherbot off")
		g.Say(routertest.Group("a"), routertest.Owner, "/anything@otherbot")
		g.Taken(2)
		if n := len(g.Deliveries()); n != 0 || g.Model.Count() != 0 {
			t.Errorf("%d deliveries, %d model calls", n, g.Model.Count())
		}
		for words, want := range map[string]string{"/etc/hosts@home is a file": "echo: ", "/whoami me@home": "echo: ", "/@": "echo: "} {
			if got := g.Asks(routertest.Group("a"), routertest.Owner, words); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q", words, got)
			}
		}
		g.Fake.Say(channels.Inbound{Address: routertest.Group("a"), Sender: routertest.Person(routertest.Owner), Text: "/whoami@me", Addressed: "/whoami", Mentioned: true, MentionsOthers: true})
		if got := g.Shown(4)[3].Out.Text; !strings.Contains(got, "fake:"+routertest.Owner) {
			t.Errorf("our own: %q", got)
		}
	})
}

// TestCommandsDoNotWait answers while a turn is running.
func TestCommandsDoNotWait(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newModelRig(t)
		g.Model.Set(routertest.Slowly(time.Hour))
		g.Say(routertest.Group("a"), routertest.Guest, "work")
		g.Until("it is at work", func() bool { return g.Model.Count() == 1 })
		began := time.Now()
		for _, words := range []string{"/status", "/model small-is-not-known", "/think high", "/help", "/commands", "/whoami"} {
			if got := g.Asks(routertest.Group("a"), routertest.Guest, words); got == "" || time.Since(began) > time.Minute {
				t.Errorf("%s: %q after %s", words, got, time.Since(began))
			}
		}
		if runs := g.Runs(); len(runs) != 1 || runs[0].Status != sessions.Running {
			t.Errorf("%s", routertest.Kinds(runs))
		}
	})
}

// TestStatusCommand shows guests their session, and owners the host as well.
func TestStatusCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newModelRig(t, func(d *router.Deps) {
			d.Accounts = func() []string { return []string{"fake (other): not linked; run this"} }
			d.Troubles = func() []string { return []string{"Model provider x is away"} }
		})
		g.Models = func(name string) (agent.Candidate, error) {
			return agent.Candidate{Model: g.Model, Name: "m", Label: name, Facts: agent.ModelFacts{ContextWindow: 1500}}, nil
		}
		g.Asks(routertest.Group("a"), routertest.Guest, "hello")
		g.Asks(routertest.Group("b"), routertest.Guest, "hello")
		session := []string{"Session: `agent:main:fake:group:a`", "1 turn", "model `mock/m`, then `mock/small`", "Thinking: low", "15 of 1.5k (1%)", "Sending: allow (", "Activation: when a message mentions me",
			"Waiting here: 0", "Tokens today: this session 15"}
		host := []string{"this agent 30", "the host 30", "Deliveries: 0 pending", "fake (other): not linked; run this", "Model provider x is away"}
		for from, want := range map[string][2][]string{routertest.Guest: {session, host}, routertest.Owner: {slices.Concat(session, host), nil}} {
			got := g.Asks(routertest.Group("a"), from, "/status")
			for _, w := range want[0] {
				if !strings.Contains(got, w) {
					t.Errorf("%s reads %s\nwant %q", from, got, w)
				}
			}
			for _, w := range want[1] {
				if strings.Contains(got, w) {
					t.Errorf("%s reads %q", from, w)
				}
			}
		}
	})
}

// In the direct messages of a Telegram channel no mention is needed, unless a setting wants one.
// source: Bot API, DirectMessagesTopic
func TestStatusInDirectMessagesOfAChannel(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newModelRig(t)
		shown := 0
		status := func() string {
			shown++
			g.Fake.Say(channels.Inbound{Address: routertest.Group("a"), Sender: routertest.Person(routertest.Owner), Private: true, Text: "/status"})
			return g.Shown(shown)[shown-1].Out.Text
		}
		if got := status(); !strings.Contains(got, "Activation: for your messages, and for those of others that mention me") {
			t.Error(got)
		}
		shown++
		g.Fake.Say(channels.Inbound{Address: routertest.Group("a"), Sender: routertest.Person(routertest.Owner), Private: true, Text: "/activation mention"})
		g.Shown(shown)
		if got := status(); !strings.Contains(got, "Activation: when a message mentions me or replies to me (set for this session)") {
			t.Error(got)
		}
	})
}

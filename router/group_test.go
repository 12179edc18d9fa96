package router_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
)

// withPrompt gives a group and its topic 7 words for agents.
func withPrompt(a policy.Access, group, topic string) policy.GroupAccess {
	g := a.Groups["garden"]
	g.SystemPrompt, g.Topics = group, map[string]policy.GroupAccess{"7": {SystemPrompt: topic}}
	return g
}

// bots is a configuration in which other bots may cause so many turns in a row, without a mention.
func bots(most int) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) {
		no := false
		s.Messages.GroupChat.MaxBotTurns = most
		s.Accounts[routertest.Account] = settings.Account{Access: policy.Access{GroupPolicy: policy.GroupOpen, AllowBots: true,
			Groups: map[string]policy.GroupAccess{"*": {RequireMention: &no}}}}
	}
}

func botSays(g *routertest.Rig, to channels.Address, words string) {
	g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: "beep", Name: "Beep", Bot: true}, Text: words})
}

// Bots cause so many turns in a row, over a restart too; then their talk is remembered until a person writes.
func TestBotTurnsInARow(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, bots(2))
		to, elsewhere := routertest.Group("garden"), routertest.Group("else")
		shown := 0
		turn := func(say func(), answered bool) {
			t.Helper()
			say()
			if answered {
				shown++
				g.Shown(shown)
			}
			synctest.Wait()
			if n := len(g.Fake.Shown(channels.Address{})); n != shown || g.Model.Count() != shown {
				t.Fatalf("%d messages shown after %d model calls, want %d", n, g.Model.Count(), shown)
			}
		}
		bot := func(words string) func() { return func() { botSays(g, to, words) } }
		turn(bot("one"), true)
		turn(bot("two"), true)
		turn(bot("three"), false)
		turn(func() { botSays(g, elsewhere, "another group") }, true)
		g.Stop()
		g.Start()
		turn(bot("four"), false)
		turn(func() { g.Talk(to, "Mia", "enough") }, true)
		if got := routertest.Heard(g.Newest()); strings.Join(got, "; ") != "Beep: three; Beep: four" {
			t.Errorf("a person's turn comes with %q", got)
		}
		turn(bot("five"), true)
		turn(bot("six"), true)
		turn(bot("seven"), false)
		if p := g.Newest().Provenance; p == nil || !p.Bot || p.Owner {
			t.Errorf("provenance of a bot's message: %+v", p)
		}
	})
}

// Two of our bots in one group, each of which hears the other, answer a person and then each other, but not for ever.
func TestTwoBotsEndTheirTalk(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		const most = 3
		a, b := routertest.New(t, channeltest.Options{}, bots(most)), routertest.New(t, channeltest.Options{}, bots(most))
		to := routertest.Group("garden")
		for i, g := range []*routertest.Rig{a, b} {
			g.Model.Set(func(_ context.Context, _ agent.Prompt) (agent.Answer, error) {
				return routertest.Text(fmt.Sprintf("bot %d says %d", i, g.Model.Count())), nil
			})
		}
		told := map[*routertest.Rig]int{}
		relay := func(from, to *routertest.Rig) (more bool) {
			shown := from.Fake.Shown(channels.Address{})
			for _, m := range shown[told[from]:] {
				botSays(to, m.To, m.Out.Text)
				more = true
			}
			told[from] = len(shown)
			return more
		}
		for range 2 {
			a.Talk(to, "Mia", "hello, both")
			b.Talk(to, "Mia", "hello, both")
			rounds := 0
			for more := true; more; rounds++ {
				if rounds > 10*most {
					t.Fatalf("they go on: %d and %d messages", told[a], told[b])
				}
				synctest.Wait()
				one, two := relay(a, b), relay(b, a)
				more = one || two
			}
		}
		if want := 2 * (1 + most); told[a] != want || told[b] != want {
			t.Errorf("the bots said %d and %d things, want %d each: one to each word of the person, %d to the other bot", told[a], told[b], want, most)
		}
	})
}

// /activation is for owners and groups; it stands over /new and a restart.
func TestActivation(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("garden")
		n := 0
		answered := func(say channels.Inbound, want string) {
			t.Helper()
			n++
			if got := g.Shown(n)[n-1].Out.Text; !strings.Contains(got, want) {
				t.Fatalf("%q is answered %q, want %q", say.Text, got, want)
			}
		}
		silent := func(channels.Inbound) {
			t.Helper()
			if synctest.Wait(); len(g.Fake.Shown(channels.Address{})) != n {
				t.Fatalf("answered: %q", g.Fake.Texts(to))
			}
		}
		silent(g.Talk(to, routertest.Guest, "one"))
		answered(g.Say(to, routertest.Guest, "/activation always"), "Only an owner")
		silent(g.Talk(to, routertest.Guest, "two"))
		answered(g.Say(to, routertest.Owner, "/activation sometimes"), "Usage: /activation mention|always")
		answered(g.Say(to, routertest.Owner, "/activation ALWAYS"), "⚙️ Group activation set to always.")
		answered(g.Talk(to, routertest.Guest, "three"), "echo: "+routertest.Guest+": three")
		answered(g.Say(to, routertest.Owner, "/new"), "New session")
		g.Stop()
		g.Start()
		answered(g.Talk(to, routertest.Guest, "four"), "echo: "+routertest.Guest+": four")
		answered(g.Say(to, routertest.Owner, "/activation mention"), "⚙️ Group activation set to mention.")
		silent(g.Talk(to, routertest.Guest, "five"))
		answered(g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "/activation always"), "groups")
		answered(g.Say(to, routertest.Owner, "/activation always now"), "echo: ") // which is no command
	})
}

// What counts as a mention of an agent: its own patterns, else messages.groupChat.mentionPatterns, else its name.
func TestMentionPatternsOfAnAgent(t *testing.T) {
	t.Parallel()
	of := func(entry, all []string) *settings.Snapshot {
		s := routertest.SettingsFor(func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Name: "Jeeves", GroupChat: agent.GroupChat{MentionPatterns: entry}}}
			s.Messages.GroupChat.MentionPatterns = all
		})
		return s.Prepare()
	}
	for name, c := range map[string]struct {
		entry, all []string
		text       string
		want       bool
	}{
		"name":                {nil, nil, "jeeves!", true},
		"all":                 {nil, []string{"butler"}, "the Butler", true},
		"all, not the name":   {nil, []string{"butler"}, "jeeves!", false},
		"its own":             {[]string{"valet"}, []string{"butler"}, "the valet", true},
		"its own, not of all": {[]string{"valet"}, []string{"butler"}, "the butler", false},
	} {
		set, got := of(c.entry, c.all), false
		for _, re := range set.Mentions["main"] {
			got = got || re.MatchString(c.text)
		}
		if got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package router

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
	"parley/sessions"
)

// open lets the senders of a list into one group and all others.
func open(chat string, senders ...string) policy.Access {
	return policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupOpen,
		Groups: map[string]policy.GroupAccess{chat: {AllowFrom: senders}, "*": {}}}
}

// withPrompt gives a group and its topic 7 words for agents.
func withPrompt(a policy.Access, group, topic string) policy.GroupAccess {
	g := a.Groups["garden"]
	g.SystemPrompt, g.Topics = group, map[string]policy.GroupAccess{"7": {SystemPrompt: topic}}
	return g
}

// bots is a configuration in which other bots may cause so many turns in a row, without a mention.
func bots(most int) func(*Settings) {
	return func(s *Settings) {
		no := false
		s.Messages.GroupChat.MaxBotTurns = most
		s.Accounts[account] = AccountSettings{Access: policy.Access{GroupPolicy: policy.GroupOpen, AllowBots: true,
			Groups: map[string]policy.GroupAccess{"*": {RequireMention: &no}}}}
	}
}

func (g *rig) bot(to channels.Address, words string) {
	g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: "beep", Name: "Beep", Bot: true}, Text: words})
}

// Bots cause so many turns in a row, over a restart too; then their talk is remembered until a person writes.
func TestBotTurnsInARow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, bots(2))
		to, elsewhere := groupChat("garden"), groupChat("else")
		shown := 0
		turn := func(say func(), answered bool) {
			t.Helper()
			say()
			if answered {
				shown++
				g.shown(shown)
			}
			synctest.Wait()
			if n := len(g.fake.Shown(channels.Address{})); n != shown || g.model.count() != shown {
				t.Fatalf("%d messages shown after %d model calls, want %d", n, g.model.count(), shown)
			}
		}
		bot := func(words string) func() { return func() { g.bot(to, words) } }
		turn(bot("one"), true)
		turn(bot("two"), true)
		turn(bot("three"), false)
		turn(func() { g.bot(elsewhere, "another group") }, true)
		g.stop()
		g.start()
		turn(bot("four"), false)
		turn(func() { g.talk(to, "Mia", "enough") }, true)
		if got := heard(g.newest()); strings.Join(got, "; ") != "Beep: three; Beep: four" {
			t.Errorf("a person's turn comes with %q", got)
		}
		turn(bot("five"), true)
		turn(bot("six"), true)
		turn(bot("seven"), false)
		if p := g.newest().Provenance; p == nil || !p.Bot || p.Owner {
			t.Errorf("provenance of a bot's message: %+v", p)
		}
	})
}

// messages that a turn took up before they had one of their own are no turns; steps of other kinds do not count, and end no row.
func TestBotsInARow(t *testing.T) {
	t.Parallel()
	run := func(kind sessions.RunKind, bot bool, batch sessions.RunID, attempt int) sessions.Run {
		return sessions.Run{Kind: kind, Batch: batch, Attempt: attempt, Input: sessions.Message{Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Bot: bot}}}
	}
	for name, c := range map[string]struct {
		runs []sessions.Run // newest first
		want int
	}{
		"none":           {nil, 0},
		"three":          {[]sessions.Run{run(sessions.TurnRun, true, "", 0), run(sessions.TurnRun, true, "", 1), run(sessions.TurnRun, true, "", 1)}, 3},
		"a person":       {[]sessions.Run{run(sessions.TurnRun, true, "", 1), run(sessions.TurnRun, false, "", 1), run(sessions.TurnRun, true, "", 1)}, 1},
		"taken up":       {[]sessions.Run{run(sessions.TurnRun, true, "x", 0), run(sessions.TurnRun, true, "x", 0), run(sessions.TurnRun, true, "", 1)}, 1},
		"a person's too": {[]sessions.Run{run(sessions.TurnRun, false, "x", 0), run(sessions.TurnRun, true, "", 1)}, 0},
		"interrupted":    {[]sessions.Run{run(sessions.TurnRun, true, "", 1), run(sessions.TurnRun, true, "x", 1)}, 2},
		"other kinds":    {[]sessions.Run{run(sessions.AskRun, false, "", 1), {Kind: sessions.PostRun}, run(sessions.TurnRun, true, "", 1)}, 1},
	} {
		if got := botsInARow(c.runs); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Two of our bots in one group, each of which hears the other, answer a person and then each other, but not for ever.
func TestTwoBotsEndTheirTalk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const most = 3
		a, b := newRig(t, channeltest.Options{}, bots(most)), newRig(t, channeltest.Options{}, bots(most))
		to := groupChat("garden")
		for i, g := range []*rig{a, b} {
			g.model.set(func(_ context.Context, _ agent.Prompt) (agent.Answer, error) {
				return text(fmt.Sprintf("bot %d says %d", i, g.model.count())), nil
			})
		}
		told := map[*rig]int{}
		relay := func(from, to *rig) (more bool) {
			shown := from.fake.Shown(channels.Address{})
			for _, m := range shown[told[from]:] {
				to.bot(m.To, m.Out.Text)
				more = true
			}
			told[from] = len(shown)
			return more
		}
		for range 2 {
			a.talk(to, "Mia", "hello, both")
			b.talk(to, "Mia", "hello, both")
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := groupChat("garden")
		n := 0
		answered := func(say channels.Inbound, want string) {
			t.Helper()
			n++
			if got := g.shown(n)[n-1].Out.Text; !strings.Contains(got, want) {
				t.Fatalf("%q is answered %q, want %q", say.Text, got, want)
			}
		}
		silent := func(channels.Inbound) {
			t.Helper()
			if synctest.Wait(); len(g.fake.Shown(channels.Address{})) != n {
				t.Fatalf("answered: %q", g.fake.Texts(to))
			}
		}
		silent(g.talk(to, guest, "one"))
		answered(g.say(to, guest, "/activation always"), "Only an owner")
		silent(g.talk(to, guest, "two"))
		answered(g.say(to, owner, "/activation sometimes"), "Usage: /activation mention|always")
		answered(g.say(to, owner, "/activation ALWAYS"), "⚙️ Group activation set to always.")
		answered(g.talk(to, guest, "three"), "echo: "+guest+": three")
		answered(g.say(to, owner, "/new"), "New session")
		g.stop()
		g.start()
		answered(g.talk(to, guest, "four"), "echo: "+guest+": four")
		answered(g.say(to, owner, "/activation mention"), "⚙️ Group activation set to mention.")
		silent(g.talk(to, guest, "five"))
		answered(g.say(direct(owner), owner, "/activation always"), "groups")
		answered(g.say(to, owner, "/activation always now"), "echo: ") // which is no command
	})
}

// What counts as a mention of an agent: its own patterns, else messages.groupChat.mentionPatterns, else its name.
func TestMentionPatternsOfAnAgent(t *testing.T) {
	t.Parallel()
	of := func(entry, all []string) *Settings {
		s := settingsFor(func(s *Settings) {
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

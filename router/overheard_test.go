package router_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// Group talk that is not meant for the bot is kept, over a restart too, and comes with the next message that is: once, as a block of
// its own, in the transcript as well.
func TestGroupTalkComesWithTheNextMention(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Accounts[routertest.Account] = settings.Account{Access: routertest.OpenGroup("other", "*")}
		})
		garden, other := routertest.Group("garden"), routertest.Group("other")
		g.Talk(garden, "Gu\nst\u2028av", "the 8:05 is late")
		g.Talk(other, "Eve", "not here")
		g.Fake.Say(channels.Inbound{Address: garden, Sender: channels.Sender{ID: "7", Username: "mia"}, Text: strings.Repeat("ü", 3000), Media: []channels.Media{{Kind: channels.Image}}})
		synctest.Wait()
		if n := g.Model.Count(); n != 0 {
			t.Fatalf("%d model calls for talk among people", n)
		}
		g.Stop()
		g.Start()
		g.Say(garden, "Olga", "which one?")
		g.Shown(1)
		m := g.Newest()
		lines := routertest.Heard(m)
		if m.Text() != "Olga: which one?" || len(lines) != 2 || lines[0] != "Gu st av: the 8:05 is late" || !strings.HasPrefix(lines[1], "mia: üüü") || !strings.HasSuffix(lines[1], "…") || len(lines[1]) > len("mia: ")+settings.MaxContextLine {
			t.Fatalf("%q with %q", m.Text(), lines)
		}
		if p := m.Provenance; p == nil || p.Kind != sessions.ExternalUser || p.Name != "Olga" {
			t.Errorf("provenance %+v", p)
		}
		g.Say(garden, "Olga", "and now?")
		g.Shown(2)
		if got := routertest.Heard(g.Newest()); got != nil {
			t.Errorf("shown twice: %q", got)
		}
		s, err := g.Store.Get(t.Context(), g.Router.Key(channels.Inbound{Address: garden}))
		if err != nil {
			t.Fatal(err)
		}
		msgs, err := g.Store.Tail(t.Context(), s.ID, sessions.TailQuery{})
		if err != nil || len(msgs) != 4 || len(routertest.Heard(msgs[0])) != 2 {
			t.Fatalf("transcript: %+v, %v", msgs, err)
		}
		for words, want := range map[string]int{"which": 1, "8:05": 0} {
			if hits, err := g.Store.Search(t.Context(), sessions.SearchQuery{Text: words}); err != nil || len(hits) < want || want == 0 && len(hits) != 0 {
				t.Errorf("%s is found in %+v, %v", words, hits, err)
			}
		}
	})
}

// messages.groupChat.historyLimit is how many lines are kept; 0 keeps none; one turn is shown no more than so many bytes; /new forgets.
func TestGroupTalkIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		limit *int
		lines []string
		after string // said before the mention
		want  []string
	}{
		"default":       {nil, []string{"a", "b", "c"}, "", []string{"G: a", "G: b", "G: c"}},
		"the newest":    {ptr(2), []string{"a", "b", "c"}, "", []string{"G: b", "G: c"}},
		"none":          {ptr(0), []string{"a"}, "", nil},
		"bytes":         {ptr(1000), many(100, strings.Repeat("x", 1000)), "", many(32, "G: "+strings.Repeat("x", 1000))},
		"an empty line": {nil, []string{"a", " ", "b"}, "", []string{"G: a", "G: b"}},
		"/new":          {nil, []string{"a"}, "/new", nil},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Messages.GroupChat.HistoryLimit = c.limit })
				to, shown := routertest.Group("garden"), 1
				for _, l := range c.lines {
					g.Talk(to, "G", l)
				}
				if c.after != "" {
					g.Say(to, routertest.Owner, c.after)
					g.Shown(1)
					shown = 2
				}
				g.Say(to, routertest.Owner, "hello")
				g.Shown(shown)
				if diff := cmp.Diff(c.want, routertest.Heard(g.Newest())); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// What the bot may not hear at all is not remembered either.
func TestGroupTalkOfStrangersIsNotKept(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Accounts[routertest.Account] = settings.Account{Access: routertest.OpenGroup("garden", routertest.Owner)}
		})
		to := routertest.Group("garden")
		g.Talk(to, routertest.Guest, "I am not on the list")
		g.Fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: routertest.Owner, Bot: true}, Text: "I am a bot"})
		g.Talk(to, routertest.Owner, "I am")
		g.Say(to, routertest.Owner, "hello")
		g.Shown(1)
		if diff := cmp.Diff([]string{routertest.Owner + ": I am"}, routertest.Heard(g.Newest())); diff != "" {
			t.Error(diff)
		}
	})
}

// A group's words for agents stand in the system prompt of turns there, the topic's instead where it has its own; nowhere else.
func TestSystemPromptOfAGroup(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		access := routertest.OpenGroup("garden", "*")
		access.Groups["garden"] = withPrompt(access, "Talk about roses.\nOnly.", "Talk about bees.")
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Accounts[routertest.Account] = settings.Account{Access: access} })
		topic := routertest.Group("garden")
		topic.Thread = "7"
		n := 0
		for _, c := range []struct {
			to   channels.Address
			want string
		}{{routertest.Group("garden"), "\n\nAbout this chat:\n\nTalk about roses.\nOnly."}, {topic, "\n\nAbout this chat:\n\nTalk about bees."}, {routertest.Direct(routertest.Owner), ""}} {
			g.Say(c.to, routertest.Owner, "hello")
			n++
			g.Shown(n)
			g.Model.Mu.Lock()
			got := g.Model.Asked[len(g.Model.Asked)-1].System
			g.Model.Mu.Unlock()
			if c.want == "" && strings.Contains(got, "About this chat") || !strings.HasSuffix(got, c.want) {
				t.Errorf("%s: %s", c.to, got)
			}
		}
	})
}

func ptr(n int) *int { return &n }

func many(n int, s string) (out []string) {
	for range n {
		out = append(out, s)
	}
	return out
}

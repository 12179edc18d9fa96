package router

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/sessions"
)

// talk has somebody say something in a group that is not meant for the bot.
func (g *rig) talk(to channels.Address, from, words string) channels.Inbound {
	return g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: channels.UserID(from), Name: from}, Text: words})
}

// newest is the message that the newest model call had to answer.
func (g *rig) newest() sessions.Message {
	g.t.Helper()
	g.model.mu.Lock()
	defer g.model.mu.Unlock()
	if len(g.model.asked) == 0 {
		g.t.Fatal("the model was not asked")
	}
	msgs := g.model.asked[len(g.model.asked)-1].Messages
	return msgs[len(msgs)-1]
}

// heard gives the lines of group talk that came with a message.
func heard(m sessions.Message) (out []string) {
	for _, b := range m.Content {
		for _, l := range b.Heard() {
			out = append(out, l.Name+": "+l.Text)
		}
	}
	return out
}

// Group talk that is not meant for the bot is kept, over a restart too, and comes with the next message that is: once, as a block of
// its own, in the transcript as well.
func TestGroupTalkComesWithTheNextMention(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Accounts[account] = AccountSettings{Access: open("other", "*")} })
		garden, other := groupChat("garden"), groupChat("other")
		g.talk(garden, "Gu\nst\u2028av", "the 8:05 is late")
		g.talk(other, "Eve", "not here")
		g.fake.Say(channels.Inbound{Address: garden, Sender: channels.Sender{ID: "7", Username: "mia"}, Text: strings.Repeat("ü", 3000), Media: []channels.Media{{Kind: channels.Image}}})
		synctest.Wait()
		if n := g.model.count(); n != 0 {
			t.Fatalf("%d model calls for talk among people", n)
		}
		g.stop()
		g.start()
		g.say(garden, "Olga", "which one?")
		g.shown(1)
		m := g.newest()
		lines := heard(m)
		if m.Text() != "Olga: which one?" || len(lines) != 2 || lines[0] != "Gu st av: the 8:05 is late" || !strings.HasPrefix(lines[1], "mia: üüü") || !strings.HasSuffix(lines[1], "…") || len(lines[1]) > len("mia: ")+heardLine {
			t.Fatalf("%q with %q", m.Text(), lines)
		}
		if p := m.Provenance; p == nil || p.Kind != sessions.ExternalUser || p.Name != "Olga" {
			t.Errorf("provenance %+v", p)
		}
		g.say(garden, "Olga", "and now?")
		g.shown(2)
		if got := heard(g.newest()); got != nil {
			t.Errorf("shown twice: %q", got)
		}
		s, err := g.store.Get(t.Context(), g.r.Key(channels.Inbound{Address: garden}))
		if err != nil {
			t.Fatal(err)
		}
		msgs, err := g.store.Tail(t.Context(), s.ID, sessions.TailQuery{})
		if err != nil || len(msgs) != 4 || len(heard(msgs[0])) != 2 {
			t.Fatalf("transcript: %+v, %v", msgs, err)
		}
		for words, want := range map[string]int{"which": 1, "8:05": 0} {
			if hits, err := g.store.Search(t.Context(), sessions.SearchQuery{Text: words}); err != nil || len(hits) < want || want == 0 && len(hits) != 0 {
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Messages.GroupChat.HistoryLimit = c.limit })
				to, shown := groupChat("garden"), 1
				for _, l := range c.lines {
					g.talk(to, "G", l)
				}
				if c.after != "" {
					g.say(to, owner, c.after)
					g.shown(1)
					shown = 2
				}
				g.say(to, owner, "hello")
				g.shown(shown)
				if diff := cmp.Diff(c.want, heard(g.newest())); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// What the bot may not hear at all is not remembered either.
func TestGroupTalkOfStrangersIsNotKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Accounts[account] = AccountSettings{Access: open("garden", owner)} })
		to := groupChat("garden")
		g.talk(to, guest, "I am not on the list")
		g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: owner, Bot: true}, Text: "I am a bot"})
		g.talk(to, owner, "I am")
		g.say(to, owner, "hello")
		g.shown(1)
		if diff := cmp.Diff([]string{owner + ": I am"}, heard(g.newest())); diff != "" {
			t.Error(diff)
		}
	})
}

// A group's words for agents stand in the system prompt of turns there, the topic's instead where it has its own; nowhere else.
func TestSystemPromptOfAGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		access := open("garden", "*")
		access.Groups["garden"] = withPrompt(access, "Talk about roses.\nOnly.", "Talk about bees.")
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Accounts[account] = AccountSettings{Access: access} })
		topic := groupChat("garden")
		topic.Thread = "7"
		n := 0
		for _, c := range []struct {
			to   channels.Address
			want string
		}{{groupChat("garden"), "\n\nAbout this chat:\n\nTalk about roses.\nOnly."}, {topic, "\n\nAbout this chat:\n\nTalk about bees."}, {direct(owner), ""}} {
			g.say(c.to, owner, "hello")
			n++
			g.shown(n)
			g.model.mu.Lock()
			got := g.model.asked[len(g.model.asked)-1].System
			g.model.mu.Unlock()
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
